//! `GET` and `PUT …/lifecycle`, `…/cors` and `…/tags`, and what CORS rules let pages do at signed addresses.

use serde_json::{Value, json};

use super::{Files, NEVER};
use crate::harness::{Answer, Server};

impl Files {
    async fn put_rules(&self, about: &str, body: Value) -> Answer {
        self.client().put(&format!("{}/{about}", self.path)).json(&body).send().await
    }

    async fn rules(&self, about: &str) -> Value {
        self.client().get(&format!("{}/{about}", self.path)).send().await.expect(200).json
    }
}

#[tokio::test]
async fn what_is_put_replaces_all_that_was_there_and_an_empty_list_clears_it() {
    let files = Files::new().await;
    let lifecycle = json!({ "rules": [{
        "id": "logs", "enabled": true,
        "filter": { "prefix": "logs/", "tags": [{ "key": "kind", "value": "log" }], "sizeOver": 1, "sizeUnder": 100 },
        "expireDays": 30, "expireAt": null, "expireMarkers": false, "oldVersionDays": 3, "oldVersionsKept": 2,
        "abortUploadDays": null
    }] });
    let cors = json!({ "rules": [{
        "origins": ["https://*.example.com"], "methods": ["GET", "PUT"], "headers": ["*"], "expose": ["ETag"],
        "maxAge": 60
    }] });
    let tags = json!({ "tags": [{ "key": "team", "value": "finance" }] });
    for (about, list, body) in [("lifecycle", "rules", lifecycle), ("cors", "rules", cors), ("tags", "tags", tags)] {
        let empty = json!({ list: [] });
        assert_eq!(files.rules(about).await, empty);
        assert_eq!(files.put_rules(about, body.clone()).await.expect(200).json, body);
        assert_eq!(files.rules(about).await, body);
        files.put_rules(about, json!({ list: [{}] })).await.expect(400);
        assert_eq!(files.rules(about).await, body);
        assert_eq!(files.put_rules(about, empty.clone()).await.expect(200).json, empty);
        assert_eq!(files.rules(about).await, empty);
        let nowhere = format!("{}/{NEVER}/{about}", files.buckets);
        files.client().put(&nowhere).json(&empty).send().await.expect_error(404, "not_found", "Bucket not found");
    }
    let trail = files.client().get(&format!("{}/audit?limit=100", files.buckets.trim_end_matches("/storage")));
    assert!(trail.send().await.expect(200).text.contains("bucket.changed"));
}

#[tokio::test]
async fn rules_that_can_not_be_are_named() {
    let files = Files::new().await;
    let rule = |more: Value| {
        let mut rule = json!({ "enabled": true, "expireDays": 1 });
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "rules": [rule] })
    };
    for (body, paths) in [
        (rule(json!({ "expireDays": 0 })), &["rules[0].expireDays"][..]),
        (rule(json!({ "expireAt": 1 })), &["rules[0].expireAt", "rules[0].expireAt"]),
        (rule(json!({ "filter": { "tags": [{ "key": "", "value": "" }] } })), &["rules[0].filter.tags[0].key"]),
        (json!({ "rules": [{ "enabled": true }] }), &["rules[0]"]),
    ] {
        files.put_rules("lifecycle", body).await.expect_problems(paths);
    }
    let many = |count: usize| json!({ "rules": vec![json!({ "enabled": false, "expireDays": 1 }); count] });
    files.put_rules("lifecycle", many(1_001)).await.expect_problems(&["rules"]);
    let put = files.put_rules("lifecycle", many(1_000)).await.expect(200);
    assert_eq!(put.str("/rules/999/id"), "rule-1000");

    let cors = |count: usize| json!({ "rules": vec![json!({ "origins": ["*"], "methods": ["GET"] }); count] });
    files.put_rules("cors", cors(101)).await.expect_problems(&["rules"]);
    files.put_rules("cors", cors(100)).await.expect(200);
    let odd = json!({ "rules": [{ "origins": ["a*b*"], "methods": ["PATCH"] }] });
    files.put_rules("cors", odd).await.expect_problems(&["rules[0].methods[0]"]);

    let tags = |count: usize, len: usize| {
        let tag = |at: usize| json!({ "key": format!("k{at}"), "value": "v".repeat(len) });
        json!({ "tags": (0..count).map(tag).collect::<Vec<_>>() })
    };
    files.put_rules("tags", tags(21, 1)).await.expect_problems(&["tags"]);
    files.put_rules("tags", tags(1, 257)).await.expect_problems(&["tags[0].value"]);
    files.put_rules("tags", tags(20, 256)).await.expect(200);
    let twice = json!({ "tags": [{ "key": "a", "value": "1" }, { "key": "a", "value": "2" }] });
    files.put_rules("tags", twice).await.expect_problems(&["tags[1].key"]);
}

