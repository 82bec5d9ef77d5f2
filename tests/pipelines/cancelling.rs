//! Cancelling runs, and jobs whose time is over.

use std::time::Duration;

use serde_json::json;

use super::{CI, Works};

#[tokio::test]
async fn a_run_that_is_cancelled_tells_its_runners_and_starts_nothing_more() {
    let text = format!("{CI}  next:\n    needs: test\n    runs-on: linux\n    steps:\n      - run: echo\n");
    let works = Works::with("ci.yml", &text).await;
    let run = works.run("").await;
    let runner = works.runner("box", &[]).await;
    let held = runner.start().await;
    assert_eq!(held.status().await.expect(200).json, json!({ "cancel": false }));
    let cancel = format!("runs/{}/cancel", run["runId"].as_str().unwrap());
    let cancelled = works.post(&cancel, json!({})).await.expect(200);
    assert_eq!(
        (&cancelled.json["run"]["cancelRequested"], cancelled.str("/run/status")),
        (&json!(true), "in_progress")
    );
    assert_eq!(held.status().await.expect(200).json, json!({ "cancel": true }));
    held.complete("cancelled").await;
    let (conclusion, jobs) = works.ended(&run).await;
    assert_eq!(conclusion, "cancelled");
    assert_eq!(jobs, [("test".to_owned(), "cancelled".to_owned()), ("next".to_owned(), "skipped".to_owned())]);
    works.post(&cancel, json!({})).await.expect_error(409, "run_completed", "This run is over.");
}

#[tokio::test]
async fn a_run_that_no_runner_has_is_over_when_it_is_cancelled() {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run("").await;
    let cancel = format!("runs/{}/cancel", run["runId"].as_str().unwrap());
    let cancelled = works.post(&cancel, json!({})).await.expect(200);
    assert_eq!((cancelled.str("/run/status"), cancelled.str("/run/conclusion")), ("completed", "cancelled"));
    assert!(works.runner("box", &[]).await.try_take(0).await.is_none());
}

#[tokio::test]
async fn by_force_nothing_goes_on() {
    let text = CI.replace("    runs-on", "    if: always()\n    runs-on");
    let works = Works::with("ci.yml", &text).await;
    let run = works.run("").await;
    let held = works.runner("box", &[]).await.start().await;
    let cancel = format!("runs/{}/cancel", run["runId"].as_str().unwrap());
    works.post(&cancel, json!({})).await.expect(200);
    assert_eq!(held.status().await.expect(200).json, json!({ "cancel": false }));
    works.post(&cancel, json!({ "force": true })).await.expect(200);
    assert_eq!(works.ended(&run).await.0, "cancelled");
    held.status().await.expect_error(409, "job_over", "This job is over.");
}

#[tokio::test]
async fn a_job_that_has_taken_as_long_as_it_may_is_told_to_stop() {
    let works = Works::with("ci.yml", &CI.replace("runs-on: linux", "runs-on: linux\n    timeout-minutes: 2")).await;
    let run = works.run("").await;
    let held = works.runner("box", &[]).await.start().await;
    for _ in 0..2 {
        works.server.clock.advance(Duration::from_secs(59));
        assert_eq!(held.status().await.expect(200).json, json!({ "cancel": false }));
    }
    works.server.clock.advance(Duration::from_secs(2));
    assert_eq!(held.status().await.expect(200).json, json!({ "cancel": true }));
    held.complete("cancelled").await;
    assert_eq!(works.ended(&run).await.0, "timed_out");
    let path = format!("runs/{}/jobs/{}", run["runId"].as_str().unwrap(), held.id);
    let job = works.get(&path).await.expect(200).json;
    assert_eq!(job["error"], "The job took longer than its 2 minutes.");
}
