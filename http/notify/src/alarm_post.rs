//! What Alertmanager (webhook, version 4) and Grafana post about alerts. Both send more than is read.

use std::collections::BTreeMap;

use domain::{
    Error, Result,
    notify::{ALERTS_PER_POST_MAX, Alarm, Alert},
};
use http_shell::body::RequestBody;
use serde::Deserialize;
use utoipa::ToSchema;

/// A group of alerts, as Alertmanager (webhook, version 4) or Grafana posts it.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({
    "version": "4", "status": "firing", "receiver": "troupe", "alerts": [{
        "status": "firing", "labels": {"alertname": "DiskFull", "severity": "critical", "instance": "db-1"},
        "annotations": {"summary": "The disk of db-1 is full", "description": "97 % of /var are in use."},
        "startsAt": "2026-01-01T00:00:00Z", "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "https://prometheus.example.com/graph", "fingerprint": "b1f9c3a2d4e5f607"
    }]
}))]
pub(crate) struct AlarmPost {
    /// At most 500.
    alerts: Vec<PostedAlert>,
}

impl RequestBody for AlarmPost {}

/// One alert.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostedAlert {
    /// Whether it is over.
    status: AlertStatus,
    /// What tells it apart from others; protocols match on it.
    labels: BTreeMap<String, String>,
    /// `summary` and `description` are shown.
    annotations: Option<BTreeMap<String, String>>,
    /// The alert's name; where it is absent, the labels are the name.
    fingerprint: Option<String>,
    /// Where it was made.
    #[serde(rename = "generatorURL")]
    generator_url: Option<String>,
    /// Grafana: the panel that shows it.
    #[serde(rename = "panelURL")]
    panel_url: Option<String>,
    /// Grafana: the dashboard that shows it.
    #[serde(rename = "dashboardURL")]
    dashboard_url: Option<String>,
    /// Grafana: what was measured.
    value_string: Option<String>,
}

/// How an alert is.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AlertStatus {
    /// It holds.
    Firing,
    /// It is over.
    Resolved,
}

impl AlarmPost {
    /// The alarms that it raises and ends; 413 for too many.
    pub(crate) fn alarms(self) -> Result<Vec<Alarm>> {
        if self.alerts.len() > ALERTS_PER_POST_MAX {
            let message = format!("A post has at most {ALERTS_PER_POST_MAX} alerts; send them in several.");
            return Err(Error::too_large(message));
        }
        Ok(self.alerts.into_iter().map(|alert| Alarm::from(Alert::from(alert))).collect())
    }
}

impl From<PostedAlert> for Alert {
    fn from(posted: PostedAlert) -> Self {
        let urls = [posted.panel_url, posted.dashboard_url, posted.generator_url];
        Self {
            resolved: posted.status == AlertStatus::Resolved,
            labels: posted.labels,
            annotations: posted.annotations.unwrap_or_default(),
            fingerprint: posted.fingerprint.unwrap_or_default(),
            urls: urls.map(Option::unwrap_or_default),
            value: posted.value_string.unwrap_or_default(),
        }
    }
}
