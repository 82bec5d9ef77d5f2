use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{databases::number::tests::any_number, error::Error};

pub(in crate::databases) fn value(json: Value) -> AttributeValue {
    AttributeValue::read("value", json).unwrap()
}

/// Short values of every type, some of them equal often enough.
pub(in crate::databases) fn any_scalar() -> impl Strategy<Value = AttributeValue> {
    prop_oneof![
        "[ab\\u{0}é🎉\"\\\\]{0,4}".prop_map(AttributeValue::String),
        any_number().prop_map(AttributeValue::Number),
        proptest::collection::vec(any::<u8>(), 0..5).prop_map(AttributeValue::Binary),
        any::<bool>().prop_map(AttributeValue::Bool),
        Just(AttributeValue::Null),
    ]
}

pub(in crate::databases) fn any_value() -> impl Strategy<Value = AttributeValue> {
    use proptest::collection::{btree_map, btree_set, vec};
    let leaf = prop_oneof![
        any_scalar(),
        btree_set("[a-z]{0,3}", 1..4).prop_map(AttributeValue::StringSet),
        btree_set(any_number(), 1..4).prop_map(AttributeValue::NumberSet),
        btree_set(vec(any::<u8>(), 0..3), 1..4).prop_map(AttributeValue::BinarySet),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(AttributeValue::List),
            btree_map("[a-zé.]{1,3}", inner, 0..4).prop_map(AttributeValue::Map),
        ]
    })
}

fn fault(json: Value) -> (String, String) {
    match AttributeValue::read("value", json) {
        Err(Error::Invalid { mut problems }) => {
            let problem = problems.remove(0);
            (problem.path, problem.message)
        }
        other => panic!("{other:?}"),
    }
}

/// A list in a list in a list, and so on, with a text at this level.
fn nested(level: usize) -> Value {
    (1..level).fold(json!({"S": ""}), |inner, _| json!({"L": [inner]}))
}

