//! A table with indexes, and what is done to it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::acts::Act;
use crate::{
    crash::stage::Stage,
    harness::{Answer, Client},
};

/// Items that the table begins with: of three batches of a backfill.
const ITEMS: u64 = 60;
/// Items that one request writes.
const AT_ONCE: u64 = 20;

/// Items by their keys.
pub type Seen = BTreeMap<String, Value>;

pub struct World {
    pub stage: Stage,
    /// `/v1/orgs/:orgId/databases/:databaseId` of the table, and of the one that is deleted next.
    table: String,
    doomed: String,
    made: u64,
    /// The number of what is written next.
    next: u64,
    /// What the act writes.
    items: Vec<Value>,
    /// What it has in the place of.
    original: Value,
}

fn item(number: u64, says: u64) -> Value {
    json!({
        "id": {"S": format!("id{number}")}, "at": {"N": (number % 7).to_string()}, "email": {"S": format!("{}@x", says % 3)},
        "city": {"S": format!("city{}", says % 5)}, "age": {"N": format!("{says}.5")}, "text": {"S": "x".repeat(usize::try_from(says % 90).unwrap())}
    })
}

fn key(item: &Value) -> Value {
    json!({ "id": item["id"], "at": item["at"] })
}

fn by_city(number: u64) -> Value {
    let name = format!("by-city-{number}");
    json!({"name": name, "partitionKey": {"name": "city", "type": "S"}, "sortKey": {"name": "at", "type": "N"}, "kind": "global"})
}

impl World {
    pub async fn new() -> Self {
        let stage = Stage::new().await;
        let (table, doomed) = (String::new(), String::new());
        let mut world = Self { stage, table, doomed, made: 0, next: ITEMS, items: Vec::new(), original: Value::Null };
        world.table = world.make().await;
        world.client().patch(&world.table).json(&json!({ "ttlAttribute": "until" })).send().await.expect(200);
        world
    }

    fn client(&self) -> &Client {
        &self.stage.client
    }

    /// Makes a table with items in it.
    async fn make(&mut self) -> String {
        self.made += 1;
        let tables = format!("{}/databases", self.stage.org);
        let body = json!({
            "name": format!("Table{}", self.made), "partitionKey": {"name": "id", "type": "S"}, "sortKey": {"name": "at", "type": "N"},
            "indexes": [
                {"name": "by-email", "partitionKey": {"name": "email", "type": "S"}, "kind": "global"},
                {"name": "by-age", "partitionKey": {"name": "id", "type": "S"}, "sortKey": {"name": "age", "type": "N"}, "kind": "local"}
            ]
        });
        let made = self.client().post(&tables).json(&body).send().await.expect(201);
        let table = format!("{tables}/{}", made.str("/database/resourceId"));
        let items: Vec<_> = (0..ITEMS).map(|number| item(number, number)).collect();
        self.post(&table, "items/import", json!({ "items": items })).await.expect("an answer").expect(200);
        table
    }

    async fn post(&self, table: &str, about: &str, body: Value) -> Option<Answer> {
        self.client().post(&format!("{table}/{about}")).json(&body).try_send().await
    }

    async fn import(&self, items: &[Value]) {
        let body = json!({ "items": items, "mode": "overwrite" });
        self.post(&self.table, "items/import", body).await.expect("an answer").expect(200);
    }

    /// What the act needs, without a fault.
    pub async fn prepare(&mut self, act: Act) {
        self.next += AT_ONCE;
        let next = self.next;
        let fresh: Vec<_> = (next..next + AT_ONCE).map(|number| item(number, number)).collect();
        match act {
            Act::Add => self.items = vec![item(next, next)],
            Act::Replace | Act::Rename | Act::Update | Act::Delete | Act::DeleteBatch => {
                self.import(&fresh).await;
                self.original = fresh[0].clone();
                self.items = match act {
                    // What an update makes of it too: it has another place in each index.
                    Act::Replace | Act::Update => vec![item(next, next + 1)],
                    Act::Rename => vec![item(next + AT_ONCE, next + 1)],
                    Act::Delete => vec![fresh[0].clone()],
                    _ => fresh,
                };
                // Its new name is its own.
                self.next += 1;
            }
            Act::Import => {
                // Half of them take the places of others.
                self.import(&fresh[..fresh.len() / 2]).await;
                self.items = (next..next + AT_ONCE).map(|number| item(number, number + 1)).collect();
            }
            Act::CreateIndex => self.made += 1,
            Act::DeleteIndex => {
                self.made += 1;
                self.post(&self.table, "indexes", by_city(self.made)).await.expect("an answer").expect(202);
                self.index_is_ready().await;
            }
            Act::Expire => {
                let until = json!({ "N": (self.stage.now_ms() / 1_000 + 3_600).to_string() });
                self.items = fresh;
                for item in &mut self.items {
                    item["until"] = until.clone();
                }
                self.import(&self.items).await;
            }
            Act::DeleteTable => self.doomed = self.make().await,
        }
    }

