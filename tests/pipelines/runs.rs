//! Runs, from a push to their end.

use std::time::Duration;

use domain::id::RunId;
use serde_json::{Value, json};
use store::Change;

use super::{CI, Works, step};

const TWO: &str = "name: Two
on: push
jobs:
  build:
    runs-on: linux
    outputs:
      version: ${{ steps.v.outputs.version }}
    steps:
      - id: v
        run: echo version=1.2.3 >> $GITHUB_OUTPUT
  test:
    needs: build
    runs-on: linux
    steps:
      - run: echo ${{ needs.build.outputs.version }}
  unless:
    needs: build
    if: failure()
    runs-on: linux
    steps:
      - run: echo no
";

#[tokio::test]
async fn a_push_becomes_jobs_of_runners_and_needs_are_handed_on() {
    let works = Works::with("two.yml", TWO).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let build = runner.take().await;
    let started = build.plan().await.expect(200);
    let plan = &started.json["plan"];
    assert_eq!(
        (&plan["protocol"], &plan["job"]["key"], &plan["job"]["name"]),
        (&json!(1), &json!("build"), &json!("build"))
    );
    assert_eq!((&plan["job"]["id"], &plan["job"]["runId"]), (&json!(build.id), &run["runId"]));
    assert_eq!((&plan["job"]["runNumber"], &plan["job"]["attempt"]), (&json!(1), &json!(1)));
    assert_eq!((&plan["job"]["workflow"], &plan["job"]["repository"]), (&json!("Two"), &json!("web")));
    assert_eq!(plan["job"]["timeoutMinutes"], 360);
    assert_eq!(plan["outputs"]["version"], "${{ steps.v.outputs.version }}");
    assert_eq!(plan["contexts"]["github"]["sha"], run["sha"]);
    assert_eq!(plan["contexts"]["github"]["run_attempt"], "1");
    assert_eq!(plan["limits"]["summaryBytes"], 65_536);
    assert_eq!(plan["marker"].as_str().unwrap().len(), 32);
    assert_eq!(started.json["secrets"], json!({}));
    // An answer may get lost: the next one is the same.
    assert_eq!(build.plan().await.expect(200).json, started.json);
    let running = works.detail(&run).await;
    assert_eq!(
        (&running["run"]["status"], &running["jobs"][0]["status"]),
        (&json!("in_progress"), &json!("in_progress"))
    );
    assert_eq!(running["jobs"][0]["runnerName"], "box");
    assert_eq!(build.status().await.expect(200).json, json!({ "cancel": false }));
    let body = json!({
        "conclusion": "success", "outputs": { "version": "1.2.3" }, "summary": "# Built",
        "steps": [step(0, "completed", Some("success"))],
        "annotations": [{ "level": "warning", "message": "Slow", "file": "a.rs", "line": 7 }],
    });
    assert_eq!(build.say("complete", &body).await.expect(200).json, json!({ "ok": true }));
    let test = runner.take().await;
    let plan = test.plan().await.expect(200).json["plan"].clone();
    assert_eq!(plan["job"]["key"], "test");
    let needs = json!({ "build": { "result": "success", "outputs": { "version": "1.2.3" } } });
    assert_eq!(plan["contexts"]["needs"], needs);
    test.complete("success").await;
    let (conclusion, jobs) = works.ended(&run).await;
    let named = |name: &str, how: &str| (name.to_owned(), how.to_owned());
    assert_eq!(conclusion, "success");
    assert_eq!(jobs, [named("build", "success"), named("test", "success"), named("unless", "skipped")]);
    let path = format!("runs/{}/jobs/{}", run["runId"].as_str().unwrap(), build.id);
    let job = works.get(&path).await.expect(200).json;
    assert_eq!((&job["summary"], &job["steps"][0]["conclusion"]), (&json!("# Built"), &json!("success")));
    assert_eq!((&job["annotations"][0]["message"], &job["annotations"][0]["line"]), (&json!("Slow"), &json!(7)));
    let statuses = works.at(&format!("commits/{}/statuses", run["sha"].as_str().unwrap()));
    let statuses = works.ada.client.get(&statuses).send().await.expect(200);
    assert_eq!(statuses.str("/statuses/0/state"), "success");
}

