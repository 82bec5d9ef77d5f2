//! The usual query of a list: where its page starts, and how long it is.

use std::str::FromStr;

use domain::problems::Problems;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{cursor, query::RequestQuery};

/// Entries of a page when the client doesn't say.
pub const LIMIT_DEFAULT: u64 = 50;
/// The most entries of a page.
pub const LIMIT_MAX: u64 = 100;

/// `?cursor=&limit=`.
#[derive(Debug, Default, Deserialize, IntoParams)]
pub struct PageQuery {
    /// Where the page starts: the `cursor` of the page before it.
    pub cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    pub limit: Option<u64>,
}

impl RequestQuery for PageQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.limit.is_none_or(|limit| (1..=LIMIT_MAX).contains(&limit));
        problems.require(fits, "limit", "Must be from 1 to 100.");
    }
}

impl PageQuery {
    /// How many entries the page has at most.
    pub fn limit(&self) -> u64 {
        self.limit.unwrap_or(LIMIT_DEFAULT)
    }

    /// The position that the page starts after; 400 `Invalid cursor` for a cursor that is not one of `list`.
    pub fn after<P: FromStr>(&self, list: &str) -> domain::Result<Option<P>> {
        self.cursor.as_deref().map(|cursor| cursor::read(list, cursor)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse;

    #[test]
    fn a_page_has_one_to_a_hundred_entries_and_fifty_by_default() {
        for (query, limit) in [("", 50), ("limit=1", 1), ("limit=100", 100)] {
            assert_eq!(parse::<PageQuery>(query).unwrap().limit(), limit, "{query}");
        }
        for query in ["limit=0", "limit=101", "limit=-1", "limit=ten", "limit="] {
            assert!(parse::<PageQuery>(query).is_err(), "{query}");
        }
    }

    #[test]
    fn a_page_starts_where_its_own_list_said() {
        let query = format!("cursor={}", cursor::write("log", 7));
        let query = parse::<PageQuery>(&query).unwrap();
        assert_eq!(query.after::<i64>("log").unwrap(), Some(7));
        assert!(query.after::<i64>("members").is_err());
        assert_eq!(PageQuery::default().after::<i64>("log").unwrap(), None);
    }
}
