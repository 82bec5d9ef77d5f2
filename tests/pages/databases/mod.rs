//! Databases: schemas and views, values of rows, relations, and looking at rows.

mod relations;
mod rows;
mod shape;
mod values;

use serde_json::{Value, json};

use super::Notes;
use crate::harness::Answer;

impl Notes {
    /// Makes a database with this schema; its id.
    async fn database_of(&self, title: &str, schema: Value) -> String {
        let id = self.database("root", title).await;
        self.patch(&id, json!({ "schema": schema })).await.expect(200);
        id
    }

    /// Makes a row with these values; its id.
    async fn row(&self, database: &str, title: &str, properties: Value) -> String {
        let made = self.try_make(json!({ "parentId": database, "title": title, "properties": properties })).await;
        made.expect(201).str("/page/pageId").to_owned()
    }

    /// What a row shows.
    async fn properties(&self, row: &str) -> Value {
        self.get(row).await.expect(200).json["page"]["properties"].clone()
    }

    /// The rows of a database as a query asks for them.
    async fn look(&self, database: &str, query: &[(&str, &str)]) -> Answer {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        self.ada.client.get(&format!("{}/rows?{query}", self.at(database))).send().await
    }
}

/// A property of each type but relation, named as its type.
fn schema() -> Value {
    let options = json!([{ "id": "low", "name": "Low" }, { "id": "high", "name": "High", "color": "red" }]);
    json!([
        { "id": "number", "name": "Price", "type": "number" },
        { "id": "text", "name": "Note", "type": "text" },
        { "id": "url", "name": "Site", "type": "url" },
        { "id": "date", "name": "Due", "type": "date" },
        { "id": "select", "name": "Priority", "type": "select", "options": options },
        { "id": "checkbox", "name": "Done", "type": "checkbox" },
        { "id": "multi_select", "name": "Tags", "type": "multi_select", "options": options },
    ])
}
