//! Databases: schemas, views, values, and ways of looking at rows.

use std::cmp::Ordering;

use serde::Deserialize;

use crate::{
    Timestamp,
    id::PageId,
    pages::database::{
        Filter, FilterOp, Properties, PropertiesDraft, Property, RowFacts, RowPlan, Schema, SortKey, View, ViewSort,
        Views,
    },
};

/// A database, some values of its rows, and a way of looking at them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    schema: Vec<Property>,
    views: Vec<View>,
    rows: Vec<PropertiesDraft>,
    filters: Vec<Filter>,
    sort: Option<ViewSort>,
    group_by: Option<String>,
}

/// JSON of all that. What passes the checks is stored and read back, filters have their opposites, and orders are orders.
pub fn rows(bytes: &[u8]) {
    let Ok(asked) = serde_json::from_slice::<Asked>(bytes) else { return };
    let Ok(schema) = Schema::check(asked.schema) else { return };
    assert_eq!(stored(&schema), schema);
    assert_eq!(Schema::check(schema.properties().to_vec()).ok().as_ref(), Some(&schema));
    if let Ok(views) = Views::check(asked.views, &schema) {
        views_hold(views, &schema);
    }
    let rows: Vec<_> = asked.rows.into_iter().take(8).filter_map(|draft| values(draft, &schema)).collect();
    let facts = facts(&rows);
    for filter in asked.filters.iter().take(8) {
        opposites_hold(filter, &schema, &facts);
    }
    if let Ok(plan) = RowPlan::new(&schema, &asked.filters, asked.sort.as_ref(), asked.group_by.as_deref()) {
        order_holds(&plan, &facts, asked.group_by.is_some());
    }
}

/// What comes back from where it is kept as JSON.
fn stored<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("what is kept can be written");
    serde_json::from_str(&text).expect("what was written can be read")
}

fn views_hold(views: Views, schema: &Schema) {
    // Widths may come back as their neighbours.
    let again = Views::check(stored(&views).views().to_vec(), schema).expect("what was checked passes again");
    // Columns that there are none of are only passed over.
    let fitted = views.fitted(schema);
    assert_eq!(fitted.clone().fitted(schema), fitted);
    assert!(
        again.views().iter().zip(fitted.views()).all(|(checked, fitted)| checked.filters.len() == fitted.filters.len())
    );
    let none = Schema::default();
    assert!(Views::check(fitted.fitted(&none).views().to_vec(), &none).is_ok(), "views fit whatever schema comes");
}

/// The values of a row that has only these; nothing where the schema doesn't have them.
fn values(draft: PropertiesDraft, schema: &Schema) -> Option<Properties> {
    let change = schema.check_values(draft).ok()?;
    let values = change.apply(Properties::new());
    assert_eq!(schema.visible(values.clone()), values, "what was just checked is shown");
    assert!(Schema::default().visible(values.clone()).is_empty());
    Some(stored(&values))
}

fn facts(rows: &[Properties]) -> Vec<RowFacts<'_>> {
    let position = [0.0, 1.0, 1.0, 2.5, 1e9];
    let title = ["", "One", "one", "Zwei ß", "2026-11-21"];
    let row = |place: usize| RowFacts {
        id: format!("doc_0000000000000000000000000{}", place % 8).parse::<PageId>().expect("an id"),
        title: title[place % title.len()],
        position: position[place % position.len()],
        created_at: Timestamp([0, 1_700_000_000_000, i64::MIN][place % 3]),
        updated_at: Timestamp([i64::MAX, 1_700_000_000_000][place % 2]),
        properties: &rows[place],
    };
    (0..rows.len()).map(row).collect()
}

fn opposites_hold(filter: &Filter, schema: &Schema, rows: &[RowFacts<'_>]) {
    let pairs = [
        (FilterOp::Is, FilterOp::IsNot),
        (FilterOp::Contains, FilterOp::NotContains),
        (FilterOp::IsEmpty, FilterOp::IsNotEmpty),
    ];
    for (one, other) in pairs {
        let plan = |op| RowPlan::new(schema, &[Filter { op, ..filter.clone() }], None, None);
        let (Ok(one), Ok(other)) = (plan(one), plan(other)) else { continue };
        // Both hold where somebody is still writing the value.
        assert!(rows.iter().all(|row| one.shows(row) || other.shows(row)), "{filter:?}");
    }
    let plan = |op| RowPlan::new(schema, &[Filter { op, ..filter.clone() }], None, None);
    if let (Ok(less), Ok(greater), Ok(is)) = (plan(FilterOp::Lt), plan(FilterOp::Gt), plan(FilterOp::Is)) {
        let blank = |row| less.shows(row) && greater.shows(row) && is.shows(row);
        assert!(rows.iter().all(|row| !(less.shows(row) && greater.shows(row)) || blank(row)), "{filter:?}");
    }
}

fn order_holds(plan: &RowPlan<'_>, rows: &[RowFacts<'_>], is_grouped: bool) {
    let keys: Vec<SortKey> = rows.iter().map(|row| plan.key(row)).collect();
    for one in &keys {
        assert_eq!(plan.order(one, &stored(one)), Ordering::Equal, "as a cursor brings it back");
        for two in &keys {
            assert_eq!(plan.order(one, two), plan.order(two, one).reverse());
            for three in &keys {
                if plan.order(one, two).is_le() && plan.order(two, three).is_le() {
                    assert!(plan.order(one, three).is_le());
                }
            }
        }
    }
    for row in rows {
        let groups = plan.groups(row);
        assert_eq!(!groups.is_empty(), is_grouped);
        assert!(groups.iter().all(|group| group.against(group).is_eq()));
    }
    let _ = (plan.is_plain(), plan.standing_groups());
}
