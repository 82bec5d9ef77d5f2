//! Concurrency groups, over runs and jobs.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CI, Works};

/// The run of this number, once it is there.
async fn numbered(works: &Works, number: i64) -> Value {
    let looked = async || works.runs("").await.into_iter().find(|run| run["number"] == number);
    works.server.eventually("a run", looked).await
}

#[tokio::test]
async fn one_run_of_a_group_runs_one_waits_and_an_older_one_that_waits_is_cancelled() {
    let works = Works::with("ci.yml", &CI.replace("jobs:", "concurrency: deploy\njobs:")).await;
    let first = numbered(&works, 1).await;
    let runner = works.runner("box", &[]).await;
    let held = runner.start().await;
    works.commit("main", "Two", &[("file", "2")]).await;
    let second = numbered(&works, 2).await;
    assert_eq!((&second["status"], &second["waitingForConcurrency"]), (&json!("waiting"), &json!(true)));
    let waits = json!(["The run: the concurrency group 'deploy', which run 1 of ci.yml holds."]);
    assert_eq!(works.detail(&second).await["waitingFor"], waits);
    assert!(runner.try_take(0).await.is_none());
    works.commit("main", "Three", &[("file", "3")]).await;
    let third = numbered(&works, 3).await;
    assert_eq!(works.ended(&second).await.0, "cancelled");
    held.complete("success").await;
    assert_eq!(works.ended(&first).await.0, "success");
    let held = runner.start().await;
    held.complete("success").await;
    assert_eq!(works.ended(&third).await.0, "success");
}

#[tokio::test]
async fn a_newer_run_cancels_the_one_that_runs_where_the_file_says_so() {
    let group = "concurrency:\n  group: ci\n  cancel-in-progress: true\njobs:";
    let works = Works::with("ci.yml", &CI.replace("jobs:", group)).await;
    let first = numbered(&works, 1).await;
    let runner = works.runner("box", &[]).await;
    let held = runner.start().await;
    works.commit("main", "Two", &[("file", "2")]).await;
    let second = numbered(&works, 2).await;
    let told = async || Some(held.status().await.expect(200)).filter(|answer| answer.json["cancel"] == true);
    works.server.eventually("a cancellation", told).await;
    held.complete("cancelled").await;
    assert_eq!(works.ended(&first).await.0, "cancelled");
    runner.start().await.complete("success").await;
    assert_eq!(works.ended(&second).await.0, "success");
}

#[tokio::test]
async fn jobs_of_a_group_run_one_after_another() {
    let text = "on: push
jobs:
  a:
    concurrency: one
    runs-on: linux
    steps:
      - run: echo a
  b:
    concurrency: one
    runs-on: linux
    steps:
      - run: echo b
";
    let works = Works::with("ci.yml", text).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let held = runner.start().await;
    assert!(runner.try_take(0).await.is_none());
    held.complete("success").await;
    runner.start().await.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
}

#[tokio::test]
async fn two_files_of_one_commit_share_a_group() {
    let works = Works::new().await;
    let grouped = CI.replace("jobs:", "concurrency: deploy\njobs:");
    let of_jobs = CI.replace("    runs-on", "    concurrency: deploy-job\n    runs-on");
    let files = [
        (".service/workflows/a.yml", grouped.as_str()),
        (".service/workflows/b.yml", grouped.as_str()),
        (".service/workflows/c.yml", of_jobs.as_str()),
        (".service/workflows/d.yml", of_jobs.as_str()),
    ];
    works.commit("main", "Begin", &files).await;
    let all = async || Some(works.runs("").await).filter(|runs| runs.len() == 4);
    let runs: Vec<Value> = works.server.eventually("four runs", all).await;
    let of = |file: &str| runs.iter().find(|run| run["workflowFile"] == file).unwrap();
    assert_eq!((&of("a.yml")["status"], &of("b.yml")["status"]), (&json!("queued"), &json!("waiting")));
    let runner = works.runner("box", &[]).await;
    let held = [runner.start().await, runner.start().await];
    assert!(runner.try_take(0).await.is_none(), "two of each group");
    for held in held {
        held.complete("success").await;
    }
    for _ in 0..2 {
        runner.start().await.complete("success").await;
    }
    for run in &runs {
        assert_eq!(works.ended(run).await.0, "success", "{run}");
    }
}

