//! The description that the server serves: complete, sound, and the one that lies in the project.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;

use super::{
    sent::Described,
    table::{Takes, Who, rows},
};
use crate::harness::Server;

/// Described endpoints that the table does not drive. This list may only shrink.
const EXCEPTIONS: &[(&str, &str)] = &[];

async fn described() -> Described {
    let server = Server::start().await;
    Described(server.client().get("/v1/openapi.json").send().await.expect(200).json)
}

/// Method, path and operation of all that is described.
fn operations(document: &Value) -> Vec<(String, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods").iter();
            methods.map(move |(method, operation)| (method.to_uppercase(), path.as_str(), operation))
        })
        .collect()
}

#[tokio::test]
async fn the_table_has_exactly_the_endpoints_that_are_described() {
    let described = described().await;
    let all = operations(&described.0);
    let described: BTreeSet<_> = all.iter().map(|(method, path, _)| (method.as_str(), *path)).collect();
    let driven: BTreeSet<_> = rows().map(|row| (row.method, row.path)).chain(EXCEPTIONS.iter().copied()).collect();
    let missing: Vec<_> = described.difference(&driven).collect();
    let gone: Vec<_> = driven.difference(&described).collect();
    assert!(missing.is_empty(), "tests/endpoints/table.rs lacks {missing:#?}");
    assert!(gone.is_empty(), "tests/endpoints/table.rs has what is not described: {gone:#?}");
}

#[tokio::test]
async fn what_is_described_agrees_with_the_table() {
    let described = described().await;
    for row in rows() {
        let operation = described.operation(row);
        let is_open = row.who.is_open();
        assert_eq!(operation["security"].as_array().map(Vec::is_empty), Some(is_open), "{row:?}");
        assert_eq!(operation["requestBody"].is_object(), row.takes != Takes::Nothing, "{row:?}");
        let refusal = operation["responses"]["403"]["description"].as_str().unwrap_or_default();
        match row.who {
            Who::Scope(scope) | Who::Platform(scope) | Who::Git(scope) | Who::GitLfs(scope) => {
                assert!(refusal.contains(scope), "{row:?}: {refusal}");
            }
            Who::Authenticator(message)
            | Who::MobileApp(message)
            | Who::IphoneApp(message)
            | Who::CommandLine(message) => {
                assert!(refusal.contains(message), "{row:?}: {refusal}");
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn every_operation_has_a_title_an_area_an_id_of_its_own_and_an_answer() {
    let document = described().await.0;
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let text = |field: &str| operation[field].as_str().unwrap_or_default();
        assert!(!text("summary").is_empty() && !text("summary").ends_with('.'), "{method} {path}: {}", text("summary"));
        assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{method} {path}");
        assert!(ids.insert(text("operationId").to_owned()), "{method} {path}: {}", text("operationId"));
        let statuses: Vec<_> = operation["responses"].as_object().expect("answers").keys().collect();
        assert!(statuses.iter().any(|status| status.starts_with(['1', '2'])), "{method} {path}: {statuses:?}");
    }
}

#[tokio::test]
async fn every_parameter_of_a_path_is_described_with_an_example() {
    let document = described().await.0;
    for (method, path, operation) in operations(&document) {
        let named: BTreeSet<_> = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let of_path: Vec<_> = parameters.iter().filter(|one| one["in"] == "path").collect();
        let told: BTreeSet<_> = of_path.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(named, told, "{method} {path}");
        for parameter in of_path {
            assert!(
                parameter["description"].is_string() && parameter["example"].is_string(),
                "{method} {path}: {parameter}"
            );
        }
    }
}

#[tokio::test]
async fn every_error_has_a_body_and_a_sentence() {
    let document = described().await.0;
    for (method, path, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().expect("answers") {
            assert!(answer["description"].as_str().is_some_and(|text| !text.is_empty()), "{method} {path} {status}");
            if status.starts_with(['4', '5']) {
                let how = if path.contains("/info/lfs/") {
                    "application/vnd.git-lfs+json"
                } else if path.starts_with("/git/") {
                    "text/plain"
                } else {
                    "application/json"
                };
                assert!(answer["content"][how]["schema"].is_object(), "{method} {path} {status}");
            }
        }
    }
}

#[tokio::test]
async fn every_schema_that_is_referred_to_is_there_and_none_is_there_for_nothing() {
    let document = described().await.0;
    let mut referred = BTreeSet::new();
    collect_references(&document, &mut referred);
    let schemas: BTreeSet<_> =
        document["components"]["schemas"].as_object().expect("schemas").keys().cloned().collect();
    assert_eq!(referred, schemas);
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                found.insert(name.strip_prefix("#/components/schemas/").expect("a schema of this document").to_owned());
            }
            fields.values().for_each(|field| collect_references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_snapshot_in_docs_is_what_the_server_serves() {
    let server = Server::start().await;
    let text = server.client().get("/v1/openapi.json").send().await.expect(200).text;
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
    let kept = std::fs::read_to_string(&snapshot).expect("docs/openapi.json");
    let first_difference = kept.lines().zip(text.lines()).position(|(kept, served)| kept != served);
    let line = first_difference.unwrap_or_else(|| kept.lines().count().min(text.lines().count())) + 1;
    assert!(
        kept == text,
        "docs/openapi.json differs from what the server serves, first in line {line}. If the change is meant, run \
         TROUPE_UPDATE_DOCS=1 cargo test -p troupe-http, and commit the file."
    );
}
