//! Who may see runs, start them, and run runners.

use serde_json::json;

use super::{CI, Works};

#[tokio::test]
async fn who_has_no_part_in_a_repository_finds_nothing_of_its_pipelines() {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run("").await;
    let run_id = run["runId"].as_str().unwrap();
    let eve = works.member("eve", "developer").await;
    let repository = format!("{}/repos/web", works.org);
    works.ada.client.patch(&repository).json(&json!({ "visibility": "restricted" })).send().await.expect(200);
    for rest in ["workflows".to_owned(), "runs".to_owned(), format!("runs/{run_id}"), "workflows/ci.yml".to_owned()] {
        let answer = eve.client.get(&works.pipelines(&rest)).send().await;
        answer.expect_error(404, "not_found", "Repository not found");
    }
    let answer = eve.client.post(&works.pipelines(&format!("runs/{run_id}/cancel"))).json(&json!({})).send().await;
    answer.expect_error(404, "not_found", "Repository not found");
}

#[tokio::test]
async fn a_viewer_reads_and_starts_nothing() {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run("").await;
    let vic = works.member("vic", "viewer").await;
    let run_path = works.pipelines(&format!("runs/{}", run["runId"].as_str().unwrap()));
    vic.client.get(&run_path).send().await.expect(200);
    vic.client.get(&works.pipelines("workflows")).send().await.expect(200);
    for (path, body) in [
        (format!("{run_path}/cancel"), json!({})),
        (format!("{run_path}/rerun"), json!({ "jobs": "all" })),
        (works.pipelines("workflows/ci.yml/dispatches"), json!({ "ref": "main" })),
    ] {
        let answer = vic.client.post(&path).json(&body).send().await;
        answer.expect_error(403, "missing_scope", "This needs the git:write permission.");
    }
    let path = format!("{}/pipelines/runners", works.org);
    let answer = vic.client.get(&path).send().await;
    answer.expect_error(403, "missing_scope", "This needs the git:admin permission.");
    let answer = vic.client.post(&format!("{path}/token")).json(&json!({})).send().await;
    answer.expect_error(403, "missing_scope", "This needs the git:admin permission.");
}

#[tokio::test]
async fn another_organizations_runner_is_given_nothing() {
    let works = Works::with("ci.yml", CI).await;
    works.run("").await;
    let org = crate::accounts::org(&works.ada, "Other").await;
    let path = format!("{org}/pipelines/runners/token");
    let token = works.ada.client.post(&path).json(&json!({})).send().await.expect(201).str("/token").to_owned();
    let body = json!({ "token": token, "name": "theirs", "os": "linux", "arch": "x64" });
    let made = works.server.client().post("/v1/runner/register").json(&body).send().await.expect(201);
    let polled = works.server.client().post("/v1/runner/poll").header("x-service-runner", made.str("/secret"));
    polled.json(&json!({ "wait": 0 })).send().await.expect(204);
}
