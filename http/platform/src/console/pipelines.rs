//! What the console shows of pipelines: which jobs wait for runners, and whether runners ask for them.

use std::time::Duration;

use domain::pipelines::queue::waiting_by_label;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Value, json};
use store::{Store, StoreError, pipelines::RunnerCounts};

/// Sets of labels that are looked at: those that most jobs ask for.
const SETS_MAX: u64 = 1_000;
/// How long ago a runner that still asks for jobs asked last, at most: a question waits up to 50 s, and is written down every 30 s.
const ASKED_WITHIN: Duration = Duration::from_mins(2);
/// The metric that counts the runners which fell silent over a job.
const LOST: &str = "troupe_pipeline_runners_lost_total";

/// What waits, and for whom; of lost runners, those of this node, which are counted where there are metrics.
pub(super) async fn shown(store: &Store, metrics: Option<&PrometheusHandle>) -> Result<Value, StoreError> {
    let now = store.now();
    let by_label = waiting_by_label(&store.waiting_jobs_by_labels(SETS_MAX).await?);
    let RunnerCounts { registered, paused, asked } = store.runner_counts(now.before(ASKED_WITHIN)).await?;
    let labels = by_label.into_iter().map(|(label, jobs)| {
        json!({ "label": label, "queued": jobs.count, "oldestMs": now.as_millis() - jobs.since.as_millis() })
    });
    Ok(json!({
        "labels": labels.collect::<Value>(),
        "runners": { "registered": registered, "paused": paused, "asked": asked },
        "lost": metrics.and_then(|metrics| lost(&metrics.render())),
    }))
}

/// How many runners the metrics say were lost.
fn lost(metrics: &str) -> Option<u64> {
    metrics.lines().find_map(|line| line.strip_prefix(LOST)?.strip_prefix(' ')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_runners_are_read_off_the_metrics() {
        let text = "# TYPE troupe_pipeline_runners_lost_total counter\ntroupe_pipeline_runners_lost_total 3\n";
        assert_eq!(lost(text), Some(3));
        assert_eq!(lost("troupe_pipeline_runners_lost_total_of 3\n"), None);
    }
}
