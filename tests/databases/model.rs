//! Random plans: what a table answers is what a map in memory does, by the same rules; and its rows are those that its items
//! make.
//!
//! `TROUPE_DATABASE_STEPS` sets how many steps are played, `TROUPE_DATABASE_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};

use domain::databases::{
    Direction, Expected, Item, Put, PutOutcome, QueryRange, RowKey, SortCondition, SortOp, Table as Rules,
};
use serde_json::{Value, json};
use store::databases::TableRows;

use super::{Table, Tables, index_rows};
use crate::harness::Dice;

const STEPS: u64 = 400;

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

/// A sort key of few.
fn any_time(dice: &mut Dice) -> i64 {
    *dice.pick(&[-2, -1, 0, 1, 2])
}

/// A key of few, so that many meet.
fn any_key(dice: &mut Dice) -> Value {
    let id = *dice.pick(&["a", "b", "c", "d"]);
    json!({"id": {"S": id}, "at": {"N": any_time(dice).to_string()}})
}

fn any_item(dice: &mut Dice) -> Value {
    let mut item = any_key(dice);
    if dice.percent(70) {
        item["email"] = json!({"S": format!("{}@x", dice.below(3))});
    }
    if dice.percent(70) {
        item["age"] = json!({"N": dice.below(3).to_string()});
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
    let op = *dice.pick(&[SortOp::Equal, SortOp::Less, SortOp::GreaterOrEqual, SortOp::Between]);
    let sort = (name != Some("by-email") && dice.percent(70)).then(|| {
        let mut value = || json!({"N": any_time(dice).to_string()});
        json!({"op": op.as_str(), "value": value(), "value2": value()})
    });
    let value = |json: &Value| domain::databases::AttributeValue::read("", json.clone()).unwrap();
    let condition = sort.as_ref().map(|sort| SortCondition {
        op,
        value: Some(value(&sort["value"])),
        value2: Some(value(&sort["value2"])),
    });
    let range = QueryRange::new(source.schema(), &value(&partition), condition.as_ref()).unwrap();
    let row_of = |row: &RowKey, item: &Item| source.index.map_or_else(|| Some(row.clone()), |index| index.row_of(item));
    let mut wanted: Vec<_> = model
        .items
        .iter()
        .filter_map(|(row, item)| {
            let place = row_of(row, item).filter(|place| place.pk == range.pk && range.sk.contains(&place.sk))?;
            Some((place, row, json_of(&source.shown(item.clone()))))
        })
        .collect();
    wanted.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
    let direction = *dice.pick(&[Direction::Forward, Direction::Backward]);
    if direction == Direction::Backward {
        wanted.reverse();
    }
    let body = json!({"partition": partition, "index": name, "sort": sort, "forward": direction == Direction::Forward});
    let found = pages(dice, table, "query", body.clone()).await;
    assert_eq!(found, wanted.into_iter().map(|it| it.2).collect::<Vec<_>>(), "{body}");
}

async fn scan(dice: &mut Dice, model: &Model, table: &Table) {
    let found = pages(dice, table, "scan", json!({})).await;
    assert_eq!(found, model.items.values().map(json_of).collect::<Vec<_>>());
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
    let steps = std::env::var("TROUPE_DATABASE_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(STEPS);
    for _ in 0..steps {
        match dice.below(20) {
            0..8 => put(&mut dice, &mut model, &table).await,
            8..11 => delete(&mut dice, &mut model, &table).await,
            11..13 => import(&mut dice, &mut model, &table).await,
            13..15 => get(&mut dice, &model, &table).await,
            15..19 => query(&mut dice, &model, &table).await,
            _ => scan(&mut dice, &model, &table).await,
        }
    }
    scan(&mut dice, &model, &table).await;
    check_rows(&tables, &table).await;
}
