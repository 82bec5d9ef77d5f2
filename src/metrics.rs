//! Where metrics are recorded: one place per process, and the list of what there is.

use std::sync::OnceLock;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the histograms' buckets, in seconds where it is time.
const BUCKETS: &[f64] = &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Only rises; starts at 0 when the process does.
    Counter,
    /// What is now.
    Gauge,
    /// Durations, in seconds.
    Seconds,
    /// Sizes, in pieces.
    Pieces,
}

/// Every metric that is recorded through `metrics`: its name, what it is, what it tells. The kernel adds its own, which
/// start with `troupe_actor_`.
pub const METRICS: &[(&str, Form, &str)] = &[
    (
        "troupe_blobs_scrubbed_total",
        Form::Counter,
        "Blobs that were read again, by outcome: lost and changed are faults.",
    ),
    ("troupe_blobs_swept_total", Form::Counter, "Blobs deleted because no row named them any more."),
    ("troupe_clock_off_seconds", Form::Gauge, "How far this node's clock is from the database's; absent on SQLite."),
    ("troupe_cpu_refused_total", Form::Counter, "Work for the processor refused as too much waited, by kind."),
    ("troupe_cpu_running", Form::Gauge, "Work for the processor that is being done, by kind."),
    ("troupe_cpu_seconds", Form::Seconds, "How long work took the processor, by kind."),
    ("troupe_cpu_wait_seconds", Form::Seconds, "How long work waited for the processor, by kind."),
    ("troupe_cpu_waiting", Form::Gauge, "Work that waits for the processor, by kind."),
    ("troupe_deliveries_total", Form::Counter, "Attempts to tell somebody something, by channel and outcome."),
    ("troupe_delivery_delay_seconds", Form::Seconds, "From when a delivery was due to when it left, by channel."),
    ("troupe_desk_mails_total", Form::Counter, "Mails that came to service desks, by what became of them."),
    ("troupe_git_pack_cache_bytes", Form::Gauge, "Bytes of packs that are kept once they were sent."),
    ("troupe_git_pack_cache_hits_total", Form::Counter, "Fetches that were sent what another one was sent."),
    ("troupe_git_pack_cache_misses_total", Form::Counter, "Fetches for which git made a pack that can be sent again."),
    ("troupe_git_packs_joined_total", Form::Counter, "Packs in whose place a larger one was put."),
    ("troupe_git_push_seconds", Form::Seconds, "From when all of a push had come to when it was decided on."),
    ("troupe_git_quarantine_bytes", Form::Gauge, "Bytes of pushes that are being taken in."),
    ("troupe_git_running", Form::Gauge, "Runs of git that are under way."),
    ("troupe_git_runs_total", Form::Counter, "Runs of git, by command."),
    ("troupe_git_scan_seconds", Form::Seconds, "How long it took to look for secrets in what a change brings."),
    ("troupe_git_views_bytes", Form::Gauge, "Bytes of the folders that git works in, but for what blobs have, too."),
    ("troupe_git_waiting", Form::Gauge, "Runs of git that wait for others to end."),
    ("troupe_http_in_flight", Form::Gauge, "Requests that are being answered."),
    ("troupe_http_request_seconds", Form::Seconds, "From a request's head to its answer, by method and route."),
    ("troupe_http_requests_total", Form::Counter, "Requests, by method, route and status."),
    ("troupe_hub_connected", Form::Gauge, "1 while Redis is reached, 0 while not; absent without Redis."),
    ("troupe_hub_dropped_total", Form::Counter, "Messages that did not reach a subscriber, by reason; it re-reads."),
    ("troupe_hub_limit_fallback_total", Form::Counter, "Rate limits counted in process because Redis was away."),
    ("troupe_hub_limit_uncounted_total", Form::Counter, "Uses of a rate limit that were not counted: too many keys."),
    ("troupe_hub_published_total", Form::Counter, "Messages published on the hub."),
    ("troupe_hub_received_total", Form::Counter, "Messages that came from Redis."),
    ("troupe_hub_reconnects_total", Form::Counter, "Times that Redis was reached again."),
    ("troupe_mail_deliveries_total", Form::Counter, "Tries to bring mail to a recipient, by outcome."),
    ("troupe_mail_queue_age_seconds", Form::Gauge, "How long the oldest of the mail that waits to leave has waited."),
    ("troupe_mail_queue_recipients", Form::Gauge, "Recipients whom mail waits to reach."),
    ("troupe_smtp_bytes_total", Form::Counter, "Bytes of messages that came in over SMTP."),
    ("troupe_smtp_connections", Form::Gauge, "Connections over which mail comes in."),
    ("troupe_smtp_messages_total", Form::Counter, "Messages that came over SMTP, by the code of the answer."),
    ("troupe_outbox_delay_seconds", Form::Seconds, "From a commit to its outbox entry's delivery, by topic."),
    ("troupe_outbox_dispatched_total", Form::Counter, "Outbox entries delivered, by topic."),
    ("troupe_outbox_given_up_total", Form::Counter, "Outbox entries given up, by topic."),
    ("troupe_outbox_retried_total", Form::Counter, "Outbox entries to be tried again, by topic."),
    ("troupe_pipeline_jobs_queued", Form::Gauge, "Jobs that wait for runners, by label."),
    ("troupe_pipeline_log_lag_seconds", Form::Seconds, "From when lines of a log had come to when they were kept."),
    ("troupe_pipeline_oldest_queued_seconds", Form::Gauge, "How long the first waits of these jobs, by label."),
    ("troupe_pipeline_pick_up_seconds", Form::Seconds, "From a job's place in the queue to a runner's hands."),
    ("troupe_pipeline_runners_lost_total", Form::Counter, "Jobs whose runner fell silent."),
    ("troupe_sockets_closed_total", Form::Counter, "Sockets that ended, by reason."),
    ("troupe_sockets_open", Form::Gauge, "Sockets that are open."),
    ("troupe_store_collisions_total", Form::Counter, "Transactions run again after a collision with another node's."),
    ("troupe_store_commit_seconds", Form::Seconds, "Transactions, from their begin to the end of their commit."),
    ("troupe_store_commits_refused_total", Form::Counter, "Changes refused because too many waited."),
    ("troupe_store_commits_total", Form::Counter, "Changes, by what became of them."),
    ("troupe_store_group_changes", Form::Pieces, "Changes committed together."),
    ("troupe_store_queue_depth", Form::Gauge, "Changes that wait to be committed."),
    ("troupe_store_reruns_total", Form::Counter, "Groups taken apart because one of their changes failed."),
    ("troupe_trace_spans_total", Form::Counter, "Spans of traces: exported, failed, or dropped as too many waited."),
    ("troupe_turns_stalled_total", Form::Counter, "Turns that did not yield for a second or more, by kind."),
    ("troupe_work_total", Form::Counter, "Jobs that were worked on, by topic and outcome."),
];

