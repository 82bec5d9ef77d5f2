//! Which jobs of pipelines wait for runners, as Prometheus' text format.
//!
//! The labels are people's own words, so nothing of them is kept from one look to the next, and only some are told apart.

use std::{fmt::Write, time::Duration};

use domain::{
    Timestamp,
    pipelines::queue::{WaitingJobs, waiting_by_label},
};
use store::Store;

/// Sets of labels that are looked at: those that most jobs ask for.
const SETS_MAX: u64 = 1_000;
/// How long the database may take. While it is away, everything else is told.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

/// Adds the metrics of the queue to `out`; nothing where the database doesn't say.
pub(crate) async fn render(store: &Store, out: &mut String) {
    let looking = tokio::time::timeout(LOOK_WITHIN, store.waiting_jobs_by_labels(SETS_MAX));
    if let Ok(Ok(sets)) = looking.await {
        // Writing to a string doesn't fail.
        let _ = written(&waiting_by_label(&sets), store.now(), out);
    }
}

fn written(jobs: &[(String, WaitingJobs)], now: Timestamp, out: &mut String) -> std::fmt::Result {
    let name = "troupe_pipeline_jobs_queued";
    writeln!(out, "# HELP {name} Jobs that wait for runners, by label.\n# TYPE {name} gauge")?;
    for (label, jobs) in jobs {
        writeln!(out, "{name}{{label=\"{}\"}} {}", escaped(label), jobs.count)?;
    }
    let name = "troupe_pipeline_oldest_queued_seconds";
    writeln!(out, "# HELP {name} How long the first waits of these jobs, by label.\n# TYPE {name} gauge")?;
    for (label, jobs) in jobs {
        writeln!(out, "{name}{{label=\"{}\"}} {}", escaped(label), now.since(jobs.since).as_secs_f64())?;
    }
    Ok(())
}

/// A text as it stands between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_written_as_people_call_them() {
        let jobs = |count, since| WaitingJobs { count, since: Timestamp(since) };
        let told = [("linux".to_owned(), jobs(3, 1_000)), ("a\"b\\c\n".to_owned(), jobs(1, 2_500))];
        let mut text = String::new();
        written(&told, Timestamp(4_000), &mut text).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("# HELP")).collect();
        let wanted = [
            "# TYPE troupe_pipeline_jobs_queued gauge",
            "troupe_pipeline_jobs_queued{label=\"linux\"} 3",
            "troupe_pipeline_jobs_queued{label=\"a\\\"b\\\\c\\n\"} 1",
            "# TYPE troupe_pipeline_oldest_queued_seconds gauge",
            "troupe_pipeline_oldest_queued_seconds{label=\"linux\"} 3",
            "troupe_pipeline_oldest_queued_seconds{label=\"a\\\"b\\\\c\\n\"} 1.5",
        ];
        assert_eq!(lines, wanted);
    }
}
