use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{Timestamp, error::Result, storage::ETag};

const MIB: u64 = 1024 * 1024;

fn refusal<T: std::fmt::Debug>(result: Result<T>) -> (u16, String) {
    let error = result.unwrap_err();
    (error.status(), error.to_string())
}

fn number(number: u64) -> PartNumber {
    PartNumber::parse("partNumber", number).unwrap()
}

fn tag(byte: u8) -> ETag {
    ETag::of_md5([byte; 16])
}

fn part(at: u64, etag: &str) -> CompletedPart {
    CompletedPart { part_number: number(at), etag: etag.to_owned() }
}

fn sent(sizes: &[u64]) -> BTreeMap<PartNumber, SentPart> {
    (1..)
        .zip(sizes)
        .map(|(at, size)| (number(at), SentPart { etag: tag(u8::try_from(at).unwrap()), size: *size }))
        .collect()
}

fn completion(parts: u8) -> Completion {
    let parts: Vec<_> = (1..=parts).map(|at| part(u64::from(at), &tag(at).to_string())).collect();
    Completion::check(&parts).unwrap()
}

#[test]
fn parts_are_as_large_as_10000_of_them_need() {
    for (size, part_size, parts) in [
        (1, 8 * MIB, 1),
        (8 * MIB, 8 * MIB, 1),
        (8 * MIB + 1, 8 * MIB, 2),
        (80_000 * MIB, 8 * MIB, 10_000),
        (80_000 * MIB + 1, 9 * MIB, 8_889),
        (FILE_BYTES_MAX, 525 * MIB, 9_987),
    ] {
        let plan = UploadPlan::new(size).unwrap();
        assert_eq!((plan.part_size(), plan.parts()), (part_size, parts), "{size}");
    }
    assert_eq!(refusal(UploadPlan::new(FILE_BYTES_MAX + 1)), (413, "Files can have up to 5 TB.".to_owned()));
    assert_eq!(refusal(UploadPlan::new(0)).0, 400);
    assert!(single_check(SINGLE_BYTES_MAX).is_ok());
    let refused = (413, "Send files over 5 GB in parts.".to_owned());
    assert_eq!(refusal(single_check(SINGLE_BYTES_MAX + 1)), refused);
}

#[test]
fn numbers_are_1_to_10000() {
    assert_eq!(part_numbers_check(&[1, 10_000, 1]).unwrap(), [1, 10_000, 1].map(number));
    for numbers in [vec![], vec![0], vec![10_001], vec![u64::MAX], vec![1; 10_001]] {
        assert_eq!(refusal(part_numbers_check(&numbers)).0, 400);
    }
    assert!(part_numbers_check(&vec![1; 10_000]).is_ok());
    for (json, passes) in [("1", true), ("10000", true), ("10001", false), ("0", false), ("-1", false), ("1.5", false)]
    {
        assert_eq!(serde_json::from_str::<PartNumber>(json).is_ok(), passes, "{json}");
    }
}

#[test]
fn a_file_is_made_of_the_parts_that_are_named() {
    let sent = sent(&[PART_BYTES_MIN, PART_BYTES_MIN, 1]);
    let whole = completion(3).decide(&sent).unwrap();
    assert_eq!((whole.size, whole.parts), (2 * PART_BYTES_MIN + 1, [1, 2, 3].map(number).to_vec()));
    assert_eq!(whole.etag, ETag::of_parts(&[tag(1), tag(2), tag(3)]));
    assert!(whole.etag.to_string().ends_with("-3"));
    // What isn't named is left out.
    let quoted = format!("\"{}\"", tag(3));
    let some = Completion::check(&[part(1, &tag(1).to_string()), part(3, &quoted)]).unwrap();
    assert_eq!(some.decide(&sent).unwrap().parts, [1, 3].map(number));
}

#[test]
fn a_completion_says_what_is_wrong_with_its_parts() {
    let all = sent(&[PART_BYTES_MIN, PART_BYTES_MIN - 1, 1]);
    assert_eq!(refusal(completion(3).decide(&all)), (400, "Part 2 has less than 5 MB.".to_owned()));
    assert!(completion(2).decide(&all).is_ok());
    let missing = |at| (400, format!("Part {at} is missing or has another ETag."));
    assert_eq!(refusal(completion(4).decide(&all)), missing(4));
    for etag in ["", "*", &tag(9).to_string()] {
        assert_eq!(refusal(Completion::check(&[part(1, etag)]).unwrap().decide(&all)), missing(1));
    }
    let etag = tag(1).to_string();
    let in_order = |numbers: &[u64]| Completion::check(&numbers.iter().map(|at| part(*at, &etag)).collect::<Vec<_>>());
    for numbers in [[2, 1], [1, 1]] {
        assert_eq!(refusal(in_order(&numbers)), (400, "Parts must be in order.".to_owned()));
    }
    assert_eq!(refusal(in_order(&[])).0, 400);
    assert!(in_order(&(1..=10_000).collect::<Vec<_>>()).is_ok());
    let too_large = sent(&[PART_BYTES_MAX; 1]).into_values().next().unwrap();
    let too_large = (1..=1_025).map(|at| (number(at), SentPart { etag: tag(1), ..too_large })).collect();
    let all_of_them = in_order(&(1..=1_025).collect::<Vec<_>>()).unwrap();
    assert_eq!(refusal(all_of_them.decide(&too_large)).0, 413);
}

#[test]
fn completing_twice_answers_the_same_for_a_day() {
    let (digest, at) = (completion(3).digest(), Timestamp(1_000));
    let again = |parts, later: i64| digest.check_again(at, &completion(parts), Timestamp(1_000 + later));
    assert!(again(3, 0).is_ok() && again(3, 24 * 60 * 60 * 1_000 - 1).is_ok());
    let gone = (404, "Upload not found.".to_owned());
    assert_eq!(refusal(again(3, 24 * 60 * 60 * 1_000)), gone);
    assert_eq!(refusal(again(2, 0)), gone);
    assert_eq!(PartsDigest::from_bytes(*digest.as_bytes()), digest);
}

proptest! {
    #[test]
    fn parts_are_the_whole_file(size in prop_oneof![1_u64..100 * MIB, 1..=FILE_BYTES_MAX]) {
        let plan = UploadPlan::new(size).unwrap();
        let bytes: u64 = (1..=plan.parts()).map(|at| plan.part_bytes(number(at)).unwrap()).sum();
        prop_assert_eq!(bytes, plan.size());
        prop_assert!(plan.part_size() <= PART_BYTES_MAX && plan.part_size().is_multiple_of(MIB));
        if plan.parts() < u64::from(PARTS_MAX) {
            prop_assert_eq!(plan.part_bytes(number(plan.parts() + 1)), None);
        }
    }
}
