//! The truth table of runs (`domain/src/pipelines/run/cases`) by the real runner, against the real server.
//!
//! `TROUPE_PIPELINE_CASES` is how many of the cases are played, or `all`.

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

#[tokio::test(flavor = "multi_thread")]
async fn each_case_of_the_truth_table_ends_as_it_says() {
    let all: Vec<Case> = cases().into_iter().filter(|case| !case.is_unlike_here()).collect();
    assert!(all.len() >= 150, "{}", all.len());
    let works = Works::new().await;
    let _machine = works.machine(LABELS, &["--jobs", "32", "--minute-ms", SHORT_MINUTE_MS]).await;
    let waiting: VecDeque<_> = chosen(all).into_iter().enumerate().collect();
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
    let run = repository.start(&case.text()).await;
    for deed in case.deeds() {
        let (verb, of) = deed.split_once(' ').unwrap();
        if verb == "rerun" {
            rerun(repository, &run, of).await;
            continue;
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
