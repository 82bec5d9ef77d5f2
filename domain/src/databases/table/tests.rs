use serde_json::json;

use super::*;
use crate::{
    databases::{
        KeyType,
        item::tests::item,
        key::tests::{attribute, schema},
    },
    error::Error,
};

pub(in crate::databases) fn index(name: &str, kind: IndexKind, keys: KeySchema) -> Index {
    let projection = Projection { projection_type: ProjectionType::All, attributes: Vec::new() };
    Index { name: TableName::parse("name", name).unwrap(), schema: keys, kind, projection }
}

fn by_email(name: &str) -> Index {
    index(name, IndexKind::Global, KeySchema { partition: attribute("email", KeyType::S), sort: None })
}

fn by_date(name: &str) -> Index {
    let keys = KeySchema { sort: Some(attribute("date", KeyType::N)), ..schema(KeyType::S, None) };
    index(name, IndexKind::Local, keys)
}

pub(in crate::databases) fn draft() -> TableDraft {
    TableDraft {
        name: "Users".to_owned(),
        schema: schema(KeyType::S, Some(KeyType::N)),
        indexes: vec![by_email("by-email"), by_date("by-date")],
        billing_mode: BillingMode::PayPerRequest,
        deletion_protection: false,
        ttl_attribute: Some("expires".to_owned()),
        keep_changes: false,
    }
}

fn problems(checked: Result<Table>) -> Vec<(String, String)> {
    let Err(Error::Invalid { problems }) = checked else { panic!("{checked:?}") };
    problems.into_iter().map(|it| (it.path, it.message)).collect()
}

type Edit = fn(&mut TableDraft);

fn problem(change: impl FnOnce(&mut TableDraft)) -> (String, String) {
    let mut draft = draft();
    change(&mut draft);
    problems(draft.check()).remove(0)
}

#[test]
fn names_have_3_to_255_characters_of_few_kinds() {
    for name in ["abc", "A-z_0.9", &"a".repeat(255)] {
        assert_eq!(TableName::parse("name", name).unwrap().as_str(), name);
    }
    for name in ["", "ab", &"a".repeat(256), "a b", "a/b", "abé", "abc\n"] {
        assert_eq!(
            problem(|draft| draft.name = name.to_owned()),
            ("name".to_owned(), "Names have 3 to 255 letters, digits, _, . and -.".to_owned())
        );
    }
}

