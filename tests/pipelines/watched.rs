//! What operators see of pipelines in `/metrics` and in their console: which jobs wait for runners, who asks for them, and how late
//! logs are.

use std::time::Duration;

use serde_json::{Value, json};

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

/// Somebody who is signed in to the operators' console.
struct Console<'a> {
    server: &'a Server,
    cookie: String,
}

impl<'a> Console<'a> {
    async fn of(server: &'a Server) -> Self {
        let who = json!({ "email": server.owner_email, "password": server.owner_password });
        let answer = server.client().post("/console/session").json(&who).send().await.expect(200);
        let cookie = answer.header("set-cookie").and_then(|set| set.split(';').next()).expect("a cookie").to_owned();
        Self { server, cookie }
    }

    /// What is shown of pipelines at this moment.
    async fn shown(&self) -> Value {
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let asked = http.get(format!("{}/console/live", self.server.url)).header("cookie", &self.cookie);
        let (mut stream, mut text) = (asked.send().await.unwrap(), String::new());
        loop {
            let whole = text.split_inclusive("\n\n").filter(|event| event.ends_with("\n\n"));
            let queues = whole.filter_map(|event| event.strip_prefix("event: queues\ndata: "));
            let mut shown = queues.map(|data| serde_json::from_str::<Value>(data).unwrap()["pipelines"].clone());
            // A database that is slow says nothing of it for once.
            if let Some(shown) = shown.find(|shown| !shown.is_null()) {
                return shown;
            }
            let chunk = tokio::time::timeout(Duration::from_secs(60), stream.chunk()).await.expect("more in time");
            text += &String::from_utf8_lossy(&chunk.unwrap().expect("more of the stream"));
        }
    }
}

#[tokio::test]
async fn the_console_shows_what_waits_by_label_and_which_runners_ask() {
    let works = Works::with("ci.yml", &CI.replace("linux", "[linux, gpu]")).await;
    works.run("").await;
    let (asks, paused) = (works.runner("asks", &[]).await, works.runner("paused", &["gpu"]).await);
    let path = format!("{}/pipelines/runners/{}", works.org, paused.id);
    works.ada.client.patch(&path).json(&json!({ "paused": true })).send().await.expect(200);
    let console = Console::of(&works.server).await;
    assert_eq!(console.shown().await["runners"], json!({ "registered": 2, "paused": 1, "asked": 0 }));
    assert!(asks.try_take(0).await.is_none());
    works.server.clock.advance(Duration::from_secs(5));
    let shown = console.shown().await;
    assert_eq!(shown["runners"], json!({ "registered": 2, "paused": 1, "asked": 1 }));
    let labels = shown["labels"].as_array().unwrap();
    let told: Vec<_> = labels.iter().map(|it| json!([it["label"], it["queued"]])).collect();
    assert_eq!(told, [json!(["gpu", 1]), json!(["linux", 1])]);
    assert!(labels.iter().all(|it| (5_000..6_000).contains(&it["oldestMs"].as_i64().unwrap())), "{labels:?}");
    // A runner that falls silent over its job is lost.
    assert_eq!(shown["lost"], json!(0));
    works.ada.client.patch(&path).json(&json!({ "paused": false })).send().await.expect(200);
    paused.start().await;
    works.server.clock.advance(Duration::from_mins(2));
    let lost = async || Some(console.shown().await["lost"].clone()).filter(|lost| lost.as_u64() > Some(0));
    assert_eq!(works.server.eventually("a lost runner", lost).await, json!(1));
}
