//! What the console shows of pipelines: which jobs wait for runners, and whether runners ask for them.

use domain::pipelines::{queue::waiting_by_label, runner::RUNNER_ASKED_WITHIN};
use serde_json::{Value, json};
use store::{Store, StoreError, pipelines::RunnerCounts};

/// Sets of labels that are looked at: those that most jobs ask for.
const SETS_MAX: u64 = 1_000;

/// What waits, and for whom; of lost runners, those of the node that answers, where it is the one that is watched.
pub(super) async fn shown(store: &Store, lost: Option<u64>) -> Result<Value, StoreError> {
    let now = store.now();
    let by_label = waiting_by_label(&store.waiting_jobs_by_labels(SETS_MAX).await?);
    let RunnerCounts { registered, paused, asked } = store.runner_counts(now.before(RUNNER_ASKED_WITHIN)).await?;
    let labels = by_label.into_iter().map(|(label, jobs)| {
        json!({ "label": label, "queued": jobs.count, "oldestMs": now.as_millis() - jobs.since.as_millis() })
    });
    Ok(json!({
        "labels": labels.collect::<Value>(),
        "runners": { "registered": registered, "paused": paused, "asked": asked },
        "lost": lost,
    }))
}
