use super::*;

fn check(properties: Value) -> Vec<String> {
    faults(Schema::check(serde_json::from_value(properties).unwrap()))
}

fn text(id: &str) -> Value {
    json!({ "id": id, "name": "Note", "type": "text" })
}

#[test]
fn a_schema_is_the_contracts_json() {
    let written = json!([
        { "id": "p", "name": "Priority", "type": "select", "options": [{ "id": "a", "name": "A", "color": "red" }] },
        { "id": "r", "name": "Projects", "type": "relation", "databaseId": page(1) },
    ]);
    let read = Schema::check(serde_json::from_value(written.clone()).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
}

#[test]
fn a_schema_has_up_to_fifty_properties() {
    for (count, wrong) in [(0, false), (49, false), (50, false), (51, true)] {
        let properties: Vec<_> = (0..count).map(|number| text(&format!("p{number}"))).collect();
        assert_eq!(!check(json!(properties)).is_empty(), wrong, "{count}");
    }
}

#[test]
fn ids_and_names_have_their_lengths() {
    for (length, wrong) in [(0, true), (1, false), (31, false), (32, false), (33, true)] {
        assert_eq!(!check(json!([text(&"é".repeat(length))])).is_empty(), wrong, "{length}");
    }
    for (length, wrong) in [(0, true), (1, false), (99, false), (100, false), (101, true)] {
        let property = json!({ "id": "p", "name": "é".repeat(length), "type": "text" });
        assert_eq!(!check(json!([property])).is_empty(), wrong, "{length}");
    }
    assert_eq!(check(json!([text("a\u{0}b")])), ["schema[0].id"]);
}

#[test]
fn ids_are_different() {
    assert_eq!(check(json!([text("a"), text("b"), text("a")])), ["schema[2].id"]);
    let options = json!([{ "id": "a", "name": "A" }, { "id": "a", "name": "B" }]);
    let property = json!({ "id": "p", "name": "P", "type": "select", "options": options });
    assert_eq!(check(json!([property])), ["schema[0].options[1].id"]);
}

#[test]
fn only_properties_with_options_have_them() {
    let options = json!([{ "id": "a", "name": "A" }]);
    for kind in PropertyKind::ALL.iter().filter(|kind| **kind != PropertyKind::Relation) {
        let property = json!({ "id": "p", "name": "P", "type": kind, "options": options });
        let wrong = if kind.has_options() { vec![] } else { vec!["schema[0].options"] };
        assert_eq!(check(json!([property])), wrong, "{kind}");
    }
    for (count, wrong) in [(99, false), (100, false), (101, true)] {
        let options: Vec<_> = (0..count).map(|id| json!({ "id": id.to_string(), "name": "A" })).collect();
        let property = json!({ "id": "p", "name": "P", "type": "select", "options": options });
        assert_eq!(!check(json!([property])).is_empty(), wrong, "{count}");
    }
}

#[test]
fn a_relation_and_nothing_else_names_a_database() {
    for kind in PropertyKind::ALL {
        let is_relation = *kind == PropertyKind::Relation;
        let with = json!({ "id": "p", "name": "P", "type": kind, "databaseId": page(1), "inverseOf": "q" });
        let without = json!({ "id": "p", "name": "P", "type": kind });
        assert_eq!(check(json!([with])).is_empty(), is_relation, "{kind}");
        assert_eq!(check(json!([without])).is_empty(), !is_relation, "{kind}");
    }
}

#[test]
fn both_sides_of_a_relation_show_the_same_pairs() {
    let (tasks, projects) = (page(1), page(2));
    let side = |json: Value| -> Schema { Schema::check(serde_json::from_value(json!([json])).unwrap()).unwrap() };
    let one = side(json!({ "id": "project", "name": "Project", "type": "relation", "databaseId": projects }));
    let other = side(
        json!({ "id": "tasks", "name": "Tasks", "type": "relation", "databaseId": tasks, "inverseOf": "project" }),
    );
    let shown = |schema: &Schema, database| schema.relations(database).map(|(_, relation)| relation).next().unwrap();
    let (from_task, from_project) = (shown(&one, tasks), shown(&other, projects));
    assert_eq!((from_task.database_id, from_task.property_id.as_str()), (tasks, "project"));
    assert_eq!((from_project.database_id, from_project.property_id.as_str()), (tasks, "project"));
    assert_eq!((from_task.end, from_project.end), (RelationEnd::Row, RelationEnd::Target));
    assert!(one.can_have_inverse("project", projects) && !one.can_have_inverse("project", tasks));
    assert!(!other.can_have_inverse("tasks", tasks));
}
