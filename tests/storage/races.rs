//! Many write one file at once.

use futures::future::join_all;
use serde_json::json;

use super::Files;
use crate::{accounts::org, nodes::Pair};

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_make_one_file_one_does() {
    let files = Files::new().await;
    for round in 0..10 {
        let key = format!("file-{round}");
        let texts: Vec<_> = (0..8).map(|at| format!("text {at}")).collect();
        let answers = join_all(texts.iter().map(|text| files.try_put(&key, text))).await;
        let made: Vec<_> = answers.iter().zip(&texts).filter(|(answer, _)| answer.status == 200).collect();
        assert_eq!(made.len(), 1);
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 409)));
        assert_eq!(files.text(&key).await, *made[0].1);
    }
    assert_eq!(files.usage().await, (10, 0, 60));
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_and_deletes_of_one_file_at_once_lose_no_version() {
    let files = Files::versioned().await;
    let writes = (0..40).map(|at| {
        let files = &files;
        async move {
            if at % 4 == 3 {
                files.delete("a").await;
            } else {
                files.put("a", &at.to_string()).await;
            }
        }
    });
    join_all(writes).await;
    let versions = files.versions("a").await.expect(200);
    assert_eq!(versions.list("/versions").len(), 40);
    let ids: std::collections::BTreeSet<_> =
        versions.list("/versions").iter().map(|version| version["versionId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_writes_to_one_file_a_refused_one_hurts_no_other() {
    let files = Files::versioned().await;
    files.put("a", "first").await;
    let writes = (0..200).map(|at| {
        let (files, text) = (&files, format!("{at:03}"));
        let object = format!("{}/object?key=a&overwrite={}", files.path, i32::from(at % 40 != 20));
        async move { (at, files.client().put(&object).body("text/plain", text).send().await) }
    });
    let mut versions = std::collections::BTreeSet::new();
    for (at, answer) in join_all(writes).await {
        if at % 40 == 20 {
            answer.expect(409);
        } else {
            versions.insert(answer.expect(200).str("/object/versionId").to_owned());
        }
    }
    assert_eq!(versions.len(), 195);
    assert_eq!(files.usage().await, (1, 195, 5 + 195 * 3));
}

#[tokio::test]
async fn what_is_written_next_knows_the_settings_that_hold() {
    let files = Files::with(json!({ "quotaBytes": 3 })).await;
    files.delete("a").await;
    files.try_put("a", "long").await.expect_error(403, "quota_exceeded", "This bucket is full.");
    files.client().patch(&files.path).json(&json!({ "quotaBytes": 4 })).send().await.expect(200);
    files.try_put("a", "long").await.expect(200);
    files.delete("a").await;
    files.switch("Enabled").await;
    files.delete("a").await;
    assert_eq!(files.versions("a").await.expect(200).list("/versions").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_agree_on_one_file() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [left, right] = pair.clients();
    let email = left.register("ada").await;
    let left = left.sign_in(&email, "account", "web").await;
    let buckets = format!("/v1/orgs/{}/storage", left.org("Acme").await);
    let body = json!({ "name": "files", "versioning": "Enabled" });
    let made = left.post(&buckets).json(&body).send().await.expect(201);
    let path = format!("{buckets}/{}", made.str("/bucket/resourceId"));
    let nodes = [left.clone(), left.at(right.base())];
    for round in 0..10 {
        let object = format!("{path}/object?key=k{round}");
        let puts = nodes.iter().map(|client| client.put(&object).body("text/plain", "x").send());
        let deletes = nodes.iter().map(|client| client.delete(&object).send());
        let (puts, deletes) = futures::join!(join_all(puts), join_all(deletes));
        let made = puts.iter().filter(|answer| answer.status == 200).count();
        assert!(made >= 1 && deletes.iter().all(|answer| answer.status == 204));
        let versions = left.get(&format!("{path}/object/versions?key=k{round}")).send().await.expect(200);
        assert_eq!(versions.list("/versions").len(), made + 2, "{}", versions.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_being_deleted_takes_nothing_that_was_under_way() {
    let files = Files::new().await;
    let other = format!("{}/storage", org(&files.ada, "Other").await);
    for round in 0..10 {
        let body = json!({ "name": format!("bucket-{round}") });
        let made = files.client().post(&other).json(&body).send().await.expect(201);
        let path = format!("{other}/{}", made.str("/bucket/resourceId"));
        let object = format!("{path}/object?key=a");
        let put = files.client().put(&object).body("text/plain", "x").send();
        let (put, deleted) = futures::join!(put, files.client().delete(&path).send());
        match (put.status, deleted.status) {
            (200, 409) | (404 | 409, 202) => {}
            other => panic!("{other:?}: {} {}", put.text, deleted.text),
        }
    }
}
