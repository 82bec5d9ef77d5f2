//! Git LFS: large files and locks, as its client asks for them. `.ci/git/run` has the client itself do so.

use std::time::Duration;

use domain::git::LfsOid;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::testing::recount::{self, Depth};

use super::{Workshop, key};
use crate::{
    accounts::join,
    harness::{Answer, Client},
};

const LFS: &str = "application/vnd.git-lfs+json";
const HOUR: Duration = Duration::from_hours(1);

/// What Git LFS is to a repository.
struct Lfs<'s> {
    shop: &'s Workshop,
    client: Client,
}

fn oid(bytes: &[u8]) -> String {
    LfsOid::of_bytes(Sha256::digest(bytes).into()).to_string()
}

/// Contents have as many references as there are rows that name them, and blobs have contents.
async fn counted(shop: &Workshop) {
    let wrong = recount::storage(&shop.repos.server.store().await, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
}

impl Workshop {
    async fn record(&self) -> Answer {
        self.repos.ada.client.get(&self.repos.at("web")).send().await.expect(200)
    }

    fn lfs(&self, key: &str) -> Lfs<'_> {
        Lfs { shop: self, client: self.repos.server.client().with_token(key) }
    }
}

impl Lfs<'_> {
    fn at(&self, rest: &str) -> String {
        format!("/git/{}/web.git/info/lfs/{rest}", self.shop.repos.org.rsplit('/').next().unwrap())
    }

    async fn post(&self, rest: &str, body: &Value) -> Answer {
        let body = serde_json::to_vec(body).unwrap();
        self.client.post(&self.at(rest)).body(LFS, body).send().await
    }

    async fn batch(&self, operation: &str, objects: &[(&str, u64)]) -> Answer {
        let objects: Vec<_> = objects.iter().map(|(oid, size)| json!({ "oid": oid, "size": size })).collect();
        let body = json!({ "operation": operation, "transfers": ["basic"], "hash_algo": "sha256", "objects": objects });
        self.post("objects/batch", &body).await
    }

    /// The path of what may be done with one object.
    async fn link(&self, operation: &str, (oid, size): (&str, u64)) -> String {
        let answer = self.batch(operation, &[(oid, size)]).await.expect(200);
        let href = answer.str(&format!("/objects/0/actions/{operation}/href")).to_owned();
        href.strip_prefix(self.shop.repos.server.client().base()).unwrap().to_owned()
    }

    async fn send(&self, bytes: &[u8]) -> String {
        let oid = oid(bytes);
        let link = self.link("upload", (&oid, bytes.len() as u64)).await;
        self.put(&link, bytes).await.expect(200);
        oid
    }

    /// Without a credential.
    async fn put(&self, link: &str, bytes: &[u8]) -> Answer {
        let client = self.shop.repos.server.client();
        client.put(link).body("application/octet-stream", bytes.to_vec()).send().await
    }

    async fn get(&self, link: &str, range: Option<&str>) -> Answer {
        let request = self.shop.repos.server.client().get(link);
        let request = if let Some(range) = range { request.header("range", range) } else { request };
        request.send().await
    }
}

#[tokio::test]
async fn a_large_file_is_sent_once_and_read_in_parts() {
    let shop = Workshop::new().await;
    let lfs = shop.lfs(&shop.key);
    let bytes: Vec<u8> = (0..200_000_u32).map(|at| u8::try_from(at % 251).unwrap() & 0x7f).collect();
    let oid = lfs.send(&bytes).await;
    let size = bytes.len() as u64;
    // Now nothing is to be sent.
    let again = lfs.batch("upload", &[(&oid, size)]).await.expect(200);
    assert_eq!(again.header("content-type"), Some(LFS));
    assert_eq!(again.json["objects"][0], json!({ "oid": oid, "size": size, "authenticated": true, "actions": {} }));
    assert_eq!((again.str("/transfer"), again.str("/hash_algo")), ("basic", "sha256"));
    let link = lfs.link("download", (&oid, size)).await;
    let whole = lfs.get(&link, None).await.expect(200);
    assert_eq!((whole.text.as_bytes(), whole.header("content-length")), (&bytes[..], Some("200000")));
    let part = lfs.get(&link, Some("bytes=199990-")).await.expect(206);
    assert_eq!(
        (part.text.as_bytes(), part.header("content-range")),
        (&bytes[199_990..], Some("bytes 199990-199999/200000"))
    );
    lfs.get(&link, Some("bytes=200000-")).await.expect(416);
    let repository = shop.record().await;
    assert_eq!(repository.int("/repository/lfsBytes"), 200_000);
    // Nothing and next to nothing are files, too.
    for bytes in [&b""[..], b"x"] {
        let oid = lfs.send(bytes).await;
        let link = lfs.link("download", (&oid, bytes.len() as u64)).await;
        assert_eq!(lfs.get(&link, None).await.expect(200).text.as_bytes(), bytes);
    }
    counted(&shop).await;
}

