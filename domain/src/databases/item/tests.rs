use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::databases::value::tests::any_value;

pub(in crate::databases) fn item(json: Value) -> Item {
    Item::read("item", json).unwrap()
}

pub(in crate::databases) fn any_item() -> impl Strategy<Value = Item> {
    proptest::collection::btree_map("[a-dé]{1,2}", any_value(), 0..5).prop_map(Item)
}

fn sized(bytes: usize) -> Value {
    json!({"id": {"S": "a"}, "text": {"S": "b".repeat(bytes - "ida".len() - "text".len())}})
}

#[test]
fn an_item_has_its_limit_to_the_byte() {
    assert_eq!(item(sized(ITEM_BYTES_MAX)).size(), 409_600);
    let refused = Item::read("item", sized(ITEM_BYTES_MAX + 1)).unwrap_err();
    assert_eq!(
        (refused.status(), refused.to_string().as_str()),
        (413, "The item is larger than DynamoDB's 400 KB limit.")
    );
}

#[test]
fn an_item_counts_names_and_values() {
    // The example of DynamoDB's documents: names 5, 4 and 5, a text of 6, a number of two digits, true.
    let json = json!({"title": {"S": "Éclat"}, "year": {"N": "20"}, "there": {"BOOL": true}});
    assert_eq!(item(json).size(), (5 + 6) + (4 + 2) + (5 + 1));
    assert_eq!(item(json!({})).size(), 0);
}

#[test]
fn an_item_that_cannot_be_read_is_named_with_its_place() {
    for (json, path, message) in [
        (json!([]), "item", "Must be an object."),
        (json!({"a": 1}), "item.a", "Must be an object with exactly one of S, N, B, BOOL, NULL, M, L, SS, NS and BS."),
        (json!({"": {"S": ""}}), "item", "Names of attributes can't be empty."),
        (json!({"a": {"M": {"b": {"N": "x"}}}}), "item.a.M.b.N", "Must be a number."),
    ] {
        let Err(Error::Invalid { problems }) = Item::read("item", json) else { panic!("{path}") };
        assert_eq!((problems[0].path.as_str(), problems[0].message.as_str()), (path, message));
    }
}

#[test]
fn a_projection_keeps_what_is_there_of_what_is_named() {
    let whole = item(json!({"a": {"S": "1"}, "b": {"S": "2"}}));
    assert_eq!(whole.clone().project(["b", "c", "b"]), item(json!({"b": {"S": "2"}})));
    assert!(whole.project([]).is_empty());
}

#[test]
fn a_kept_text_that_is_none_is_a_defect() {
    for text in ["", "[]", r#"{"a":{}}"#, r#"{"a":{"S":"","N":"1"}}"#, r#"{"a":{"N":"x"}}"#, r#"{"a":{"S":1}}"#, "{} 1"]
    {
        assert_eq!(Item::from_text(text).unwrap_err().status(), 500);
    }
}

proptest! {
    #[test]
    fn an_item_is_kept_as_itself(item in any_item()) {
        let text = item.to_text();
        prop_assert_eq!(Item::from_text(&text).unwrap(), item.clone());
        prop_assert_eq!(Item::read("item", serde_json::from_str(&text).unwrap()).unwrap(), item);
    }
}