#[tokio::test]
async fn a_run_is_run_again_whole_or_what_failed_of_it() {
    let works = Works::with("two.yml", TWO).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let rerun = format!("runs/{}/rerun", run["runId"].as_str().unwrap());
    let failed = json!({ "jobs": "failed" });
    works.post(&rerun, failed.clone()).await.expect_error(409, "run_not_completed", "This run isn't over.");
    let first = runner.start().await;
    first.say("complete", &json!({ "conclusion": "success", "outputs": { "version": "1" } })).await.expect(200);
    let second = runner.start().await;
    second.complete("failure").await;
    assert_eq!(works.ended(&run).await.0, "failure");
    works.server.clock.advance(Duration::from_millis(1));
    let again = works.post(&rerun, failed).await.expect(201);
    assert_eq!((again.int("/run/attempt"), again.str("/run/status")), (2, "queued"));
    let third = runner.take().await;
    let plan = third.plan().await.expect(200).json["plan"].clone();
    assert_eq!((&plan["job"]["key"], &plan["job"]["attempt"]), (&json!("test"), &json!(2)));
    assert_eq!(plan["contexts"]["needs"]["build"]["outputs"]["version"], "1");
    assert_eq!(plan["contexts"]["github"]["run_attempt"], "2");
    assert_ne!(third.id, second.id);
    assert!(second.token != third.token);
    third.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
    let detail = works.detail(&run).await;
    let attempts: Vec<_> = detail["attempts"].as_array().unwrap().iter().map(|it| it["conclusion"].clone()).collect();
    assert_eq!(attempts, [json!("failure"), json!("success")]);
    let before = works.get(&format!("runs/{}?attempt=1", run["runId"].as_str().unwrap())).await.expect(200);
    assert_eq!(before.json["jobs"][1]["conclusion"], "failure");
    works.server.clock.advance(Duration::from_millis(1));
    let all = works.post(&rerun, json!({ "jobs": "all" })).await.expect(201);
    assert_eq!(all.int("/run/attempt"), 3);
    assert_eq!(runner.take().await.plan().await.expect(200).str("/plan/job/key"), "build");
    works.post(&rerun, json!({ "jobs": "some" })).await.expect_problems(&["jobs"]);
}

#[tokio::test]
async fn a_run_that_runs_again_for_whoever_looks_for_mistakes_says_more() {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run("").await;
    let rerun = format!("runs/{}/rerun", run["runId"].as_str().unwrap());
    let runner = works.runner("box", &[]).await;
    // The first attempt is as usual, and so is one that nobody asked more of.
    let bodies = [json!({ "jobs": "all", "debug": true }), json!({ "jobs": "all", "debug": false })];
    let mut told = Vec::new();
    for body in bodies.iter().map(Some).chain([None]) {
        let held = runner.take().await;
        told.push(held.plan().await.expect(200).json["plan"]["debug"].clone());
        held.complete("success").await;
        works.ended(&run).await;
        works.server.clock.advance(Duration::from_millis(1));
        if let Some(body) = body {
            works.post(&rerun, body.clone()).await.expect(201);
        }
    }
    assert_eq!(told, [Value::Null, json!(true), Value::Null]);
}

