//! Object storage (contract C 2.3, 3, 4.4).

mod buckets;
mod copies;
mod deletions;
mod download;
mod files;
mod large;
mod lifecycle;
mod list;
mod model;
mod moves;
mod multipart;
mod quota;
mod races;
mod reads;
mod removal;
mod rules;
mod versions;
mod whole;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Person, Server},
};

/// The id of no bucket.
const NEVER: &str = "res_01jd7rt4m5e9fv2w8x3c6k0hqz";

/// A bucket in an organization with whom it takes to have one.
struct Files {
    server: Server,
    /// Owns the organization.
    ada: Person,
    /// `/v1/orgs/:orgId/storage`
    buckets: String,
    /// `/v1/orgs/:orgId/storage/:resourceId`
    path: String,
}

/// A key as it stands in a query.
fn query(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

impl Files {
    async fn new() -> Self {
        Self::with(json!({})).await
    }

    /// With a bucket that keeps old versions.
    async fn versioned() -> Self {
        Self::with(json!({ "versioning": "Enabled" })).await
    }

    /// With a bucket of these settings.
    async fn with(settings: Value) -> Self {
        Self::on(Server::start().await, settings).await
    }

    async fn on(server: Server, mut settings: Value) -> Self {
        let ada = server.person("ada").await;
        let buckets = format!("{}/storage", org(&ada, "Acme").await);
        settings["name"] = json!("files");
        let made = ada.client.post(&buckets).json(&settings).send().await.expect(201);
        let path = format!("{buckets}/{}", made.str("/bucket/resourceId"));
        Self { server, ada, buckets, path }
    }

    /// Somebody else in the organization.
    async fn member(&self, name: &str, role: &str) -> Person {
        let person = self.server.person(name).await;
        join(&self.ada, self.buckets.trim_end_matches("/storage"), &person, role).await;
        person
    }

    fn client(&self) -> &Client {
        &self.ada.client
    }

    /// Switches versioning.
    async fn switch(&self, versioning: &str) {
        self.client().patch(&self.path).json(&json!({ "versioning": versioning })).send().await.expect(200);
    }

    async fn try_put(&self, key: &str, body: &str) -> Answer {
        let path = format!("{}/object?key={}", self.path, query(key));
        self.client().put(&path).body("text/plain", body.to_owned()).send().await
    }

    /// Writes a file, over one that is there too; the id of its version.
    async fn put(&self, key: &str, body: &str) -> String {
        let path = format!("{}/object?overwrite=1&key={}", self.path, query(key));
        let put = self.client().put(&path).body("text/plain", body.to_owned()).send().await.expect(200);
        put.str("/object/versionId").to_owned()
    }

    /// Writes an empty file, whose key is a number of four digits.
    async fn put_at(&self, at: usize) {
        self.put(&format!("{at:04}"), "").await;
    }

    /// Writes an empty file into the folder `f/`, whose name is a number of four digits.
    async fn put_in_folder(&self, at: usize) {
        self.put(&format!("f/{at:04}"), "").await;
    }

    async fn get(&self, key: &str) -> Answer {
        self.client().get(&format!("{}/object?key={}", self.path, query(key))).send().await
    }

    async fn delete(&self, key: &str) {
        self.client().delete(&format!("{}/object?key={}", self.path, query(key))).send().await.expect(204);
    }

    async fn list(&self, about: &str) -> Answer {
        self.client().get(&format!("{}/objects?{about}", self.path)).send().await
    }

    async fn versions(&self, key: &str) -> Answer {
        self.client().get(&format!("{}/object/versions?key={}", self.path, query(key))).send().await
    }

    async fn restore(&self, key: &str, version: &str) -> Answer {
        let body = json!({ "key": key, "versionId": version });
        self.client().post(&format!("{}/object/restore", self.path)).json(&body).send().await
    }

    async fn delete_version(&self, key: &str, version: &str) -> Answer {
        let body = json!({ "key": key, "versionId": version });
        self.client().post(&format!("{}/object/versions/delete", self.path)).json(&body).send().await
    }

    async fn deleted(&self, about: &str) -> Answer {
        self.client().get(&format!("{}/deleted?{about}", self.path)).send().await
    }

    async fn moves(&self, body: Value) -> Answer {
        self.client().post(&format!("{}/objects/move", self.path)).json(&body).send().await
    }

    /// What the address of a download answers, with these headers.
    async fn fetch(&self, address: &str, headers: &[(&str, &str)]) -> Answer {
        let start = address.find("/v1/storage/files/").expect("an address of files");
        let request = self.client().nobody().get(&address[start..]);
        headers.iter().fold(request, |request, (name, value)| request.header(name, value)).send().await
    }

    /// The answer to a download, whose bytes are read piece by piece.
    async fn begin_fetch(&self, address: &str) -> reqwest::Response {
        let start = address.find("/v1/storage/files/").expect("an address of files");
        self.client().nobody().get(&address[start..]).begin().await
    }

    /// The address of a file's download.
    async fn address(&self, key: &str) -> String {
        let path = format!("{}/download?key={}", self.path, query(key));
        self.client().get(&path).send().await.expect(200).str("/url").to_owned()
    }

    /// What a file says.
    async fn text(&self, key: &str) -> String {
        self.fetch(&self.address(key).await, &[]).await.expect(200).text
    }

    /// Files, old versions and bytes of the bucket.
    async fn usage(&self) -> (i64, i64, i64) {
        let bucket = self.client().get(&self.path).send().await.expect(200);
        (bucket.int("/usage/objects"), bucket.int("/usage/versions"), bucket.int("/usage/sizeBytes"))
    }
}

/// The keys of listed files.
fn keys(files: &[Value]) -> Vec<&str> {
    files.iter().map(|file| file["key"].as_str().unwrap()).collect()
}
