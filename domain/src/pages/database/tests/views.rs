use super::*;

fn view(id: &str) -> Value {
    json!({ "id": id, "name": "All", "layout": "table", "filters": [] })
}

fn with(field: &str, value: Value) -> Value {
    let mut view = view("v");
    view[field] = value;
    view
}

fn check(views: Value) -> Vec<String> {
    faults(Views::check(serde_json::from_value(views).unwrap(), &schema()))
}

#[test]
fn a_view_is_the_contracts_json() {
    let written = json!([{
        "id": "v", "name": "Board", "layout": "board",
        "filters": [{ "property": "select", "op": "is", "value": "low" }, { "property": "text", "op": "is_empty" }],
        "sort": { "by": "date", "desc": true }, "groupBy": "select", "dateProperty": "date",
        "hidden": ["url"], "widths": { "text": 120.5 },
    }]);
    let read = Views::check(serde_json::from_value(written.clone()).unwrap(), &schema()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
}

#[test]
fn a_database_has_up_to_twenty_views_of_up_to_twenty_filters() {
    for (count, wrong) in [(19, false), (20, false), (21, true)] {
        let views: Vec<_> = (0..count).map(|number| view(&format!("v{number}"))).collect();
        assert_eq!(!check(json!(views)).is_empty(), wrong, "{count}");
        let filters = vec![json!({ "property": "text", "op": "is_empty" }); count];
        assert_eq!(!check(json!([with("filters", json!(filters))])).is_empty(), wrong, "{count}");
    }
}

#[test]
fn views_have_ids_of_their_own_and_names() {
    assert_eq!(check(json!([view("a"), view("a")])), ["views[1].id"]);
    assert_eq!(check(json!([view(""), with("name", json!(" "))])), ["views[0].id", "views[1].name"]);
}

#[test]
fn a_view_names_properties_that_there_are() {
    for (field, value) in [
        ("filters", json!([{ "property": "gone", "op": "is_empty" }])),
        ("sort", json!({ "by": "gone" })),
        ("groupBy", json!("gone")),
        ("dateProperty", json!("gone")),
    ] {
        assert_eq!(check(json!([with(field, value)])), ["Unknown property."], "{field}");
    }
    assert_eq!(check(json!([with("dateProperty", json!("text"))])), ["views[0].dateProperty"]);
    assert_eq!(check(json!([with("dateProperty", json!("createdAt"))])), [""; 0]);
    assert_eq!(check(json!([with("sort", json!({ "by": "title" }))])), [""; 0]);
}

#[test]
fn a_filter_of_a_view_compares_with_what_makes_sense() {
    let filters =
        json!([{ "property": "text", "op": "is", "value": "a" }, { "property": "number", "op": "gt", "value": "b" }]);
    assert_eq!(check(json!([view("w"), with("filters", filters)])), ["views[1].filters[1].value"]);
}

#[test]
fn widths_and_hidden_properties_have_bounds() {
    for (width, wrong) in [(0.5, true), (1.0, false), (10_000.0, false), (10_001.0, true)] {
        assert_eq!(!check(json!([with("widths", json!({ "text": width }))])).is_empty(), wrong, "{width}");
    }
    for (count, wrong) in [(50, false), (51, false), (52, true)] {
        let hidden: Vec<_> = (0..count).map(|id| id.to_string()).collect();
        assert_eq!(!check(json!([with("hidden", json!(hidden))])).is_empty(), wrong, "{count}");
    }
}

#[test]
fn what_names_a_property_goes_with_it() {
    let written = json!([{
        "id": "v", "name": "Board", "layout": "calendar",
        "filters": [{ "property": "number", "op": "gt", "value": 1 }, { "property": "title", "op": "is", "value": "a" }],
        "sort": { "by": "number", "desc": true }, "groupBy": "number", "dateProperty": "number",
        "hidden": ["number", "text"], "widths": { "number": 5.0, "title": 7.0 },
    }]);
    let views: Views = serde_json::from_value(written).unwrap();
    let left = views.fitted(&Schema::default());
    let expected = json!([{
        "id": "v", "name": "Board", "layout": "calendar", "filters": [{ "property": "title", "op": "is", "value": "a" }],
        "hidden": [], "widths": { "title": 7.0 },
    }]);
    assert_eq!(serde_json::to_value(left).unwrap(), expected);
}

#[test]
fn a_filter_goes_when_its_property_changes_its_type() {
    let filter = json!([{ "property": "text", "op": "contains", "value": "a" }]);
    let views: Views = serde_json::from_value(json!([with("filters", filter)])).unwrap();
    let number = json!([{ "id": "text", "name": "Now a date", "type": "date" }]);
    let schema = Schema::check(serde_json::from_value(number).unwrap()).unwrap();
    assert_eq!(views.clone().fitted(&schema), views, "part of a date's text can still be looked for");
    let checkbox = json!([{ "id": "text", "name": "Now a box", "type": "checkbox" }]);
    let schema = Schema::check(serde_json::from_value(checkbox).unwrap()).unwrap();
    assert!(views.fitted(&schema).views()[0].filters.is_empty());
}
