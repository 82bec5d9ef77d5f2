use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::storage::{KeyPrefix, LIST_DEFAULT};

pub(crate) fn query(prefix: &str, delimiter: &str, limit: usize) -> ListQuery {
    ListQuery {
        prefix: KeyPrefix::parse(prefix).unwrap(),
        delimiter: Delimiter::parse(delimiter).unwrap(),
        after: After::Nothing,
        entries: ListEntries::Keys,
        limit,
        its_own_folder: ItsOwnFolder::Shown,
    }
}

/// A page, how many ranges were read for it, and what it ended with.
fn page(keys: &BTreeSet<String>, query: ListQuery) -> (Vec<String>, usize, Option<Last>) {
    let (mut listing, mut page, mut reads) = (Listing::new(query), Vec::new(), 0);
    while let Some(range) = listing.range().cloned() {
        reads += 1;
        let mut is_at_end = true;
        for key in keys.iter().filter(|key| range.contains(key.as_bytes())) {
            match listing.show(key) {
                Listed::Key => page.push(key.clone()),
                Listed::Passed => {}
                Listed::CommonPrefix(prefix) => {
                    page.push(prefix);
                    is_at_end = false;
                    break;
                }
                Listed::NextPage => break,
            }
        }
        if is_at_end {
            break;
        }
    }
    (page, reads, listing.next().cloned())
}

/// All pages of a list, one behind the other.
fn walk(keys: &BTreeSet<String>, query: &ListQuery) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), query.after.clone());
    loop {
        let (entries, _, next) = page(keys, ListQuery { after, ..query.clone() });
        assert!(entries.len() <= query.limit);
        all.extend(entries);
        match next {
            Some(last) => after = After::Page(last),
            None => return all,
        }
    }
}

/// What a list has, made of all keys at once.
fn naive(keys: &BTreeSet<String>, query: &ListQuery) -> Vec<String> {
    let mut found = BTreeSet::new();
    for key in keys.iter().filter(|key| key.starts_with(query.prefix.as_str())) {
        let rest = &key[query.prefix.as_str().len()..];
        let cut = query.delimiter.as_ref().and_then(|it| rest.find(it.as_str()).map(|at| at + it.as_str().len()));
        found.insert(format!("{}{}", query.prefix.as_str(), &rest[..cut.unwrap_or(rest.len())]));
    }
    found.into_iter().collect()
}

