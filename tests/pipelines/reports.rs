//! What a job's runner says, and what follows where it says nothing.

use std::time::Duration;

use domain::{
    pipelines::job::{StepReport, StepStatus},
    token::TokenHash,
};
use serde_json::{Value, json};
use store::{Change, Store};

use super::{CI, Held, Runner, Works, sent::Sent, step};

const UNKNOWN: &str = "No job goes by this token.";
const OVER: &str = "This job is over.";

async fn started() -> (Works, Value, Runner, Held) {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let held = runner.start().await;
    (works, run, runner, held)
}

#[tokio::test]
async fn only_a_jobs_own_token_speaks_for_it() {
    let (works, _, runner, held) = started().await;
    let client = works.server.client();
    client.get("/v1/runner/job").send().await.expect_error(401, "job_unknown", UNKNOWN);
    for token in ["", "trp_j_made_up", &runner.secret] {
        let stranger = Held { token: token.to_owned(), ..held.clone() };
        stranger.plan().await.expect_error(401, "job_unknown", UNKNOWN);
        stranger.status().await.expect_error(401, "job_unknown", UNKNOWN);
        let body = json!({ "conclusion": "success" });
        stranger.say("complete", &body).await.expect_error(401, "job_unknown", UNKNOWN);
    }
}

#[tokio::test]
async fn a_look_at_the_head_starts_nothing() {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run("").await;
    let held = works.runner("box", &[]).await.take().await;
    let look = held.client.request(reqwest::Method::HEAD, "/v1/runner/job").header("x-service-job", &held.token);
    look.send().await.expect(405);
    held.status().await.expect_error(409, "job_not_started", "Ask for the job's plan first.");
    held.say("complete", &json!({ "conclusion": "success" })).await.expect(409);
    assert_eq!(works.detail(&run).await["run"]["status"], "queued");
}

#[tokio::test]
async fn a_job_ends_once() {
    let (works, run, _, held) = started().await;
    let body = json!({ "conclusion": "failure", "error": "It broke." });
    held.say("complete", &body).await.expect(200);
    held.say("complete", &body).await.expect(200);
    let other = held.say("complete", &json!({ "conclusion": "success" })).await.expect_error(409, "job_over", OVER);
    assert_eq!(other.json["conclusion"], "failure");
    held.status().await.expect_error(409, "job_over", OVER);
    held.plan().await.expect_error(409, "job_over", OVER);
    assert_eq!(works.ended(&run).await, ("failure".to_owned(), vec![("test".to_owned(), "failure".to_owned())]));
    works.server.clock.advance(Duration::from_hours(24));
    held.say("complete", &body).await.expect_error(409, "job_over", OVER);
}

#[tokio::test]
async fn a_job_that_took_too_long_says_so_or_the_server_does() {
    let (works, run, _, held) = started().await;
    held.say("complete", &json!({ "conclusion": "failure", "timedOut": true })).await.expect(200);
    assert_eq!(works.ended(&run).await.0, "timed_out");
    works.put("short.yml", &CI.replace("runs-on: linux", "runs-on: linux\n    timeout-minutes: 2")).await;
    let run = works.run("?file=short.yml").await;
    let runner = works.runner("other", &["short"]).await;
    // `ci.yml` runs again, too.
    let (one, two) = (runner.start().await, runner.start().await);
    for _ in 0..7 {
        works.server.clock.advance(Duration::from_secs(59));
        for held in [&one, &two] {
            held.status().await;
        }
    }
    works.server.clock.advance(Duration::from_secs(8));
    assert_eq!(works.ended(&run).await.0, "timed_out");
    let (run_id, detail) = (run["runId"].as_str().unwrap(), works.detail(&run).await);
    let path = format!("runs/{run_id}/jobs/{}", detail["jobs"][0]["jobId"].as_str().unwrap());
    let job = works.get(&path).await.expect(200).json;
    let message = "The job took longer than its 2 minutes.";
    assert_eq!((&job["annotations"][0]["message"], &job["error"]), (&json!(message), &json!(message)));
    assert_eq!(job["steps"][0]["status"], "in_progress");
}

