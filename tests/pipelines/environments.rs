//! Environments, and what they hold jobs back by.

use std::time::Duration;

use serde_json::{Value, json};

use super::Works;
use crate::harness::{Answer, Client};

/// A file whose one job deploys to `production`.
const DEPLOY: &str = "name: Deploy
on:
  push:
  workflow_dispatch:
    inputs:
      where:
        type: environment
jobs:
  deploy:
    runs-on: linux
    environment: production
    steps:
      - run: make deploy
";

impl Works {
    async fn protect(&self, name: &str, body: &Value) -> Answer {
        self.ada.client.put(&self.pipelines(&format!("environments/{name}"))).json(body).send().await
    }

    async fn decide(&self, client: &Client, run: &Value, body: &Value) -> Answer {
        let path = format!("runs/{}/approvals", run["runId"].as_str().unwrap());
        client.post(&self.pipelines(&path)).json(body).send().await
    }

    async fn approvals(&self, run: &Value) -> Vec<Value> {
        let path = format!("runs/{}/approvals", run["runId"].as_str().unwrap());
        self.get(&path).await.expect(200).list("/approvals").to_vec()
    }

    /// What the audit trail has of actions that begin so, the oldest first.
    async fn audited(&self, action: &str) -> Vec<String> {
        let path = format!("{}/audit?action={action}", self.org);
        let answer = self.ada.client.get(&path).send().await.expect(200);
        answer.list("/events").iter().rev().map(|it| it["action"].as_str().unwrap().to_owned()).collect()
    }
}

fn approve() -> Value {
    json!({ "environments": ["production"], "decision": "approve", "comment": "Go on." })
}

fn reject() -> Value {
    json!({ "environments": ["production"], "decision": "reject" })
}

