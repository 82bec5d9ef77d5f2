//! Where something stands in a query.

/// A part of a query's text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The byte at which it begins.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
}

impl Span {
    pub(super) const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// From the beginning of this to the end of another.
    pub(super) const fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }

    /// The text there.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// A place in a query as people and editors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// UTF-16 units before it.
    pub offset: usize,
    /// The line, from 1; lines end with a line feed.
    pub line: usize,
    /// The UTF-16 unit of its line, from 1.
    pub character: usize,
}

impl Place {
    /// The place of a byte of this text.
    pub fn of(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let units = |part: &str| part.chars().map(char::len_utf16).sum::<usize>();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            offset: units(before),
            line: 1 + before.matches('\n').count(),
            character: 1 + units(&before[line_start..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_editors_do() {
        let text = "é🎉\nx🎉y";
        let at = |byte| Place::of(text, byte);
        assert_eq!(at(0), Place { offset: 0, line: 1, character: 1 });
        assert_eq!(at(6), Place { offset: 3, line: 1, character: 4 });
        assert_eq!(at(text.len() - 1), Place { offset: 7, line: 2, character: 4 });
        assert_eq!(at(text.len()), Place { offset: 8, line: 2, character: 5 });
    }
}
