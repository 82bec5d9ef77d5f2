//! Cancelling runs.

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
