use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    Timestamp,
    databases::{
        Condition, ITEM_BYTES_MAX, IndexKind, KeySchema, KeyType, Substitutes, Update,
        item::tests::item,
        key::tests::attribute,
        table::tests::{draft, index},
    },
    error::Error,
};

fn table() -> Table {
    draft().check().unwrap()
}

fn user(pk: &str, name: &str) -> Item {
    item(json!({"pk": {"S": pk}, "sk": {"N": "1"}, "name": {"S": name}}))
}

fn decided(stored: &[&Item], item: Item, expected: Expected) -> Result<PutOutcome> {
    let table = table();
    let rows: BTreeMap<_, _> = stored.iter().map(|item| (table.row_of(item).unwrap(), *item)).collect();
    let put = Put::check(&table, item, expected)?;
    put.decide(|row| rows.get(row).copied())
}

fn refusal(stored: &[&Item], item: Item, expected: Expected) -> (u16, &'static str, String) {
    let refused = decided(stored, item, expected).unwrap_err();
    (refused.status(), refused.code(), refused.to_string())
}

#[test]
fn without_an_original_a_put_only_makes_an_item() {
    let one = user("a", "One");
    assert_eq!(decided(&[], one.clone(), Expected::None).unwrap(), PutOutcome::Created);
    let refused = refusal(&[&one], one.clone(), Expected::None);
    assert_eq!(refused, (409, "item_exists", "An item with this key already exists.".to_owned()));
}

#[test]
fn a_put_replaces_the_item_that_was_seen() {
    let (one, two, three) = (user("a", "One"), user("a", "Two"), user("a", "Three"));
    let expected = Expected::Equal(one.clone());
    assert_eq!(decided(&[&one], two.clone(), expected.clone()).unwrap(), PutOutcome::Replaced);
    let refused = refusal(&[], two.clone(), expected.clone());
    assert_eq!(refused, (409, "item_deleted", "This item was deleted. Create it again instead.".to_owned()));
    let refused = decided(&[&three], two.clone(), expected).unwrap_err();
    assert_eq!(refused.to_string(), "This item changed since you opened it.");
    let Error::Conflict { code, adds, .. } = refused else { panic!("a conflict") };
    assert_eq!((code, &adds["current"]["name"]), ("stale_item", &json!({"S": "Three"})));
    // Equal by value is enough.
    let kept = item(json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "tags": {"NS": ["1", "2"]}}));
    let seen = item(json!({"pk": {"S": "a"}, "sk": {"N": "1.0"}, "tags": {"NS": ["2.0", "1"]}}));
    assert!(decided(&[&kept], two, Expected::Equal(seen)).is_ok());
}

#[test]
fn another_key_moves_the_item_where_nobody_is() {
    let (one, two) = (user("a", "One"), user("b", "Two"));
    let expected = Expected::Equal(one.clone());
    assert_eq!(decided(&[&one], two.clone(), expected.clone()).unwrap(), PutOutcome::Moved);
    assert_eq!(refusal(&[&one, &two], two.clone(), expected.clone()).1, "item_exists");
    assert_eq!(refusal(&[&two], two.clone(), expected.clone()).1, "item_deleted");
    let put = Put::check(&table(), two.clone(), expected).unwrap();
    assert_eq!((put.to(), put.from()), (&table().row_of(&two).unwrap(), &table().row_of(&one).unwrap()));
    assert_eq!(put.item(), &two);
}

#[test]
fn a_tag_does_instead_of_an_original() {
    let (one, two) = (user("a", "One"), user("a", "Two"));
    let tag = ItemTag::of(&one);
    assert_eq!(ItemTag::parse(&tag.to_string()), Some(tag));
    assert_eq!(ItemTag::of_text(&one.to_text()), tag);
    assert!(
        ["", "*", "\"\"", "\"AAAA\"", "W/\"AAAAAAAAAAAAAAAAAAAAAA\""].iter().all(|it| ItemTag::parse(it).is_none())
    );
    assert_eq!(decided(&[&one], two.clone(), Expected::Tagged(tag)).unwrap(), PutOutcome::Replaced);
    assert_eq!(refusal(&[&two], two.clone(), Expected::Tagged(tag)).1, "stale_item");
    assert_eq!(refusal(&[], two, Expected::Tagged(tag)).1, "item_deleted");
}