#[tokio::test]
async fn what_is_sent_is_what_was_announced() {
    let shop = Workshop::new().await;
    let lfs = shop.lfs(&shop.key);
    let name = oid(b"right");
    let link = lfs.link("upload", (&name, 5)).await;
    let differs = "These bytes are not the object that was announced.";
    lfs.put(&link, b"wrong").await.expect_error(422, "oid_mismatch", differs);
    lfs.put(&link, b"righ").await.expect_error(400, "wrong_size", "Send exactly 5 bytes.");
    lfs.put(&link, b"right!").await.expect(413);
    let missing = lfs.batch("download", &[(&name, 5)]).await.expect(200);
    assert_eq!(missing.json["objects"][0]["error"]["code"], 404);
    // Twice is once.
    lfs.put(&link, b"right").await.expect(200);
    lfs.put(&link, b"right").await.expect(200);
    assert_eq!(shop.record().await.int("/repository/lfsBytes"), 5);
    for operation in ["download", "upload"] {
        let other = lfs.batch(operation, &[(&name, 6)]).await.expect(200);
        assert_eq!(other.json["objects"][0]["error"]["code"], 422, "{operation}");
    }
    let bad = lfs.batch("upload", &[("abc", 1), (&oid(b"big"), 10 * 1024 * 1024 * 1024 + 1)]).await.expect(200);
    assert_eq!(bad.json["objects"][0]["error"]["code"], 422);
    assert_eq!(bad.json["objects"][1]["error"]["message"], "An object has at most 10 GB.");
    lfs.link("upload", (&oid(b"most"), 10 * 1024 * 1024 * 1024)).await;
    counted(&shop).await;
}

#[tokio::test]
async fn addresses_are_signed_and_end() {
    let shop = Workshop::new().await;
    let lfs = shop.lfs(&shop.key);
    let name = oid(b"right");
    let upload = lfs.link("upload", (&name, 5)).await;
    let forged = "This address was not signed here.";
    for bad in [
        upload.replace("size=5", "size=6"),
        upload.replace(&name, &oid(b"other")),
        upload.replace("maker=", "maker=x"),
        upload.replace("&size=5", ""),
    ] {
        lfs.put(&bad, b"right!").await.expect_error(403, "file_address", forged);
    }
    lfs.get(&upload, None).await.expect_error(403, "file_address", forged);
    lfs.send(b"right").await;
    let download = lfs.link("download", (&name, 5)).await;
    lfs.put(&download, b"right").await.expect_error(403, "file_address", forged);
    shop.repos.server.clock.advance(HOUR - Duration::from_millis(1));
    lfs.get(&download, None).await.expect(200);
    shop.repos.server.clock.advance(Duration::from_millis(1));
    let over = "This address has expired.";
    lfs.get(&download, None).await.expect_error(403, "file_address", over);
    lfs.put(&upload, b"right").await.expect_error(403, "file_address", over);
    // An address ends with the key of who asked for it.
    let keys = format!("{}/keys", shop.repos.org);
    let key = shop
        .repos
        .ada
        .client
        .post(&keys)
        .json(&json!({ "name": "k", "kind": "api", "scopes": ["git:read", "git:write"] }));
    let key = key.send().await.expect(201);
    let brief = shop.lfs(key.str("/secret"));
    let link = brief.link("upload", (&oid(b"late"), 4)).await;
    let gone = format!("{keys}/{}", key.str("/key/keyId"));
    shop.repos.ada.client.delete(&gone).send().await;
    let nobody = "Whoever made this address may not write here any more.";
    lfs.put(&link, b"late").await.expect_error(403, "file_address", nobody);
}

