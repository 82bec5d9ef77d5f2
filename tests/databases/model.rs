//! Random plans: what a table answers is what a map in memory does, by the same rules; and its rows are those that its items
//! make. How numbers are sorted, and which items filters let pass, is decided here without those rules.
//!
//! `TROUPE_DATABASE_STEPS` sets how many steps are played, `TROUPE_DATABASE_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};

use domain::databases::{Direction, Expected, Item, Put, PutOutcome, QueryRange, RowKey, Table as Rules};
use serde_json::{Value, json};
use store::{databases::TableRows, testing::recount};

use super::{Table, Tables, index_rows};
use crate::harness::{Dice, number};

const STEPS: u64 = 400;
/// Steps between two looks at all rows.
const LOOK_EVERY: u64 = 200;
/// Numbers in their order, up to the longest and the greatest that there are.
const NUMBERS: [&str; 13] = [
    "-9.9999999999999999999999999999999999999E125",
    "-12345678901234567890123456789012345678",
    "-12345678901234567890123456789012345677",
    "-2",
    "-1E-130",
    "0",
    "1E-130",
    "0.1",
    "1",
    "2",
    "12345678901234567890123456789012345677",
    "12345678901234567890123456789012345678",
    "99999999999999999999999999999999999999E87",
];

/// What the table has to have.
struct Model {
    rules: Rules,
    items: BTreeMap<RowKey, Item>,
}

fn item(json: &Value) -> Item {
    Item::read("item", json.clone()).unwrap()
}

fn json_of(item: &Item) -> Value {
    serde_json::to_value(item).unwrap()
}

/// A number of few.
fn any_number(dice: &mut Dice) -> Value {
    json!({ "N": *dice.pick(&NUMBERS) })
}

/// How many of the numbers are less than this one, which is one of them; none where it isn't there.
fn place(number: &Value) -> Option<usize> {
    let text = number["N"].as_str()?;
    let normal = |number: &str| json_of(&item(&json!({ "n": {"N": number} })))["n"]["N"].clone();
    NUMBERS.iter().position(|known| normal(known) == normal(text))
}

/// A key of few, so that many meet.
fn any_key(dice: &mut Dice) -> Value {
    let id = *dice.pick(&["a", "b", "c", "d"]);
    json!({"id": {"S": id}, "at": any_number(dice)})
}

fn any_item(dice: &mut Dice) -> Value {
    let mut item = any_key(dice);
    if dice.percent(70) {
        item["email"] = json!({"S": format!("{}@x", dice.below(3))});
    }
    if dice.percent(70) {
        item["age"] = any_number(dice);
    }
    if dice.percent(50) {
        item["text"] = json!({"S": "x".repeat(usize::try_from(dice.below(2_000)).unwrap())});
    }
    item
}

impl Model {
    fn any_there(&self, dice: &mut Dice) -> Value {
        let items: Vec<_> = self.items.values().cloned().collect();
        if items.is_empty() || dice.percent(10) { any_item(dice) } else { json_of(dice.pick(&items)) }
    }

    /// The status that a put is answered with; what it does is done.
    fn put(&mut self, new: &Value, original: Option<&Value>) -> u16 {
        let expected = original.map_or(Expected::None, |original| Expected::Equal(item(original)));
        let put = Put::check(&self.rules, item(new), expected).unwrap();
        match put.decide(|row| self.items.get(row)) {
            Err(refused) => return refused.status(),
            Ok(PutOutcome::Moved) => drop(self.items.remove(put.from())),
            Ok(PutOutcome::Created | PutOutcome::Replaced) => {}
        }
        self.items.insert(put.to().clone(), put.item().clone());
        200
    }

    fn row(&self, key: &Value) -> RowKey {
        self.rules.schema.key(&item(key)).unwrap().row()
    }
}

async fn put(dice: &mut Dice, model: &mut Model, table: &Table) {
    let (new, original) = (any_item(dice), dice.percent(60).then(|| model.any_there(dice)));
    let answer = table.put(json!({ "item": new, "original": original })).await;
    assert_eq!(answer.status, model.put(&new, original.as_ref()), "{new} {original:?}: {}", answer.text);
}

/// An update of few, by its text; what it asks of the item before; and what it makes of the item, decided on its JSON.
type Plan = (&'static str, Option<&'static str>, fn(&mut Value, &Value) -> bool);