fn keys(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn folders_and_files_stand_beside_one_another() {
    let keys = keys(&["a", "a/", "a//b", "a/b", "a/b/c", "b", "é/x"]);
    let list = |prefix, delimiter| page(&keys, query(prefix, delimiter, 1_000)).0;
    assert_eq!(list("", "/"), ["a", "a/", "b", "é/"]);
    assert_eq!(list("a/", "/"), ["a/", "a//", "a/b", "a/b/"]);
    assert_eq!(list("a", ""), ["a", "a/", "a//b", "a/b", "a/b/c"]);
    assert_eq!(list("a/b/", "/"), ["a/b/c"]);
    assert_eq!(list("", "/b"), ["a", "a/", "a//b", "a/b", "b", "é/x"]);
    assert_eq!(list("c", "/"), [""; 0]);
    let inside = ListQuery { its_own_folder: ItsOwnFolder::Hidden, ..query("a/", "/", 1_000) };
    assert_eq!(page(&keys, inside).0, ["a//", "a/b", "a/b/"]);
}

#[test]
fn the_keys_below_a_common_prefix_are_never_read() {
    let keys: BTreeSet<_> =
        (0..50).flat_map(|folder| (0..200).map(move |file| format!("{folder:02}/{file}"))).collect();
    let (page, reads, next) = page(&keys, query("", "/", 1_000));
    assert_eq!((page.len(), reads, next), (50, 51, None));
}

#[test]
fn a_page_is_truncated_where_there_is_more_and_only_there() {
    let keys = keys(&["a/1", "a/2", "b", "c"]);
    let next = |limit| page(&keys, query("", "/", limit)).2;
    assert_eq!(next(1), Some(Last::CommonPrefix("a/".to_owned())));
    assert_eq!(next(2), Some(Last::Key("b".to_owned())));
    assert_eq!(next(3), None);
    assert_eq!(page(&keys, query("", "/", 0)), (Vec::new(), 0, None));
    assert_eq!(page(&keys, query("a/", "/", 2)).2, None);
}

#[test]
fn a_marker_that_is_a_common_prefix_is_left_with_all_of_it() {
    let keys = keys(&["a/1", "a/2", "b", "c"]);
    let list = |prefix, delimiter, marker: &str| {
        page(&keys, ListQuery { after: After::Marker(marker.to_owned()), ..query(prefix, delimiter, 9) }).0
    };
    assert_eq!(list("", "/", "a/"), ["b", "c"]);
    assert_eq!(list("", "/", "a/1"), ["a/", "b", "c"]);
    assert_eq!(list("", "", "a/"), ["a/1", "a/2", "b", "c"]);
    assert_eq!(list("a/", "/", "a/"), ["a/1", "a/2"]);
    assert_eq!(list("", "/", "b"), ["c"]);
    assert_eq!(list("b", "", "c"), [""; 0]);
}

#[test]
fn more_than_1000_is_1000() {
    assert_eq!(list_limit(None, LIST_DEFAULT).unwrap(), 100);
    assert!(list_limit(Some(0), LIST_DEFAULT).is_err());
    for (asked, limit) in [(1, 1), (1_000, 1_000), (1_001, 1_000), (i64::MAX, 1_000)] {
        assert_eq!(list_limit(Some(asked), LIST_DEFAULT).unwrap(), limit);
    }
    assert!(Delimiter::parse(&"/".repeat(1_025)).is_err());
    assert_eq!(Delimiter::parse("/").unwrap(), Some(Delimiter::slash()));
}

/// A page of versions behind a place, which is a key and how many of its versions are done; and where the next one begins.
fn versions_page(rows: &[(&str, u32)], query: &ListQuery, done: u32) -> (Vec<String>, Option<(Last, u32)>) {
    let (mut listing, mut page, mut last_version) = (Listing::new(query.clone()), Vec::new(), 0);
    for (key, version) in rows {
        let is_before = matches!(&query.after, After::Within(within) if within == key) && *version <= done;
        if is_before || listing.range().is_none() {
            continue;
        }
        match listing.show(key) {
            Listed::Key => {
                page.push(format!("{key}#{version}"));
                last_version = *version;
            }
            Listed::CommonPrefix(prefix) => page.push(prefix),
            Listed::Passed | Listed::NextPage => {}
        }
    }
    (page, listing.next().cloned().map(|last| (last, last_version)))
}

#[test]
fn pages_of_versions_may_end_within_a_key() {
    let rows = [("a", 1), ("a", 2), ("a", 3), ("b/1", 1), ("b/1", 2), ("b/2", 1), ("c", 1), ("c", 2)];
    for limit in 1..8 {
        let query = ListQuery { entries: ListEntries::Versions, ..query("", "/", limit) };
        let (mut all, mut after, mut done) = (Vec::new(), After::Nothing, 0);
        loop {
            let (page, next) = versions_page(&rows, &ListQuery { after, ..query.clone() }, done);
            assert!(page.len() <= limit);
            all.extend(page);
            (after, done) = match next {
                None => break,
                Some((Last::Key(key), version)) => (After::Within(key), version),
                Some((prefix, _)) => (After::Page(prefix), 0),
            };
        }
        assert_eq!(all, ["a#1", "a#2", "a#3", "b/", "c#1", "c#2"], "{limit}");
    }
}

fn any_text(longest: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![3 => Just("/"), 3 => Just("a"), 1 => Just("b"), 1 => Just("."), 1 => Just("é"), 1 => Just("\u{10ffff}")];
    proptest::collection::vec(piece, 0..longest).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pages_have_what_a_naive_list_has(
        keys in proptest::collection::btree_set(any_text(6).prop_filter("keys aren't empty", |key| !key.is_empty()), 0..24),
        prefix in any_text(3),
        delimiter in prop_oneof![Just(String::new()), Just("/".to_owned()), any_text(3)],
        limit in 1_usize..6,
        marker in any_text(4),
    ) {
        let query = query(&prefix, &delimiter, limit);
        let all = naive(&keys, &query);
        prop_assert_eq!(walk(&keys, &query), all.clone());
        let (page, reads, _) = page(&keys, query.clone());
        prop_assert!(reads <= page.len() + 1);
        let behind = ListQuery { after: After::Marker(marker.clone()), ..query.clone() };
        let keys_behind = keys.iter().filter(|key| **key > marker).cloned().collect();
        // A marker that is an entry itself has been listed.
        let expected: Vec<_> = naive(&keys_behind, &query)
            .into_iter()
            .filter(|entry| *entry != marker || query.common_prefix(entry) != Some(entry.as_str()))
            .collect();
        prop_assert_eq!(walk(&keys, &behind), expected);
    }
}
