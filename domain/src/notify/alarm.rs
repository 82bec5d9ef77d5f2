//! Alarms from outside: what Prometheus Alertmanager and Grafana post to a hook, as alarms of ours.
//!
//! Both post groups of alerts in one form (Alertmanager's webhook, version 4; Grafana's adds fields). An alert is told by
//! its fingerprint: posted again it is the same one, and resolved it is over.

use std::{collections::BTreeMap, ops::RangeInclusive};

use serde_json::{Map, Value};

use crate::token::sha256_hex;

/// Hooks of one organization, at most.
pub const ALARM_HOOKS_MAX: u64 = 50;
/// Posts a minute that one hook takes.
pub const ALARM_POSTS_PER_MINUTE: u32 = 120;
/// Alerts of one post, at most: each is told on its own.
pub const ALERTS_PER_POST_MAX: usize = 500;
/// Characters of a headline, at most; more is cut.
pub const ALARM_TITLE_LEN_MAX: usize = 200;
/// Characters of what happened, at most; more is cut.
pub const ALARM_BODY_LEN_MAX: usize = 2_000;
/// Characters of an address that is kept; another one is left out.
pub const ALARM_URL_LEN: RangeInclusive<usize> = 1..=2_000;
/// Characters of a fingerprint that is taken as it is.
const FINGERPRINT_LEN: RangeInclusive<usize> = 1..=128;
/// The headline of an alert that says nothing about itself.
const NAMELESS: &str = "Alarm";

/// One alert.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// Names what is wrong; the same whenever it is posted again.
    pub fingerprint: String,
    /// The headline.
    pub title: String,
    /// What happened.
    pub body: String,
    /// Where it is shown.
    pub url: Option<String>,
    /// Whether it is over.
    pub resolved: bool,
    /// What protocols match on: the labels, and `status`.
    pub data: Map<String, Value>,
}

/// What is posted about one alert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    /// Whether it is over.
    pub resolved: bool,
    /// What tells it apart from others.
    pub labels: BTreeMap<String, String>,
    /// What else is said of it.
    pub annotations: BTreeMap<String, String>,
    /// Its name; may be empty.
    pub fingerprint: String,
    /// Where it is shown, the best first; each may be empty.
    pub urls: [String; 3],
    /// What was measured, in words; may be empty.
    pub value: String,
}

impl From<Alert> for Alarm {
    fn from(alert: Alert) -> Self {
        let label = |name: &str| alert.labels.get(name).map(String::as_str);
        let annotation = |name: &str| alert.annotations.get(name).map(String::as_str);
        let titles = [annotation("summary"), label("alertname"), Some(NAMELESS)];
        let title = titles.into_iter().flatten().map(line).find(|title| !title.is_empty()).unwrap_or_default();
        let body = first([annotation("description"), annotation("message"), Some(&alert.value)]);
        let url = alert.urls.iter().find(|url| is_address(url)).cloned();
        let mut data: Map<String, Value> =
            alert.labels.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        data.insert("status".to_owned(), if alert.resolved { "resolved" } else { "firing" }.into());
        Self {
            fingerprint: fingerprint(&alert),
            title: cut(&title, ALARM_TITLE_LEN_MAX),
            body: cut(&body.replace('\0', ""), ALARM_BODY_LEN_MAX),
            url,
            resolved: alert.resolved,
            data,
        }
    }
}

/// The alert's own, or the digest of its labels, which is what Alertmanager's is too.
fn fingerprint(alert: &Alert) -> String {
    let own = alert.fingerprint.trim();
    if FINGERPRINT_LEN.contains(&own.len()) && own.bytes().all(|byte| byte.is_ascii_graphic()) {
        return own.to_owned();
    }
    let labels: Vec<_> = alert.labels.iter().collect();
    sha256_hex(serde_json::to_string(&labels).unwrap_or_default().as_bytes())
}

fn first(texts: [Option<&str>; 3]) -> &str {
    texts.into_iter().flatten().map(str::trim).find(|text| !text.is_empty()).unwrap_or_default()
}

