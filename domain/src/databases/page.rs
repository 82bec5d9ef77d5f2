//! Pages of scans and queries: when one ends, and what it counts for.

use std::ops::RangeInclusive;

/// Items on a page (contract C 4.5).
pub const PAGE_ITEMS: RangeInclusive<usize> = 1..=100;
/// Items on a page where the request doesn't say (contract C 4.5).
pub const PAGE_ITEMS_DEFAULT: usize = 25;
/// Bytes of items that a page reads, at which it ends (DynamoDB).
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of the texts of items that a page reads, at which it ends too. A number of three bytes may be a text of a hundred
/// and more, so that what counts for 1 MB could be answered as fifty.
pub const PAGE_TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes that half a unit reads (DynamoDB).
const HALF_UNIT_BYTES: usize = 4 * 1024;

/// How large an item is that a page reads.
#[derive(Clone, Copy, Debug)]
pub struct ReadBytes {
    /// As DynamoDB counts.
    pub counted: usize,
    /// Of its text.
    pub text: usize,
}

/// What a page has read so far.
#[derive(Clone, Copy, Debug)]
pub struct PageTally {
    items_max: usize,
    items: usize,
    scanned: usize,
    bytes: ReadBytes,
}

impl PageTally {
    /// A page of up to `items_max` items.
    pub const fn new(items_max: usize) -> Self {
        Self { items_max, items: 0, scanned: 0, bytes: ReadBytes { counted: 0, text: 0 } }
    }

    /// An item was read, and is on the page.
    pub const fn take(&mut self, bytes: ReadBytes) {
        self.items = self.items.saturating_add(1);
        self.pass(bytes);
    }

    /// An item was read, and filters keep it off the page.
    pub const fn pass(&mut self, bytes: ReadBytes) {
        self.scanned = self.scanned.saturating_add(1);
        self.bytes.counted = self.bytes.counted.saturating_add(bytes.counted);
        self.bytes.text = self.bytes.text.saturating_add(bytes.text);
    }

    /// Whether the page ends here.
    pub const fn is_full(&self) -> bool {
        self.items >= self.items_max || self.bytes.counted >= PAGE_BYTES_MAX || self.bytes.text >= PAGE_TEXT_BYTES_MAX
    }

    /// Items on the page (`count`).
    pub const fn items(&self) -> usize {
        self.items
    }

    /// Items that were read before filters (`scanned`).
    pub const fn scanned(&self) -> usize {
        self.scanned
    }

    /// DynamoDB's number for what was read (`consumed`): half a unit for each 4 KB that were begun, and for a page that read
    /// nothing too.
    pub fn consumed(&self) -> f64 {
        let halves = self.bytes.counted.div_ceil(HALF_UNIT_BYTES).max(1);
        // A page reads little more than 1 MB.
        f64::from(u32::try_from(halves).unwrap_or(u32::MAX)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(counted: usize) -> ReadBytes {
        ReadBytes { counted, text: 2 * counted }
    }

    #[test]
    fn a_page_ends_with_its_items_or_its_bytes() {
        let mut page = PageTally::new(2);
        page.take(bytes(10));
        page.pass(bytes(10));
        assert!(!page.is_full());
        page.take(bytes(10));
        assert!(page.is_full());
        assert_eq!((page.items(), page.scanned()), (2, 3));
        let mut page = PageTally::new(100);
        page.pass(bytes(PAGE_BYTES_MAX - 1));
        assert!(!page.is_full());
        page.pass(bytes(1));
        assert!(page.is_full());
        let mut page = PageTally::new(100);
        page.take(ReadBytes { counted: 3, text: PAGE_TEXT_BYTES_MAX - 1 });
        assert!(!page.is_full());
        page.take(ReadBytes { counted: 3, text: 1 });
        assert!(page.is_full());
    }

    #[test]
    fn half_a_unit_is_4_kb_that_were_begun() {
        for (counted, units) in [(0, 0.5), (1, 0.5), (4_096, 0.5), (4_097, 1.0), (PAGE_BYTES_MAX, 128.0)] {
            let mut page = PageTally::new(1);
            page.take(bytes(counted));
            assert!((page.consumed() - units).abs() < f64::EPSILON, "{counted}");
        }
    }
}
