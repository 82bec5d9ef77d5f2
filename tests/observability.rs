//! The dashboard and the alert rules of `config/` speak of metrics that there are.

use std::{collections::BTreeSet, fs};

use store::testing::Scratch;
use troupe::metrics::{Form, METRICS};

use crate::harness::{Launch, Server};

/// What Prometheus makes of a histogram.
const PARTS: [&str; 3] = ["_bucket", "_sum", "_count"];

/// The metrics that a file of `config/` speaks of.
fn spoken_of(path: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(format!("{}/config/{path}", env!("CARGO_MANIFEST_DIR"))).expect("a file");
    let is_of_a_name =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
    text.split(|character| !is_of_a_name(character))
        .filter(|word| word.starts_with("troupe_"))
        .map(str::to_owned)
        .collect()
}

/// The names that the process serves, as `# TYPE` lines tell.
async fn served() -> BTreeSet<String> {
    let server = Server::start().await;
    server.person("ada").await.client.get("/v1/me").send().await.expect(200);
    let text = server.operator().get("/metrics").send().await.expect(200).text;
    text.lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

fn is_histogram(form: Form) -> bool {
    matches!(form, Form::Seconds | Form::Pieces)
}

#[tokio::test]
async fn dashboard_and_alerts_speak_of_metrics_that_are_served() {
    let mut known = served().await;
    known.extend(METRICS.iter().filter(|(_, form, _)| !is_histogram(*form)).map(|(name, ..)| (*name).to_owned()));
    let parts_of = |name: &str| PARTS.map(|part| format!("{name}{part}"));
    known.extend(METRICS.iter().filter(|(_, form, _)| is_histogram(*form)).flat_map(|(name, ..)| parts_of(name)));
    known
        .extend(["troupe_actor_queued_seconds", "troupe_actor_handled_seconds"].iter().flat_map(|name| parts_of(name)));
    for path in ["grafana/troupe.json", "prometheus/alerts.yml"] {
        let spoken_of = spoken_of(path);
        assert!(spoken_of.len() > 8, "{path} speaks of {spoken_of:?} only");
        let unknown: Vec<_> = spoken_of.difference(&known).collect();
        assert!(unknown.is_empty(), "{path} speaks of {unknown:?}");
    }
}

#[tokio::test]
async fn what_is_served_is_in_the_list_and_told_apart() {
    let served = served().await;
    let listed: BTreeSet<_> = METRICS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let unlisted: Vec<_> =
        served.iter().filter(|name| !name.starts_with("troupe_actor_") && !listed.contains(*name)).collect();
    assert!(unlisted.is_empty(), "src/metrics.rs lacks {unlisted:?}");
    for name in ["troupe_hub_reconnects_total", "troupe_store_commits_refused_total"] {
        assert!(served.contains(name), "{name} is not there before it first rises");
    }
}

#[test]
fn the_dashboard_is_one_that_grafana_imports() {
    let path = format!("{}/config/grafana/troupe.json", env!("CARGO_MANIFEST_DIR"));
    let dashboard: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().expect("an id")).collect();
    assert_eq!(ids.len(), panels.len(), "two panels share an id");
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let targets = panel["targets"].as_array().expect("targets");
        assert!(targets.iter().all(|target| target["expr"].as_str().is_some_and(|expr| expr.contains("troupe_"))));
    }
}

#[tokio::test]
async fn the_log_of_a_start_has_no_remarks_of_the_database() {
    let scratch = Scratch::new().await.expect("an empty database");
    let log = scratch.folder().join("log");
    let launch = Launch::in_folder(scratch.folder())
        .set(format!("database.url={}", scratch.url()))
        .set("log.level=info")
        .log(&log);
    // The first makes the schema, and the second finds it.
    for _ in 0..2 {
        launch.start().kill();
        let text = fs::read_to_string(&log).expect("a log");
        assert!(!text.contains("already exists") && !text.contains("sqlx"), "{text}");
    }
}
