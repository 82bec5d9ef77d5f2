//! A database with a property of each type, and what its parts refuse and hold for.

mod filters;
mod looking;
mod schemas;
mod values;
mod views;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::{Error, Timestamp, id::PageId};

fn page(number: i64) -> PageId {
    PageId::new(Timestamp(number))
}

/// A schema with a property of each type, named as its type.
fn schema() -> Schema {
    let options = json!([{ "id": "low", "name": "Low" }, { "id": "mid", "name": "Middling", "color": "blue" }, { "id": "high", "name": "High" }]);
    let properties = json!([
        { "id": "number", "name": "Price", "type": "number" },
        { "id": "text", "name": "Note", "type": "text" },
        { "id": "url", "name": "Site", "type": "url" },
        { "id": "date", "name": "Due", "type": "date" },
        { "id": "select", "name": "Priority", "type": "select", "options": options },
        { "id": "checkbox", "name": "Done", "type": "checkbox" },
        { "id": "multi_select", "name": "Tags", "type": "multi_select", "options": options },
        { "id": "relation", "name": "Projects", "type": "relation", "databaseId": page(1) },
    ]);
    Schema::check(serde_json::from_value(properties).unwrap()).unwrap()
}

fn values(values: Value) -> BTreeMap<String, Option<PropertyValue>> {
    serde_json::from_value(values).unwrap()
}

fn properties(values: Value) -> Properties {
    serde_json::from_value(values).unwrap()
}

/// The paths of the fields at fault, or the message of another error.
fn faults<T>(outcome: crate::Result<T>) -> Vec<String> {
    match outcome {
        Ok(_) => Vec::new(),
        Err(Error::Invalid { problems }) => problems.into_iter().map(|problem| problem.path).collect(),
        Err(error) => vec![error.to_string()],
    }
}
