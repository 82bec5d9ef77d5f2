use serde_json::{Value, json};

use super::*;
use crate::databases::{key::tests::schema, table::tests::draft, value::tests::value};

fn asked(op: SortOp, given: Value, second: Option<Value>) -> SortCondition {
    SortCondition { op, value: Some(value(given)), value2: second.map(value) }
}

fn refusal(keys: &KeySchema, sort: &SortCondition) -> String {
    let refused = QueryRange::new(keys, &value(json!({"S": "a"})), Some(sort)).unwrap_err();
    assert_eq!(refused.status(), 400);
    refused.to_string()
}

#[test]
fn conditions_hold_for_the_sort_keys_that_they_say() {
    let keys = schema(KeyType::S, Some(KeyType::N));
    let cases = [
        (SortOp::Equal, None, "3"),
        (SortOp::Less, None, "-10 2.5"),
        (SortOp::LessOrEqual, None, "-10 2.5 3"),
        (SortOp::Greater, None, "10"),
        (SortOp::GreaterOrEqual, None, "3 10"),
        (SortOp::Between, Some(json!({"N": "10"})), "3 10"),
        (SortOp::Between, Some(json!({"N": "2"})), ""),
    ];
    for (op, second, found) in cases {
        let range = asked(op, json!({"N": "3"}), second).range(&keys).unwrap();
        let is_in = |text: &&str| range.contains(&text.parse::<crate::databases::Number>().unwrap().key_bytes());
        assert_eq!(["-10", "2.5", "3", "10"].into_iter().filter(is_in).collect::<Vec<_>>().join(" "), found, "{op}");
    }
}

#[test]
fn prefixes_are_of_texts_and_binary() {
    let texts = schema(KeyType::S, Some(KeyType::S));
    let range = asked(SortOp::BeginsWith, json!({"S": "a"}), None).range(&texts).unwrap();
    assert_eq!(
        ["a", "ab", "b", "A", ""].map(|text| range.contains(text.as_bytes())),
        [true, true, false, false, false]
    );
    let binary = schema(KeyType::S, Some(KeyType::B));
    let range = asked(SortOp::BeginsWith, json!({"B": "/w=="}), None).range(&binary).unwrap();
    assert!(range.contains(&[255, 255, 255]) && range.until.is_none());
    let numbers = schema(KeyType::S, Some(KeyType::N));
    let refused = refusal(&numbers, &asked(SortOp::BeginsWith, json!({"N": "1"}), None));
    assert_eq!(refused, "begins_with works on string and binary sort keys only.");
}

#[test]
fn conditions_need_a_sort_key_and_their_values() {
    let (simple, whole) = (schema(KeyType::S, None), schema(KeyType::S, Some(KeyType::N)));
    let sort = asked(SortOp::Between, json!({"N": "1"}), None);
    assert_eq!(refusal(&simple, &sort), "This table or index has no sort key.");
    assert_eq!(refusal(&whole, &sort), "The sort key condition is missing a value.");
    let none = SortCondition { op: SortOp::Equal, value: None, value2: Some(value(json!({"N": "1"}))) };
    assert_eq!(refusal(&whole, &none), "The sort key condition is missing a value.");
    assert_eq!(refusal(&whole, &asked(SortOp::Equal, json!({"S": "1"}), None)), "sk must be a number.");
}

#[test]
fn a_query_reads_one_partition() {
    let keys = schema(KeyType::S, Some(KeyType::N));
    let range = QueryRange::new(&keys, &value(json!({"S": "a"})), None).unwrap();
    assert_eq!((&range.pk[4..], range.sk), (&b"a"[..], KeyRange::all()));
    let refused = QueryRange::new(&keys, &value(json!({"N": "1"})), None).unwrap_err();
    assert_eq!(refused.to_string(), "pk must be a string.");
}

#[test]
fn an_index_is_read_by_its_name() {
    let table = draft().check().unwrap();
    assert_eq!(table.source(None).unwrap().schema(), &table.schema);
    assert_eq!(table.source(Some("by-email")).unwrap().schema().partition.name, "email");
    let refused = table.source(Some("by-name")).unwrap_err();
    assert_eq!((refused.status(), refused.to_string().as_str()), (400, "No index named by-name."));
}