/// What updates do, where `age` and `email` are what items may lack. Each tells whether it can be done.
const UPDATES: [Plan; 6] = [
    ("SET age = :age, email = :email", None, |item, values| {
        item["age"] = values[":age"].clone();
        item["email"] = values[":email"].clone();
        true
    }),
    ("SET email = if_not_exists(email, :email) REMOVE age", Some("attribute_exists(id)"), |item, values| {
        item.as_object_mut().unwrap().remove("age");
        if item["email"].is_null() {
            item["email"] = values[":email"].clone();
        }
        true
    }),
    ("SET age = :age REMOVE email", Some("attribute_not_exists(id) OR age <> :age"), |item, values| {
        item["age"] = values[":age"].clone();
        item.as_object_mut().unwrap().remove("email");
        true
    }),
    ("SET notes = list_append(if_not_exists(notes, :none), :note)", None, |item, values| {
        let mut notes = item["notes"]["L"].as_array().cloned().unwrap_or_default();
        notes.extend(values[":note"]["L"].as_array().unwrap().iter().cloned());
        item["notes"] = json!({ "L": notes });
        true
    }),
    ("SET notes[9] = :first, #text = :first REMOVE notes[0]", None, |item, values| {
        let Some(notes) = item.pointer_mut("/notes/L").and_then(Value::as_array_mut) else { return false };
        notes.push(values[":first"].clone());
        // What was added just now isn't at a position of before.
        if notes.len() > 1 {
            notes.remove(0);
        }
        item["text"] = values[":first"].clone();
        true
    }),
    ("ADD tags :tags", None, |item, values| {
        let mut tags: BTreeSet<String> = serde_json::from_value(item["tags"]["SS"].clone()).unwrap_or_default();
        tags.extend(serde_json::from_value::<BTreeSet<String>>(values[":tags"]["SS"].clone()).unwrap());
        item["tags"] = json!({ "SS": tags });
        true
    }),
];

/// Whether a condition of [`UPDATES`] holds.
fn condition_holds(condition: Option<&str>, there: Option<&Value>, values: &Value) -> bool {
    match condition {
        None => true,
        Some("attribute_exists(id)") => there.is_some(),
        Some(_) => there.is_none_or(|item| place(&item["age"]) != place(&values[":age"])),
    }
}

async fn update(dice: &mut Dice, model: &mut Model, table: &Table) {
    let (text, condition, change) = *dice.pick(&UPDATES);
    let values = json!({
        ":age": any_number(dice), ":email": {"S": format!("{}@x", dice.below(3))}, ":none": {"L": []},
        ":note": {"L": [{"N": dice.below(9).to_string()}]}, ":first": {"S": format!("first {}", dice.below(9))},
        ":tags": {"SS": [format!("tag{}", dice.below(5)), "always"]}
    });
    let key = any_key(dice);
    let there = model.items.get(&model.row(&key)).map(json_of);
    let is_named = |name: &str| text.contains(name) || condition.is_some_and(|condition| condition.contains(name));
    let used: serde_json::Map<_, _> = values
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| is_named(name))
        .map(|(name, it)| (name.clone(), it.clone()))
        .collect();
    let mut body = json!({"key": key, "update": text, "condition": condition, "values": used});
    if text.contains("#text") {
        body["names"] = json!({"#text": "text"});
    }
    let answer = table.post("items/update", body.clone()).await;
    if !condition_holds(condition, there.as_ref(), &values) {
        let answer = answer.expect_error(409, "condition_failed", "The condition doesn't hold.");
        assert_eq!(answer.json["current"], there.unwrap_or_default(), "{body}");
        return;
    }
    let mut item_json = there.unwrap_or(key);
    if !change(&mut item_json, &values) {
        answer.expect_problems(&["update"]);
        return;
    }
    let new = item(&item_json);
    assert_eq!(answer.expect(200).json["item"], json_of(&new), "{body}");
    model.items.insert(model.rules.row_of(&new).unwrap(), new);
}

async fn delete(dice: &mut Dice, model: &mut Model, table: &Table) {
    let keys: BTreeMap<RowKey, Value> =
        (0..=dice.below(4)).map(|_| any_key(dice)).map(|key| (model.row(&key), key)).collect();
    if keys.len() == 1 {
        for key in keys.values() {
            table.delete(key.clone()).await.expect(204);
        }
    } else {
        table.post("items/batch-delete", json!({ "keys": keys.values().collect::<Vec<_>>() })).await.expect(200);
    }
    model.items.retain(|row, _| !keys.contains_key(row));
}

