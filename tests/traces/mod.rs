//! Traces: what a collector gets of a request, and what a server does without one.

mod collector;

use std::{net::TcpListener, time::Duration};

use serde_json::{Value, json};
use store::testing::Scratch;

use self::collector::{Collector, Span};
use crate::harness::{Answer, Client, Launch, Process};

const PATH: &str = "/v1/me/authenticator/vault";
const ROUTE: &str = "PUT /v1/me/authenticator/vault";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";
const EMAIL: &str = "ada.lovelace@example.org";
const PASSWORD: &str = "correct horse ada";

/// A server that has this collector, and the place of its data.
async fn serve(collector: &str, settings: &[&str]) -> (Scratch, Process) {
    let scratch = Scratch::new().await.expect("an empty database");
    let process = launch(&scratch, collector, settings).start();
    (scratch, process)
}

fn launch(scratch: &Scratch, collector: &str, settings: &[&str]) -> Launch {
    let launch = Launch::in_folder(scratch.folder())
        .set(format!("database.url={}", scratch.url()))
        .set(format!("tracing.otlp={collector}"))
        // What is left when the program ends is waited for that long.
        .set("tracing.timeout=60s");
    settings.iter().fold(launch, |launch, setting| launch.set(*setting))
}

/// Stops the server in order; by then it has sent what it had.
async fn stop(process: Process) {
    let status = tokio::task::spawn_blocking(|| process.terminate()).await.expect("an ended program");
    assert_eq!(status, Some(0));
}

/// Somebody's phone, signed in with the authenticator app.
async fn phone(process: &Process) -> Client {
    let nobody = process.client();
    let body = json!({ "email": EMAIL, "password": PASSWORD, "name": "Ada" });
    nobody.post("/v1/auth/register").json(&body).send().await.expect(201);
    let body = json!({ "email": EMAIL, "password": PASSWORD, "app": "authenticator", "platform": "ios",
        "installId": "phone" });
    let answer = nobody.post("/v1/auth/sign-in").json(&body).send().await.expect(200);
    nobody.with_token(answer.str("/token"))
}

fn backup(revision: i64) -> Value {
    json!({ "version": 1, "salt": "A".repeat(24), "ciphertext": "B".repeat(40), "revision": revision })
}

/// An address that takes connections and says nothing.
fn never_answers() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    (listener, url)
}

fn trace_response(answer: &Answer) -> Option<&str> {
    answer.headers.get("traceresponse").map(|value| value.to_str().expect("text"))
}

fn parent(sampled: &str) -> String {
    format!("00-{TRACE}-{CALLER}-{sampled}")
}

/// The one span of this trace that fits.
fn the<'a>(spans: &'a [Span], what: &str, fits: impl Fn(&Span) -> bool) -> &'a Span {
    let found: Vec<_> = spans.iter().filter(|span| fits(span)).collect();
    assert_eq!(found.len(), 1, "{what} in {spans:#?}");
    found[0]
}

#[track_caller]
fn says(span: &Span, attributes: &[(&str, &str)]) {
    for (name, value) in attributes {
        assert_eq!(span.attributes.get(*name).map(String::as_str), Some(*value), "{name} of {span:#?}");
    }
}

#[track_caller]
fn counts(span: &Span, names: &[&str]) {
    for name in names {
        let value = span.attributes.get(*name).unwrap_or_else(|| panic!("{name} of {span:#?}"));
        value.parse::<u64>().unwrap_or_else(|_| panic!("{name} is {value}"));
    }
}

#[tokio::test]
async fn a_trace_goes_from_the_caller_over_request_and_actor_to_the_commit() {
    let collector = Collector::start();
    let settings = ["tracing.sample_ratio=0", "server.trusted_proxies=127.0.0.1", "tracing.service_name=acme"];
    let (scratch, process) = serve(&collector.url(), &settings).await;
    let phone = phone(&process).await;
    let request = phone.put(PATH).json(&backup(0)).header("traceparent", parent("01")).header("x-request-id", "mine");
    let answer = request.send().await.expect(200);
    assert_eq!(answer.headers["x-request-id"], "mine");
    stop(process).await;

    let spans = collector.spans();
    assert!(spans.iter().all(|span| span.trace_id == TRACE && span.events == 0), "{spans:#?}");
    let request = the(&spans, "the request", |span| span.name == ROUTE);
    assert_eq!((request.parent_id.as_str(), request.kind.as_str_name()), (CALLER, "SPAN_KIND_SERVER"));
    assert_eq!(trace_response(&answer), Some(format!("00-{TRACE}-{}-01", request.id).as_str()));
    says(request, &[("http.request.method", "PUT"), ("http.route", PATH), ("http.response.status_code", "200")]);
    says(request, &[("troupe.request_id", "mine")]);
    let command = the(&spans, "the command", |span| span.name == "backup save");
    assert_eq!(command.parent_id, request.id);
    says(command, &[("troupe.actor.kind", "backup"), ("troupe.actor.command", "save"), ("troupe.actor.outcome", "ok")]);
    assert!(command.attributes["troupe.actor.key"].starts_with("usr_"), "{command:?}");
    counts(command, &["troupe.actor.queued_us", "troupe.actor.loading_us", "troupe.actor.deciding_us"]);
    counts(command, &["troupe.actor.committing_us", "troupe.actor.stale"]);
    let mailbox = the(&spans, "the mailbox", |span| span.name == "mailbox");
    assert_eq!(mailbox.parent_id, command.id);
    let commit = the(&spans, "the commit", |span| span.name == "commit");
    assert_eq!(commit.parent_id, command.id);
    let database = if scratch.url().starts_with("sqlite") { "sqlite" } else { "postgresql" };
    says(commit, &[("db.system.name", database), ("troupe.commit.outcome", "committed")]);
    counts(commit, &["troupe.commit.queued_us", "troupe.commit.group", "troupe.commit.statements"]);
    assert_eq!(spans.len(), 4, "{spans:#?}");
    assert!(spans.iter().all(|span| !span.is_error));
    assert_eq!(request.resource["service.name"], "acme");
    assert_eq!(request.resource["service.version"], env!("CARGO_PKG_VERSION"));
    assert!(!request.resource["service.instance.id"].is_empty());
    for export in collector.exports() {
        assert_eq!((export.method.as_str(), export.path.as_str()), ("POST", "/v1/traces"));
        assert_eq!(export.headers["content-type"], "application/x-protobuf");
    }
}