#[tokio::test]
async fn an_environment_is_made_when_a_job_first_names_it_and_lets_the_job_pass() {
    let works = Works::with("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    works.get("environments/production").await.expect(200);
    let listed = works.get("environments").await.expect(200);
    let [made] = listed.list("/environments") else { panic!("{}", listed.text) };
    assert_eq!((&made["name"], &made["waitMinutes"]), (&json!("production"), &json!(0)));
    assert_eq!((&made["reviewers"], &made["branches"]), (&json!([]), &json!([])));
    works.runner("box", &[]).await.start().await.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
    assert!(works.approvals(&run).await.is_empty());
}

#[tokio::test]
async fn a_job_waits_for_a_reviewer_and_goes_on_once_one_agrees() {
    let works = Works::new().await;
    let dev = works.member("dev", "developer").await;
    works.protect("production", &json!({ "reviewers": [dev.user_id] })).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    assert_eq!(run["status"], "waiting");
    let detail = works.detail(&run).await;
    assert_eq!(detail["waitingFor"], json!(["deploy: a reviewer of the environment 'production'."]));
    assert_eq!(detail["jobs"][0]["status"], "waiting");
    let runner = works.runner("box", &[]).await;
    assert!(runner.try_take(0).await.is_none());
    let approvals = works.approvals(&run).await;
    let [waiting] = &approvals[..] else { panic!("{approvals:?}") };
    assert_eq!((&waiting["state"], &waiting["environment"]), (&json!("waiting"), &json!("production")));
    assert_eq!((&waiting["reviewers"], &waiting["job"]), (&json!([dev.user_id]), &json!("deploy")));
    let refused = works.decide(&works.ada.client, &run, &approve()).await;
    refused.expect_error(403, "not_a_reviewer", "Only a reviewer of this environment can decide.");
    let named = json!({ "environments": ["PRODUCTION"], "decision": "approve", "comment": " Go on. " });
    works.decide(&dev.client, &run, &named).await.expect(200);
    let held = runner.start().await;
    let approvals = works.approvals(&run).await;
    let [approved] = &approvals[..] else { panic!("{approvals:?}") };
    assert_eq!((&approved["state"], &approved["comment"]), (&json!("approved"), &json!("Go on.")));
    assert_eq!(approved["decidedBy"], json!(dev.user_id));
    held.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
    assert_eq!(works.audited("run").await, ["run.approved"]);
    let late = works.decide(&dev.client, &run, &approve()).await;
    late.expect_error(409, "run_completed", "This run is over.");
}

#[tokio::test]
async fn a_team_reviews_and_a_no_ends_the_job_as_a_failure_that_names_the_reviewer() {
    let works = Works::new().await;
    let dev = works.member("dev", "developer").await;
    let teams = format!("{}/teams", works.org);
    let team = works.ada.client.post(&teams).json(&json!({ "name": "Ops" })).send().await.expect(201);
    let team = team.str("/team/teamId").to_owned();
    works.protect("production", &json!({ "reviewers": [team] })).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    works.decide(&dev.client, &run, &reject()).await.expect(403);
    let member = json!({ "userId": dev.user_id });
    works.ada.client.post(&format!("{teams}/{team}/members")).json(&member).send().await.expect_success();
    works.decide(&dev.client, &run, &reject()).await.expect(200);
    let detail = works.once(&run, "the end", |detail| detail["run"]["status"] == "completed").await;
    assert_eq!(detail["run"]["conclusion"], "failure");
    assert_eq!(detail["jobs"][0]["conclusion"], "failure");
    assert_eq!(detail["jobs"][0]["fault"], "dev rejected the job.");
    assert_eq!(works.audited("run").await, ["run.rejected"]);
}

#[tokio::test]
async fn whoever_started_a_run_cannot_approve_it_where_the_environment_says_so_and_neither_can_a_key() {
    let works = Works::new().await;
    let (ada, dev) = (works.ada.user_id.clone(), works.member("dev", "developer").await);
    let body = json!({ "reviewers": [ada, dev.user_id], "preventSelfReview": true });
    works.protect("production", &body).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    let refused = works.decide(&works.ada.client, &run, &approve()).await;
    refused.expect_error(403, "self_review", "Whoever started the run can't approve it here.");
    let key = json!({ "name": "A program", "kind": "api", "scopes": ["git:read", "git:write"] });
    let key = works.ada.client.post(&format!("{}/keys", works.org)).json(&key).send().await.expect(201);
    let program = works.ada.client.with_token(key.str("/secret"));
    works.decide(&program, &run, &reject()).await.expect_error(
        403,
        "not_a_reviewer",
        "Only a reviewer of this environment can decide.",
    );
    works.decide(&works.ada.client, &run, &reject()).await.expect(200);
    assert_eq!(works.ended(&run).await.0, "failure");
    // Another attempt asks again, and is of whoever had it begin.
    let again = works.pipelines(&format!("runs/{}/rerun", run["runId"].as_str().unwrap()));
    dev.client.post(&again).json(&json!({ "jobs": "all" })).send().await.expect(201);
    works.decide(&dev.client, &run, &approve()).await.expect_error(
        403,
        "self_review",
        "Whoever started the run can't approve it here.",
    );
    works.decide(&works.ada.client, &run, &approve()).await.expect(200);
    works.runner("box", &[]).await.start().await.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
    let approvals = works.approvals(&run).await;
    let states: Vec<_> = approvals.iter().map(|it| it["state"].clone()).collect();
    assert_eq!(states, ["rejected", "approved"], "{approvals:#?}");
}

#[tokio::test]
async fn whom_a_schedules_run_acts_for_cannot_approve_it_where_the_environment_says_so() {
    let works = Works::new().await;
    let (ada, dev) = (works.ada.user_id.clone(), works.member("dev", "developer").await);
    let body = json!({ "reviewers": [ada, dev.user_id], "preventSelfReview": true });
    works.protect("production", &body).await.expect(200);
    works.put("deploy.yml", &DEPLOY.replace("  push:\n", "  schedule:\n    - cron: '30 * * * *'\n")).await;
    works.move_to(works.planned("deploy.yml").await[0]);
    let run = works.numbered(1).await;
    works.decide(&works.ada.client, &run, &approve()).await.expect_error(
        403,
        "self_review",
        "Whoever started the run can't approve it here.",
    );
    works.decide(&dev.client, &run, &approve()).await.expect(200);
    works.runner("box", &[]).await.start().await.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
}

#[tokio::test]
async fn a_job_waits_for_the_timer_beside_the_reviewer() {
    let works = Works::new().await;
    let ada = works.ada.user_id.clone();
    works.protect("production", &json!({ "waitMinutes": 30, "reviewers": [ada] })).await.expect(200);
    works.protect("staging", &json!({ "waitMinutes": 10 })).await.expect(200);
    let staging = DEPLOY.replace("production", "staging");
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    works.commit("main", "Staging", &[(".service/workflows/deploy.yml", &staging)]).await;
    let second =
        works.server.eventually("a run", async || works.runs("").await.into_iter().find(|run| run["number"] == 2));
    let second = second.await;
    works.decide(&works.ada.client, &run, &approve()).await.expect(200);
    let runner = works.runner("box", &[]).await;
    assert!(runner.try_take(0).await.is_none());
    let waits = json!(["deploy: the timer of the environment 'production'."]);
    assert_eq!(works.detail(&run).await["waitingFor"], waits);
    assert_eq!(works.approvals(&second).await[0]["state"], "unneeded");
    works.server.clock.advance(Duration::from_secs(10 * 60));
    runner.start().await.complete("success").await;
    assert_eq!(works.ended(&second).await.0, "success");
    assert_eq!(works.detail(&run).await["run"]["status"], "waiting");
    works.server.clock.advance(Duration::from_secs(20 * 60));
    runner.start().await.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
}

#[tokio::test]
async fn a_job_that_nobody_reviews_fails_after_thirty_days() {
    let works = Works::new().await;
    works.protect("production", &json!({ "reviewers": [works.ada.user_id] })).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    works.server.clock.advance(Duration::from_secs(30 * 24 * 3600 - 60));
    assert_eq!(works.approvals(&run).await[0]["state"], "waiting");
    works.server.clock.advance(Duration::from_secs(60));
    let detail = works.once(&run, "the end", |detail| detail["run"]["status"] == "completed").await;
    assert_eq!(detail["jobs"][0]["fault"], "Nobody reviewed the job within 30 days.");
    assert_eq!(works.approvals(&run).await[0]["state"], "expired");
}

#[tokio::test]
async fn only_branches_that_an_environment_names_deploy() {
    let works = Works::new().await;
    works.protect("production", &json!({ "branches": ["release/*"] })).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    let detail = works.once(&run, "the end", |detail| detail["run"]["status"] == "completed").await;
    assert_eq!(detail["run"]["conclusion"], "failure");
    let said = "The environment 'production' doesn't let 'main' deploy.";
    assert_eq!(detail["jobs"][0]["fault"], said);
    let branch = json!({ "name": "release/1", "from": "main" });
    works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
    let body = json!({ "ref": "release/1" });
    let run = works.post("workflows/deploy.yml/dispatches", body).await.expect(201).json["run"].clone();
    assert_eq!(run["status"], "queued");
}

#[tokio::test]
async fn jobs_that_wait_fail_with_their_environment_and_cancelled_ones_wait_for_nobody() {
    let works = Works::new().await;
    works.protect("production", &json!({ "reviewers": [works.ada.user_id] })).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let first = works.run("").await;
    works.post(&format!("runs/{}/cancel", first["runId"].as_str().unwrap()), json!({})).await.expect(200);
    assert_eq!(works.ended(&first).await.0, "cancelled");
    assert_eq!(works.approvals(&first).await[0]["state"], "dropped");
    works.commit("main", "Two", &[("file", "2")]).await;
    let second =
        works.server.eventually("a run", async || works.runs("").await.into_iter().find(|run| run["number"] == 2));
    let second = second.await;
    let staging = json!({ "environments": ["staging"], "decision": "approve" });
    works.decide(&works.ada.client, &second, &staging).await.expect_error(404, "not_found", "Environment not found");
    works.protect("staging", &json!({})).await.expect(200);
    let nothing = "No job of this run waits for a reviewer of this environment.";
    works.decide(&works.ada.client, &second, &staging).await.expect_error(409, "nothing_to_review", nothing);
    let path = works.pipelines("environments/production");
    works.ada.client.delete(&path).send().await.expect(204);
    works.ada.client.delete(&path).send().await.expect_error(404, "not_found", "Environment not found");
    let detail = works.once(&second, "the end", |detail| detail["run"]["status"] == "completed").await;
    assert_eq!(detail["run"]["conclusion"], "failure");
    assert_eq!(detail["jobs"][0]["fault"], "The environment was deleted.");
    // Those of one millisecond come in any order.
    let mut acts = works.audited("environment").await;
    acts.sort_unstable();
    assert_eq!(acts, ["environment.created", "environment.created", "environment.deleted"]);
}

#[tokio::test]
async fn what_protects_an_environment_is_checked() {
    let works = Works::new().await;
    let stranger = works.server.person("eve").await;
    let ids = |count: usize| vec![works.ada.user_id.clone(); count];
    let branches = |count: usize| (0..count).map(|at| format!("b{at}")).collect::<Vec<_>>();
    let most = json!({ "reviewers": ids(6), "waitMinutes": 43_200, "branches": branches(100) });
    let set = works.protect("Production", &most).await.expect(200);
    assert_eq!(set.json["environment"]["reviewers"], json!([works.ada.user_id]));
    for (body, path) in [
        (json!({ "reviewers": ids(7) }), "reviewers"),
        (json!({ "waitMinutes": 43_201 }), "waitMinutes"),
        (json!({ "branches": branches(101) }), "branches"),
        (json!({ "branches": ["main", "a b"] }), "branches[1]"),
        (json!({ "reviewers": ["eve"] }), "reviewers[0]"),
        (json!({ "reviewers": [stranger.user_id] }), "reviewers[0]"),
        (json!({ "reviewers": ["tea_01jd7rt4m5e9fv2w8x3c6k0hqz"] }), "reviewers[0]"),
    ] {
        works.protect("production", &body).await.expect_problems(&[path]);
    }
    works.protect("production", &json!({ "waitMinutes": -1 })).await.expect(400);
    works.protect(&"a".repeat(255), &json!({})).await.expect(200);
    works.protect(&"a".repeat(256), &json!({})).await.expect_error(404, "not_found", "Environment not found");
    works.protect("prod%2Feu", &json!({})).await.expect(200);
    let found = works.get("environments/PROD%2Feu").await.expect(200);
    assert_eq!(found.str("/environment/name"), "prod/eu");
    works.get("environments/other").await.expect_error(404, "not_found", "Environment not found");
    let changed = works.protect("PRODUCTION", &json!({})).await.expect(200);
    assert_eq!(
        (changed.str("/environment/name"), &changed.json["environment"]["waitMinutes"]),
        ("Production", &json!(0))
    );
    let dev = works.member("dev", "developer").await;
    let refused = dev.client.put(&works.pipelines("environments/production")).json(&json!({})).send().await;
    refused.expect_error(403, "missing_scope", "This needs the git:admin permission.");
}

#[tokio::test]
async fn a_workflow_that_asks_for_an_environment_is_started_with_one_that_is_there() {
    let works = Works::with("deploy.yml", DEPLOY).await;
    works.run("").await;
    let start = |name: &'static str| json!({ "ref": "main", "inputs": { "where": name } });
    let path = "workflows/deploy.yml/dispatches";
    works.post(path, start("Production")).await.expect(201);
    works.post(path, start("nowhere")).await.expect_problems(&["inputs.where"]);
}

#[tokio::test]
async fn where_a_deployment_is_seen_is_told_by_the_runner_and_an_address_of_the_web() {
    let url = "https://${{ steps.a.outputs.b }}";
    let named = format!("environment: {{name: production, url: '{url}'}}");
    let works = Works::with("deploy.yml", &DEPLOY.replace("environment: production", &named)).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let rerun = format!("runs/{}/rerun", run["runId"].as_str().unwrap());
    let long = |len: usize| format!("https://{}", "x".repeat(len - "https://".len()));
    for (said, shown) in [
        (json!(" https://web.example.com/1 "), json!("https://web.example.com/1")),
        (json!(long(2_000)), json!(long(2_000))),
        (json!(long(2_001)), Value::Null),
        (json!("javascript:alert(1)"), Value::Null),
        (Value::Null, Value::Null),
    ] {
        let held = runner.take().await;
        assert_eq!(held.plan().await.expect(200).str("/plan/environmentUrl"), url);
        assert_eq!(works.detail(&run).await["jobs"][0]["environmentUrl"], Value::Null);
        let body = json!({ "conclusion": "failure", "environmentUrl": said });
        held.say("complete", &body).await.expect(200);
        let detail = works.detail(&run).await;
        let job = &detail["jobs"][0];
        assert_eq!((&job["environment"], &job["environmentUrl"]), (&json!("production"), &shown));
        works.post(&rerun, json!({ "jobs": "all" })).await.expect(201);
    }
    let held = runner.start().await;
    held.say("complete", &json!({ "conclusion": "success", "environmentUrl": 1 }))
        .await
        .expect_problems(&["environmentUrl"]);
}

#[tokio::test]
async fn decisions_are_checked() {
    let works = Works::new().await;
    works.protect("production", &json!({ "reviewers": [works.ada.user_id] })).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    let said = |names: Vec<&str>, decision: &str, comment: usize| json!({ "environments": names, "decision": decision, "comment": "c".repeat(comment) });
    for (body, path) in [
        (said(vec![], "approve", 0), "environments"),
        (said(vec!["production"; 1_001], "approve", 0), "environments"),
        (said(vec!["production", " "], "approve", 0), "environments[1]"),
        (said(vec!["production"], "maybe", 0), "decision"),
        (said(vec!["production"], "approve", 1_001), "comment"),
    ] {
        works.decide(&works.ada.client, &run, &body).await.expect_problems(&[path]);
    }
    let most = said(vec!["production"; 1_000], "approve", 1_000);
    works.decide(&works.ada.client, &run, &most).await.expect(200);
    works.decide(&works.ada.client, &run, &approve()).await.expect(409);
}