async fn import(dice: &mut Dice, model: &mut Model, table: &Table) {
    let items: BTreeMap<RowKey, Value> = (0..=dice.below(6))
        .map(|_| any_item(dice))
        .map(|new| (model.rules.row_of(&item(&new)).unwrap(), new))
        .collect();
    let mode = *dice.pick(&["skip", "overwrite"]);
    let answer = table.post("items/import", json!({ "items": items.values().collect::<Vec<_>>(), "mode": mode })).await;
    let mut imported = 0;
    for (row, new) in items {
        if mode == "overwrite" || !model.items.contains_key(&row) {
            model.items.insert(row, item(&new));
            imported += 1;
        }
    }
    assert_eq!(answer.expect(200).int("/imported"), imported);
}

async fn get(dice: &mut Dice, model: &Model, table: &Table) {
    let key = any_key(dice);
    let answer = table.get(key.clone()).await;
    match model.items.get(&model.row(&key)) {
        None => assert_eq!(answer.status, 404),
        Some(there) => assert_eq!(answer.expect(200).json["item"], json_of(there)),
    }
}

/// All pages of a search, each of few items.
async fn pages(dice: &mut Dice, table: &Table, what: &str, mut body: Value) -> Vec<Value> {
    let mut found = Vec::new();
    loop {
        body["limit"] = json!(1 + dice.below(7));
        let page = table.post(what, body.clone()).await.expect(200);
        found.extend(page.list("/items").to_vec());
        let Some(cursor) = page.json.get("cursor") else { return found };
        body["cursor"] = cursor.clone();
    }
}

async fn query(dice: &mut Dice, model: &Model, table: &Table) {
    let name = *dice.pick(&[None, Some("by-email"), Some("by-age")]);
    let source = model.rules.source(name).unwrap();
    let partition = if name == Some("by-email") {
        format!("{}@x", dice.below(3))
    } else {
        (*dice.pick(&["a", "b", "c", "d"])).to_owned()
    };
    let partition = json!({"S": partition});
    let op = *dice.pick(&["=", "<", ">=", "between"]);
    let sort = (name != Some("by-email") && dice.percent(70))
        .then(|| json!({"op": op, "value": any_number(dice), "value2": any_number(dice)}));
    let sorted_by = if name == Some("by-age") { "age" } else { "at" };
    let filter = any_filter(dice);
    let value = domain::databases::AttributeValue::read("", partition.clone()).unwrap();
    let range = QueryRange::new(source.schema(), &value, None).unwrap();
    let row_of = |row: &RowKey, item: &Item| source.index.map_or_else(|| Some(row.clone()), |index| index.row_of(item));
    let mut wanted: Vec<_> = model
        .items
        .iter()
        .filter_map(|(row, item)| {
            row_of(row, item).filter(|place| place.pk == range.pk)?;
            let json = json_of(item);
            let sorted = if name == Some("by-email") { None } else { place(&json[sorted_by]) };
            let passes =
                sort.as_ref().is_none_or(|sort| compares(&json[sorted_by], sort)) && compares(&json["age"], &filter);
            passes.then(|| (sorted, row, json_of(&source.shown(item.clone()))))
        })
        .collect();
    wanted.sort_by_key(|(sorted, row, _)| (*sorted, *row));
    let direction = *dice.pick(&[Direction::Forward, Direction::Backward]);
    if direction == Direction::Backward {
        wanted.reverse();
    }
    let forward = direction == Direction::Forward;
    let body = json!({"partition": partition, "index": name, "sort": sort, "forward": forward, "filters": [filter]});
    let found = pages(dice, table, "query", body.clone()).await;
    assert_eq!(found, wanted.into_iter().map(|it| it.2).collect::<Vec<_>>(), "{body}");
}

async fn scan(dice: &mut Dice, model: &Model, table: &Table) {
    let filters = [any_filter(dice), any_filter(dice)];
    let matching = *dice.pick(&["all", "any"]);
    let body = json!({"filters": filters, "match": matching});
    let found = pages(dice, table, "scan", body.clone()).await;
    let passes = |item: &Value| {
        let holds = |filter: &Value| compares(&item["age"], filter);
        if matching == "all" { filters.iter().all(holds) } else { filters.iter().any(holds) }
    };
    assert_eq!(found, model.items.values().map(json_of).filter(passes).collect::<Vec<_>>(), "{body}");
}

