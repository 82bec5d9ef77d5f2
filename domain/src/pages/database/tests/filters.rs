//! Every operator on every type, against the rows of one small database.

use super::*;

/// The rows that relations name.
fn named(number: u8) -> String {
    format!("doc_0123456789abcdefghjkmnpq0{number}")
}

/// Rows `a` to `d`; the last one is empty.
fn rows() -> Vec<(&'static str, Properties)> {
    let row = |json: Value| properties(json);
    vec![
        (
            "a",
            row(json!({
                "number": 1.5, "text": "Apple pie", "url": "https://a.example", "date": "2026-11-20",
                "select": "low", "checkbox": true, "multi_select": ["low"], "relation": [named(1)],
            })),
        ),
        (
            "b",
            row(json!({
                "number": 20, "text": "banana", "url": "https://b.example", "date": "2026-11-21T10:00",
                "select": "mid", "checkbox": false, "multi_select": ["low", "mid"], "relation": [named(1), named(2)],
            })),
        ),
        (
            "c",
            row(json!({
                "number": -300, "text": "Cherry PIE", "url": "https://c.example", "date": "2026-12-01",
                "select": "high", "checkbox": false, "multi_select": ["high", "mid", "low"],
                "relation": [named(3), named(2), named(1)],
            })),
        ),
        ("d", Properties::new()),
    ]
}

fn outcome(filter: Value) -> Result<String, Vec<String>> {
    let schema = schema();
    let filter: Filter = serde_json::from_value(filter).unwrap();
    let plan = match RowPlan::new(&schema, &[filter], None, None) {
        Ok(plan) => plan,
        error => return Err(faults(error)),
    };
    let rows = rows();
    let facts = |(title, properties): &(&'static str, Properties)| {
        let facts = RowFacts {
            id: page(1),
            title,
            position: 1.0,
            created_at: Timestamp(1_763_683_200_000),
            updated_at: Timestamp(1_763_683_200_000),
            properties,
        };
        plan.shows(&facts)
    };
    Ok(rows.iter().filter(|row| facts(row)).map(|(title, _)| *title).collect())
}

fn shown(property: &str, op: &str, value: impl Into<Value>) -> String {
    outcome(json!({ "property": property, "op": op, "value": value.into() })).expect("a filter that can be used")
}

/// What `is`, `contains`, `gt` (so `after`) and `lt` (so `before`) show for a value; the negations follow.
fn holds(property: &str, value: &Value, [is, contains, greater, less]: [&str; 4]) {
    let others = |shown: &str| "abcd".chars().filter(|row| !shown.contains(*row)).collect::<String>();
    for (op, expected) in [
        ("is", is.to_owned()),
        ("is_not", others(is)),
        ("contains", contains.to_owned()),
        ("not_contains", others(contains)),
        ("gt", greater.to_owned()),
        ("after", greater.to_owned()),
        ("lt", less.to_owned()),
        ("before", less.to_owned()),
    ] {
        assert_eq!(shown(property, op, value.clone()), expected, "{property} {op} {value}");
    }
}

#[test]
fn numbers() {
    holds("number", &json!(20), ["b", "b", "", "ac"]);
    holds("number", &json!(1.5), ["a", "a", "b", "c"]);
    holds("number", &json!("0"), ["", "bc", "ab", "c"]);
}

#[test]
fn texts() {
    holds("text", &json!("BANANA"), ["b", "b", "c", "a"]);
    assert_eq!(shown("text", "contains", json!("pie")), "ac");
    assert_eq!(shown("text", "not_contains", json!("pie")), "bd");
}

#[test]
fn addresses() {
    holds("url", &json!("https://b.example"), ["b", "b", "c", "a"]);
}

#[test]
fn dates() {
    holds("date", &json!("2026-11-21"), ["b", "b", "c", "a"]);
    assert_eq!(shown("date", "is", json!("2026-11-21T10:00:00")), "b");
    assert_eq!(shown("date", "is", json!("2026-11-21T12:00+02:00")), "b");
    assert_eq!(shown("date", "after", json!("2026-11-21T09:59")), "bc");
    assert_eq!(shown("date", "before", json!("2026-11-21T10:00")), "a");
    assert_eq!(shown("date", "contains", json!("2026-11")), "ab");
}

