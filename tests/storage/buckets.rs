//! `POST`, `GET`, `PATCH` and `DELETE /v1/orgs/:orgId/storage[/:resourceId]`

use serde_json::json;

use super::{Files, NEVER};
use crate::accounts::org;

#[tokio::test]
async fn a_bucket_is_made_listed_and_read() {
    let files = Files::new().await;
    let body = json!({ "name": "reports.2026", "versioning": "Enabled", "quotaBytes": 1_000 });
    let made = files.client().post(&files.buckets).json(&body).send().await.expect(201);
    let id = made.str("/bucket/resourceId").to_owned();
    let (now, suffix) = (files.server.clock.now().0, &id[id.len() - 8..]);
    let bucket = json!({
        "orgId": files.buckets.split('/').nth(3).unwrap(), "resourceId": id, "type": "bucket", "name": "reports.2026",
        "status": "active", "createdAt": now, "updatedAt": now, "createdBy": files.ada.user_id, "location": "main",
        "region": "us-east-1", "arn": format!("arn:aws:s3:::reports.2026-{suffix}"),
        "physicalName": format!("reports.2026-{suffix}")
    });
    assert_eq!(made.json, json!({ "bucket": bucket }));
    let usage = json!({ "sizeBytes": 0, "objects": 0, "versions": 0, "uploadBytes": 0, "at": now });
    let read = files.client().get(&format!("{}/{id}", files.buckets)).send().await.expect(200);
    let expected = json!({ "bucket": bucket, "versioning": "Enabled", "quotaBytes": 1_000, "publicRead": false,
        "auditData": false, "usage": usage });
    assert_eq!(read.json, expected);
    let listed = files.client().get(&files.buckets).send().await.expect(200);
    let names: Vec<_> = listed.list("/buckets").iter().map(|bucket| bucket["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["files", "reports.2026"]);
    let mut entry = bucket;
    entry["usage"] = usage;
    assert_eq!(listed.list("/buckets")[1], entry);
    let plain = files.client().get(&files.path).send().await.expect(200);
    assert_eq!((&plain.json["versioning"], &plain.json["quotaBytes"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn names_are_s3s_and_unique_in_an_organization() {
    let files = Files::new().await;
    let post = async |name: &str| files.client().post(&files.buckets).json(&json!({ "name": name })).send().await;
    for name in ["ab", &"a".repeat(64), "Upper", "a_b", "-ab", "ab-", "a..b", "10.0.0.1", "xn--abc", ""] {
        post(name).await.expect_problems(&["name"]);
    }
    for name in ["abc", &"a".repeat(63)] {
        post(name).await.expect(201);
    }
    post("files").await.expect_error(409, "bucket_exists", "A bucket with this name exists.");
    let other = format!("{}/storage", org(&files.ada, "Other").await);
    files.client().post(&other).json(&json!({ "name": "files" })).send().await.expect(201);
    for (body, path) in [
        (json!({ "name": "x-1", "versioning": "On" }), "versioning"),
        (json!({ "name": "x-1", "quotaBytes": 0 }), "quotaBytes"),
        (json!({ "name": "x-1", "quotaBytes": (1_u64 << 53) + 1 }), "quotaBytes"),
    ] {
        files.client().post(&files.buckets).json(&body).send().await.expect_problems(&[path]);
    }
}

#[tokio::test]
async fn an_organization_has_as_many_buckets_as_the_configuration_says() {
    let server = crate::harness::Server::with(&["storage.max_buckets=2"]).await;
    let files = Files::on(server, json!({})).await;
    let post = async |name: &str| files.client().post(&files.buckets).json(&json!({ "name": name })).send().await;
    post("second").await.expect(201);
    post("third").await.expect_error(409, "too_many_buckets", "An organization has up to 2 buckets.");
}

#[tokio::test]
async fn a_bucket_is_changed() {
    let files = Files::new().await;
    let patch = async |body| files.client().patch(&files.path).json(&body).send().await;
    let changed = patch(json!({ "name": "other", "versioning": "Disabled", "quotaBytes": 5 })).await.expect(200);
    assert_eq!((changed.str("/bucket/name"), changed.str("/versioning")), ("other", "Disabled"));
    assert_eq!(changed.int("/quotaBytes"), 5);
    assert_eq!(patch(json!({ "quotaBytes": null })).await.expect(200).json["quotaBytes"], json!(null));
    patch(json!({ "versioning": "Suspended" })).await.expect(200);
    let stays = "Versioning that was on can be suspended, but not disabled.";
    patch(json!({ "versioning": "Disabled" })).await.expect_error(409, "versioning_stays", stays);
    patch(json!({ "name": "X", "versioning": "x" })).await.expect_problems(&["name", "versioning"]);
    files.client().post(&files.buckets).json(&json!({ "name": "files" })).send().await.expect(201);
    patch(json!({ "name": "files" })).await.expect_error(409, "bucket_exists", "A bucket with this name exists.");
    let nowhere = format!("{}/{NEVER}", files.buckets);
    let refused = files.client().patch(&nowhere).json(&json!({})).send().await;
    refused.expect_error(404, "not_found", "Bucket not found");
}

#[tokio::test]
async fn a_bucket_is_found_in_its_own_organization_only() {
    let files = Files::new().await;
    let id = files.path.rsplit('/').next().unwrap();
    let other = format!("{}/storage", org(&files.ada, "Other").await);
    for path in [
        format!("{other}/{id}"),
        format!("{}/{NEVER}", files.buckets),
        format!("{}/prj_01jd7rt4m5e9fv2w8x3c6k0hqz", files.buckets),
        format!("{}/res_", files.buckets),
    ] {
        for about in ["", "/objects", "/object?key=a", "/download?key=a", "/object/versions?key=a", "/deleted"] {
            let answer = files.client().get(&format!("{path}{about}")).send().await;
            answer.expect_error(404, "not_found", "Bucket not found");
        }
        let put = files.client().put(&format!("{path}/object?key=a")).body("text/plain", "a").send().await;
        put.expect_error(404, "not_found", "Bucket not found");
    }
}

#[tokio::test]
async fn viewers_read_and_members_write() {
    let files = Files::new().await;
    files.put("a", "1").await;
    let viewer = files.member("vera", "viewer").await;
    viewer.client.get(&format!("{}/object?key=a", files.path)).send().await.expect(200);
    let refused = viewer.client.put(&format!("{}/object?key=b", files.path)).body("text/plain", "b").send().await;
    refused.expect_error(403, "missing_scope", "This needs the resources:write permission.");
}

#[tokio::test]
async fn a_full_bucket_takes_nothing_more_but_can_be_put_in_order() {
    let files = Files::with(json!({ "quotaBytes": 10 })).await;
    files.put("a", "12345").await;
    files.put("b", "12345").await;
    files.try_put("c", "1").await.expect_error(403, "quota_exceeded", "This bucket is full.");
    files.try_put("empty", "").await.expect(200);
    files.put("b", "1").await;
    files.put("c", "1234").await;
    assert_eq!(files.usage().await, (4, 0, 10));
    files.delete("a").await;
    files.put("d", "12345").await;
}
