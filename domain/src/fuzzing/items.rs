//! Items of databases: values, keys and rows, filters and conditions, puts and cursors.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    databases::{
        AttributeValue, BillingMode, CursorKey, CursorScope, Direction, Expected, Filter, FilterMatch, FilterOp,
        Filters, Index, Item, ItemTag, KeySchema, KeyValue, Position, Put, PutOutcome, QueryRange, QueryScope, RowKey,
        SortCondition, SortOp, Table, TableDraft, batch_check, slot_range,
    },
    id::ResourceId,
};

/// A table, some items, and what is asked of them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    name: String,
    schema: Option<KeySchema>,
    indexes: Vec<Index>,
    items: Vec<Value>,
    filters: Vec<AskedFilter>,
    any: bool,
    cursor: String,
}

#[derive(Deserialize)]
struct AskedFilter {
    attribute: String,
    op: FilterOp,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    value2: Value,
}

/// JSON of all that. Items are kept as what they are, lie where their keys say, and pass what their values pass.
pub fn items(bytes: &[u8]) {
    let Ok(asked) = serde_json::from_slice::<Asked>(bytes) else { return };
    let read = |json: &Value| Item::read("item", json.clone()).ok();
    let items: Vec<Item> = asked.items.iter().take(6).filter_map(read).collect();
    items.iter().for_each(item_holds);
    let filters: Vec<Filter> = asked.filters.iter().take(12).map(filter).collect();
    for item in &items {
        for filter in &filters {
            filter_holds(filter, item);
        }
    }
    let matching = if asked.any { FilterMatch::Any } else { FilterMatch::All };
    let filters = Filters::check(filters, matching);
    let Some(table) = asked.schema.as_ref().and_then(|schema| table(&asked, schema)) else { return };
    for item in &items {
        keys_hold(&table, item, &items);
        if let Ok(filters) = &filters {
            conditions_hold(&table.schema, item, &items, filters.as_slice());
            cursors_hold(&table, item, filters, &asked.cursor);
        }
    }
}

fn table(asked: &Asked, schema: &KeySchema) -> Option<Table> {
    let draft = TableDraft {
        name: asked.name.clone(),
        schema: schema.clone(),
        indexes: asked.indexes.clone(),
        billing_mode: BillingMode::PayPerRequest,
        deletion_protection: false,
        ttl_attribute: None,
        keep_changes: false,
    };
    let table = draft.check().ok()?;
    for index in &table.indexes {
        let text = serde_json::to_string(index).expect("what is kept can be written");
        assert_eq!(serde_json::from_str::<Index>(&text).ok().as_ref(), Some(index));
        assert!(table.index(index.name.as_str()).is_ok());
    }
    Some(table)
}

fn filter(asked: &AskedFilter) -> Filter {
    let value = |json: &Value| AttributeValue::read("value", json.clone()).ok();
    let AskedFilter { attribute, op, value: one, value2: two } = asked;
    Filter { attribute: attribute.clone(), op: *op, value: value(one), value2: value(two) }
}

fn item_holds(item: &Item) {
    let text = item.to_text();
    let again = Item::from_text(&text).expect("what was kept can be read");
    assert_eq!((&again, again.to_text()), (item, text.clone()));
    assert_eq!(ItemTag::of(item), ItemTag::of_text(&text));
    assert_eq!(ItemTag::parse(&ItemTag::of(item).to_string()), Some(ItemTag::of(item)));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let counted: usize = json.as_object().into_iter().flatten().map(|(name, value)| name.len() + counted(value)).sum();
    assert_eq!(item.size(), counted);
    assert_eq!(item.clone().project(item.attributes().map(|(name, _)| name)), *item);
}

/// The size of a value, counted on its JSON.
fn counted(value: &Value) -> usize {
    let (name, value) = value.as_object().and_then(|typed| typed.iter().next()).expect("a type");
    let all = || value.as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    // Of its four characters each, the last group of base64 stands for three bytes less its paddings.
    let binary = |value: &Value| text(value).len() / 4 * 3 - text(value).matches('=').count();
    match name.as_str() {
        "S" => text(value).len(),
        "N" => counted_number(&text(value)),
        "B" => binary(value),
        "L" => 3 + all().map(|entry| 1 + counted(entry)).sum::<usize>(),
        "M" => {
            let entries = value.as_object().into_iter().flatten();
            3 + entries.map(|(name, value)| 1 + name.len() + counted(value)).sum::<usize>()
        }
        "SS" => all().map(|entry| text(entry).len()).sum(),
        "NS" => all().map(|entry| counted_number(&text(entry))).sum(),
        "BS" => all().map(binary).sum(),
        _ => 1,
    }
}

/// One byte, one for the sign, and one for each pair of digits that isn't a zero at either end; the pairs begin at the point.
fn counted_number(text: &str) -> usize {
    let unsigned = text.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{}{whole}{fraction}{}", "0".repeat(whole.len() % 2), "0".repeat(fraction.len() % 2));
    let pairs: Vec<&[u8]> = digits.as_bytes().chunks(2).collect();
    let is_some = |pair: &&[u8]| **pair != *b"00";
    let (first, last) = (pairs.iter().position(is_some), pairs.iter().rposition(is_some));
    let pairs = first.zip(last).map_or(0, |(first, last)| last - first + 1);
    (1 + pairs + usize::from(unsigned != text)).min(21)
}