#[tokio::test]
async fn files_are_public_only_with_a_host_of_their_own() {
    let files = Files::new().await;
    let patch = async |files: &Files, body: Value| files.client().patch(&files.path).json(&body).send().await;
    let message = "Public files need a host of their own. Set s3.domain or s3.public_url.";
    patch(&files, json!({ "publicRead": true })).await.expect_error(409, "no_public_address", message);
    patch(&files, json!({ "publicRead": false })).await.expect(200);
    let audited = patch(&files, json!({ "auditData": true })).await.expect(200);
    assert_eq!((&audited.json["publicRead"], &audited.json["auditData"]), (&json!(false), &json!(true)));

    let server = Server::with(&["s3.public_url=http://127.0.0.1:1"]).await;
    let files = Files::on(server, json!({})).await;
    patch(&files, json!({ "publicRead": true })).await.expect_error(409, "no_public_address", message);
    let server = Server::with(&["s3.domain=s3.example.com"]).await;
    let files = Files::on(server, json!({})).await;
    assert_eq!(patch(&files, json!({ "publicRead": true })).await.expect(200).json["publicRead"], json!(true));
}

#[tokio::test]
async fn a_page_uses_signed_addresses_as_the_rules_of_the_bucket_say() {
    let files = Files::new().await;
    files.put("a", "one").await;
    let address = files.address("a").await;
    let page = "https://app.example.com";
    let get = async |origin: &str| files.fetch(&address, &[("Origin", origin)]).await;
    let start = address.find("/v1/storage/files/").unwrap();
    let ask = async |method: &str, headers: &str| {
        let request = files.client().nobody().request("OPTIONS".parse().unwrap(), &address[start..]);
        let request = request.header("Origin", page).header("Access-Control-Request-Method", method);
        request.header("Access-Control-Request-Headers", headers).send().await
    };
    assert_eq!(get(page).await.expect(200).header("access-control-allow-origin"), None);
    ask("GET", "range").await.expect(405);
    let rule = json!({ "origins": ["https://*.example.com"], "methods": ["GET"], "headers": ["Range", "x-*"],
        "expose": ["ETag", "Content-Range"], "maxAge": 60 });
    files.put_rules("cors", json!({ "rules": [rule] })).await.expect(200);
    let got = get(page).await.expect(200);
    assert_eq!(got.header("access-control-allow-origin"), Some(page));
    assert_eq!(got.header("access-control-expose-headers"), Some("ETag, Content-Range"));
    assert_eq!(got.header("vary"), Some("origin"));
    assert_eq!(get("https://example.com").await.expect(200).header("access-control-allow-origin"), None);
    let asked = ask("GET", "range, X-Mine").await.expect(204);
    assert_eq!(asked.header("access-control-allow-origin"), Some(page));
    assert_eq!(asked.header("access-control-allow-methods"), Some("GET"));
    assert_eq!(asked.header("access-control-allow-headers"), Some("range, X-Mine"));
    assert_eq!(asked.header("access-control-max-age"), Some("60"));
    ask("GET", "authorization").await.expect(405);
    ask("PUT", "range").await.expect(405);
    let everybody = json!({ "rules": [{ "origins": ["*"], "methods": ["GET"] }] });
    files.put_rules("cors", everybody).await.expect(200);
    assert_eq!(get(page).await.expect(200).header("access-control-allow-origin"), Some("*"));
    let refused = files.fetch(&address.replace("key=a", "key=b"), &[("Origin", page)]).await.expect(403);
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
}
