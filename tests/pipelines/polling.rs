//! Runners: how they are registered, asked for, and given jobs.

use std::time::{Duration, Instant};

use domain::pipelines::runner::RUNNER_SEEN_EVERY;
use futures::future::join_all;
use serde_json::{Value, json};
use store::Change;

use super::{CI, Runner, Works};
use crate::harness::Answer;

impl Works {
    /// A page of what waits for runners.
    async fn queue(&self, query: &str) -> Answer {
        self.ada.client.get(&format!("{}/pipelines/queue{query}", self.org)).send().await
    }

    /// Why the first job waits.
    async fn reason(&self) -> String {
        self.queue("").await.expect(200).str("/jobs/0/reason").to_owned()
    }

    /// The places of all jobs that wait and their ids, read in pages of so many.
    async fn places(&self, limit: usize) -> Vec<(i64, String)> {
        let (mut places, mut query) = (Vec::new(), format!("?limit={limit}"));
        loop {
            let page = self.queue(&query).await.expect(200);
            assert!(page.list("/jobs").len() <= limit);
            let of = |job: &Value| {
                let id = job["job"]["jobId"].as_str().unwrap().to_owned();
                (job["position"].as_i64().unwrap(), id)
            };
            places.extend(page.list("/jobs").iter().map(of));
            let Some(cursor) = page.json["cursor"].as_str() else { return places };
            query = format!("?limit={limit}&cursor={cursor}");
        }
    }
}

#[tokio::test]
async fn a_token_registers_one_runner_within_an_hour() {
    let works = Works::new().await;
    let token = works.registration(json!({ "labels": ["GPU", "gpu"] })).await;
    let mut body = json!({ "token": token, "name": " box ", "labels": ["big"], "os": "Linux", "arch": "X64" });
    let register = works.server.client();
    let made = register.post("/v1/runner/register").json(&body).send().await.expect(201);
    assert_eq!(made.json["labels"], json!(["self-hosted", "linux", "x64", "gpu", "big"]));
    assert!(made.str("/secret").starts_with("trp_r_"));
    let again = register.post("/v1/runner/register").json(&body).send().await;
    again.expect_error(401, "registration_unknown", "This token registers no runner.");
    for wrong in ["", "trp_t_made_up", made.str("/secret")] {
        body["token"] = json!(wrong);
        let answer = register.post("/v1/runner/register").json(&body).send().await;
        answer.expect_error(401, "registration_unknown", "This token registers no runner.");
    }
    body["token"] = json!(works.registration(json!({})).await);
    works.server.clock.advance(Duration::from_mins(60) - Duration::from_millis(1));
    for (field, value) in [("name", json!("")), ("name", json!("a".repeat(65))), ("os", json!("a".repeat(33)))] {
        let mut body = body.clone();
        body[field] = value;
        register.post("/v1/runner/register").json(&body).send().await.expect_problems(&[field]);
    }
    works.server.clock.advance(Duration::from_millis(1));
    let late = register.post("/v1/runner/register").json(&body).send().await;
    late.expect_error(401, "registration_unknown", "This token registers no runner.");
}

#[tokio::test]
async fn runners_are_listed_changed_and_deleted() {
    let works = Works::new().await;
    let runner = works.runner("box", &["gpu"]).await;
    let path = format!("{}/pipelines/runners", works.org);
    let listed = works.ada.client.get(&path).send().await.expect(200);
    assert_eq!((listed.str("/runners/0/runnerId"), listed.str("/runners/0/name")), (runner.id.as_str(), "box"));
    assert_eq!(
        (&listed.json["runners"][0]["paused"], &listed.json["runners"][0]["seenAt"]),
        (&json!(false), &Value::Null)
    );
    let one = format!("{path}/{}", runner.id);
    let changed = works.ada.client.patch(&one).json(&json!({ "labels": ["Linux"], "paused": true })).send().await;
    let changed = changed.expect(200);
    assert_eq!(
        (&changed.json["runner"]["labels"], &changed.json["runner"]["paused"]),
        (&json!(["linux"]), &json!(true))
    );
    works.put("ci.yml", CI).await;
    works.run("").await;
    assert!(runner.try_take(0).await.is_none(), "a runner that is paused is given nothing");
    let queue = works.queue("").await.expect(200);
    let reason = "The runners that may take it: 1 paused.";
    assert_eq!((queue.int("/jobs/0/position"), queue.str("/jobs/0/reason")), (1, reason));
    works.ada.client.patch(&one).json(&json!({ "paused": false })).send().await.expect(200);
    assert!(runner.try_take(0).await.is_some());
    works.ada.client.delete(&one).send().await.expect(204);
    works.ada.client.delete(&one).send().await.expect_error(404, "not_found", "Runner not found");
    runner.asking(0).send().await.expect_error(401, "runner_unknown", "No runner goes by this token.");
}

