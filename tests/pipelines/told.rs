//! What people are told of runs.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CI, Works};
use crate::harness::Client;

impl Works {
    /// The notices of an event, the oldest first, once there are so many.
    async fn notices(&self, client: &Client, event: &str, count: usize) -> Vec<Value> {
        let looked = async || {
            let answer = client.get("/v1/me/notifications").send().await.expect(200);
            let notices = answer.list("/notices").iter().filter(|it| it["event"] == event);
            let notices: Vec<_> = notices.rev().cloned().collect();
            Some(notices).filter(|notices| notices.len() >= count)
        };
        self.server.eventually("notices", looked).await
    }

    /// Their titles.
    async fn told(&self, client: &Client, event: &str, count: usize) -> Vec<String> {
        let notices = self.notices(client, event, count).await;
        notices.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect()
    }

    /// The run of this number, ended so.
    async fn runs_and_ends(&self, number: i64, conclusion: &str) {
        let looked = async || self.runs("").await.into_iter().find(|run| run["number"] == number);
        let run = self.server.eventually("a run", looked).await;
        let name = format!("box{number}");
        self.runner(&name, &[]).await.start().await.complete(conclusion).await;
        assert_eq!(self.ended(&run).await.0, conclusion);
    }
}

#[tokio::test]
async fn who_started_a_run_is_told_that_it_failed_and_that_its_branch_is_well_again() {
    let works = Works::with("ci.yml", CI).await;
    works.runs_and_ends(1, "failure").await;
    assert_eq!(works.told(&works.ada.client, "pipeline.failed", 1).await, ["CI failed in web"]);
    // Another failure of the same branch is no news.
    works.commit("main", "Two", &[("file", "2")]).await;
    works.runs_and_ends(2, "failure").await;
    works.commit("main", "Three", &[("file", "3")]).await;
    works.runs_and_ends(3, "success").await;
    let told = works.told(&works.ada.client, "pipeline.failed", 2).await;
    assert_eq!(told, ["CI failed in web", "Resolved: CI failed in web"]);
    works.commit("main", "Four", &[("file", "4")]).await;
    works.runs_and_ends(4, "success").await;
    works.commit("main", "Five", &[("file", "5")]).await;
    works.runs_and_ends(5, "failure").await;
    assert_eq!(works.told(&works.ada.client, "pipeline.failed", 3).await.len(), 3);
}

#[tokio::test]
async fn a_run_that_succeeds_when_it_runs_again_says_that_its_branch_is_well_again() {
    let works = Works::with("ci.yml", CI).await;
    works.runs_and_ends(1, "failure").await;
    works.told(&works.ada.client, "pipeline.failed", 1).await;
    let run = works.run("").await;
    works.server.clock.advance(Duration::from_millis(1));
    let again = format!("runs/{}/rerun", run["runId"].as_str().unwrap());
    works.post(&again, json!({ "jobs": "all" })).await.expect(201);
    works.runner("again", &[]).await.start().await.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
    let told = works.told(&works.ada.client, "pipeline.failed", 2).await;
    assert_eq!(told, ["CI failed in web", "Resolved: CI failed in web"]);
    // So the next failure is news.
    works.commit("main", "Two", &[("file", "2")]).await;
    works.runs_and_ends(2, "failure").await;
    assert_eq!(works.told(&works.ada.client, "pipeline.failed", 3).await.len(), 3);
}

#[tokio::test]
async fn a_branch_is_well_again_in_whatever_order_its_runs_end_and_whichever_is_deleted() {
    let works = Works::with("ci.yml", CI).await;
    let first = works.run("").await;
    works.commit("main", "Two", &[("file", "2")]).await;
    let second = async || Some(works.run("").await).filter(|run| run["number"] == 2);
    works.server.eventually("a run", second).await;
    let older = works.runner("older", &[]).await.start().await;
    works.runner("newer", &[]).await.start().await.complete("success").await;
    older.complete("failure").await;
    assert_eq!(works.ended(&first).await.0, "failure");
    works.told(&works.ada.client, "pipeline.failed", 1).await;
    let path = works.pipelines(&format!("runs/{}", first["runId"].as_str().unwrap()));
    works.ada.client.delete(&path).send().await.expect(204);
    works.commit("main", "Three", &[("file", "3")]).await;
    works.runs_and_ends(3, "success").await;
    let told = works.told(&works.ada.client, "pipeline.failed", 2).await;
    assert_eq!(told, ["CI failed in web", "Resolved: CI failed in web"]);
    works.commit("main", "Four", &[("file", "4")]).await;
    works.runs_and_ends(4, "failure").await;
    assert_eq!(works.told(&works.ada.client, "pipeline.failed", 3).await.len(), 3);
}

#[tokio::test]
async fn an_older_run_that_succeeds_says_nothing_of_a_branch_whose_newest_one_failed() {
    let works = Works::with("ci.yml", CI).await;
    let first = works.run("").await;
    let older = works.runner("older", &[]).await.start().await;
    works.commit("main", "Two", &[("file", "2")]).await;
    works.runs_and_ends(2, "failure").await;
    assert_eq!(works.told(&works.ada.client, "pipeline.failed", 1).await, ["CI failed in web"]);
    older.complete("success").await;
    assert_eq!(works.ended(&first).await.0, "success");
    works.commit("main", "Three", &[("file", "3")]).await;
    works.runs_and_ends(3, "success").await;
    let notices = works.notices(&works.ada.client, "pipeline.failed", 2).await;
    let said: Vec<_> = notices.iter().map(|it| (&it["title"], &it["body"])).collect();
    let wanted = [
        (&json!("CI failed in web"), &json!("Run 2 on main: Two")),
        (&json!("Resolved: CI failed in web"), &json!("Run 3 on main: Three")),
    ];
    assert_eq!(said, wanted);
}

#[tokio::test]
async fn a_broken_file_is_told_of() {
    let works = Works::with("ci.yml", "on: push\njobs: {}\n").await;
    assert_eq!(works.told(&works.ada.client, "pipeline.failed", 1).await, ["ci.yml failed in web"]);
}

#[tokio::test]
async fn reviewers_are_told_that_a_job_waits_for_them_and_that_it_does_no_more() {
    let works = Works::new().await;
    let dev = works.member("dev", "developer").await;
    let path = works.pipelines("environments/production");
    let body = json!({ "reviewers": [dev.user_id] });
    works.ada.client.put(&path).json(&body).send().await.expect(200);
    let matrix = "    strategy:\n      matrix:\n        n: [1, 2, 3]\n    environment: production\n    steps:";
    works.put("ci.yml", &CI.replace("    steps:", matrix)).await;
    let run: Value = works.run("").await;
    assert_eq!(works.told(&dev.client, "pipeline.approval", 1).await, ["CI in web waits for a review"]);
    let decide = works.pipelines(&format!("runs/{}/approvals", run["runId"].as_str().unwrap()));
    let body = json!({ "environments": ["production"], "decision": "approve" });
    dev.client.post(&decide).json(&body).send().await.expect(200);
    let told = works.told(&dev.client, "pipeline.approval", 2).await;
    assert_eq!(told, ["CI in web waits for a review", "Resolved: CI in web waits for a review"]);
}