#[tokio::test]
async fn a_crash_shows_in_its_command_and_its_request() {
    let collector = Collector::start();
    let scratch = Scratch::new().await.expect("an empty database");
    let faults = scratch.folder().join("faults");
    std::fs::write(&faults, "handler:backup=panic").expect("a file");
    let process = launch(&scratch, &collector.url(), &["tracing.sample_ratio=1"]).faults(&faults).start();
    let phone = phone(&process).await;
    phone.put(PATH).json(&backup(0)).send().await.expect(500);
    stop(process).await;

    let spans = collector.spans();
    let request = the(&spans, "the request", |span| span.name == ROUTE);
    says(request, &[("http.response.status_code", "500")]);
    let command = the(&spans, "the command", |span| span.name == "backup save");
    assert_eq!((&command.trace_id, &command.parent_id), (&request.trace_id, &request.id));
    says(command, &[("troupe.actor.outcome", "crashed")]);
    assert!(request.is_error && command.is_error, "{spans:#?}");
}

#[tokio::test]
async fn traces_tell_no_secret_and_not_who_somebody_is() {
    let collector = Collector::start();
    let (_scratch, process) = serve(&collector.url(), &["tracing.sample_ratio=1"]).await;
    let phone = phone(&process).await;
    phone.put(PATH).json(&backup(0)).send().await.expect(200);
    phone.put(PATH).json(&backup(0)).send().await.expect(409);
    phone.get("/v1/me?ticket=open-sesame").send().await;
    phone.get("/nowhere/open-sesame?ticket=open-sesame").send().await.expect(404);
    let token = phone.token.clone().expect("a token");
    stop(process).await;

    let spans = collector.spans();
    for name in ["POST /v1/auth/sign-in", "sign_in open", "GET /v1/me", "_OTHER"] {
        the(&spans, name, |span| span.name == name);
    }
    let desk = the(&spans, "the desk", |span| span.name == "sign_in open");
    says(desk, &[("troupe.actor.key", "-")]);
    let conflict = |span: &Span| span.attributes.get("http.response.status_code").is_some_and(|status| status == "409");
    assert!(!the(&spans, "the conflict", conflict).is_error, "a client's mistake is none of the server's");
    let everything = format!("{:?}", collector.exports());
    for secret in [token.as_str(), EMAIL, "lovelace", PASSWORD, "open-sesame", "127.0.0.1"] {
        let told = collector.exports().iter().any(|export| format!("{:?}", export.request).contains(secret));
        assert!(!told, "{secret} in {everything}");
    }
}

