//! The credential with which a job fetches its repository.

use std::time::Duration;

use serde_json::json;

use super::sent::Sent;

#[tokio::test]
async fn a_jobs_credential_reads_its_repository_for_fifteen_minutes() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let answer = job.ask("checkout", json!({})).await.expect(200);
    assert_eq!((answer.str("/sha"), answer.str("/ref")), (sent.sha.as_str(), "refs/heads/main"));
    let value = answer.str("/authorization").strip_prefix("Authorization: ").unwrap().to_owned();
    let base = answer.str("/url").strip_prefix(sent.server.client().base()).unwrap().to_owned();
    let refs = async |base: &str, service: &str| {
        let path = format!("{base}/info/refs?service={service}");
        sent.server.client().get(&path).header("authorization", &value).send().await
    };
    let read = refs(&base, "git-upload-pack").await.expect(200);
    assert!(read.text.contains(&sent.sha), "{}", read.text);
    let pushing = refs(&base, "git-receive-pack").await;
    assert_eq!((pushing.status, pushing.text.contains("for reading only")), (403, true), "{}", pushing.text);

    // It opens nothing else.
    let body = json!({ "name": "other" });
    sent.ada.client.post(&format!("{}/repos", sent.org)).json(&body).send().await.expect(201);
    assert_eq!(refs(&base.replace("/web.git", "/other.git"), "git-upload-pack").await.status, 401);
    assert_eq!(refs(&base.replace("/web.git", "/none.git"), "git-upload-pack").await.status, 401);
    let me = sent.server.client().get("/v1/me").header("authorization", &value).send().await;
    assert_eq!(me.status, 401);

    sent.server.clock.advance(Duration::from_millis(15 * 60_000 - 1));
    refs(&base, "git-upload-pack").await.expect(200);
    sent.server.clock.advance(Duration::from_millis(1));
    assert_eq!(refs(&base, "git-upload-pack").await.status, 401);
}

#[tokio::test]
async fn a_jobs_credential_ends_with_the_job() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let answer = job.ask("checkout", json!({ "ref": "main" })).await.expect(200);
    assert_eq!((answer.str("/sha"), answer.str("/ref")), (sent.sha.as_str(), "main"));
    let value = answer.str("/authorization").strip_prefix("Authorization: ").unwrap().to_owned();
    let path = format!("/git/{}/web.git/info/refs?service=git-upload-pack", sent.org.rsplit('/').next().unwrap());
    let refs = async || sent.server.client().get(&path).header("authorization", &value).send().await;
    refs().await.expect(200);
    sent.end(&job).await;
    assert_eq!(refs().await.status, 401);
    job.ask("checkout", json!({})).await.expect_error(409, "job_over", "This job is over.");
}

#[tokio::test]
async fn what_is_checked_out_has_to_be_there() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let message = "Branch or tag not found";
    job.ask("checkout", json!({ "ref": "nothing" })).await.expect_error(404, "not_found", message);
    job.ask("checkout", json!({ "ref": "a".repeat(255) })).await.expect_error(404, "not_found", message);
    job.ask("checkout", json!({ "ref": "a".repeat(256) })).await.expect_problems(&["ref"]);
    let empty = job.ask("checkout", json!({ "ref": "" })).await.expect(200);
    assert_eq!(empty.str("/sha"), sent.sha);
}