#[test]
fn an_item_has_a_key_here_and_in_every_index_that_it_is_in() {
    for (json, message) in [
        (json!({"pk": {"S": "a"}}), "A key has only pk and sk."),
        (json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "email": {"N": "1"}}), "email must be a string."),
        (json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "email": {"S": ""}}), "email can't be empty."),
        (json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "date": {"S": "1"}}), "date must be a number."),
    ] {
        assert_eq!(refusal(&[], item(json), Expected::None), (400, "invalid_key", message.to_owned()));
    }
    let lacking = Expected::Equal(item(json!({"pk": {"S": "a"}})));
    assert_eq!(refusal(&[], user("a", "One"), lacking).2, "A key has only pk and sk.");
}

#[test]
fn a_batch_names_each_item_once() {
    let schema = table().schema;
    let key = |at: usize| item(json!({"pk": {"S": at.to_string()}, "sk": {"N": "1"}}));
    let keys = |count: usize| (0..count).map(key).collect::<Vec<_>>();
    assert_eq!(batch_check(&schema, &keys(100)).unwrap().len(), 100);
    for count in [0, 101] {
        assert!(matches!(batch_check(&schema, &keys(count)), Err(Error::Invalid { .. })));
    }
    let twice = [key(1), item(json!({"pk": {"S": "1"}, "sk": {"N": "1.0"}}))];
    let refused = batch_check(&schema, &twice).unwrap_err();
    assert_eq!((refused.status(), refused.to_string().as_str()), (400, "The same key is listed twice."));
    assert_eq!(batch_check(&schema, &[user("a", "One")]).unwrap_err().to_string(), "A key has only pk and sk.");
}

fn users(count: usize) -> Vec<Value> {
    (0..count).map(|at| json!({"pk": {"S": at.to_string()}, "sk": {"N": "1"}})).collect()
}

#[test]
fn an_import_names_every_item_that_cannot_be_written() {
    let mut items = users(4);
    items[1] = json!({"pk": {"S": "1"}, "sk": {"N": "x"}});
    items[2] = json!({"pk": {"S": "1"}});
    items[3]["text"] = json!({"S": "a".repeat(400 * 1024)});
    let refused = Import::check(&table(), items, ImportMode::Skip).unwrap_err();
    let Error::Invalid { problems } = refused else { panic!("{refused}") };
    let problems: Vec<_> = problems.iter().map(|it| (it.path.as_str(), it.message.as_str())).collect();
    assert_eq!(
        problems,
        [
            ("items[1].sk.N", "Must be a number."),
            ("items[2]", "A key has only pk and sk."),
            ("items[3]", "The item is larger than DynamoDB's 400 KB limit."),
        ]
    );
    let twice = [users(2), users(1)].concat();
    assert_eq!(Import::check(&table(), twice, ImportMode::Skip).unwrap_err().code(), "duplicate_key");
    for (count, passes) in [(0, false), (1, true), (100, true), (101, false)] {
        assert_eq!(Import::check(&table(), users(count), ImportMode::Skip).is_ok(), passes);
    }
}

#[test]
fn an_import_leaves_out_what_is_there_or_takes_its_place() {
    for (mode, written) in [(ImportMode::Skip, 2), (ImportMode::Overwrite, 3)] {
        let import = Import::check(&table(), users(3), mode).unwrap();
        let taken = import.rows().next().cloned();
        let plan = import.plan(|row| Some(row) == taken.as_ref());
        assert_eq!((plan.writes.len(), plan.skipped), (written, 3 - written));
    }
}

/// What an update of the user `a` makes of what is there.
fn updated(update: &str, condition: Option<&str>, current: Option<&Item>) -> Result<Item> {
    let values = json!({":one": {"N": "1"}, ":text": {"S": "x".repeat(ITEM_BYTES_MAX / 2)}});
    let uses = |name: &str| update.contains(name) || condition.is_some_and(|condition| condition.contains(name));
    let Value::Object(values) = values else { unreachable!("an object") };
    let values = values.into_iter().filter(|(name, _)| uses(name)).collect();
    let mut substitutes = Substitutes::read(BTreeMap::new(), values)?;
    let update = Update::parse(update, &mut substitutes).map_err(|fault| fault.into_error("update"))?;
    let condition = condition.map(|text| Condition::parse(text, &mut substitutes).unwrap());
    let key = item(json!({"pk": {"S": "a"}, "sk": {"N": "1"}}));
    ItemUpdate::check(&table(), key, (update, condition), &substitutes)?.decide(&table(), current)
}