#[tokio::test]
async fn only_a_runner_with_all_labels_is_given_a_job() {
    let works = Works::with("ci.yml", &CI.replace("linux", "[linux, gpu]")).await;
    works.run("").await;
    let plain = works.runner("plain", &[]).await;
    assert!(plain.try_take(0).await.is_none());
    assert_eq!(works.reason().await, "No runner has `gpu`.");
    let gpu = works.runner("strong", &["gpu"]).await;
    let path = format!("{}/pipelines/runners/{}", works.org, gpu.id);
    works.ada.client.patch(&path).json(&json!({ "labels": ["gpu"] })).send().await.expect(200);
    assert_eq!(works.reason().await, "No runner has all of its labels.");
    works.ada.client.patch(&path).json(&json!({ "labels": ["linux", "gpu"] })).send().await.expect(200);
    assert!(gpu.try_take(0).await.is_some());
}

#[tokio::test]
async fn what_the_runners_do_that_may_take_a_job_is_told() {
    let works = Works::with("ci.yml", EIGHT).await;
    works.run("").await;
    assert_eq!(works.reason().await, "There is no runner.");
    let (one, two) = (works.runner("one", &[]).await, works.runner("two", &[]).await);
    assert_eq!(works.reason().await, "The runners that may take it: 2 that never asked for a job.");
    let held = one.start().await;
    assert_eq!(works.reason().await, "The runners that may take it: 1 busy, 1 that never asked for a job.");
    let other = two.start().await;
    assert_eq!(works.reason().await, "The runners that may take it: 2 busy.");
    held.complete("success").await;
    assert_eq!(works.reason().await, ASKED);
    other.complete("success").await;
    works.server.clock.advance(Duration::from_hours(5));
    assert_eq!(works.reason().await, "The runners that may take it: 2 silent for 5 hours.");
    let path = format!("{}/pipelines/runners/{}", works.org, two.id);
    works.ada.client.patch(&path).json(&json!({ "paused": true })).send().await.expect(200);
    assert_eq!(works.reason().await, "The runners that may take it: 1 silent for 5 hours, 1 paused.");
    // Whoever sees a job needn't know how many runners there are, and since when they are silent.
    let run = works.run("").await;
    let detail = works.detail(&run).await;
    let waits = detail["waitingFor"].as_array().unwrap();
    let said = "The runners that may take it are silent or paused.";
    assert!(waits.len() == 6 && waits.iter().all(|it| it.as_str().unwrap().ends_with(said)), "{waits:?}");
    let job = works.queue("").await.expect(200).str("/jobs/0/job/jobId").to_owned();
    let path = format!("runs/{}/jobs/{job}", run["runId"].as_str().unwrap());
    assert_eq!(works.get(&path).await.expect(200).str("/queue/reason"), said);
}

#[tokio::test]
async fn a_runner_that_asks_for_a_further_job_isnt_busy() {
    let works = Works::with("ci.yml", EIGHT).await;
    works.run("").await;
    let runner = works.runner("box", &[]).await;
    let (held, busy) = (runner.start().await, "The runners that may take it: 1 busy.");
    assert_eq!(works.reason().await, busy);
    // That it asks is written down every half a minute.
    works.server.clock.advance(RUNNER_SEEN_EVERY);
    let other = runner.take().await;
    assert_eq!(works.reason().await, ASKED);
    other.plan().await.expect(200);
    assert_eq!(works.reason().await, busy);
    other.complete("success").await;
    assert_eq!(works.reason().await, ASKED);
    // One that has a place left and asks for nothing is silent, whatever its other jobs do.
    for _ in 0..5 {
        held.status().await.expect(200);
        works.server.clock.advance(Duration::from_secs(30));
    }
    assert_eq!(works.reason().await, "The runners that may take it: 1 silent for 2 minutes.");
    held.status().await.expect(200);
}