/// A filter by the age.
fn any_filter(dice: &mut Dice) -> Value {
    let op = *dice.pick(&["=", "<>", "<", "<=", ">", ">=", "between", "exists", "not_exists"]);
    let mut filter = json!({ "attribute": "age", "op": op });
    if !op.ends_with("exists") {
        filter["value"] = any_number(dice);
    }
    if op == "between" {
        filter["value2"] = any_number(dice);
    }
    filter
}

/// Whether a condition on a number, which may not be there, holds.
fn compares(number: &Value, condition: &Value) -> bool {
    let (found, value) = (place(number), place(&condition["value"]));
    let both = found.zip(value);
    match condition["op"].as_str().unwrap() {
        "=" => found == value,
        "<>" => found != value,
        "<" => both.is_some_and(|(found, value)| found < value),
        "<=" => both.is_some_and(|(found, value)| found <= value),
        ">" => both.is_some_and(|(found, value)| found > value),
        ">=" => both.is_some_and(|(found, value)| found >= value),
        "between" => both.is_some_and(|(found, value)| value <= found && Some(found) <= place(&condition["value2"])),
        "exists" => found.is_some(),
        "not_exists" => found.is_none(),
        other => panic!("no such condition: {other}"),
    }
}

/// Checks that the rows of a table's indexes, and what is counted, are what its items make.
pub(super) async fn check_rows(tables: &Tables, table: &Table) {
    let store = tables.server.store().await;
    let database = store.database(tables.org_id(), table.resource_id()).await.unwrap().unwrap();
    let kept = database.kept.unwrap();
    let items: Vec<_> = tables
        .rows(&store, kept.no, None)
        .await
        .into_iter()
        .map(|found| (found.place.table, Item::from_text(&found.text).unwrap()))
        .collect();
    let mut all = 0;
    for index in &kept.indexes {
        let rebuilt: BTreeSet<_> =
            items.iter().filter_map(|(row, item)| Some((index.index.row_of(item)?, row.clone()))).collect();
        let rows: BTreeSet<_> = tables
            .rows(&store, kept.no, Some(index.no))
            .await
            .into_iter()
            .map(|found| (found.place.index.unwrap(), found.place.table))
            .collect();
        assert_eq!(rows, rebuilt, "{}", index.index.name);
        // None without an item either.
        assert_eq!(index_rows(&store, kept.no, TableRows::Index(index.no)).await, rebuilt.len());
        all += rebuilt.len();
    }
    assert_eq!(index_rows(&store, kept.no, TableRows::Indexes).await, all);
    let bytes: usize = items.iter().map(|(_, item)| item.size()).sum();
    let counted = [items.len(), bytes].map(|count| i64::try_from(count).unwrap());
    assert_eq!(table.counts().await, (counted[0], counted[1]));
}

#[tokio::test]
async fn random_plans_are_answered_as_by_a_map_in_memory() {
    let tables = Tables::new().await;
    let table = tables.users().await;
    let store = tables.server.store().await;
    let database = store.database(tables.org_id(), table.resource_id()).await.unwrap().unwrap();
    let rules = database.kept.unwrap().table(&database.resource).unwrap();
    let mut model = Model { rules, items: BTreeMap::new() };
    let mut dice = Dice::from_environment("TROUPE_DATABASE_SEED");
    let steps = number("TROUPE_DATABASE_STEPS", STEPS);
    for step in 1..=steps {
        if step % LOOK_EVERY == 0 {
            assert_eq!(recount::databases(&store).await.unwrap(), Vec::<String>::new());
        }
        match dice.below(24) {
            0..8 => put(&mut dice, &mut model, &table).await,
            8..11 => delete(&mut dice, &mut model, &table).await,
            11..13 => import(&mut dice, &mut model, &table).await,
            13..15 => get(&mut dice, &model, &table).await,
            15..19 => query(&mut dice, &model, &table).await,
            19..23 => update(&mut dice, &mut model, &table).await,
            _ => scan(&mut dice, &model, &table).await,
        }
    }
    scan(&mut dice, &model, &table).await;
    check_rows(&tables, &table).await;
}