#[test]
fn each_type_reads_and_is_written_in_normal_form() {
    for (json, normal) in [
        (json!({"S": ""}), r#"{"S":""}"#),
        (json!({"S": "a\u{0}\"é"}), r#"{"S":"a\u0000\"é"}"#),
        (json!({"N": "-01.50E1"}), r#"{"N":"-15"}"#),
        (json!({"B": "AP8="}), r#"{"B":"AP8="}"#),
        (json!({"BOOL": false}), r#"{"BOOL":false}"#),
        (json!({"NULL": true}), r#"{"NULL":true}"#),
        (json!({"L": [{"N": "1.0"}, {"L": []}]}), r#"{"L":[{"N":"1"},{"L":[]}]}"#),
        (json!({"M": {"b": {"S": "x"}, "a": {"M": {}}}}), r#"{"M":{"a":{"M":{}},"b":{"S":"x"}}}"#),
        (json!({"SS": ["b", "", "a"]}), r#"{"SS":["","a","b"]}"#),
        (json!({"NS": ["10", "9", "-1"]}), r#"{"NS":["-1","9","10"]}"#),
        (json!({"BS": ["AQ==", ""]}), r#"{"BS":["","AQ=="]}"#),
    ] {
        assert_eq!(serde_json::to_string(&value(json)).unwrap(), normal);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (json, path, message) in [
        (json!(1), "value", "Must be an object with exactly one of S, N, B, BOOL, NULL, M, L, SS, NS and BS."),
        (json!({}), "value", "Must have one of S, N, B, BOOL, NULL, M, L, SS, NS and BS."),
        (json!({"S": "", "N": "1"}), "value", "Must have only one of S, N, B, BOOL, NULL, M, L, SS, NS and BS."),
        (json!({"s": ""}), "value.s", "Isn't a type: those are S, N, B, BOOL, NULL, M, L, SS, NS and BS."),
        (json!({"S": 1}), "value.S", "Must be a string."),
        (json!({"N": 1}), "value.N", "Must be a string."),
        (json!({"N": "one"}), "value.N", "Must be a number."),
        (json!({"N": "1E126"}), "value.N", "Numbers go up to 9.9999999999999999999999999999999999999E+125."),
        (json!({"B": "AP8"}), "value.B", "Must be base64: the standard alphabet, padded with =."),
        (json!({"B": "A_8="}), "value.B", "Must be base64: the standard alphabet, padded with =."),
        (json!({"BOOL": "true"}), "value.BOOL", "Must be true or false."),
        (json!({"NULL": false}), "value.NULL", "Must be true."),
        (json!({"L": {}}), "value.L", "Must be a list."),
        (json!({"M": []}), "value.M", "Must be an object."),
        (json!({"M": {"": {"S": ""}}}), "value.M", "Names of attributes can't be empty."),
        (json!({"M": {"a": {"L": [{"S": ""}, {"N": ""}]}}}), "value.M.a.L[1].N", "Must be a number."),
        (json!({"SS": []}), "value.SS", "Sets can't be empty."),
        (json!({"SS": "a"}), "value.SS", "Must be a list."),
        (json!({"SS": ["a", "b", "a"]}), "value.SS[2]", "Is in this set already."),
        (json!({"NS": ["1", "1.0"]}), "value.NS[1]", "Is in this set already."),
        (json!({"NS": ["1", "a"]}), "value.NS[1]", "Must be a number."),
        (json!({"BS": ["AQ==", 1]}), "value.BS[1]", "Must be a string."),
    ] {
        assert_eq!(fault(json.clone()), (path.to_owned(), message.to_owned()), "{json}");
    }
}

#[test]
fn values_lie_32_levels_deep_at_most() {
    assert!(AttributeValue::read("value", nested(32)).is_ok());
    let (path, message) = fault(nested(33));
    assert_eq!(path, format!("value{}", ".L[0]".repeat(32)));
    assert_eq!(message, "Values can be nested up to 32 levels deep.");
    assert!(AttributeValue::read("value", nested(60)).is_err());
}

#[test]
fn names_have_their_limit_and_are_cut_where_they_are_shown() {
    let named = |len: usize| json!({"M": {"n".repeat(len): {"S": 1}}});
    assert_eq!(fault(named(NAME_BYTES_MAX)).0, format!("value.M.{}….S", "n".repeat(64)));
    let (path, message) = fault(named(NAME_BYTES_MAX + 1));
    assert_eq!((path.as_str(), message.as_str()), ("value.M", "Names of attributes have at most 65,535 bytes."));
}

#[test]
fn sizes_are_those_of_dynamodbs_documents() {
    for (json, size) in [
        (json!({"S": "é"}), 2),
        (json!({"N": "123456"}), 4),
        (json!({"B": "AP8="}), 2),
        (json!({"BOOL": true}), 1),
        (json!({"NULL": true}), 1),
        (json!({"L": []}), 3),
        (json!({"M": {}}), 3),
        // 3, and 1 beside each entry.
        (json!({"L": [{"S": "ab"}, {"N": "1"}]}), 3 + (1 + 2) + (1 + 2)),
        (json!({"M": {"ab": {"S": "c"}, "é": {"L": []}}}), 3 + (1 + 2 + 1) + (1 + 2 + 3)),
        (json!({"SS": ["a", "bc"]}), 3),
        (json!({"NS": ["1", "100"]}), 4),
        (json!({"BS": ["AP8=", ""]}), 2),
    ] {
        assert_eq!(value(json.clone()).size(), size, "{json}");
    }
}

#[test]
fn texts_sort_by_their_utf8_and_types_not_at_all() {
    // In UTF-16 the first would come last.
    assert_eq!(value(json!({"S": "\u{ffff}"})).order(&value(json!({"S": "🎉"}))), Some(Ordering::Less));
    assert_eq!(value(json!({"B": "fw=="})).order(&value(json!({"B": "gA=="}))), Some(Ordering::Less));
    assert_eq!(value(json!({"N": "9"})).order(&value(json!({"N": "10"}))), Some(Ordering::Less));
    assert_eq!(value(json!({"N": "9"})).order(&value(json!({"S": "10"}))), None);
    assert_eq!(value(json!({"BOOL": true})).order(&value(json!({"BOOL": false}))), None);
}

#[test]
fn parts_are_found_in_texts_binary_sets_and_lists() {
    for (json, part, is_in) in [
        (json!({"S": "abc"}), json!({"S": "bc"}), true),
        (json!({"S": "abc"}), json!({"S": "BC"}), false),
        (json!({"B": "AP8A"}), json!({"B": "/wA="}), true),
        (json!({"B": "AP8A"}), json!({"B": "AAA="}), false),
        // 0xc3 0xbf is how UTF-8 would write 0xff.
        (json!({"B": "/w=="}), json!({"B": "vw=="}), false),
        (json!({"SS": ["a"]}), json!({"S": "a"}), true),
        (json!({"NS": ["1"]}), json!({"N": "1.0"}), true),
        (json!({"BS": ["AQ=="]}), json!({"B": "AQ=="}), true),
        (json!({"L": [{"SS": ["a", "b"]}]}), json!({"SS": ["b", "a"]}), true),
        (json!({"L": [{"S": "a"}]}), json!({"S": "b"}), false),
        (json!({"N": "123"}), json!({"N": "2"}), false),
        (json!({"M": {"a": {"S": "a"}}}), json!({"S": "a"}), false),
        (json!({"S": "abc"}), json!({"B": ""}), false),
    ] {
        assert_eq!(value(json.clone()).contains(&value(part.clone())), is_in, "{json} {part}");
    }
}

#[test]
fn binary_that_repeats_itself_is_searched_in_no_time() {
    let bytes = AttributeValue::Binary(vec![0; 300_000]);
    let mut part = vec![0; 150_000];
    part.push(1);
    assert!(!bytes.contains(&AttributeValue::Binary(part)));
}

proptest! {
    #[test]
    fn what_is_written_reads_as_itself(one in any_value(), two in any_value()) {
        let text = |value: &AttributeValue| serde_json::to_string(value).unwrap();
        let again = value(serde_json::from_str(&text(&one)).unwrap());
        prop_assert_eq!(&again, &one);
        prop_assert_eq!(text(&again), text(&one));
        // Equal values have one text, and one text is of equal values.
        prop_assert_eq!(one == two, text(&one) == text(&two));
    }
}