#[tokio::test]
async fn reports_keep_to_their_limits() {
    let (_works, _, _, held) = started().await;
    let steps = |count: i64| (0..count).map(|at| step(at, "pending", None)).collect::<Vec<_>>();
    held.say("status", &json!({ "steps": steps(1_100) })).await.expect(200);
    held.say("status", &json!({ "steps": steps(1_101) })).await.expect_problems(&["steps"]);
    held.say("status", &json!({})).await.expect_problems(&["steps"]);
    let with = |field: &str, value: Value| {
        let mut step = step(0, "pending", None);
        step[field] = value;
        json!({ "steps": [step] })
    };
    for (field, fits, too_much) in [
        ("index", json!(5_000), json!(5_001)),
        ("index", json!(0), json!(-1)),
        ("name", json!("é".repeat(500)), json!("é".repeat(501))),
        ("status", json!("completed"), json!("over")),
        ("conclusion", json!("skipped"), json!("neutral")),
    ] {
        held.say("status", &with(field, fits)).await.expect(200);
        held.say("status", &with(field, too_much)).await.expect_problems(&[&format!("steps[0].{field}")]);
    }
    let complete = |field: &str, value: Value| json!({ "conclusion": "success", field: value });
    let annotation = |field: &str, value: Value| {
        let mut it = json!({ "level": "error", "message": "m" });
        it[field] = value;
        json!([it])
    };
    let many = json!(vec![json!({ "level": "notice", "message": "m" }); 51]);
    for (field, value, path) in [
        ("conclusion", json!("skipped"), "conclusion"),
        ("outputs", json!({ "a": "x".repeat(65_537) }), "outputs.a"),
        ("annotations", many, "annotations"),
        ("annotations", annotation("message", json!("x".repeat(4_001))), "annotations[0].message"),
        ("annotations", annotation("file", json!("x".repeat(501))), "annotations[0].file"),
        ("annotations", annotation("title", json!("x".repeat(201))), "annotations[0].title"),
        ("annotations", annotation("level", json!("fatal")), "annotations[0].level"),
        ("annotations", json!([{ "level": "error" }]), "annotations[0].message"),
        ("summary", json!("x".repeat(65_537)), "summary"),
        ("error", json!("x".repeat(2_001)), "error"),
        ("steps", json!(steps(1_101)), "steps"),
    ] {
        held.say("complete", &complete(field, value)).await.expect_problems(&[path]);
    }
    let body = json!({
        "conclusion": "success", "steps": steps(1_100), "outputs": { "a": "x".repeat(65_536) },
        "annotations": vec![json!({ "level": "notice", "message": "x".repeat(4_000), "file": "f".repeat(500),
                                    "title": "t".repeat(200), "line": 1, "step": 0 }); 50],
        "summary": "x".repeat(65_536), "error": "x".repeat(2_000), "timedOut": false,
    });
    held.say("complete", &body).await.expect(200);
}

#[tokio::test]
async fn a_job_whose_runner_is_lost_is_queued_again_before_a_step_began_and_fails_after() {
    let (works, run, runner, held) = started().await;
    for lost in 1..=3 {
        works.server.clock.advance(Duration::from_secs(60));
        let next = runner.start().await;
        assert_eq!(next.id, held.id, "lost {lost} times");
    }
    held.plan().await.expect_error(401, "job_unknown", UNKNOWN);
    works.server.clock.advance(Duration::from_secs(60));
    assert_eq!(works.ended(&run).await.0, "failure");
    let path = format!("runs/{}/jobs/{}", run["runId"].as_str().unwrap(), held.id);
    let job = works.get(&path).await.expect(200).json;
    let message = job["annotations"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("The runner box stopped answering at "), "{message}");
    let rerun = format!("runs/{}/rerun", run["runId"].as_str().unwrap());
    works.post(&rerun, json!({ "jobs": "all" })).await.expect(201);
    let held = runner.start().await;
    held.status().await.expect(200);
    works.server.clock.advance(Duration::from_secs(59));
    held.status().await.expect(200);
    works.server.clock.advance(Duration::from_secs(59));
    assert_eq!(held.status().await.expect(200).json, json!({ "cancel": false }));
    works.server.clock.advance(Duration::from_secs(60));
    assert_eq!(works.ended(&run).await.0, "failure");
    assert!(runner.try_take(0).await.is_none());
    held.status().await.expect_error(409, "job_over", OVER);
}

#[tokio::test]
async fn lines_of_a_log_say_that_the_runner_is_there() {
    let (works, run, _, held) = started().await;
    for _ in 0..4 {
        held.say("logs", &json!({ "lines": [{ "t": 1, "m": "on" }] })).await.expect(200);
        works.server.clock.advance(Duration::from_secs(59));
    }
    held.status().await.expect(200);
    works.server.clock.advance(Duration::from_secs(60));
    assert_eq!(works.ended(&run).await.0, "failure");
}

/// Has time pass and something be asked for, twice: more than a minute after whatever was asked for before. Time goes on once it is
/// written down that the runner was heard of, which is so after the answer.
async fn twice<T>((works, store, held): (&Works, &Store, &Held), ask: impl AsyncFn() -> T) {
    let (org_id, job_id) = (works.org.rsplit('/').next().unwrap().parse().unwrap(), held.id.parse().unwrap());
    for _ in 0..2 {
        works.server.clock.advance(Duration::from_secs(31));
        let asked_at = store.now();
        ask().await;
        let heard = async || {
            let job = store.job_of_org(org_id, job_id).await.unwrap().unwrap();
            job.seen_at.filter(|at| *at >= asked_at)
        };
        works.server.eventually("a sign of life", heard).await;
    }
}