fn is_address(url: &str) -> bool {
    let has_scheme = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    has_scheme && ALARM_URL_LEN.contains(&url.chars().count()) && !url.contains(|c: char| c.is_control())
}

/// The text on one line, without what databases and screens have no place for.
fn line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn cut(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts<const LEN: usize>(pairs: [(&str, &str); LEN]) -> BTreeMap<String, String> {
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    fn alarm(alert: Alert) -> Alarm {
        alert.into()
    }

    #[test]
    fn the_headline_is_the_summary_or_else_the_name() {
        let labels = texts([("alertname", "DiskFull")]);
        assert_eq!(alarm(Alert { labels: labels.clone(), ..Alert::default() }).title, "DiskFull");
        let annotations = texts([("summary", " The disk\nis\0 full ")]);
        assert_eq!(alarm(Alert { labels, annotations, ..Alert::default() }).title, "The disk is full");
        assert_eq!(alarm(Alert::default()).title, "Alarm");
        for length in [ALARM_TITLE_LEN_MAX - 1, ALARM_TITLE_LEN_MAX, ALARM_TITLE_LEN_MAX + 1] {
            let annotations = texts([("summary", "ü".repeat(length).as_str())]);
            let title = alarm(Alert { annotations, ..Alert::default() }).title;
            assert_eq!(title.chars().count(), length.min(ALARM_TITLE_LEN_MAX));
        }
    }

    #[test]
    fn what_happened_is_the_description_or_else_what_was_measured() {
        let alert = Alert { value: "value=97".to_owned(), ..Alert::default() };
        assert_eq!(alarm(alert.clone()).body, "value=97");
        let annotations = texts([("message", "Much in use.")]);
        assert_eq!(alarm(Alert { annotations, ..alert.clone() }).body, "Much in use.");
        let annotations = texts([("message", "Much in use."), ("description", "97 % in use.\nClean up.")]);
        assert_eq!(alarm(Alert { annotations, ..alert }).body, "97 % in use.\nClean up.");
        let annotations = texts([("description", "x".repeat(ALARM_BODY_LEN_MAX + 1).as_str())]);
        assert_eq!(alarm(Alert { annotations, ..Alert::default() }).body.len(), ALARM_BODY_LEN_MAX);
    }

    #[test]
    fn without_a_fingerprint_the_labels_tell_alerts_apart() {
        let told = |host: &str, fingerprint: &str| {
            let (labels, fingerprint) = (texts([("host", host)]), fingerprint.to_owned());
            alarm(Alert { labels, fingerprint, ..Alert::default() }).fingerprint
        };
        assert_eq!(told("a", "a1"), "a1");
        let one = told("a", "");
        assert_eq!(one, told("a", "two words"));
        assert_eq!(told("a", &"x".repeat(128)).len(), 128);
        assert_eq!(one, told("a", &"x".repeat(129)));
        assert_ne!(one, told("b", ""));
    }

    #[test]
    fn only_a_web_address_is_kept_and_the_best_of_them() {
        let told = |urls: [&str; 3]| alarm(Alert { urls: urls.map(str::to_owned), ..Alert::default() }).url;
        for url in ["", "javascript:alert(1)", "prometheus:9090/graph", "https://a.example/\n"] {
            assert_eq!(told([url, "", ""]), None, "{url}");
        }
        assert_eq!(told(["", "https://b.example", "https://c.example"]).as_deref(), Some("https://b.example"));
        let of_length = |length: usize| format!("https://{}", "x".repeat(length - 8));
        assert_eq!(told([&of_length(2_000), "", ""]), Some(of_length(2_000)));
        assert_eq!(told([&of_length(2_001), "", ""]), None);
    }

    #[test]
    fn a_label_does_not_hide_the_status() {
        let labels = texts([("status", "firing"), ("severity", "page")]);
        let told = alarm(Alert { resolved: true, labels, ..Alert::default() });
        assert!(told.resolved);
        assert_eq!(Value::Object(told.data), json!({ "status": "resolved", "severity": "page" }));
    }
}