#[tokio::test]
async fn a_request_names_at_most_a_thousand_objects() {
    let shop = Workshop::new().await;
    let lfs = shop.lfs(&shop.key);
    let named: Vec<String> = (0..1_001).map(|at| oid(format!("{at}").as_bytes())).collect();
    let all: Vec<(&str, u64)> = named.iter().map(|oid| (oid.as_str(), 1)).collect();
    assert_eq!(lfs.batch("download", &all[..1_000]).await.expect(200).list("/objects").len(), 1_000);
    let refused = lfs.batch("download", &all).await.expect(413);
    assert_eq!(refused.str("/message"), "Ask for at most 1000 objects at once.");
    assert_eq!(refused.header("content-type"), Some(LFS));
    assert_eq!(lfs.batch("download", &[]).await.expect(200).list("/objects").len(), 0);
    for (field, body) in [
        ("transfers", json!({ "operation": "upload", "transfers": ["ssh"], "objects": [] })),
        ("hash_algo", json!({ "operation": "upload", "hash_algo": "sha512", "objects": [] })),
        ("operation", json!({ "operation": "delete", "objects": [] })),
    ] {
        let refused = lfs.post("objects/batch", &body).await.expect(400);
        assert!(refused.str("/message").len() > 5, "{field}");
    }
}

#[tokio::test]
async fn who_may_only_read_sends_nothing() {
    let shop = Workshop::new().await;
    let reads = key(&shop.repos, &shop.repos.ada.client, &["git:read"]).await;
    let (lfs, reader) = (shop.lfs(&shop.key), shop.lfs(&reads));
    let oid = lfs.send(b"text").await;
    reader.link("download", (&oid, 4)).await;
    let refused = reader.batch("upload", &[(&oid, 4)]).await.expect(403);
    assert_eq!(refused.str("/message"), "This needs the git:write permission.");
    reader.post("locks", &json!({ "path": "a" })).await.expect(403);
    let nobody = Lfs { shop: &shop, client: shop.repos.server.client() };
    let refused = nobody.batch("download", &[]).await.expect(401);
    assert!(refused.header("lfs-authenticate").is_some_and(|said| said.starts_with("Basic realm=")));
    // What another repository has is sent again: to know a name is no proof.
    shop.repos.make("other", "organization").await;
    let elsewhere = lfs.at("objects/batch").replace("/web.git/", "/other.git/");
    let body = json!({ "operation": "upload", "objects": [{ "oid": oid, "size": 4 }] });
    let answer = lfs.client.post(&elsewhere).json(&body).send().await.expect(200);
    assert!(answer.json["objects"][0]["actions"]["upload"].is_object());
}