#[tokio::test]
async fn who_has_the_group_for_which_a_job_waits_is_told() {
    let text = "on: push
jobs:
  a:
    concurrency: One
    runs-on: linux
    steps:
      - run: echo a
  b:
    concurrency: one
    runs-on: linux
    steps:
      - run: echo b
  c:
    concurrency: {group: one, queue: max}
    runs-on: linux
    steps:
      - run: echo c
";
    let works = Works::with("ci.yml", text).await;
    let first = numbered(&works, 1).await;
    let group = "the concurrency group 'one', which the job a of";
    let detail = works.detail(&first).await;
    let waits = [
        "a: There is no runner.".to_owned(),
        format!("b: {group} this run holds."),
        format!("c: {group} this run holds, behind 1 other."),
    ];
    assert_eq!(detail["waitingFor"], json!(waits));
    // Each of the jobs says the same by itself.
    let run = first["runId"].as_str().unwrap();
    let queue = async |at: usize| {
        let path = format!("runs/{run}/jobs/{}", detail["jobs"][at]["jobId"].as_str().unwrap());
        works.get(&path).await.expect(200).json["queue"].clone()
    };
    assert_eq!(queue(0).await, json!({ "position": 1, "reason": "There is no runner." }));
    let reason = format!("The job waits for {group} this run holds.");
    assert_eq!(queue(1).await, json!({ "position": null, "reason": reason }));
    // Of the second run's jobs the first one makes way for the second one, which takes the place of the first run's.
    works.commit("main", "Two", &[("file", "2")]).await;
    let second = numbered(&works, 2).await;
    let waits =
        [format!("b: {group} run 1 of ci.yml holds."), format!("c: {group} run 1 of ci.yml holds, behind 1 other.")];
    assert_eq!(works.detail(&second).await["waitingFor"], json!(waits));
}

#[tokio::test]
async fn a_run_that_runs_again_waits_for_the_group_of_whoever_had_it_run_again() {
    let group = "concurrency: by-${{ github.triggering_actor }}\njobs:";
    let works = Works::with("ci.yml", &CI.replace("jobs:", group)).await;
    let dev = works.member("dev", "developer").await;
    let runner = works.runner("box", &[]).await;
    let first = numbered(&works, 1).await;
    runner.start().await.complete("success").await;
    assert_eq!(works.ended(&first).await.0, "success");
    works.commit("main", "Two", &[("file", "2")]).await;
    let second = numbered(&works, 2).await;
    runner.start().await.complete("success").await;
    assert_eq!(works.ended(&second).await.0, "success");
    for run in [&first, &second] {
        works.server.clock.advance(Duration::from_millis(1));
        let again = works.pipelines(&format!("runs/{}/rerun", run["runId"].as_str().unwrap()));
        dev.client.post(&again).json(&json!({ "jobs": "all" })).send().await.expect(201);
    }
    let waits = json!(["The run: the concurrency group 'by-dev', which run 1 of ci.yml holds."]);
    assert_eq!(works.detail(&second).await["waitingFor"], waits);
}

#[tokio::test]
async fn a_job_that_waits_for_a_place_of_its_matrix_says_which_jobs_have_them() {
    let text = "on: push
jobs:
  test:
    strategy:
      max-parallel: 2
      matrix:
        n: [1, 2, 3]
    runs-on: linux
    steps:
      - run: make
";
    let works = Works::with("ci.yml", text).await;
    let run = works.run("").await;
    let waits = [
        "test (1): There is no runner.",
        "test (2): There is no runner.",
        "test (3): a place within `max-parallel`, which test (1) and test (2) have.",
    ];
    assert_eq!(works.detail(&run).await["waitingFor"], json!(waits));
    // A job that is done gives its place to the next one.
    let runner = works.runner("box", &[]).await;
    runner.start().await.complete("success").await;
    let detail = works.detail(&run).await;
    let waits = detail["waitingFor"].as_array().unwrap();
    let said = "A runner that may take it asked for a job within the last two minutes.";
    assert!(waits.len() == 2 && waits.iter().all(|it| it.as_str().unwrap().ends_with(said)), "{waits:?}");
}
