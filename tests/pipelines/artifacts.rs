//! Artifacts: sent, listed, fetched, gone.

use std::time::Duration;

use serde_json::json;
use store::pipelines::StoredArtifact;

use super::sent::{Job, Sent};

const DAY: Duration = Duration::from_hours(24);

/// Sends and commits an artifact.
async fn keep(sent: &Sent, job: &Job, name: &str, bytes: &[u8]) {
    let body = json!({ "name": name, "size": bytes.len(), "files": 1 });
    let url = job.ask("artifacts/upload", body).await.expect(200).str("/url").to_owned();
    sent.put(&url, bytes).await.expect(204);
    job.ask("artifacts/commit", json!({ "name": name, "size": bytes.len() })).await.expect(200);
}

#[tokio::test]
async fn an_artifact_is_listed_from_its_commit_until_its_days_are_over() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let run = format!("runs/{}/artifacts", job.row.run_id);
    let body = json!({ "name": "web app", "size": 5, "files": 2, "retentionDays": 1 });
    let url = job.ask("artifacts/upload", body).await.expect(200).str("/url").to_owned();
    let missing = "Upload the file first.";
    job.ask("artifacts/commit", json!({ "name": "web app" })).await.expect_error(409, "upload_missing", missing);
    assert_eq!(sent.put(&url, b"1234").await.status, 400);
    assert_eq!(sent.put(&url, b"123456").await.status, 413);
    sent.put(&url, b"12345").await.expect(204);
    let wrong = json!({ "name": "web app", "size": 4 });
    job.ask("artifacts/commit", wrong).await.expect_error(409, "upload_missing", missing);
    assert_eq!(sent.get(&run).await.expect(200).list("/artifacts").len(), 0);
    for _ in 0..2 {
        let committed = job.ask("artifacts/commit", json!({ "name": "web app", "size": 5 })).await.expect(200);
        assert_eq!(committed.json, json!({ "ok": true }));
    }
    let taken = json!({ "name": "web app", "size": 5 });
    let message = "This run has an artifact with this name already.";
    job.ask("artifacts/upload", taken).await.expect_error(409, "artifact_exists", message);
    sent.put(&url, b"54321").await.expect_error(404, "not_found", "Upload not found.");

    let listed = sent.get(&run).await.expect(200);
    let artifact = &listed.json["artifacts"][0];
    assert_eq!((&artifact["name"], &artifact["size"], &artifact["files"]), (&json!("web app"), &json!(5), &json!(2)));
    let path = format!("artifacts/{}", artifact["artifactId"].as_str().unwrap());
    let url = sent.get(&path).await.expect(200).str("/url").to_owned();
    assert_eq!(sent.fetch(&url).await, Ok(b"12345".to_vec()));
    assert_eq!(sent.fetch(&format!("{url}x")).await, Err(403));
    sent.counted().await;

    sent.server.clock.advance(DAY);
    assert_eq!(sent.get(&run).await.expect(200).list("/artifacts").len(), 0);
    sent.get(&path).await.expect_error(404, "not_found", "Artifact not found");
    sent.server.clock.advance(DAY);
    let gone = async || (!sent.store.has_job_files(sent.repository.no).await.unwrap()).then_some(());
    sent.server.in_time("that it is gone", gone).await;
    sent.counted().await;
}

#[tokio::test]
async fn a_job_fetches_what_this_attempt_made_or_an_earlier_one() {
    let sent = Sent::new().await;
    let first = sent.job("refs/heads/main").await;
    let again = sent.job_of(&first.row.run_id.to_string(), 2).await;
    keep(&sent, &first, "a", b"first").await;
    keep(&sent, &first, "b", b"first").await;
    keep(&sent, &again, "a", b"second!").await;
    let answer = again.ask("artifacts/download", json!({})).await.expect(200);
    let sizes: Vec<_> = answer.list("/artifacts").iter().map(|it| (it["name"].clone(), it["size"].clone())).collect();
    assert_eq!(sizes, [(json!("a"), json!(7)), (json!("b"), json!(5))]);
    assert_eq!(sent.fetch(answer.str("/artifacts/0/url")).await, Ok(b"second!".to_vec()));
    let answer = first.ask("artifacts/download", json!({ "name": "a" })).await.expect(200);
    assert_eq!(sent.fetch(answer.str("/artifacts/0/url")).await, Ok(b"first".to_vec()));
    let none = again.ask("artifacts/download", json!({ "name": "c" })).await.expect(200);
    assert_eq!(none.json, json!({ "artifacts": [] }));
    let elsewhere = sent.job("refs/heads/main").await;
    assert_eq!(elsewhere.ask("artifacts/download", json!({})).await.expect(200).list("/artifacts").len(), 0);
}