/// Metrics without labels: they are there from the start, so that a first rise is seen as one.
const UNLABELLED: &[&str] = &[
    "troupe_blobs_swept_total",
    "troupe_git_pack_cache_hits_total",
    "troupe_git_pack_cache_misses_total",
    "troupe_git_packs_joined_total",
    "troupe_hub_limit_fallback_total",
    "troupe_hub_limit_uncounted_total",
    "troupe_hub_published_total",
    "troupe_hub_received_total",
    "troupe_hub_reconnects_total",
    "troupe_pipeline_runners_lost_total",
    "troupe_store_collisions_total",
    "troupe_store_commits_refused_total",
    "troupe_store_reruns_total",
];

/// Gauges of what comes and goes: they are there from the start, too.
const AT_REST: &[&str] =
    &["troupe_git_quarantine_bytes", "troupe_git_running", "troupe_git_views_bytes", "troupe_git_waiting"];

/// The recorder of this process; `None` when somebody else installed another before.
pub fn recorder() -> Option<PrometheusHandle> {
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        let handle = PrometheusBuilder::new().set_buckets(BUCKETS)?.install_recorder()?;
        describe();
        Ok::<_, metrics_exporter_prometheus::BuildError>(handle)
    };
    RECORDER.get_or_init(|| install().inspect_err(|error| tracing::warn!(%error, "no metrics")).ok()).clone()
}

fn describe() {
    for &(name, form, help) in METRICS {
        match form {
            Form::Counter => describe_counter!(name, help),
            Form::Gauge => describe_gauge!(name, help),
            Form::Seconds => describe_histogram!(name, Unit::Seconds, help),
            Form::Pieces => describe_histogram!(name, help),
        }
    }
    for &name in UNLABELLED {
        metrics::counter!(name).absolute(0);
    }
    for &name in AT_REST {
        metrics::gauge!(name).set(0.0);
    }
}
