//! Pages of scans and queries: when one ends, and what it counts for.

use std::ops::RangeInclusive;

/// Items on a page (contract C 4.5).
pub const PAGE_ITEMS: RangeInclusive<usize> = 1..=100;
/// Items on a page where the request doesn't say (contract C 4.5).
pub const PAGE_ITEMS_DEFAULT: usize = 25;
/// Bytes of items that a page reads, at which it ends (DynamoDB).
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that half a unit reads (DynamoDB).
const HALF_UNIT_BYTES: usize = 4 * 1024;

/// What a page has read so far.
#[derive(Clone, Copy, Debug)]
pub struct PageTally {
    items_max: usize,
    items: usize,
    scanned: usize,
    bytes: usize,
}

impl PageTally {
    /// A page of up to `items_max` items.
    pub const fn new(items_max: usize) -> Self {
        Self { items_max, items: 0, scanned: 0, bytes: 0 }
    }

    /// An item of so many bytes was read, and is on the page.
    pub const fn take(&mut self, bytes: usize) {
        self.items = self.items.saturating_add(1);
        self.pass(bytes);
    }

    /// An item of so many bytes was read, and filters keep it off the page.
    pub const fn pass(&mut self, bytes: usize) {
        self.scanned = self.scanned.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Whether the page ends here.
    pub const fn is_full(&self) -> bool {
        self.items >= self.items_max || self.bytes >= PAGE_BYTES_MAX
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
        let halves = self.bytes.div_ceil(HALF_UNIT_BYTES).max(1);
        // A page reads little more than 1 MB.
        f64::from(u32::try_from(halves).unwrap_or(u32::MAX)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_with_its_items_or_its_bytes() {
        let mut page = PageTally::new(2);
        page.take(10);
        page.pass(10);
        assert!(!page.is_full());
        page.take(10);
        assert!(page.is_full());
        assert_eq!((page.items(), page.scanned()), (2, 3));
        let mut page = PageTally::new(100);
        page.pass(PAGE_BYTES_MAX - 1);
        assert!(!page.is_full());
        page.pass(1);
        assert!(page.is_full());
    }

    #[test]
    fn half_a_unit_is_4_kb_that_were_begun() {
        for (bytes, units) in [(0, 0.5), (1, 0.5), (4_096, 0.5), (4_097, 1.0), (PAGE_BYTES_MAX, 128.0)] {
            let mut page = PageTally::new(1);
            page.take(bytes);
            assert!((page.consumed() - units).abs() < f64::EPSILON, "{bytes}");
        }
    }
}