#[tokio::test]
async fn what_is_asked_of_artifacts_has_limits() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    for name in ["", "..", "a/b", "a\\b", "a:b", "a*b", "a?b", "a\"b", "a<b", "a>b", "a|b", "a\nb", &"a".repeat(101)] {
        job.ask("artifacts/upload", json!({ "name": name, "size": 1 })).await.expect_problems(&["name"]);
        job.ask("artifacts/commit", json!({ "name": name })).await.expect_problems(&["name"]);
    }
    job.ask("artifacts/upload", json!({ "name": "é".repeat(100), "size": 1 })).await.expect(200);
    let body = json!({ "name": "a", "size": 0, "files": -1, "retentionDays": 401 });
    job.ask("artifacts/upload", body).await.expect_problems(&["files", "retentionDays", "size"]);
    job.ask("artifacts/upload", json!({ "name": "a", "size": 1, "retentionDays": 0 }))
        .await
        .expect_problems(&["retentionDays"]);
    for (name, days) in [("a", 1), ("b", 400)] {
        job.ask("artifacts/upload", json!({ "name": name, "size": 1, "retentionDays": days })).await.expect(200);
    }
    let large = |size: u64| json!({ "name": "large", "size": size });
    job.ask("artifacts/upload", large(10_737_418_240)).await.expect(200);
    let message = "An artifact has at most 10 GiB.";
    let refused = job.ask("artifacts/upload", large(10_737_418_241)).await;
    refused.expect_error(413, "too_large", message);
    sent.end(&job).await;
    job.ask("artifacts/upload", large(1)).await.expect_error(409, "job_over", "This job is over.");
}

#[tokio::test]
async fn who_writes_to_a_repository_deletes_artifacts() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    keep(&sent, &job, "a", b"bytes").await;
    let listed = sent.get(&format!("runs/{}/artifacts", job.row.run_id)).await.expect(200);
    let path = sent.at(&format!("artifacts/{}", listed.str("/artifacts/0/artifactId")));
    sent.ada.client.delete(&path).send().await.expect(204);
    sent.ada.client.delete(&path).send().await.expect_error(404, "not_found", "Artifact not found");
    sent.counted().await;
}

#[tokio::test]
async fn what_a_later_attempt_made_hides_nothing_of_an_earlier_one() {
    let sent = Sent::new().await;
    let first = sent.job("refs/heads/main").await;
    let again = sent.job_of(&first.row.run_id.to_string(), 2).await;
    keep(&sent, &first, "z", b"first").await;
    for name in ["a", "b"] {
        keep(&sent, &first, name, b"first").await;
        keep(&sent, &again, name, b"again").await;
    }
    let (run_id, store) = (first.row.run_id, &sent.store);
    let named = |found: &[StoredArtifact]| -> Vec<(String, u32)> {
        found.iter().map(|it| (it.name.clone(), it.attempt)).collect()
    };
    let of = |wanted: &[(&str, u32)]| -> Vec<(String, u32)> {
        wanted.iter().map(|(name, attempt)| ((*name).to_owned(), *attempt)).collect()
    };
    let found = store.attempt_artifacts(run_id, 1, None, 3).await.unwrap();
    assert_eq!(named(&found), of(&[("a", 1), ("b", 1), ("z", 1)]));
    let found = store.attempt_artifacts(run_id, 2, None, 3).await.unwrap();
    assert_eq!(named(&found), of(&[("a", 2), ("b", 2), ("z", 1)]));
    let found = store.attempt_artifacts(run_id, 2, Some("b"), 3).await.unwrap();
    assert_eq!(named(&found), of(&[("b", 2)]));
    let found = store.run_artifacts(run_id, 3).await.unwrap();
    assert_eq!(named(&found), of(&[("a", 2), ("b", 2), ("z", 1)]));
    let found = store.run_artifacts(run_id, 4).await.unwrap();
    assert_eq!(named(&found), of(&[("a", 2), ("a", 1), ("b", 2), ("z", 1)]));
}
