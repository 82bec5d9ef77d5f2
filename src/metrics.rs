//! Where metrics are recorded: one place per process.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the histograms' buckets, in seconds where it is time.
const BUCKETS: &[f64] = &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// The recorder of this process; `None` when somebody else installed another before.
pub fn recorder() -> Option<PrometheusHandle> {
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || PrometheusBuilder::new().set_buckets(BUCKETS)?.install_recorder();
    RECORDER.get_or_init(|| install().inspect_err(|error| tracing::warn!(%error, "no metrics")).ok()).clone()
}