#[tokio::test]
async fn a_log_line_names_the_request_and_its_trace_and_tells_no_secret() {
    let collector = Collector::start();
    let scratch = Scratch::new().await.expect("an empty database");
    let settings = ["tracing.sample_ratio=1", "log.format=json", "log.level=info,troupe::access=debug"];
    let log = scratch.folder().join("log");
    let process = launch(&scratch, &collector.url(), &settings).log(&log).start();
    let phone = phone(&process).await;
    let request = phone.put(PATH).json(&backup(0)).header("x-request-id", "mine");
    let answer = request.send().await.expect(200);
    phone.get("/v1/me?ticket=open-sesame").send().await;
    stop(process).await;

    let log = std::fs::read_to_string(&log).expect("a log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let found: Vec<_> = lines.iter().filter(|line| line["span"]["id"] == "mine").collect();
    assert_eq!(found.len(), 1, "{log}");
    assert_eq!((&found[0]["target"], &found[0]["status"]), (&json!("troupe::access"), &json!(200)), "{log}");
    let spans = found[0]["spans"].as_array().expect("spans");
    assert_eq!(spans.len(), 1, "the spans of traces are none of the log's: {log}");
    assert_eq!((&spans[0]["method"], &spans[0]["route"]), (&json!("PUT"), &json!(PATH)));
    let trace = trace_response(&answer).and_then(|place| place.split('-').nth(1)).expect("a trace");
    assert_eq!(spans[0]["trace"], trace);
    let token = phone.token.as_deref().expect("a token");
    for secret in [token, PASSWORD, "open-sesame"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[tokio::test]
async fn the_share_of_requests_and_trusted_callers_decide_what_is_traced() {
    let collector = Collector::start();
    let (_scratch, process) = serve(&collector.url(), &["tracing.sample_ratio=0"]).await;
    let ask = async |process: &Process, parent: Option<String>| {
        let request = process.client().get("/v1/openapi.json");
        let request = parent.into_iter().fold(request, |request, parent| request.header("traceparent", parent));
        request.send().await.expect(200)
    };
    assert_eq!(trace_response(&ask(&process, None).await), None);
    let untrusted = ask(&process, Some(parent("01"))).await;
    assert_eq!(trace_response(&untrusted), None, "anybody could have every request traced");
    stop(process).await;
    assert!(collector.spans().is_empty());

    let trusting = ["tracing.sample_ratio=1", "server.trusted_proxies=127.0.0.1"];
    let (_scratch, process) = serve(&collector.url(), &trusting).await;
    assert_eq!(trace_response(&ask(&process, Some(parent("00"))).await), None, "its caller has decided");
    let own = ask(&process, Some("no trace".into())).await;
    assert!(trace_response(&own).is_some_and(|place| !place.contains(TRACE)), "{own:?}");
    stop(process).await;
    assert!(collector.spans().iter().all(|span| span.trace_id != TRACE && span.parent_id.is_empty()));
    assert_eq!(collector.spans().len(), 1);
}

#[tokio::test]
async fn without_a_collector_nothing_is_traced() {
    let (_scratch, process) = serve("", &["tracing.sample_ratio=1"]).await;
    let answer = process.client().get("/v1/openapi.json").header("traceparent", parent("01")).send().await.expect(200);
    assert_eq!(trace_response(&answer), None);
    stop(process).await;
}

#[tokio::test]
async fn a_collector_that_is_away_costs_spans_and_nothing_else() {
    let (_listener, silent) = never_answers();
    let (_scratch, process) = serve(&silent, &["tracing.sample_ratio=1", "tracing.timeout=100ms"]).await;
    let phone = phone(&process).await;
    phone.put(PATH).json(&backup(0)).send().await.expect(200);
    let operators = process.client().at(&process.operators_url);
    let lost = async || {
        let metrics = operators.get("/metrics").send().await.expect(200).text;
        let line = metrics.lines().find(|line| line.starts_with("troupe_trace_spans_total{outcome=\"failed\"}"))?;
        line.rsplit(' ').next()?.parse::<u64>().ok()
    };
    let mut tries = 0;
    while lost().await.is_none_or(|lost| lost == 0) {
        tries += 1;
        assert!(tries < 1_000, "no span was ever given up");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    phone.put(PATH).json(&backup(1)).send().await.expect(200);
    stop(process).await;
}

#[tokio::test]
async fn the_collector_gets_its_headers_and_doctor_says_whether_it_answers() {
    let collector = Collector::start();
    let scratch = Scratch::new().await.expect("an empty database");
    let file = scratch.folder().join("headers");
    std::fs::write(&file, "X-Scope-OrgID: acme\n\n").expect("a file");
    let launch = Launch::in_folder(scratch.folder())
        .set(format!("database.url={}", scratch.url()))
        .set("tracing.headers=Authorization: Basic open-sesame")
        .set(format!("tracing.headers_file={}", file.display()));
    let examine = |url: String, timeout: &str| {
        let launch = launch.clone().set(format!("tracing.otlp={url}")).set(format!("tracing.timeout={timeout}"));
        tokio::task::spawn_blocking(move || launch.run(&["doctor"]))
    };
    let (status, text) = examine(collector.url(), "60s").await.expect("an examination");
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("the collector takes them"), "{text}");
    let exports = collector.exports();
    assert_eq!(exports.len(), 1, "{exports:?}");
    assert_eq!(exports[0].headers["authorization"], "Basic open-sesame");
    assert_eq!(exports[0].headers["x-scope-orgid"], "acme");

    let (_listener, silent) = never_answers();
    let (status, text) = examine(silent.clone(), "1s").await.expect("an examination");
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("`tracing.otlp`") && !text.contains("open-sesame"), "{text}");
    std::fs::write(&file, "open-sesame").expect("a file");
    let (status, text) = examine(silent, "1s").await.expect("an examination");
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("`tracing.headers_file`") && !text.contains("open-sesame"), "{text}");
}
