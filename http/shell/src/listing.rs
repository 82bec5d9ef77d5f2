//! Cutting a page out of a list that was read one entry further.

use std::{fmt::Display, str::FromStr};

use crate::{cursor, paging::PageQuery};

impl PageQuery {
    /// The page of `list` that was asked for.
    pub fn page<P: FromStr>(&self, list: &'static str) -> domain::Result<Page<P>> {
        Ok(Page { list, after: self.after(list)?, limit: self.limit() })
    }
}

/// A page of a list whose entries stand at positions of type `P`.
pub struct Page<P> {
    list: &'static str,
    /// The position of the last entry of the page before.
    pub after: Option<P>,
    limit: u64,
}

impl<P: Display> Page<P> {
    /// How many entries to read: one more than are shown, to know whether there is a next page.
    pub const fn read_limit(&self) -> u64 {
        self.limit + 1
    }

    /// The entries of the page, and the cursor of the next one where there is one.
    pub fn cut<T>(&self, mut entries: Vec<T>, position: impl Fn(&T) -> P) -> (Vec<T>, Option<String>) {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if entries.len() <= limit {
            return (entries, None);
        }
        entries.truncate(limit);
        let next = entries.last().map(|last| cursor::write(self.list, position(last)));
        (entries, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_not_the_last_has_a_cursor_to_the_next() {
        let query = PageQuery { cursor: None, limit: Some(2) };
        let page = query.page::<u64>("numbers").unwrap();
        assert_eq!(page.read_limit(), 3);
        assert_eq!(page.cut(vec![1, 2], |number| *number), (vec![1, 2], None));
        let (entries, next) = page.cut(vec![1, 2, 3], |number| *number);
        assert_eq!(entries, [1, 2]);
        let next = PageQuery { cursor: next, limit: None };
        assert_eq!(next.page::<u64>("numbers").unwrap().after, Some(2));
        assert!(next.page::<u64>("letters").is_err());
    }
}
