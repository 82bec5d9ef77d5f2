//! The truth table of runs (`domain/src/pipelines/run/cases`) by the real runner, against the real server; and what runs do to each
//! other.
//!
//! `TROUPE_PIPELINE_CASES` is how many of the cases are played, or `all`. Those of reviewers are played always.

use std::{collections::VecDeque, process::Command, sync::Mutex};

use futures::future::join_all;
use serde_json::{Value, json};

use super::{Repository, Works, until, worker_of};
use crate::runner::cases::{Case, SHORT_MINUTE_MS, cases};

/// Cases that are played at the same time: most of them wait.
const AT_ONCE: usize = 12;
/// Cases that are played where nobody says how many.
const FEW: usize = 16;
/// The labels that jobs of the cases ask for.
const LABELS: &str = "x,linux,mac,hello";
/// The environment of the cases that has reviewers.
const PROTECTED: &str = "production";
/// A run that makes way for a newer one.
const MAKES_WAY: &str = "on: push
concurrency: {group: ci, cancel-in-progress: true}
jobs:
  a:
    runs-on: linux
    steps:
      - run: sleep 600
      - {run: echo cleaned, if: always()}
";

#[tokio::test(flavor = "multi_thread")]
async fn each_case_of_the_truth_table_ends_as_it_says() {
    let all: Vec<Case> = cases().into_iter().filter(|case| !case.is_unlike_here()).collect();
    assert!(all.len() >= 150, "{}", all.len());
    each_ends_as_it_says(chosen(all)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_wait_for_reviewers_end_as_these_say() {
    let of_reviewers: Vec<Case> = cases().into_iter().filter(|case| case.workflow.contains(PROTECTED)).collect();
    assert!(["approve", "reject", "cancel"].iter().all(|verb| of_reviewers.iter().any(|case| case.does(verb))));
    each_ends_as_it_says(of_reviewers).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_has_the_run_of_the_one_before_make_way_where_the_file_says_so() {
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let _machine = works.machine("", &["--jobs", "2"]).await;
    let first = repository.start(MAKES_WAY).await;
    let job = repository.job_id(&first, "a").await;
    repository.running(&first, &job, 0).await;
    let second = repository.start(&MAKES_WAY.replace("sleep 600", "echo begun")).await;
    let (before, after) = (repository.ended(&first).await, repository.ended(&second).await);
    assert_eq!((&before["run"]["conclusion"], &after["run"]["conclusion"]), (&json!("cancelled"), &json!("success")));
    let lines = repository.lines(&first, &job).await;
    assert!(lines.contains(&"cleaned".to_owned()), "a step whose condition holds goes on: {lines:#?}");
    // No two runs of the group were under way at the same time.
    let (over, began) = (before["run"]["completedAt"].as_i64(), after["run"]["startedAt"].as_i64());
    assert!(over.is_some() && over <= began, "{over:?} {began:?}");
}

/// Plays these cases, and wants each to end as it says.
async fn each_ends_as_it_says(cases: Vec<Case>) {
    let works = Works::new().await;
    let _machine = works.machine(LABELS, &["--jobs", "32", "--minute-ms", SHORT_MINUTE_MS]).await;
    let waiting: VecDeque<_> = cases.into_iter().enumerate().collect();
    let (waiting, faults, played) = (Mutex::new(waiting), Mutex::new(Vec::new()), Mutex::new(0));
    let next = || waiting.lock().unwrap().pop_front();
    let one_by_one = async || {
        while let Some((number, case)) = next() {
            let repository = works.repository(&format!("case-{number}")).await;
            let found = play(&case, &repository).await;
            faults.lock().unwrap().extend(case.fault(&found));
            *played.lock().unwrap() += 1;
        }
    };
    join_all((0..AT_ONCE).map(|_| one_by_one())).await;
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}\n{} cases", faults.join("\n"), faults.len());
    eprintln!("{} cases", played.into_inner().unwrap());
}

/// As many as the environment says, from all over the table.
fn chosen(all: Vec<Case>) -> Vec<Case> {
    let wanted = match std::env::var("TROUPE_PIPELINE_CASES") {
        Ok(text) if text == "all" => all.len(),
        Ok(text) => text.parse().unwrap(),
        Err(_) => FEW,
    };
    let each = all.len().div_ceil(wanted.max(1));
    all.into_iter().step_by(each).collect()
}

/// What becomes of the case, as it is written.
async fn play(case: &Case, repository: &Repository) -> String {
    if case.workflow.contains(PROTECTED) {
        protect(repository).await;
    }
    let run = repository.start(&case.text()).await;
    // Time passes by itself.
    for deed in case.acts.iter().filter(|act| !act.starts_with("time-out")) {
        let (verb, of) = deed.split_once(' ').unwrap();
        match verb {
            "rerun" => {
                rerun(repository, &run, of).await;
                continue;
            }
            "approve" | "reject" => {
                decide(repository, &run, (verb, of)).await;
                continue;
            }
            _ => {}
        }
        let (name, step) = of.rsplit_once(' ').unwrap();
        let job = repository.job_id(&run, name).await;
        repository.running(&run, &job, step.parse().unwrap()).await;
        match verb {
            "cancel" | "force-cancel" => {
                let body = json!({ "force": verb == "force-cancel" });
                repository.post(&format!("runs/{run}/cancel"), body).await.expect(200);
            }
            "lose" => {
                let worker = until("a worker", async || worker_of(&job)).await;
                assert!(Command::new("kill").args(["-KILL", &worker]).status().unwrap().success());
            }
            _ => panic!("nobody can {verb}"),
        }
    }
    let detail = repository.ended(&run).await;
    let mut jobs = Vec::new();
    for job in detail["jobs"].as_array().unwrap() {
        let told = repository.job(&run, job["jobId"].as_str().unwrap()).await;
        jobs.push(json!({ "name": job["name"], "conclusion": job["conclusion"], "steps": told["steps"] }));
    }
    case.shown(&json!({ "conclusion": detail["run"]["conclusion"], "jobs": jobs }))
}

/// Has what is named run again, once the run is over.
async fn rerun(repository: &Repository, run: &str, of: &str) {
    let detail = repository.ended(run).await;
    let jobs = match of {
        "all" | "failed" => json!(of),
        name => {
            let named = detail["jobs"].as_array().unwrap().iter().filter(|job| job["name"] == name);
            named.map(|job| job["jobId"].clone()).collect::<Value>()
        }
    };
    repository.post(&format!("runs/{run}/rerun"), json!({ "jobs": jobs })).await.expect(201);
}

/// Has jobs that deploy to the protected environment wait for whoever plays.
async fn protect(repository: &Repository) {
    let me = repository.client.get("/v1/me").send().await.expect(200);
    let path = format!("{}/pipelines/environments/{PROTECTED}", repository.path);
    let body = json!({ "reviewers": [me.str("/user/userId")] });
    repository.client.put(&path).json(&body).send().await.expect(200);
}

/// Says what the reviewer says, once the job waits for it.
async fn decide(repository: &Repository, run: &str, (decision, job): (&str, &str)) {
    let asked = async || {
        let answer = repository.get(&format!("runs/{run}/approvals")).await;
        answer.list("/approvals").iter().any(|it| it["job"] == job && it["state"] == "waiting").then_some(())
    };
    until("a job that waits for its reviewer", asked).await;
    let body = json!({ "environments": [PROTECTED], "decision": decision });
    repository.post(&format!("runs/{run}/approvals"), body).await.expect(200);
}