#[tokio::test]
async fn runs_are_listed_by_what_they_are_and_deleted_once_they_are_over() {
    let works = Works::with("ci.yml", CI).await;
    works.run("").await;
    let branch = json!({ "name": "other", "from": works.tip("main").await.unwrap() });
    works.server.clock.advance(Duration::from_millis(1));
    works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
    works.server.eventually("a run of the branch", async || works.runs("?branch=other").await.pop()).await;
    works.put("two.yml", TWO).await;
    let all = async || Some(works.runs("").await).filter(|runs| runs.len() >= 4);
    let runs: Vec<Value> = works.server.eventually("four runs", all).await;
    let files: Vec<_> = runs.iter().map(|run| run["workflowFile"].as_str().unwrap()).collect();
    assert_eq!(files.iter().filter(|file| **file == "ci.yml").count(), 3);
    assert_eq!(works.runs("?file=two.yml").await.len(), 1);
    assert_eq!(works.runs("?status=completed").await.len(), 0);
    assert_eq!(works.runs(&format!("?actor={}", works.ada.user_id)).await.len(), 4);
    let page = works.get("runs?limit=3").await.expect(200);
    let rest = works.get(&format!("runs?cursor={}", page.str("/cursor"))).await.expect(200);
    assert_eq!((page.list("/runs").len(), rest.list("/runs").len(), &rest.json["cursor"]), (3, 1, &Value::Null));
    assert_eq!(works.runs("?event=push").await.len(), 4);
    assert_eq!(works.runs("?event=schedule").await.len(), 0);
    for (query, message) in [
        ("status=idle", "status: Use one of: queued, in_progress, waiting, completed."),
        (
            "conclusion=fine",
            "conclusion: Use one of: success, failure, skipped, cancelled, timed_out, startup_failure.",
        ),
        ("event=rain", "event: Use one of: push, pull_request, schedule, workflow_dispatch."),
    ] {
        let (path, said) = message.split_once(": ").unwrap();
        let answer = works.get(&format!("runs?{query}")).await.expect_problems(&[path]);
        assert!(answer.text.contains(said), "{}", answer.text);
    }
    works.get("runs?cursor=none").await.expect_error(400, "invalid_cursor", "Invalid cursor");
    let path = works.pipelines(&format!("runs/{}", runs[0]["runId"].as_str().unwrap()));
    let answer = works.ada.client.delete(&path).send().await;
    answer.expect_error(409, "run_not_completed", "This run isn't over.");
}

#[tokio::test]
async fn a_matrix_is_a_job_for_each() {
    let text = "on: push
jobs:
  test:
    strategy:
      max-parallel: 2
      matrix:
        os: [a, b, c]
    runs-on: linux
    steps:
      - run: echo ${{ matrix.os }}
";
    let works = Works::with("matrix.yml", text).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let (one, two) = (runner.start().await, runner.start().await);
    assert!(runner.try_take(0).await.is_none());
    one.complete("success").await;
    let three = runner.take().await;
    let plan = three.plan().await.expect(200).json["plan"].clone();
    assert_eq!((&plan["job"]["name"], &plan["contexts"]["matrix"]), (&json!("test (c)"), &json!({ "os": "c" })));
    two.complete("success").await;
    three.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
}

const FOUR: &str = "on: push
jobs:
  test:
    strategy:
      fail-fast: false
      matrix:
        n: [1, 2, 3, 4]
    runs-on: linux
    steps:
      - run: make
";

#[tokio::test]
async fn a_job_that_starts_or_ends_writes_its_own_row_alone_and_any_node_goes_on_from_there() {
    let works = Works::with("four.yml", FOUR).await;
    let (run, runner, store) = (works.run("").await, works.runner("box", &[]).await, works.server.store().await);
    let id: RunId = run["runId"].as_str().unwrap().parse().unwrap();
    let kept = async || store.run_plan(id).await.unwrap().unwrap().state;
    let first = runner.start().await;
    let written = kept().await;
    let second = runner.start().await;
    first.complete("success").await;
    assert_eq!(kept().await, written);
    // As another node writes it: this one has to read the run again.
    let mut change = Change::new();
    change.run_set(&store.run_of_any(id).await.unwrap().unwrap());
    store.commit(change).await.unwrap();
    second.complete("failure").await;
    let detail = works.detail(&run).await;
    assert_eq!(detail["run"]["status"], "in_progress");
    for _ in 0..2 {
        runner.start().await.complete("success").await;
    }
    let (conclusion, jobs) = works.ended(&run).await;
    let mut ended: Vec<_> = jobs.into_iter().map(|(_, how)| how).collect();
    ended.sort();
    assert_eq!((conclusion.as_str(), ended.join(" ").as_str()), ("failure", "failure success success success"));
    assert_ne!(kept().await, written);
}