#[test]
fn options() {
    holds("select", &json!("mid"), ["b", "b", "c", "a"]);
    assert_eq!(shown("select", "contains", json!(["low", "high"])), "ac");
    holds("select", &json!("gone"), ["", "", "", ""]);
}

#[test]
fn checkboxes() {
    holds("checkbox", &json!(true), ["a", "a", "", "bcd"]);
    holds("checkbox", &json!(false), ["bcd", "bcd", "a", ""]);
}

#[test]
fn lists_of_options() {
    assert_eq!(shown("multi_select", "is", json!(["mid", "low"])), "b");
    assert_eq!(shown("multi_select", "is_not", json!(["mid", "low"])), "acd");
    assert_eq!(shown("multi_select", "is", json!("low")), "a");
    assert_eq!(shown("multi_select", "contains", json!("mid")), "bc");
    assert_eq!(shown("multi_select", "contains", json!(["mid", "high"])), "c");
    assert_eq!(shown("multi_select", "not_contains", json!("mid")), "ad");
    for (op, expected) in [("gt", "c"), ("after", "c"), ("lt", "a"), ("before", "a")] {
        assert_eq!(shown("multi_select", op, json!(2)), expected, "{op}");
    }
}

#[test]
fn lists_of_rows() {
    assert_eq!(shown("relation", "is", json!([named(2), named(1)])), "b");
    assert_eq!(shown("relation", "is_not", json!(named(1))), "bcd");
    assert_eq!(shown("relation", "contains", json!(named(2))), "bc");
    assert_eq!(shown("relation", "not_contains", json!([named(1), named(3)])), "abd");
    for (op, expected) in [("gt", "bc"), ("after", "bc"), ("lt", ""), ("before", "")] {
        assert_eq!(shown("relation", op, json!(1)), expected, "{op}");
    }
}

#[test]
fn empty_and_not() {
    for kind in PropertyKind::ALL {
        assert_eq!(shown(kind.as_str(), "is_empty", json!(null)), "d", "{kind}");
        assert_eq!(shown(kind.as_str(), "is_not_empty", json!("ignored")), "abc", "{kind}");
    }
    assert_eq!(shown("title", "is_empty", json!(null)), "");
}

#[test]
fn what_every_page_has() {
    assert_eq!(shown("title", "is", json!("B")), "b");
    assert_eq!(shown("title", "gt", json!("b")), "cd");
    assert_eq!(shown("createdAt", "is", json!("2025-11-21")), "abcd");
    assert_eq!(shown("updatedAt", "after", json!("2025-11-21")), "");
    assert_eq!(shown("updatedAt", "before", json!("2025-11-22")), "abcd");
}

#[test]
fn a_filter_that_is_still_being_written_shows_everything() {
    for op in FilterOp::ALL.iter().filter(|op| !op.as_str().contains("empty")) {
        for value in [json!(null), json!(""), json!("  "), json!([])] {
            for kind in PropertyKind::ALL {
                assert_eq!(shown(kind.as_str(), op.as_str(), value.clone()), "abcd", "{kind} {op} {value}");
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (property, op, value) in [
        ("number", "gt", json!("many")),
        ("number", "is", json!(true)),
        ("number", "is", json!("inf")),
        ("text", "contains", json!(1)),
        ("date", "after", json!("soon")),
        ("date", "is", json!(1)),
        ("select", "is", json!(["low"])),
        ("checkbox", "is", json!("yes")),
        ("multi_select", "gt", json!("low")),
        ("relation", "contains", json!(1)),
        ("text", "is", json!("x".repeat(4_001))),
        ("select", "contains", json!(["x".repeat(33)])),
    ] {
        let refused = outcome(json!({ "property": property, "op": op, "value": value }));
        assert_eq!(refused, Err(vec!["filters[0].value".to_owned()]), "{property} {op}");
    }
    assert_eq!(outcome(json!({ "property": "gone", "op": "is" })), Err(vec!["Unknown property.".to_owned()]));
}