    /// Asks for it; none when no answer came.
    pub async fn ask(&mut self, act: Act) -> Option<Answer> {
        let put = async |body: Value| self.client().put(&format!("{}/items", self.table)).json(&body).try_send().await;
        match act {
            Act::Add => put(json!({ "item": self.items[0] })).await,
            Act::Replace | Act::Rename => put(json!({ "item": self.items[0], "original": self.original })).await,
            Act::Update => self.update(&self.items[0]).await,
            Act::Delete => self.post(&self.table, "items/delete", json!({ "key": key(&self.items[0]) })).await,
            Act::DeleteBatch => {
                let keys: Vec<_> = self.items.iter().map(key).collect();
                self.post(&self.table, "items/batch-delete", json!({ "keys": keys })).await
            }
            Act::Import => {
                self.post(&self.table, "items/import", json!({ "items": self.items, "mode": "overwrite" })).await
            }
            Act::CreateIndex => self.post(&self.table, "indexes", by_city(self.made)).await,
            Act::DeleteIndex => self.delete_index().await,
            Act::Expire => None,
            Act::DeleteTable => self.client().delete(&self.doomed).try_send().await,
        }
    }

    /// Sets all attributes to those of an item with its key.
    async fn update(&self, item: &Value) -> Option<Answer> {
        let body = json!({
            "key": key(item), "update": "SET email = :email, city = :city, age = :age, #text = :text",
            "condition": "attribute_exists(id)", "names": {"#text": "text"},
            "values": {":email": item["email"], ":city": item["city"], ":age": item["age"], ":text": item["text"]}
        });
        self.post(&self.table, "items/update", body).await
    }

    async fn delete_index(&self) -> Option<Answer> {
        self.client().delete(&format!("{}/indexes/by-city-{}", self.table, self.made)).try_send().await
    }

    /// Waits for what goes on by itself after the program has started again; asks for it again where it hadn't begun.
    pub async fn settle(&mut self, act: Act) {
        match act {
            Act::CreateIndex => {
                let again = self.post(&self.table, "indexes", by_city(self.made)).await.expect("an answer");
                assert!(matches!(again.status, 202 | 409), "{}", again.text);
                self.index_is_ready().await;
                self.delete_index().await.expect("an answer").expect(202);
                self.jobs_end("databases.index_removal").await;
            }
            Act::DeleteIndex => {
                let again = self.delete_index().await.expect("an answer");
                assert!(matches!(again.status, 202 | 404), "{}", again.text);
                self.jobs_end("databases.index_removal").await;
            }
            Act::Expire => {
                let gone = async || {
                    let key = key(self.items.last().unwrap());
                    let found = self.post(&self.table, "items/get", json!({ "key": key })).await.expect("an answer");
                    (found.status == 404).then_some(())
                };
                self.stage.eventually("what has expired goes", gone).await;
            }
            Act::DeleteTable => {
                let again = self.client().delete(&self.doomed).send().await;
                assert!(matches!(again.status, 202 | 404 | 409), "{}", again.text);
                self.jobs_end("databases.removal").await;
                self.client().get(&self.doomed).send().await.expect(404);
            }
            _ => {}
        }
    }

    async fn index_is_ready(&self) {
        let name = format!("by-city-{}", self.made);
        let ready = async || {
            let table = self.client().get(&self.table).send().await.expect(200).json["table"].clone();
            let index = table["indexes"].as_array().unwrap().iter().find(|index| index["name"] == name)?.clone();
            (index["status"] == "ACTIVE").then_some(())
        };
        self.stage.eventually("the index's being ready", ready).await;
    }

    async fn jobs_end(&self, topic: &'static str) {
        let ended = async || self.stage.store.work_next(topic).await.unwrap().is_none().then_some(());
        self.stage.eventually(topic, ended).await;
    }

    /// What is there.
    pub async fn seen(&self) -> Seen {
        let (mut seen, mut body) = (Seen::new(), json!({ "limit": 100 }));
        loop {
            let page = self.post(&self.table, "scan", body.clone()).await.expect("an answer").expect(200);
            seen.extend(page.list("/items").iter().map(|item| (key(item).to_string(), item.clone())));
            let Some(cursor) = page.json.get("cursor") else { return seen };
            body["cursor"] = cursor.clone();
        }
    }

    /// What the act makes of what was there, where it is done.
    pub fn effect(&self, act: Act, seen: &mut Seen) {
        if act == Act::Rename {
            seen.remove(&key(&self.original).to_string());
        }
        for item in &self.items {
            match act {
                Act::Add | Act::Replace | Act::Rename | Act::Update | Act::Import => {
                    drop(seen.insert(key(item).to_string(), item.clone()));
                }
                Act::Delete | Act::DeleteBatch | Act::Expire => drop(seen.remove(&key(item).to_string())),
                Act::CreateIndex | Act::DeleteIndex | Act::DeleteTable => {}
            }
        }
    }
}