#[test]
fn a_table_is_as_it_was_asked_for() {
    let table = draft().check().unwrap();
    assert_eq!(table.indexes.len(), 2);
    assert_eq!(table.settings.ttl_attribute.as_deref(), Some("expires"));
    let text = serde_json::to_string(&table.indexes[1]).unwrap();
    assert_eq!(serde_json::from_str::<Index>(&text).unwrap(), table.indexes[1]);
    assert!(text.contains(r#""partitionKey":{"name":"pk","type":"S"}"#), "{text}");
}

#[test]
fn every_field_at_fault_is_named() {
    let mut draft = draft();
    draft.name = String::new();
    draft.ttl_attribute = Some(String::new());
    assert_eq!(problems(draft.check()).into_iter().map(|it| it.0).collect::<Vec<_>>(), ["name", "ttlAttribute"]);
}

#[test]
fn keys_are_of_two_attributes_with_names() {
    let cases: [(Edit, &str); 5] = [
        (|draft| draft.schema.partition.name = String::new(), "partitionKey.name"),
        (|draft| draft.schema.partition.name = "a".repeat(256), "partitionKey.name"),
        (|draft| draft.schema.partition.name = "a\n".to_owned(), "partitionKey.name"),
        (|draft| draft.schema.sort = Some(attribute("pk", KeyType::S)), "sortKey.name"),
        (|draft| draft.indexes[0].schema.sort = Some(attribute("email", KeyType::S)), "indexes[0].sortKey.name"),
    ];
    for (change, path) in cases {
        assert_eq!(problem(change).0, path);
    }
}

#[test]
fn indexes_fit_their_table() {
    let cases: [(Edit, &str, &str); 9] = [
        (|it| it.indexes.push(by_email("by-date")), "indexes[2].name", "Another index has this name."),
        (
            |it| it.indexes[0].schema.partition = attribute("date", KeyType::S),
            "indexes[1].sortKey.type",
            "Has another type in another key.",
        ),
        (
            |it| it.indexes[0].schema.partition = attribute("pk", KeyType::B),
            "indexes[0].partitionKey.type",
            "Has another type in another key.",
        ),
        (|it| it.indexes[1].schema.sort = None, "indexes[1].sortKey", "A local index has a sort key."),
        (
            |it| it.indexes[1].schema.partition.name = "email".to_owned(),
            "indexes[1].partitionKey",
            "A local index has the partition key of a table with a sort key.",
        ),
        (
            |it| it.schema.sort = None,
            "indexes[1].partitionKey",
            "A local index has the partition key of a table with a sort key.",
        ),
        (
            |it| it.indexes[0].projection.projection_type = ProjectionType::Include,
            "indexes[0].projection.attributes",
            "An index includes 1 to 20 attributes.",
        ),
        (
            |it| it.indexes[0].projection.attributes.push("a".to_owned()),
            "indexes[0].projection.attributes",
            "Only INCLUDE has attributes.",
        ),
        (
            |it| it.indexes = (0..6).map(|at| by_date(&format!("by-date-{at}"))).collect(),
            "indexes",
            "A table has up to 5 local indexes.",
        ),
    ];
    for (change, path, message) in cases {
        assert_eq!(problem(change), (path.to_owned(), message.to_owned()));
    }
}

#[test]
fn indexes_include_100_attributes_in_all() {
    let including = |at: usize, count: usize| {
        let attributes = (0..count).map(|at| format!("a{at}")).collect();
        let projection = Projection { projection_type: ProjectionType::Include, attributes };
        Index { projection, ..by_email(&format!("by-email-{at}")) }
    };
    let with = |last: usize| {
        let indexes = (0..5).map(|at| including(at, 20)).chain((last > 0).then(|| including(5, last))).collect();
        TableDraft { indexes, ..draft() }.check()
    };
    assert!(with(0).is_ok());
    assert_eq!(problems(with(1))[0].1, "The indexes of a table include up to 100 attributes in all.");
    assert_eq!(
        problems(TableDraft { indexes: vec![including(0, 21)], ..draft() }.check())[0].0,
        "indexes[0].projection.attributes"
    );
}

#[test]
fn global_indexes_come_and_go() {
    let mut table = draft().check().unwrap();
    assert_eq!(table.with_index(by_email("by-email")).unwrap_err().to_string(), "An index with this name exists.");
    assert_eq!(problems(table.with_index(by_date("by-date-2")))[0].0, "kind");
    for at in 1..GLOBAL_INDEXES_MAX {
        table = table.with_index(by_email(&format!("by-email-{at}"))).unwrap();
    }
    let refused = table.with_index(by_email("by-email-20")).unwrap_err();
    assert_eq!((refused.status(), refused.to_string().as_str()), (409, "A table has up to 20 global indexes."));
    assert_eq!(table.without_index("by-email").unwrap().indexes.len(), table.indexes.len() - 1);
    assert_eq!(table.without_index("by-name").unwrap_err().to_string(), "No index named by-name.");
    assert_eq!(table.without_index("by-date").unwrap_err().code(), "index_is_local");
}

#[test]
fn an_index_shows_keys_and_what_it_includes() {
    let table = draft().check().unwrap();
    let whole =
        item(json!({"pk": {"S": "a"}, "sk": {"N": "1"}, "email": {"S": "b"}, "name": {"S": "c"}, "age": {"N": "2"}}));
    let shown = |projection_type, attributes: &[&str]| {
        let attributes = attributes.iter().map(|&name| name.to_owned()).collect();
        let index = Index { projection: Projection { projection_type, attributes }, ..by_email("by-email") };
        let shown = index.shown(whole.clone(), &table.schema);
        shown.attributes().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(ProjectionType::All, &[]).len(), 5);
    assert_eq!(shown(ProjectionType::KeysOnly, &[]), ["email", "pk", "sk"]);
    assert_eq!(shown(ProjectionType::Include, &["age", "gone"]), ["age", "email", "pk", "sk"]);
}

#[test]
fn settings_change_where_they_are_named() {
    let before = draft().check().unwrap().settings;
    let change = TableChange { keep_changes: Some(true), recovery_days: Some(35), ..TableChange::default() };
    let after = change.apply(before.clone()).unwrap();
    assert_eq!(after, TableSettings { keep_changes: true, recovery_days: 35, ..before.clone() });
    let cleared = TableChange { ttl_attribute: Some(None), ..TableChange::default() };
    assert_eq!(cleared.apply(after).unwrap().ttl_attribute, None);
    let wrong = TableChange { recovery_days: Some(36), ..TableChange::default() };
    assert!(wrong.apply(before).is_err());
}

#[test]
fn a_table_is_used_while_it_is_there_and_deleted_unless_it_is_protected() {
    let usable: Vec<_> = TableStatus::ALL.iter().filter(|status| status.check_usable().is_ok()).collect();
    assert_eq!(usable, [&TableStatus::Updating, &TableStatus::Active]);
    let refused = TableStatus::Deleting.check_usable().unwrap_err();
    assert_eq!((refused.code(), refused.to_string().as_str()), ("resource_busy", "This table is being deleted."));
    let settings = TableSettings::default();
    assert!(settings.check_deletable().is_ok());
    let refused = TableSettings { deletion_protection: true, ..settings }.check_deletable().unwrap_err();
    assert_eq!((refused.status(), refused.to_string().as_str()), (409, "This table is protected from deletion."));
}
