//! Orders and groups.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

struct Row {
    id: PageId,
    title: &'static str,
    position: f64,
    properties: Properties,
}

impl Row {
    fn facts(&self) -> RowFacts<'_> {
        RowFacts {
            id: self.id,
            title: self.title,
            position: self.position,
            created_at: Timestamp(1),
            updated_at: Timestamp(1),
            properties: &self.properties,
        }
    }
}

fn row(title: &'static str, position: f64, values: Value) -> Row {
    Row { id: page(1), title, position, properties: properties(values) }
}

fn sorted(rows: &[Row], by: &str, desc: bool) -> String {
    let schema = schema();
    let sort = ViewSort { by: by.to_owned(), desc };
    let plan = RowPlan::new(&schema, &[], Some(&sort), None).unwrap();
    let mut keyed: Vec<_> = rows.iter().map(|row| (plan.key(&row.facts()), row.title)).collect();
    keyed.sort_by(|(one, _), (two, _)| plan.order(one, two));
    keyed.into_iter().map(|(_, title)| title).collect()
}

#[test]
fn each_type_has_its_order_and_rows_without_a_value_come_last() {
    for (property, values) in [
        ("number", [json!(-2), json!(9), json!(10)]),
        ("text", [json!("apple"), json!("Banana"), json!("cherry")]),
        ("url", [json!("http://b"), json!("https://a"), json!("https://b")]),
        ("date", [json!("2026-01-02"), json!("2026-01-02T00:00"), json!("2026-01-02T09:00:01")]),
        ("select", [json!("low"), json!("mid"), json!("high")]),
        ("multi_select", [json!(["low"]), json!(["mid", "low"]), json!(["high"])]),
        ("relation", [json!([page(1)]), json!([page(1), page(2)]), json!([page(1), page(2), page(3)])]),
    ] {
        let [first, second, third] = values.map(|value| json!({ property: value }));
        let rows = [row("n", 0.0, json!({})), row("c", 1.0, third), row("a", 2.0, first), row("b", 3.0, second)];
        assert_eq!(sorted(&rows, property, false), "abcn", "{property}");
        assert_eq!(sorted(&rows, property, true), "cban", "{property}");
    }
    let rows = [row("y", 1.0, json!({ "checkbox": true })), row("n", 2.0, json!({}))];
    assert_eq!(sorted(&rows, "checkbox", false), "ny");
    assert_eq!(sorted(&rows, "title", false), "ny");
}

#[test]
fn rows_alike_keep_the_order_of_their_positions() {
    let rows = [row("c", 3.0, json!({})), row("a", 1.0, json!({})), row("b", 2.5, json!({}))];
    assert_eq!(sorted(&rows, "number", false), "abc");
    assert_eq!(sorted(&rows, "number", true), "abc");
    assert_eq!(sorted(&rows, "createdAt", true), "abc");
}

fn groups(property: &str, values: Value) -> Vec<Option<String>> {
    let schema = schema();
    let plan = RowPlan::new(&schema, &[], None, Some(property)).unwrap();
    let row = row("a", 1.0, values);
    plan.groups(&row.facts()).into_iter().map(|key| key.value).collect()
}

#[test]
fn a_row_is_in_the_group_of_its_value_or_in_one_for_each_entry() {
    let value = |text: &str| vec![Some(text.to_owned())];
    assert_eq!(groups("select", json!({ "select": "low" })), value("low"));
    assert_eq!(groups("select", json!({})), [None]);
    assert_eq!(groups("checkbox", json!({})), value("false"));
    assert_eq!(groups("number", json!({ "number": 2.5 })), value("2.5"));
    assert_eq!(groups("date", json!({ "date": "2026-11-21T09:30" })), value("2026-11-21"));
    assert_eq!(groups("text", json!({ "text": "x" })), value("x"));
    let tags = groups("multi_select", json!({ "multi_select": ["low", "high"] }));
    assert_eq!(tags, [Some("low".to_owned()), Some("high".to_owned())]);
}

#[test]
fn groups_stand_as_the_options_do_with_none_last() {
    let schema = schema();
    let plan = RowPlan::new(&schema, &[], None, Some("select")).unwrap();
    let mut keys = plan.groups(&row("a", 1.0, json!({})).facts());
    keys.extend(plan.standing_groups().into_iter().rev());
    keys.sort_by(GroupKey::against);
    let keys: Vec<_> = keys.iter().map(|key| key.value.as_deref().unwrap_or("-")).collect();
    assert_eq!(keys, ["low", "mid", "high", "-"]);
}

#[test]
fn orders_and_groups_name_what_there_is() {
    let schema = schema();
    let sort = ViewSort { by: "gone".to_owned(), desc: false };
    assert_eq!(faults(RowPlan::new(&schema, &[], Some(&sort), None)), ["Unknown property."]);
    assert_eq!(faults(RowPlan::new(&schema, &[], None, Some("gone"))), ["Unknown property."]);
}

fn any_value() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(prop_oneof![-3.0..3.0, Just(0.0), Just(-0.0), any::<i32>().prop_map(f64::from)])
}

proptest! {
    /// Keys order rows in one way only, and survive the way through a cursor.
    #[test]
    fn keys_are_a_total_order(numbers in prop::collection::vec((any_value(), 0.0..3.0), 3..20), desc: bool) {
        let schema = schema();
        let sort = ViewSort { by: "number".to_owned(), desc };
        let plan = RowPlan::new(&schema, &[], Some(&sort), None).unwrap();
        let keys: Vec<_> = numbers.iter().map(|(number, position)| {
            let row = row("a", *position, number.map_or(json!({}), |number| json!({ "number": number })));
            plan.key(&row.facts())
        }).collect();
        for (one, two, three) in keys.windows(3).map(|keys| (&keys[0], &keys[1], &keys[2])) {
            prop_assert_eq!(plan.order(one, two), plan.order(two, one).reverse());
            if plan.order(one, two) != Ordering::Greater && plan.order(two, three) != Ordering::Greater {
                prop_assert_ne!(plan.order(one, three), Ordering::Greater);
            }
            let back: SortKey = serde_json::from_str(&serde_json::to_string(one).unwrap()).unwrap();
            prop_assert_eq!(&back, one);
        }
    }

    /// `gt`, `lt` and `is` split the rows that have a number, as the order does.
    #[test]
    fn filters_agree_with_the_order(number in -5.0_f64..5.0, than in -5_i32..5) {
        let schema = schema();
        let facts = row("a", 1.0, json!({ "number": number }));
        let shows = |op: &str| {
            let filter: Filter = serde_json::from_value(json!({ "property": "number", "op": op, "value": than })).unwrap();
            RowPlan::new(&schema, &[filter], None, None).unwrap().shows(&facts.facts())
        };
        let expected = number.partial_cmp(&f64::from(than)).unwrap();
        prop_assert_eq!(shows("gt"), expected == Ordering::Greater);
        prop_assert_eq!(shows("lt"), expected == Ordering::Less);
        prop_assert_eq!(shows("is"), expected == Ordering::Equal);
    }
}
