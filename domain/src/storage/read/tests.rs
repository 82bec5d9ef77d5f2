use proptest::prelude::*;

use super::*;
use crate::{Error, Timestamp, storage::ETag};

fn part(first: u64, last: u64, size: u64) -> RangeAnswer {
    RangeAnswer::Part(ByteRange { bytes: first..=last, size })
}

#[test]
fn one_range_is_answered_and_anything_else_is_the_whole() {
    for (header, answer) in [
        ("bytes=0-0", part(0, 0, 10)),
        ("bytes=2-5", part(2, 5, 10)),
        ("bytes=9-", part(9, 9, 10)),
        ("bytes=2-99999999999999999999999", part(2, 9, 10)),
        ("bytes=-3", part(7, 9, 10)),
        ("bytes=-11", part(0, 9, 10)),
        (" Bytes = 2 - 5 ", part(2, 5, 10)),
        ("bytes=10-", RangeAnswer::Unsatisfiable),
        ("bytes=99999999999999999999999-", RangeAnswer::Unsatisfiable),
        ("bytes=-0", RangeAnswer::Unsatisfiable),
        ("bytes=5-2", RangeAnswer::Whole),
        ("bytes=-", RangeAnswer::Whole),
        ("bytes=a-b", RangeAnswer::Whole),
        ("bytes=+1-2", RangeAnswer::Whole),
        ("bytes=0-1,3-4", RangeAnswer::Whole),
        ("bytes=--1", RangeAnswer::Whole),
        ("items=0-1", RangeAnswer::Whole),
        ("bytes", RangeAnswer::Whole),
        ("", RangeAnswer::Whole),
    ] {
        assert_eq!(range_answer(Some(header), 10), answer, "{header}");
    }
    assert_eq!(range_answer(None, 10), RangeAnswer::Whole);
    for header in ["bytes=0-", "bytes=-1", "bytes=0-0"] {
        assert_eq!(range_answer(Some(header), 0), RangeAnswer::Unsatisfiable, "{header}");
    }
}

fn tag(byte: u8) -> ETag {
    ETag::of_md5([byte; 16])
}

fn list(tags: &[u8]) -> ETagList {
    let texts: Vec<_> = tags.iter().map(|byte| format!("\"{}\"", tag(*byte))).collect();
    ETagList::parse(&texts.join(", "))
}

const FILE_AT: Timestamp = Timestamp(10_999);

fn file() -> StoredFile {
    StoredFile { etag: tag(1), modified: FILE_AT }
}

#[test]
fn a_read_is_decided_by_tags_and_where_there_are_none_by_dates() {
    use ReadOutcome::{Failed, NotModified, Send};
    let none = ReadConditions::default();
    let (before, at) = (Some(Timestamp(9_999)), Some(Timestamp(10_000)));
    for (conditions, outcome) in [
        (none.clone(), Send),
        (ReadConditions { matches: Some(list(&[1])), ..none.clone() }, Send),
        (ReadConditions { matches: Some(list(&[2])), ..none.clone() }, Failed),
        (ReadConditions { matches: Some(list(&[1])), unmodified_since: before, ..none.clone() }, Send),
        (ReadConditions { unmodified_since: before, ..none.clone() }, Failed),
        (ReadConditions { unmodified_since: at, ..none.clone() }, Send),
        (ReadConditions { matches_none: Some(list(&[2, 1])), ..none.clone() }, NotModified),
        (ReadConditions { matches_none: Some(ETagList::Any), ..none.clone() }, NotModified),
        (ReadConditions { matches_none: Some(list(&[2])), modified_since: at, ..none.clone() }, Send),
        (ReadConditions { modified_since: at, ..none.clone() }, NotModified),
        (ReadConditions { modified_since: before, ..none.clone() }, Send),
        (ReadConditions { matches: Some(list(&[2])), matches_none: Some(list(&[1])), ..none.clone() }, Failed),
        (ReadConditions { matches: Some(list(&[1])), matches_none: Some(list(&[1])), ..none.clone() }, NotModified),
    ] {
        assert_eq!(conditions.decide(file()), outcome, "{conditions:?}");
    }
}

#[test]
fn a_write_is_made_where_its_conditions_hold() {
    let none = WriteConditions::default();
    let (any, other) = (Some(ETagList::Any), Some(list(&[2])));
    for (conditions, there, missing) in [
        (none.clone(), Ok(()), Ok(())),
        (WriteConditions { matches: Some(list(&[1])), ..none.clone() }, Ok(()), Err(Precondition::Missing)),
        (WriteConditions { matches: any.clone(), ..none.clone() }, Ok(()), Err(Precondition::Missing)),
        (
            WriteConditions { matches: other.clone(), ..none.clone() },
            Err(Precondition::Changed),
            Err(Precondition::Missing),
        ),
        (WriteConditions { matches_none: any, ..none.clone() }, Err(Precondition::Exists), Ok(())),
        (WriteConditions { matches_none: other, ..none.clone() }, Ok(()), Ok(())),
        (none.clone().with_overwrite(Overwrite::Allowed), Ok(()), Ok(())),
        (none.with_overwrite(Overwrite::Refused), Err(Precondition::Exists), Ok(())),
    ] {
        assert_eq!((conditions.decide(Some(file())), conditions.decide(None)), (there, missing), "{conditions:?}");
    }
    let named = WriteConditions { matches: Some(list(&[1])), matches_none: None }.with_overwrite(Overwrite::Refused);
    assert_eq!(named.decide(Some(file())), Ok(()));
    let said =
        [Precondition::Changed, Precondition::Missing, Precondition::Exists].map(|it| Error::from(it).to_string());
    let texts = ["This file changed since you opened it.", "File not found.", "A file with this name already exists."];
    assert_eq!(said, texts);
}

#[test]
fn weak_tags_do_for_reading_only() {
    let weak = Some(ETagList::parse(&format!("x, W/\"{}\"", tag(1))));
    let read = ReadConditions { matches_none: weak.clone(), ..ReadConditions::default() };
    assert_eq!(read.decide(file()), ReadOutcome::NotModified);
    let write = WriteConditions { matches: weak, matches_none: None };
    assert_eq!(write.decide(Some(file())), Err(Precondition::Changed));
    assert_eq!(ETagList::parse(" * "), ETagList::Any);
    assert_eq!(ETagList::parse("x,,\""), ETagList::Some(Vec::new()));
    let many = format!("{}\"{}\"", "x,".repeat(ETAGS_MAX), tag(1));
    assert_eq!(ETagList::parse(&many), ETagList::Some(Vec::new()));
}

proptest! {
    #[test]
    fn a_range_lies_in_its_file(first in 0_u64..20, last in 0_u64..20, size in 0_u64..12) {
        let answer = range_answer(Some(&format!("bytes={first}-{last}")), size);
        let bytes: Vec<u64> = (0..size).filter(|at| first <= *at && *at <= last).collect();
        match answer {
            RangeAnswer::Whole => prop_assert!(first > last),
            RangeAnswer::Unsatisfiable => prop_assert!(bytes.is_empty()),
            RangeAnswer::Part(part) => {
                prop_assert_eq!(part.count(), bytes.len() as u64);
                prop_assert_eq!(part.bytes.collect::<Vec<_>>(), bytes);
            }
        }
    }
}
