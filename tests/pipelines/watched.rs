//! What operators see of pipelines in `/metrics`: which jobs wait for runners, and how late logs are.

use std::time::Duration;

use serde_json::json;

use super::{CI, Works, sent::Sent};
use crate::harness::Server;

/// What the metrics say of this; none where they say nothing.
async fn metric(server: &Server, name: &str) -> Option<f64> {
    let text = server.operator().get("/metrics").send().await.expect(200).text;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.map(|value| value.parse().expect("a number"))
}

/// How many jobs wait that ask for a label, and for how many seconds the first of them.
async fn waiting(works: &Works, label: &str) -> Option<(f64, f64)> {
    let of = async |name: &str| metric(&works.server, &format!("troupe_pipeline_{name}{{label=\"{label}\"}}")).await;
    Some((of("jobs_queued").await?, of("oldest_queued_seconds").await?))
}

#[tokio::test]
async fn jobs_that_wait_are_counted_by_label_with_the_age_of_the_oldest() {
    let works = Works::new().await;
    assert_eq!(waiting(&works, "linux").await, None);
    works.put("ci.yml", CI).await;
    let first = works.run("?file=ci.yml").await;
    works.server.clock.advance(Duration::from_secs(7));
    // From here on the first file's jobs are started by hand.
    let by_hand = CI.replace("on: push", "on: workflow_dispatch");
    let on_gpu = CI.replace("linux", "[Linux, gpu]");
    let files = [(".service/workflows/ci.yml", by_hand.as_str()), (".service/workflows/gpu.yml", on_gpu.as_str())];
    works.commit("main", "Another", &files).await;
    works.run("?file=gpu.yml").await;
    works.server.clock.advance(Duration::from_secs(2));
    let (jobs, seconds) = waiting(&works, "linux").await.expect("jobs that wait");
    assert!((1.9..2.1).contains(&jobs) && (9.0..30.0).contains(&seconds), "{jobs} for {seconds} s");
    let (jobs, seconds) = waiting(&works, "gpu").await.expect("a job that waits");
    assert!((0.9..1.1).contains(&jobs) && (2.0..7.0).contains(&seconds), "{jobs} for {seconds} s");
    // A runner takes the first; the other one is too much for it.
    works.runner("box", &[]).await.start().await.complete("success").await;
    assert_eq!(works.ended(&first).await.0, "success");
    let left = waiting(&works, "linux").await;
    assert!(left.is_some_and(|(jobs, seconds)| jobs < 1.1 && seconds < 7.0), "{left:?}");
    assert_eq!(left, waiting(&works, "gpu").await);
    works.runner("strong", &["gpu"]).await.start().await;
    assert_eq!(waiting(&works, "linux").await, None);
}

#[tokio::test]
async fn how_late_lines_are_kept_is_told() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let count = async || metric(&sent.server, "troupe_pipeline_log_lag_seconds_count").await.unwrap_or_default();
    let before = count().await;
    job.ask("logs", json!({ "lines": [{ "t": 7, "m": "a line" }] })).await.expect(200);
    assert!(count().await > before);
}
