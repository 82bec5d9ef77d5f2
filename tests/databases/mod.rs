//! Key-value databases (contract C 2.3, 4.5).

mod expiry;
mod indexes;
mod items;
mod model;
mod races;
mod removal;
mod search;
mod tables;
mod updates;

use domain::{
    databases::Direction,
    id::{OrgId, ResourceId},
};
use serde_json::{Value, json};
use store::{
    Store,
    databases::{FoundItem, ItemRange, TableRows},
};

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Person, Server},
};

/// The id of no database.
const NEVER: &str = "res_01jd7rt4m5e9fv2w8x3c6k0hqz";

/// An organization with whom it takes to have databases.
struct Tables {
    server: Server,
    /// Owns the organization.
    ada: Person,
    /// `/v1/orgs/:orgId/databases`
    path: String,
}

impl Tables {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[&str]) -> Self {
        let server = Server::with(settings).await;
        let ada = server.person("ada").await;
        let path = format!("{}/databases", org(&ada, "Acme").await);
        Self { server, ada, path }
    }

    fn org(&self) -> &str {
        self.path.trim_end_matches("/databases")
    }

    fn org_id(&self) -> OrgId {
        self.org().rsplit('/').next().unwrap().parse().unwrap()
    }

    /// Somebody else in the organization.
    async fn member(&self, name: &str, role: &str) -> Person {
        let person = self.server.person(name).await;
        join(&self.ada, self.org(), &person, role).await;
        person
    }

    async fn try_make(&self, body: Value) -> Answer {
        self.ada.client.post(&self.path).json(&body).send().await
    }

    /// Makes a table.
    async fn make(&self, body: Value) -> Table {
        let made = self.try_make(body).await.expect(201);
        let id = made.str("/database/resourceId").to_owned();
        Table { client: self.ada.client.clone(), path: format!("{}/{id}", self.path), id }
    }

    /// Makes a table of users by their id and the time.
    async fn users(&self) -> Table {
        self.make(users("Users")).await
    }

    /// Everything that lies in a table of this number, or in one of its indexes.
    async fn rows(&self, store: &Store, table_no: i64, index_no: Option<i32>) -> Vec<FoundItem> {
        let (query, after, direction) = (None, None, Direction::Forward);
        store.items_in(&ItemRange { table_no, index_no, query, direction, after, limit: 10_000 }).await.unwrap()
    }
}

/// How many rows some indexes have, whether the items are there that they name or not.
async fn index_rows(store: &Store, table_no: i64, which: TableRows) -> usize {
    let batch = store.table_rows_next(table_no, which).await.unwrap();
    let count = batch.rows.iter().map(|(_, count)| *count).sum::<u32>();
    assert!(count < store::PURGE_ROWS_MAX, "there may be more");
    usize::try_from(count).unwrap()
}

/// A table of users by their id and the time, with an index by their addresses and one by their ages.
fn users(name: &str) -> Value {
    json!({
        "name": name, "partitionKey": {"name": "id", "type": "S"}, "sortKey": {"name": "at", "type": "N"},
        "indexes": [
            {"name": "by-email", "partitionKey": {"name": "email", "type": "S"}, "kind": "global"},
            {
                "name": "by-age", "partitionKey": {"name": "id", "type": "S"}, "sortKey": {"name": "age", "type": "N"},
                "kind": "local", "projection": {"type": "KEYS_ONLY"}
            }
        ]
    })
}

/// A user without anything but a key.
fn user(id: &str, at: i64) -> Value {
    json!({"id": {"S": id}, "at": {"N": at.to_string()}})
}

/// The same with one attribute more.
fn with(mut item: Value, name: &str, value: Value) -> Value {
    item[name] = value;
    item
}

/// A table, as somebody uses it.
#[derive(Clone)]
struct Table {
    client: Client,
    path: String,
    id: String,
}

impl Table {
    fn resource_id(&self) -> ResourceId {
        self.id.parse().unwrap()
    }

    async fn describe(&self) -> Answer {
        self.client.get(&self.path).send().await
    }

    async fn post(&self, what: &str, body: Value) -> Answer {
        self.client.post(&format!("{}/{what}", self.path)).json(&body).send().await
    }

    async fn put(&self, body: Value) -> Answer {
        self.client.put(&format!("{}/items", self.path)).json(&body).send().await
    }

    async fn add(&self, item: Value) {
        self.put(json!({ "item": item })).await.expect(200);
    }

    async fn get(&self, key: Value) -> Answer {
        self.post("items/get", json!({ "key": key })).await
    }

    async fn delete(&self, key: Value) -> Answer {
        self.post("items/delete", json!({ "key": key })).await
    }

    /// What is counted of it: items and bytes.
    async fn counts(&self) -> (i64, i64) {
        let answer = self.describe().await.expect(200);
        (answer.int("/table/itemCount"), answer.int("/table/sizeBytes"))
    }
}