#[test]
fn an_update_makes_an_item_or_changes_the_one_that_is_there() {
    let one = user("a", "One");
    let made = updated("SET n = :one, p = pk", None, None).unwrap();
    assert_eq!(made, item(json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "n": {"N": "1"}, "p": {"S": "a"}})));
    let changed = updated("ADD n :one", Some("attribute_exists(pk)"), Some(&one)).unwrap();
    assert_eq!((changed.get("n"), changed.get("name")), (made.get("n"), one.get("name")));
    for (condition, current, said) in [
        ("attribute_exists(pk)", None, Value::Null),
        ("attribute_not_exists(pk)", Some(&one), serde_json::to_value(&one).unwrap()),
    ] {
        let Err(Error::Conflict { code, adds, .. }) = updated("ADD n :one", Some(condition), current) else {
            panic!("{condition} holds")
        };
        assert_eq!((code, &adds["current"]), ("condition_failed", &said));
    }
}

#[test]
fn an_update_leaves_keys_alone_and_items_small_enough() {
    for update in ["SET pk = :one", "REMOVE sk", "SET pk.x = :one"] {
        assert_eq!(updated(update, None, None).unwrap_err().status(), 400, "{update}");
    }
    assert!(updated("SET t = :text", None, None).is_ok());
    assert_eq!(updated("SET t = :text, u = :text", None, None).unwrap_err().status(), 413);
    let half = updated("SET t = :text", None, None).unwrap();
    assert_eq!(updated("SET u = t", None, Some(&half)).unwrap_err().status(), 413);
}

#[test]
fn an_item_expires_at_the_seconds_that_it_says() {
    const NOW: i64 = 1_700_000_000;
    let expires = |value: Value| expires_at(&item(json!({"at": value})), "at", Timestamp(NOW * 1_000));
    let seconds = |seconds: i64| expires(json!({"N": seconds.to_string()}));
    assert_eq!(seconds(NOW + 60), Some(Timestamp((NOW + 60) * 1_000)));
    assert_eq!(seconds(NOW - 60), Some(Timestamp((NOW - 60) * 1_000)));
    let five_years = 5 * 365 * 24 * 60 * 60;
    assert!(seconds(NOW - five_years).is_some());
    assert_eq!(seconds(NOW - five_years - 1), None);
    assert_eq!(expires(json!({"N": (NOW * 1_000).to_string()})), Some(Timestamp(NOW * 1_000_000)));
    for other in [json!({"S": "1700000000"}), json!({"NULL": true}), json!({"N": "1E18"}), json!({"N": "-1E125"})] {
        assert_eq!(expires(other), None);
    }
    assert_eq!(expires_at(&item(json!({})), "at", Timestamp(0)), None);
}

/// Items of which about half are in an index by `a`, a text, and `b`, a number.
fn any_indexed() -> impl Strategy<Value = Item> {
    let a = prop_oneof![3 => "[xy]".prop_map(|text| json!({"S": text})), 1 => Just(json!({"N": "1"}))];
    let b =
        prop_oneof![3 => (1_u8..3).prop_map(|number| json!({"N": number.to_string()})), 1 => Just(json!({"S": ""}))];
    (proptest::option::weighted(0.8, a), proptest::option::weighted(0.8, b), 0_u8..3).prop_map(|(a, b, c)| {
        let values = [("a", a), ("b", b), ("c", Some(json!({"N": c.to_string()})))];
        item(values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    })
}

proptest! {
    #[test]
    fn an_index_is_what_its_changes_made_of_it(
        writes in proptest::collection::vec((0_usize..3, proptest::option::of(any_indexed())), 0..12),
    ) {
        let keys = KeySchema { partition: attribute("a", KeyType::S), sort: Some(attribute("b", KeyType::N)) };
        let index = index("by-a", IndexKind::Global, keys);
        let (mut items, mut rows) = (BTreeMap::<usize, Item>::new(), BTreeSet::new());
        for (at, new) in writes {
            let change = index.change(items.get(&at), new.as_ref());
            prop_assert!(change.delete.is_none() || change.delete != change.insert);
            if let Some(row) = change.delete {
                prop_assert!(rows.remove(&(row, at)));
            }
            if let Some(row) = change.insert {
                prop_assert!(rows.insert((row, at)));
            }
            match new {
                Some(new) => items.insert(at, new),
                None => items.remove(&at),
            };
        }
        let rebuilt: BTreeSet<_> = items.iter().filter_map(|(at, item)| Some((index.row_of(item)?, *at))).collect();
        prop_assert_eq!(rows, rebuilt);
    }
}