fn filter_holds(filter: &Filter, item: &Item) {
    let holds = |op: FilterOp| Filter { op, ..filter.clone() }.holds(item);
    assert!(holds(FilterOp::Exists) != holds(FilterOp::NotExists));
    if filter.value.is_some() {
        assert!(holds(FilterOp::Equal) != holds(FilterOp::NotEqual), "{filter:?}");
        assert!(!(holds(FilterOp::Less) && holds(FilterOp::GreaterOrEqual)), "{filter:?}");
        assert!(!(holds(FilterOp::Greater) && holds(FilterOp::LessOrEqual)), "{filter:?}");
        assert!(!(holds(FilterOp::Contains) && holds(FilterOp::NotExists)), "{filter:?}");
        // What begins with something has it in it.
        assert!(!holds(FilterOp::BeginsWith) || holds(FilterOp::Contains), "{filter:?}");
    }
}

fn keys_hold(table: &Table, item: &Item, items: &[Item]) {
    let Ok(key) = table.schema.key_of(item) else { return };
    let row = key.row();
    let named = key.into_item(&table.schema);
    assert_eq!(table.schema.key(&named).map(|key| key.row()).ok().as_ref(), Some(&row));
    assert!(slot_range(row.slot()).contains(&row.pk));
    assert!(batch_check(&table.schema, &[named.clone(), named]).is_err(), "a key is listed twice");
    for index in &table.indexes {
        let change = index.change(None, Some(item));
        assert_eq!((change.delete, change.insert), (None, index.row_of(item)));
        assert_eq!(index.change(Some(item), Some(item)), index.change(None, None));
        let shown = index.shown(item.clone(), &table.schema);
        assert_eq!(table.schema.key_of(&shown).map(|key| key.row()).ok().as_ref(), Some(&row));
    }
    for other in items {
        put_holds(table, item, other);
    }
}

/// An item takes another one's place where that is there, and moves there where the keys differ.
fn put_holds(table: &Table, item: &Item, other: &Item) {
    let Ok(put) = Put::check(table, item.clone(), Expected::Equal(other.clone())) else { return };
    let moves = put.from() != put.to();
    let outcome = put.decide(|row| (row == put.from()).then_some(other)).expect("it is what was expected");
    assert_eq!(outcome == PutOutcome::Moved, moves);
    assert!(put.decide(|_| None).is_err());
    assert_eq!(put.decide(|_| Some(other)).is_err(), moves, "somebody is there");
    if item != other {
        assert!(put.decide(|_| Some(item)).is_err(), "it changed");
    }
}

/// A condition on the sort key finds what a filter on it finds: those that are asked, and each operator with the sort keys
/// that there are.
fn conditions_hold(schema: &KeySchema, item: &Item, items: &[Item], filters: &[Filter]) {
    let Some(sort) = &schema.sort else { return };
    let by_items = items.iter().flat_map(|other| {
        let filter = |op: &SortOp| Filter {
            attribute: sort.name.clone(),
            op: FilterOp::from_name(op.as_str()).expect("filters compare as conditions do, and more"),
            value: other.get(&sort.name).cloned(),
            value2: item.get(&sort.name).cloned(),
        };
        SortOp::ALL.iter().map(filter).collect::<Vec<_>>()
    });
    let as_asked = filters.iter().map(|filter| Filter { attribute: sort.name.clone(), ..filter.clone() });
    for filter in by_items.chain(as_asked) {
        condition_holds(schema, item, &filter);
    }
}

fn condition_holds(schema: &KeySchema, item: &Item, filter: &Filter) {
    let Ok(key) = schema.key_of(item) else { return };
    let Some(op) = SortOp::from_name(filter.op.as_str()) else { return };
    let asked = SortCondition { op, value: filter.value.clone(), value2: filter.value2.clone() };
    let (row, partition) = (key.row(), AttributeValue::from(key.partition));
    let Ok(range) = QueryRange::new(schema, &partition, Some(&asked)) else { return };
    assert_eq!(range.pk == row.pk && range.sk.contains(&row.sk), filter.holds(item), "{filter:?}");
}

fn cursors_hold(table: &Table, item: &Item, filters: &Filters, cursor: &str) {
    let Ok(key) = table.schema.key_of(item) else { return };
    let (signer, id) = (CursorKey::new(b"fuzzing"), "res_01h455vb4pex5vsknk084sn02q".parse::<ResourceId>());
    let Ok(id) = id else { return };
    let partition = AttributeValue::from(key.partition.clone());
    let query = QueryScope { partition: &partition, sort: None, direction: Direction::Backward };
    let scan = CursorScope { table: id, index: None, query: None, filters };
    let asked = CursorScope { query: Some(query), ..scan };
    let position = Position::Index { index: RowKey::new(&KeyValue::Binary(vec![1]), None), table: key.row() };
    let written = signer.write(&asked, &position);
    assert_eq!(signer.read(&asked, &written).ok(), Some(position));
    assert!(signer.read(&scan, &written).is_err());
    assert!(signer.read(&asked, cursor).is_err(), "nobody signed that");
}
