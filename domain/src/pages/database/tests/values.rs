use super::*;

fn check(value: Value) -> Vec<String> {
    faults(schema().check_values(values(value)))
}

#[test]
fn each_type_takes_its_own_values_and_no_others() {
    let samples = [
        ("number", json!(-1.5)),
        ("text", json!("plain words")),
        ("url", json!("https://example.com/a?b#c")),
        ("date", json!("2026-11-21")),
        ("select", json!("mid")),
        ("checkbox", json!(false)),
        ("multi_select", json!(["high", "low"])),
        ("relation", json!([page(5), page(6)])),
    ];
    for (id, value) in &samples {
        for (other, _) in &samples {
            let fits = id == other || (*other == "text" && value.is_string());
            let wrong = if fits { vec![] } else { vec![format!("properties.{other}")] };
            assert_eq!(check(json!({ *other: value })), wrong, "{value} as {other}");
        }
    }
}

#[test]
fn dates_are_days_or_moments() {
    for date in [
        "2026-11-21",
        "2024-02-29",
        "2026-11-21T09:30",
        "2026-11-21T09:30:15",
        "2026-11-21T09:30:15.250",
        "2026-11-21T09:30Z",
        "2026-11-21T09:30:00+02:00",
    ] {
        assert_eq!(check(json!({ "date": date })), [""; 0], "{date}");
    }
    for date in [
        "2026-11-31",
        "2025-02-29",
        "2026-11",
        "21.11.2026",
        "20261121",
        "2026-11-21 09:30",
        "2026-11-21T25:00",
        "2026-11-21T09:30[Europe/Vienna]",
        "+02026-11-21",
        "tomorrow",
        "２０２６-11-21",
    ] {
        assert_eq!(check(json!({ "date": date })), ["properties.date"], "{date}");
    }
}

#[test]
fn addresses_are_safe_to_follow() {
    for url in ["http://a", "HTTPS://example.com", "mailto:a@example.com", "tel:+43123"] {
        assert_eq!(check(json!({ "url": url })), [""; 0], "{url}");
    }
    for url in ["javascript:alert(1)", "example.com", "https://", "https://a b", "data:text/html,x", "é"] {
        assert_eq!(check(json!({ "url": url })), ["properties.url"], "{url}");
    }
}

#[test]
fn an_unknown_property_has_the_contracts_message() {
    assert_eq!(check(json!({ "number": 1, "other": 1 })), ["Unknown property."]);
    assert_eq!(check(json!({ "other": null })), ["Unknown property."]);
}

#[test]
fn options_and_rows_are_known_and_named_once() {
    for (id, value) in [
        ("select", json!("none")),
        ("multi_select", json!(["low", "none"])),
        ("multi_select", json!(["low", "low"])),
        ("relation", json!(["doc_x"])),
        ("relation", json!([page(1), page(2).to_string().replace("doc_", "org_")])),
    ] {
        assert_eq!(check(json!({ id: value })), [format!("properties.{id}")], "{value}");
    }
    let one = page(1);
    assert_eq!(check(json!({ "relation": [one, one] })), ["properties.relation"]);
}

#[test]
fn texts_have_up_to_four_thousand_characters() {
    for (length, wrong) in [(3_999, false), (4_000, false), (4_001, true)] {
        assert_eq!(!check(json!({ "text": "é".repeat(length) })).is_empty(), wrong, "{length}");
    }
    assert_eq!(check(json!({ "text": "a\u{0}b" })), ["properties.text"]);
}

#[test]
fn lists_have_up_to_fifty_entries() {
    for (count, wrong) in [(49, false), (50, false), (51, true)] {
        let rows: Vec<_> = (0..count).map(page).collect();
        assert_eq!(!check(json!({ "relation": rows })).is_empty(), wrong, "{count}");
    }
}

#[test]
fn every_value_at_fault_is_named() {
    let wrong = check(json!({ "number": "1", "checkbox": 1, "text": "fine" }));
    assert_eq!(wrong, ["properties.checkbox", "properties.number"]);
}

#[test]
fn a_change_sets_and_clears_and_leaves_the_rest() {
    let before = properties(json!({ "number": 1, "text": "a", "select": "low" }));
    let asked = values(json!({ "number": 2.50, "text": null, "select": "", "date": "2026-11-21", "relation": [] }));
    let change = schema().check_values(asked).unwrap();
    assert_eq!(change.apply(before), properties(json!({ "number": 2.50, "date": "2026-11-21" })));
    assert_eq!(change.relations().get("relation"), Some(&Vec::new()));
}

#[test]
fn what_no_longer_fits_the_schema_is_not_answered_and_comes_back_with_it() {
    let kept = json!({ "gone": 1, "number": "text", "select": "old", "multi_select": ["old", "low"], "text": "a" });
    let seen = schema().visible(properties(kept.clone()));
    assert_eq!(seen, properties(json!({ "multi_select": ["low"], "text": "a" })));
    let gone = json!([{ "id": "gone", "name": "Back", "type": "number" }]);
    let schema = Schema::check(serde_json::from_value(gone).unwrap()).unwrap();
    assert_eq!(schema.visible(properties(kept)), properties(json!({ "gone": 1 })));
}
