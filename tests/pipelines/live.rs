//! The socket of a repository's pipelines, and the end of a job's log.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{CI, Works};
use crate::harness::Ticket;

/// Less than the time after which a socket of a log looks by itself.
const SOON: Duration = Duration::from_secs(4);

#[tokio::test]
async fn whoever_watches_hears_of_each_run_and_job_that_changes() {
    let works = Works::new().await;
    let ticket = Ticket::issue_at(&works.ada.client, &works.pipelines("live")).await;
    let mut socket = ticket.open().await.expect("a socket");
    assert_eq!(socket.raw_message().await, json!({ "type": "reset" }));
    works.put("ci.yml", CI).await;
    let run = works.run("").await;
    let detail = works.detail(&run).await;
    let job = detail["jobs"][0]["jobId"].clone();
    let changed = |kind: &str, version: i64| {
        let mut message = json!({ "type": kind, "runId": run["runId"], "version": version });
        if kind == "job.changed" {
            message["jobId"] = job.clone();
        }
        message
    };
    assert_eq!(socket.raw_message().await, changed("run.changed", 1));
    assert_eq!(socket.raw_message().await, changed("job.changed", 1));
    let held = works.runner("box", &[]).await.start().await;
    assert_eq!(socket.raw_message().await, changed("job.changed", 2));
    assert_eq!(socket.raw_message().await, changed("job.changed", 3));
    assert_eq!(socket.raw_message().await, changed("run.changed", 2));
    held.complete("success").await;
    assert_eq!(socket.raw_message().await, changed("job.changed", 4));
    assert_eq!(socket.raw_message().await, changed("run.changed", 3));
}

#[tokio::test]
async fn whoever_watches_the_repository_hears_what_a_run_says_of_its_commit() {
    let works = Works::new().await;
    let mut socket = Ticket::issue_at(&works.ada.client, &works.at("live")).await.open().await.expect("a socket");
    assert_eq!(socket.raw_message().await, json!({ "type": "reset" }));
    works.put("ci.yml", CI).await;
    assert_eq!(socket.raw_message().await["type"], "refs.moved");
    let run = works.run("").await;
    let status = json!({ "type": "status.changed", "commitId": run["sha"], "context": "CI (push)" });
    assert_eq!(socket.raw_message().await, status);
    works.runner("box", &[]).await.start().await.complete("success").await;
    assert_eq!(socket.raw_message().await, status);
}

#[tokio::test]
async fn a_socket_of_pipelines_is_for_who_has_a_part_in_the_repository() {
    let works = Works::new().await;
    let dev = works.member("dev", "developer").await;
    let ticket = Ticket::issue_at(&dev.client, &works.pipelines("live")).await;
    let body = json!({ "visibility": "restricted" });
    works.ada.client.patch(works.at("").trim_end_matches('/')).json(&body).send().await.expect(200);
    assert_eq!(ticket.open().await.err(), Some(404));
    dev.client.get(&works.pipelines("live")).send().await.expect_error(404, "not_found", "Repository not found");
}

#[tokio::test]
async fn a_log_that_is_followed_ends_with_its_job() {
    let works = Works::with("ci.yml", CI).await;
    let run: Value = works.run("").await;
    let held = works.runner("box", &[]).await.start().await;
    held.say("logs", &json!({ "lines": [{ "t": 7, "m": "one" }] })).await.expect(200);
    let path = format!("runs/{}/jobs/{}/log/live", run["runId"].as_str().unwrap(), held.id);
    let mut socket = Ticket::issue_at(&works.ada.client, &works.pipelines(&path)).await.open().await.expect("a socket");
    assert_eq!(socket.raw_message().await["from"], 0);
    held.complete("success").await;
    let last = timeout(SOON, socket.raw_message()).await.expect("the end, at once");
    assert_eq!(last, json!({ "complete": true, "conclusion": "success" }));
}
