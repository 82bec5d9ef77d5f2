use proptest::prelude::*;
use serde_json::{Value, json};

use super::{super::item::tests::item, *};
use crate::databases::number::tests::any_number;

pub(in crate::databases) fn attribute(name: &str, key_type: KeyType) -> KeyAttribute {
    KeyAttribute { name: name.to_owned(), key_type }
}

pub(in crate::databases) fn schema(partition: KeyType, sort: Option<KeyType>) -> KeySchema {
    KeySchema { partition: attribute("pk", partition), sort: sort.map(|sort| attribute("sk", sort)) }
}

fn any_key_value() -> impl Strategy<Value = KeyValue> {
    prop_oneof![
        ".{1,6}".prop_map(KeyValue::String),
        any_number().prop_map(KeyValue::Number),
        proptest::collection::vec(any::<u8>(), 1..6).prop_map(KeyValue::Binary),
    ]
}

fn refusal(schema: &KeySchema, key: Value) -> String {
    let refused = schema.key(&item(key)).unwrap_err();
    assert_eq!((refused.status(), refused.code()), (400, "invalid_key"));
    refused.to_string()
}

#[test]
fn a_key_has_the_attributes_of_the_schema_and_no_other() {
    let (simple, whole) = (schema(KeyType::S, None), schema(KeyType::S, Some(KeyType::N)));
    for key in [json!({}), json!({"sk": {"S": "a"}}), json!({"pk": {"S": "a"}, "sk": {"N": "1"}})] {
        assert_eq!(refusal(&simple, key), "A key has only pk.");
    }
    for key in [
        json!({"pk": {"S": "a"}}),
        json!({"pk": {"N": "1"}}),
        json!({"pk": {"S": "a"}, "other": {"N": "1"}}),
        json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "other": {"N": "1"}}),
    ] {
        assert_eq!(refusal(&whole, key), "A key has only pk and sk.");
    }
    let found = whole.key(&item(json!({"sk": {"N": "1.0"}, "pk": {"S": "a"}}))).unwrap();
    assert_eq!(found.into_item(&whole), item(json!({"pk": {"S": "a"}, "sk": {"N": "1"}})));
    // An item may have more, and not less.
    let more = json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "other": {"N": "1"}});
    assert!(whole.key_of(&item(more)).is_ok());
    assert_eq!(whole.key_of(&item(json!({"sk": {"N": "1"}}))).unwrap_err().to_string(), "A key has only pk and sk.");
}

#[test]
fn a_key_has_the_types_of_the_schema_and_something_in_it() {
    for (key_type, wrong, message) in [
        (KeyType::S, json!({"N": "1"}), "pk must be a string."),
        (KeyType::N, json!({"S": "1"}), "pk must be a number."),
        (KeyType::B, json!({"S": "1"}), "pk must be binary."),
        (KeyType::S, json!({"NULL": true}), "pk must be a string."),
        (KeyType::S, json!({"S": ""}), "pk can't be empty."),
        (KeyType::B, json!({"B": ""}), "pk can't be empty."),
    ] {
        assert_eq!(refusal(&schema(key_type, None), json!({"pk": wrong})), message);
    }
    let whole = schema(KeyType::S, Some(KeyType::S));
    assert_eq!(refusal(&whole, json!({"pk": {"S": "a"}, "sk": {"S": ""}})), "sk can't be empty.");
}

#[test]
fn keys_have_their_limits_in_bytes() {
    let whole = schema(KeyType::S, Some(KeyType::S));
    let key = |pk: String, sk: String| json!({"pk": {"S": pk}, "sk": {"S": sk}});
    assert!(whole.key(&item(key("é".repeat(1_024), "é".repeat(512)))).is_ok());
    assert_eq!(refusal(&whole, key("a".repeat(2_049), "b".into())), "pk has at most 2,048 bytes.");
    assert_eq!(refusal(&whole, key("a".into(), "b".repeat(1_025))), "sk has at most 1,024 bytes.");
}