#[tokio::test]
async fn the_queue_is_read_in_pages_and_each_job_knows_its_place() {
    let works = Works::with("ci.yml", EIGHT).await;
    let run = works.run("").await["runId"].as_str().unwrap().to_owned();
    let places = works.places(3).await;
    assert_eq!(places.iter().map(|(place, _)| *place).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
    assert_eq!(works.places(8).await, places);
    for (place, id) in &places {
        let job = works.get(&format!("runs/{run}/jobs/{id}")).await.expect(200);
        assert_eq!(job.int("/queue/position"), *place);
    }
    // A job that is taken meanwhile brings those behind it forward.
    let page = works.queue("?limit=3").await.expect(200);
    works.runner("box", &[]).await.take().await;
    let next = works.queue(&format!("?limit=3&cursor={}", page.str("/cursor"))).await.expect(200);
    assert_eq!((next.int("/jobs/0/position"), next.str("/jobs/0/job/jobId")), (3, places[3].1.as_str()));
    works.queue("?cursor=nonsense").await.expect_error(400, "invalid_cursor", "Invalid cursor");
    works.queue("?limit=101").await.expect_problems(&["limit"]);
}

#[tokio::test]
async fn a_runner_that_waits_is_given_a_job_at_once() {
    let works = Works::new().await;
    let runner = works.runner("box", &[]).await;
    let began = Instant::now();
    let (held, _) = tokio::join!(runner.try_take(50), works.put("ci.yml", CI));
    assert!(held.is_some());
    // One that looks again after five seconds would be later.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let waited = Instant::now();
    assert!(runner.try_take(1).await.is_none());
    assert!(waited.elapsed() >= Duration::from_secs(1));
    runner.asking(51).send().await.expect_problems(&["wait"]);
    let nobody = works.server.client().post("/v1/runner/poll").json(&json!({})).send().await;
    nobody.expect_error(401, "runner_unknown", "No runner goes by this token.");
}

/// What is said where a runner asks for jobs.
const ASKED: &str = "A runner that may take it asked for a job within the last two minutes.";

/// Eight jobs, which any runner may take.
const EIGHT: &str = "on: push
jobs:
  test:
    strategy:
      matrix:
        n: [1, 2, 3, 4, 5, 6, 7, 8]
    runs-on: linux
    steps:
      - run: make
";

#[tokio::test]
async fn of_runners_that_wait_as_many_are_given_a_job_at_once_as_there_are_jobs() {
    let works = Works::new().await;
    let mut runners = Vec::new();
    for number in 0..12 {
        runners.push(works.runner(&format!("box-{number}"), &[]).await);
    }
    // Nobody looks again within this time: all that is taken was told.
    let waiting = join_all(runners.iter().map(|runner| runner.try_take(4)));
    let (held, _) = tokio::join!(waiting, works.put("ci.yml", EIGHT));
    let mut ids: Vec<_> = held.into_iter().flatten().map(|held| held.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

#[tokio::test]
async fn a_runner_that_waits_asks_again_once_it_is_changed() {
    let works = Works::new().await;
    let runner = works.runner("box", &[]).await;
    let path = format!("{}/pipelines/runners/{}", works.org, runner.id);
    let change = async || works.ada.client.patch(&path).json(&json!({ "labels": ["gpu"] })).send().await.expect(200);
    let began = Instant::now();
    let waiting = runner.asking(50).send();
    tokio::pin!(waiting);
    let answer = loop {
        tokio::select! {
            answer = &mut waiting => break answer,
            _ = change() => {}
        }
    };
    assert_eq!(answer.status, 204);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_runner_that_another_node_changes_waits_no_longer() {
    let works = Works::new().await;
    let (runner, other) = (works.runner("box", &[]).await, works.runner("other", &[]).await);
    let (store, org_id) = (works.server.store().await, works.org.rsplit('/').next().unwrap().parse().unwrap());
    let row = async || store.runner(org_id, runner.id.parse().unwrap()).await.unwrap().unwrap();
    let began = Instant::now();
    // As another node writes it: nobody here is told.
    let change = async {
        let seen = async || Some(row().await).filter(|row| row.seen_at.is_some());
        let row = works.server.eventually("a runner that waits", seen).await;
        let mut change = Change::new();
        change.runner_set(&row);
        store.commit(change).await.unwrap();
    };
    let (answer, others, ()) = tokio::join!(runner.asking(50).send(), other.try_take(15), change);
    assert_eq!((answer.status, others.is_none()), (204, true));
    // The other one, which nobody changed, waited as long as it had asked for.
    assert!((15..30).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[tokio::test]
async fn each_job_is_given_to_one_runner() {
    let works = Works::with("ci.yml", EIGHT).await;
    works.run("").await;
    let (one, two) = (works.runner("one", &[]).await, works.runner("two", &[]).await);
    let taken = async |runner: &Runner| {
        let mut ids = Vec::new();
        while let Some(held) = runner.try_take(0).await {
            ids.push(held.id);
        }
        ids
    };
    let (mut ids, others) = tokio::join!(taken(&one), taken(&two));
    ids.extend(others);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

#[tokio::test]
async fn a_job_whose_plan_nobody_asks_for_goes_to_another_runner() {
    let works = Works::with("ci.yml", CI).await;
    works.run("").await;
    let (one, two) = (works.runner("one", &[]).await, works.runner("two", &[]).await);
    let held = one.take().await;
    assert!(two.try_take(0).await.is_none());
    works.server.clock.advance(Duration::from_secs(30));
    let other = two.take().await;
    assert_eq!(other.id, held.id);
    held.plan().await.expect_error(401, "job_unknown", "No job goes by this token.");
    other.plan().await.expect(200);
}

#[tokio::test]
async fn a_runner_that_is_ephemeral_takes_one_job() {
    let works = Works::with("ci.yml", CI).await;
    works.run("").await;
    let token = works.registration(json!({ "ephemeral": true })).await;
    let body = json!({ "token": token, "name": "once", "os": "linux", "arch": "x64" });
    let made = works.server.client().post("/v1/runner/register").json(&body).send().await.expect(201);
    let (id, secret) = (made.str("/runnerId").to_owned(), made.str("/secret").to_owned());
    let runner = Runner { client: works.server.client(), secret, id };
    let held = runner.start().await;
    runner.asking(0).send().await.expect_error(401, "runner_unknown", "No runner goes by this token.");
    held.complete("success").await;
    assert_eq!(works.ended(&works.run("").await).await.0, "success");
}

#[tokio::test]
async fn jobs_that_no_runner_can_take_hide_none_and_end_after_a_day() {
    let rows: Vec<String> = (0..201).map(|at| at.to_string()).collect();
    let stuck = format!(
        "on: push
jobs:
  stuck:
    strategy:
      matrix:
        n: [{}]
    runs-on: [linux, nobody-has-this]
    steps:
      - run: make
",
        rows.join(", ")
    );
    let works = Works::with("stuck.yml", &stuck).await;
    let run = works.run("?file=stuck.yml").await;
    let places = works.places(100).await;
    let (place, id) = places.last().unwrap();
    let path = format!("runs/{}/jobs/{id}", run["runId"].as_str().unwrap());
    assert_eq!((*place, works.get(&path).await.expect(200).int("/queue/position")), (201, 201));
    let runner = works.runner("box", &[]).await;
    assert!(runner.try_take(0).await.is_none());
    let by_hand = CI.replace("on: push", "on: workflow_dispatch");
    let files = [(".service/workflows/ci.yml", CI), (".service/workflows/stuck.yml", by_hand.as_str())];
    works.commit("main", "Add CI", &files).await;
    works.run("?file=ci.yml").await;
    runner.start().await.complete("success").await;
    works.server.clock.advance(Duration::from_hours(24) - Duration::from_secs(60));
    assert_eq!(works.detail(&run).await["run"]["status"], "queued");
    works.server.clock.advance(Duration::from_secs(60));
    assert_eq!(works.ended(&run).await.0, "failure");
    let detail = works.detail(&run).await;
    // The first one that fails cancels the others of its matrix.
    let failed = detail["jobs"].as_array().unwrap().iter().find(|job| job["conclusion"] == "failure").unwrap();
    let path = format!("runs/{}/jobs/{}", run["runId"].as_str().unwrap(), failed["jobId"].as_str().unwrap());
    let job = works.get(&path).await.expect(200).json;
    assert_eq!(job["annotations"][0]["message"], "No runner took the job within 24 hours.");
}

#[tokio::test]
async fn a_runner_that_lost_its_job_doesnt_start_it_for_another() {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run("").await;
    let (one, two) = (works.runner("one", &[]).await, works.runner("two", &[]).await);
    let first = one.take().await;
    works.server.faults.set("handler:run/start_job=stall(3s);times=1").unwrap();
    let given_to_another = async {
        works.server.eventually("a slow turn", async || (works.server.faults.happened() > 0).then_some(())).await;
        works.server.clock.advance(Duration::from_secs(30));
        two.take().await
    };
    let (plan, second) = tokio::join!(first.plan(), given_to_another);
    plan.expect_error(401, "job_unknown", "No job goes by this token.");
    assert_eq!(works.detail(&run).await["run"]["status"], "queued");
    second.plan().await.expect(200);
    second.complete("success").await;
    assert_eq!(works.ended(&run).await.0, "success");
}

#[tokio::test]
async fn a_runners_version_has_no_nul() {
    let works = Works::new().await;
    let runner = works.runner("box", &[]).await;
    let poll = |version: &str| {
        let body = json!({ "version": version, "wait": 0 });
        runner.client.post("/v1/runner/poll").header("x-service-runner", &runner.secret).json(&body)
    };
    poll("0.1\0").send().await.expect_problems(&["version"]);
    poll("0.1").send().await.expect(204);
}
