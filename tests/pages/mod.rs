//! Notes pages (contract B 2.6, 3, 4.6).

mod archive;
mod coediting;
mod comments;
mod content;
mod creation;
mod databases;
mod failures;
mod imports;
mod list;
mod live;
mod moves;
mod nodes;
mod patch;
mod plans;
mod positions;
mod races;
mod search;
mod trash;
mod uploads;
mod versions;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

/// The id of no page.
const NEVER: &str = "doc_01jd7rt4m5e9fv2w8x3c6k0hqz";

/// An organization with whom it takes to have pages.
struct Notes {
    server: Server,
    /// Owns the organization.
    ada: Person,
    /// `/v1/orgs/:orgId/pages`
    path: String,
}

impl Notes {
    async fn new() -> Self {
        let server = Server::start().await;
        let ada = server.person("ada").await;
        let path = format!("{}/pages", org(&ada, "Acme").await);
        Self { server, ada, path }
    }

    /// Somebody else in the organization.
    async fn member(&self, name: &str, role: &str) -> Person {
        let person = self.server.person(name).await;
        join(&self.ada, self.path.trim_end_matches("/pages"), &person, role).await;
        person
    }

    /// The path of a page.
    fn at(&self, id: &str) -> String {
        format!("{}/{id}", self.path)
    }

    async fn try_make(&self, body: Value) -> Answer {
        self.ada.client.post(&self.path).json(&body).send().await
    }

    /// Makes a page of this title; its id.
    async fn page(&self, parent: &str, title: &str) -> String {
        let made = self.try_make(json!({ "parentId": parent, "title": title })).await.expect(201);
        made.str("/page/pageId").to_owned()
    }

    /// Makes a database of this title; its id.
    async fn database(&self, parent: &str, title: &str) -> String {
        let made = self.try_make(json!({ "parentId": parent, "title": title, "kind": "database" })).await.expect(201);
        made.str("/page/pageId").to_owned()
    }

    /// Pages that lie in one another, so many; their ids from the top.
    async fn chain(&self, top: &str, length: usize) -> Vec<String> {
        let mut ids = Vec::new();
        for depth in 0..length {
            let parent = ids.last().map_or(top, String::as_str).to_owned();
            ids.push(self.page(&parent, &format!("{depth}")).await);
        }
        ids
    }

    async fn patch(&self, id: &str, body: Value) -> Answer {
        self.ada.client.patch(&self.at(id)).json(&body).send().await
    }

    async fn archive(&self, id: &str) {
        self.patch(id, json!({ "archived": true })).await.expect(200);
    }

    async fn restore(&self, id: &str) {
        self.patch(id, json!({ "archived": false })).await.expect(200);
    }

    async fn delete(&self, id: &str) -> Answer {
        self.ada.client.delete(&self.at(id)).send().await
    }

    async fn get(&self, id: &str) -> Answer {
        self.ada.client.get(&self.at(id)).send().await
    }

    /// The pages outside of the trash, as the list answers them.
    async fn list(&self) -> Vec<Value> {
        self.ada.client.get(&self.path).send().await.expect(200).list("/pages").to_vec()
    }
}

/// The trash, as the list answers it.
async fn trash(notes: &Notes) -> Vec<Value> {
    let listed = notes.ada.client.get(&format!("{}?archived=1", notes.path)).send().await.expect(200);
    listed.list("/pages").to_vec()
}

/// Where each page lies, by its title.
fn places(pages: &[Value]) -> Vec<(&str, &str)> {
    let mut places: Vec<_> =
        pages.iter().map(|page| (page["title"].as_str().unwrap(), page["parentId"].as_str().unwrap())).collect();
    places.sort_unstable();
    places
}

/// The titles of these pages.
fn titles(pages: &[Value]) -> Vec<&str> {
    pages.iter().map(|page| page["title"].as_str().unwrap()).collect()
}