#[tokio::test]
async fn a_path_is_locked_by_one_person() {
    let shop = Workshop::new().await;
    let bob = shop.repos.server.person("bob").await;
    join(&shop.repos.ada, &shop.repos.org, &bob, "developer").await;
    let (ada, bob) = (shop.lfs(&shop.key), Lfs { shop: &shop, client: bob.sign_in("git", "cli").await });
    let made =
        bob.post("locks", &json!({ "path": "art/logo.psd", "ref": { "name": "refs/heads/main" } })).await.expect(201);
    let lock = made.json["lock"].clone();
    assert_eq!((&lock["path"], &lock["owner"]["name"]), (&json!("art/logo.psd"), &json!("bob")));
    let taken = ada.post("locks", &json!({ "path": "art/logo.psd" })).await.expect(409);
    assert_eq!((&taken.json["lock"], taken.str("/message")), (&lock, "This file is locked already."));
    let own = ada.post("locks", &json!({ "path": "b" })).await.expect(201).json["lock"].clone();
    let verified = ada.post("locks/verify", &json!({})).await.expect(200);
    assert_eq!((&verified.json["ours"], &verified.json["theirs"]), (&json!([own]), &json!([lock])));
    let listed = async |query: &str| ada.client.get(&ada.at(&format!("locks{query}"))).send().await.expect(200).json;
    assert_eq!(listed("").await, json!({ "locks": [lock, own] }));
    let first = listed("?limit=1").await;
    assert_eq!(first["locks"], json!([lock]));
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_eq!(listed(&format!("?limit=1&cursor={cursor}")).await, json!({ "locks": [own] }));
    assert_eq!(listed("?path=b").await, json!({ "locks": [own] }));
    assert_eq!(listed(&format!("?id={}", lock["id"].as_str().unwrap())).await, json!({ "locks": [lock] }));
    assert_eq!(listed("?id=nothing").await, json!({ "locks": [] }));
    let unlock = |lock: &Value| format!("locks/{}/unlock", lock["id"].as_str().unwrap());
    let others = "Somebody else has this file locked.";
    for body in [json!({}), json!({ "force": false })] {
        let refused = ada.post(&unlock(&lock), &body).await.expect(403);
        assert_eq!(refused.str("/message"), others);
    }
    // Force is for whoever administers the repository.
    bob.post(&unlock(&own), &json!({ "force": true })).await.expect(403);
    let admin = Lfs { shop: &shop, client: shop.repos.ada.sign_in("git", "cli").await };
    ada.post(&unlock(&lock), &json!({ "force": true })).await.expect(403);
    assert_eq!(admin.post(&unlock(&lock), &json!({ "force": true })).await.expect(200).json["lock"], lock);
    ada.post(&unlock(&lock), &json!({})).await.expect(404);
    ada.post(&unlock(&own), &json!({})).await.expect(200);
    assert_eq!(listed("").await, json!({ "locks": [] }));
    assert_eq!(shop.repos.audited("lfs_lock.").await, ["lfs_lock.forced"]);
    for bad in [json!({ "path": "" }), json!({ "path": "a/../b" }), json!({ "path": "x".repeat(4_097) }), json!({})] {
        ada.post("locks", &bad).await.expect(400);
    }
    ada.post("locks", &json!({ "path": "x".repeat(4_096) })).await.expect(201);
}

#[tokio::test]
async fn a_deleted_repository_lets_go_of_its_large_files() {
    let shop = Workshop::new().await;
    let lfs = shop.lfs(&shop.key);
    lfs.send(b"text").await;
    lfs.post("locks", &json!({ "path": "a" })).await.expect(201);
    let link = lfs.link("download", (&oid(b"text"), 4)).await;
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    lfs.get(&link, None).await.expect_error(404, "not_found", "Repository not found");
    lfs.batch("download", &[]).await.expect(409);
    shop.repos.server.clock.advance(Duration::from_hours(8 * 24));
    counted(&shop).await;
}

#[tokio::test]
async fn where_a_pointer_is_the_large_file_is_answered() {
    let shop = Workshop::new().await;
    let lfs = shop.lfs(&shop.key);
    let pointer =
        |oid: &str, size: usize| format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n");
    let (small, large) = (b"small text".to_vec(), vec![b'x'; 4 * 1024 * 1024 + 1]);
    shop.begin("ada", 0).await;
    for (name, bytes) in [("small", &small), ("large", &large)] {
        let oid = lfs.send(bytes).await;
        shop.commit("ada", name, &pointer(&oid, bytes.len())).await;
    }
    let missing = pointer(&oid(b"nowhere"), 7);
    shop.commit("ada", "missing", &missing).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let read = shop.ask("contents/raw?ref=main&path=small").await.expect(200);
    assert_eq!(
        (read.text.as_bytes(), read.header("etag").unwrap()),
        (&small[..], format!("\"{}\"", oid(&small)).as_str())
    );
    let read = shop.ask("contents/raw?ref=main&path=large").await.expect(200);
    assert_eq!((read.header("x-service-raw"), read.int("/size")), (Some("large"), 4_194_305));
    let link = &read.str("/url")[read.str("/url").find("/v1/").unwrap()..];
    assert_eq!(lfs.get(link, None).await.expect(200).text.len(), large.len());
    assert_eq!(shop.ask("contents/raw?ref=main&path=missing").await.expect(200).text, missing);
}