#[test]
fn an_item_is_in_an_index_where_it_has_all_of_its_attributes() {
    let index = schema(KeyType::S, Some(KeyType::N));
    let found = |json: Value| index.index_key_of(&item(json));
    assert!(found(json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "id": {"S": "a"}})).unwrap().is_some());
    assert!(found(json!({"pk": {"S": "a"}})).unwrap().is_none());
    assert!(found(json!({"sk": {"N": "1"}})).unwrap().is_none());
    assert_eq!(found(json!({"sk": {"S": "1"}})).unwrap_err().to_string(), "sk must be a number.");
    assert_eq!(found(json!({"pk": {"S": ""}})).unwrap_err().to_string(), "pk can't be empty.");
}

#[test]
fn a_partition_lies_where_dynamodb_has_it() {
    // MD5 of "Outliersa", by another program.
    let row = RowKey::new(&KeyValue::String("a".to_owned()), None);
    assert_eq!(row.pk, [0xf6, 0x55, 0x8e, 0x51, b'a']);
    assert_eq!((row.slot(), row.sk.is_empty()), (15, true));
    let number = KeyValue::Number("1.0".parse().unwrap());
    assert_eq!(number.pk()[4..], [0xc1, 2]);
}

#[test]
fn what_begins_with_a_prefix_ends_before_its_successor() {
    let until = |prefix: &[u8]| KeyRange::with_prefix(prefix.to_vec()).until;
    assert_eq!(until(b"ab"), Some(b"ac".to_vec()));
    assert_eq!(until(b"a\xff\xff"), Some(b"b".to_vec()));
    assert_eq!(until(b"\xff"), None);
    assert_eq!(until(b""), None);
}

proptest! {
    #[test]
    fn rows_of_a_partition_sort_by_their_sort_keys(
        partition in any_key_value(), one in any_number(), two in any_number(), text in ".{1,4}", other in ".{1,4}",
    ) {
        let row = |sort: KeyValue| RowKey::new(&partition, Some(&sort));
        prop_assert_eq!(row(KeyValue::Number(one)).cmp(&row(KeyValue::Number(two))), one.cmp(&two));
        let order = text.chars().cmp(other.chars());
        prop_assert_eq!(row(KeyValue::String(text)).cmp(&row(KeyValue::String(other))), order);
    }

    #[test]
    fn every_partition_lies_in_one_slot(partition in any_key_value()) {
        let row = RowKey::new(&partition, None);
        for slot in 0..SLOTS {
            prop_assert_eq!(slot_range(slot).contains(&row.pk), slot == row.slot());
        }
    }

    #[test]
    fn two_keys_lie_at_one_row_only_where_they_are_equal(one in any_key_value(), two in any_key_value()) {
        let same_type = std::mem::discriminant(&one) == std::mem::discriminant(&two);
        prop_assert_eq!(same_type && one.pk() == two.pk(), one == two);
    }

    #[test]
    fn ranges_have_in_them_what_they_say(
        bytes in proptest::collection::vec(253_u8..=255, 0..4),
        one in proptest::collection::vec(253_u8..=255, 0..4),
        two in proptest::collection::vec(253_u8..=255, 0..4),
    ) {
        let is_in = |range: KeyRange| {
            assert!(!range.is_empty() || !range.contains(&bytes));
            range.contains(&bytes)
        };
        prop_assert_eq!(is_in(KeyRange::exactly(one.clone())), bytes == one);
        prop_assert_eq!(is_in(KeyRange::below(one.clone())), bytes < one);
        prop_assert_eq!(is_in(KeyRange::up_to(one.clone())), bytes <= one);
        prop_assert_eq!(is_in(KeyRange::above(one.clone())), bytes > one);
        prop_assert_eq!(is_in(KeyRange::starting_at(one.clone())), bytes >= one);
        prop_assert_eq!(is_in(KeyRange::with_prefix(one.clone())), bytes.starts_with(&one));
        prop_assert_eq!(is_in(KeyRange::between(one.clone(), two.clone())), one <= bytes && bytes <= two);
        prop_assert!(is_in(KeyRange::all()));
    }
}