#[tokio::test]
async fn whatever_a_runner_asks_for_says_that_it_is_there() {
    let (works, run, _, held) = started().await;
    let (client, store) = (works.server.client(), works.server.store().await);
    let of = (&works, &store, &held);
    let below = |url: &str| url.strip_prefix(client.base()).expect("an address of the server's").to_owned();
    let upload = held.say("artifacts/upload", &json!({ "name": "a", "size": 4 })).await.expect(200);
    let checkout = held.say("checkout", &json!({})).await.expect(200);
    let value = checkout.str("/authorization").strip_prefix("Authorization: ").unwrap().to_owned();
    let refs = format!("{}/info/refs?service=git-upload-pack", below(checkout.str("/url")));
    let put = below(upload.str("/url"));
    twice(of, async || held.plan().await.expect(200)).await;
    twice(of, async || held.say("checkout", &json!({})).await.expect(200)).await;
    twice(of, async || held.say("artifacts/download", &json!({})).await.expect(200)).await;
    let sending = async || client.put(&put).body("application/octet-stream", b"abcd".to_vec()).send().await;
    twice(of, async || sending().await.expect(204)).await;
    twice(of, async || client.get(&refs).header("authorization", &value).send().await.expect(200)).await;
    held.say("artifacts/commit", &json!({ "name": "a", "size": 4 })).await.expect(200);
    let found = held.say("artifacts/download", &json!({})).await.expect(200);
    let get = below(found.str("/artifacts/0/url"));
    let fetching = async || client.get(&get).begin().await.bytes().await.unwrap();
    twice(of, async || assert_eq!(fetching().await, "abcd")).await;
    twice(of, async || held.status().await.expect(200)).await;
    works.server.clock.advance(Duration::from_secs(60));
    assert_eq!(works.ended(&run).await.0, "failure");
}

#[tokio::test]
async fn a_job_is_told_whether_its_ref_is_protected_and_who_had_it_run_again() {
    let works = Works::new().await;
    let rule = json!({ "name": "Main", "patterns": ["main"] });
    works.ada.client.post(&works.at("rules")).json(&rule).send().await.expect(201);
    let dev = works.member("dev", "developer").await;
    works.put("ci.yml", CI).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let told = async |held: &Held| held.plan().await.expect(200).json["plan"]["contexts"]["github"].clone();
    let held = runner.take().await;
    let github = told(&held).await;
    assert_eq!((&github["ref_protected"], &github["workflow_sha"]), (&json!(true), &run["sha"]));
    assert_eq!((&github["actor"], &github["triggering_actor"]), (&json!("ada"), &json!("ada")));
    held.complete("failure").await;
    works.ended(&run).await;
    works.server.clock.advance(Duration::from_millis(1));
    let rerun = works.pipelines(&format!("runs/{}/rerun", run["runId"].as_str().unwrap()));
    dev.client.post(&rerun).json(&json!({ "jobs": "all" })).send().await.expect(201);
    let github = told(&runner.take().await).await;
    assert_eq!((&github["actor"], &github["triggering_actor"]), (&json!("ada"), &json!("dev")));
    let other = json!({ "name": "other", "from": "main" });
    works.ada.client.post(&works.at("branches")).json(&other).send().await.expect(201);
    works.commit("other", "Another", &[("file", "1")]).await;
    works.run("?branch=other").await;
    assert_eq!(told(&runner.take().await).await["ref_protected"], json!(false));
}

#[tokio::test]
async fn what_no_row_can_hold_is_dropped_from_a_report() {
    let (works, run, _, held) = started().await;
    let body = json!({
        "conclusion": "failure", "summary": "a\0b", "error": "c\0d", "outputs": { "x": "e\0f" },
        "annotations": [{ "level": "error", "message": "g\0h" }],
        "steps": [{ "index": 0, "name": "i\0j", "status": "completed" }],
    });
    held.say("complete", &body).await.expect(200);
    held.say("complete", &body).await.expect(200);
    let path = format!("runs/{}/jobs/{}", run["runId"].as_str().unwrap(), held.id);
    let job = works.get(&path).await.expect(200).json;
    assert_eq!((&job["summary"], &job["error"]), (&json!("ab"), &json!("cd")));
}

#[tokio::test]
async fn a_job_that_wrote_a_line_isnt_queued_again() {
    let (works, run, runner, held) = started().await;
    held.say("logs", &json!({ "lines": [{ "t": 1, "m": "Deploying" }] })).await.expect(200);
    works.server.clock.advance(Duration::from_secs(60));
    assert_eq!(works.ended(&run).await.0, "failure");
    assert!(runner.try_take(0).await.is_none());
}

#[tokio::test]
async fn steps_that_come_late_change_nothing() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let steps = [StepReport {
        index: 0,
        name: "Late".to_owned(),
        status: StepStatus::InProgress,
        conclusion: None,
        outcome: None,
        started_at: None,
        completed_at: None,
        post: None,
    }];
    let put = async |token: Option<&TokenHash>| {
        let mut change = Change::new();
        change.job_steps_put(job.row.id, token, &steps);
        sent.store.commit(change).await
    };
    put(job.row.token.as_ref()).await.unwrap();
    put(Some(&TokenHash([7; 32]))).await.unwrap_err();
    put(None).await.unwrap_err();
    sent.end(&job).await;
    put(job.row.token.as_ref()).await.unwrap_err();
}
