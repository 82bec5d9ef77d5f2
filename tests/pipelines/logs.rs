//! Logs: exactly once, read by line number, followed live, sealed.

use std::time::Duration;

use serde_json::{Value, json};

use super::sent::{Job, MARKER, Sent};
use crate::harness::{Answer, Ticket};

fn lines(texts: &[&str]) -> Value {
    json!({ "lines": texts.iter().map(|m| json!({ "t": 7, "m": m })).collect::<Vec<_>>() })
}

async fn send(job: &Job, first: Option<u64>, texts: &[&str]) -> Answer {
    let request = job.post("logs").json(&lines(texts));
    match first {
        Some(first) => request.header("x-service-log-first", first.to_string()).send().await,
        None => request.send().await,
    }
}

fn texts(answer: &Answer) -> Vec<String> {
    answer.list("/lines").iter().map(|line| line["m"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_line_is_kept_once_however_often_it_is_sent() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let answer = send(&job, Some(0), &["a", "b"]).await.expect(200);
    assert_eq!(answer.json, json!({ "ok": true, "next": 2 }));
    send(&job, Some(0), &["a", "b"]).await.expect(200);
    assert_eq!(send(&job, Some(1), &["b", "c"]).await.expect(200).int("/next"), 3);
    let gap = send(&job, Some(4), &["e"]).await.expect_error(409, "log_gap", "Lines before these haven't come.");
    assert_eq!(gap.int("/next"), 3);
    assert_eq!(send(&job, None, &["d"]).await.expect(200).int("/next"), 4);
    let read = sent.get(&job.log("")).await.expect(200);
    assert_eq!(texts(&read), ["a", "b", "c", "d"]);
    assert_eq!(read.json["lines"][3], json!({ "n": 3, "t": 7, "m": "d" }));
    assert_eq!((read.int("/next"), &read.json["complete"], read.int("/dropped")), (4, &json!(false), 0));
}

#[tokio::test]
async fn steps_own_their_lines_and_the_runners_words_are_not_shown() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let (begin, end) = (format!("##[{MARKER}]step 1 begin"), format!("##[{MARKER}]step 1 end"));
    let forged = "##[ffffffffffffffffffffffffffffffff]step 9 begin";
    let sending = ["setup", &begin, "10%\r100%", "\u{1b}[31mred\u{1b}[0m\u{1b}[2K\u{7}", forged, &end, "Done"];
    assert_eq!(send(&job, Some(0), &sending).await.expect(200).int("/next"), 7);
    let read = sent.get(&job.log("")).await.expect(200);
    assert_eq!(texts(&read), ["setup", "100%", "\u{1b}[31mred\u{1b}[0m", forged, "Done"]);
    assert_eq!(texts(&sent.get(&job.log("?step=1")).await.expect(200)), ["100%", "\u{1b}[31mred\u{1b}[0m", forged]);
    assert_eq!(texts(&sent.get(&job.log("?q=DONE")).await.expect(200)), ["Done"]);
    let part = sent.get(&job.log("?from=1&limit=2")).await.expect(200);
    assert_eq!((texts(&part).len(), part.int("/next")), (2, 3));
    assert_eq!(texts(&sent.get(&job.log("?from=99")).await.expect(200)), [""; 0]);
    for (query, path) in [("?from=-1", "from"), ("?limit=0", "limit"), ("?limit=5001", "limit"), ("?q=", "q")] {
        sent.get(&job.log(query)).await.expect_problems(&[path]);
    }
}

#[tokio::test]
async fn what_is_sent_has_limits() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    job.ask("logs", json!({ "lines": [] })).await.expect_problems(&["lines"]);
    let many = |count: usize| json!({ "lines": vec![json!({ "t": 0, "m": "" }); count] });
    job.ask("logs", many(20_001)).await.expect_problems(&["lines"]);
    assert_eq!(job.ask("logs", many(20_000)).await.expect(200).int("/next"), 20_000);
    send(&job, None, &["é".repeat(200_001).as_str()]).await.expect_problems(&["lines[0].m"]);
    for length in [199_999, 200_000] {
        send(&job, None, &["é".repeat(length).as_str()]).await.expect(200);
    }
    let bad = job.post("logs").header("x-service-log-first", "first").json(&lines(&["a"])).send().await;
    bad.expect_problems(&["x-service-log-first"]);
    let large = json!({ "lines": [{ "t": 0, "m": "a".repeat(16 * 1024 * 1024) }] });
    assert_eq!(job.ask("logs", large).await.status, 413);
    let nobody = sent.server.client().post("/v1/runner/logs").json(&lines(&["a"])).send().await;
    nobody.expect_error(401, "job_unknown", "No job goes by this token.");
}

#[tokio::test]
async fn a_log_is_sealed_after_its_jobs_end_and_reads_the_same() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let long = "x".repeat(900);
    for at in 0..6_u64 {
        let some: Vec<String> = (0..100).map(|line| format!("{} {long}", at * 100 + line)).collect();
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        send(&job, Some(at * 100), &some).await.expect(200);
    }
    let raw = sent.get(&job.log("/raw")).await.expect(200);
    let (written, before) = (raw.text.clone(), sent.get(&job.log("?from=250&limit=100")).await.expect(200));
    assert_eq!(written.lines().count(), 600);
    sent.end(&job).await;
    send(&job, Some(600), &["late"]).await.expect(200);
    sent.server.clock.advance(Duration::from_secs(61));
    let sealed = async || sent.store.job_log(job.row.id).await.unwrap().filter(|log| log.sealed.lines == 601);
    sent.server.eventually("a sealed log", sealed).await;
    let after = sent.get(&job.log("?from=250&limit=100")).await.expect(200);
    assert_eq!(after.json["lines"], before.json["lines"]);
    assert_eq!(sent.get(&job.log("/raw")).await.expect(200).text, format!("{written}late\n"));
    // What comes later still is there, too.
    send(&job, Some(601), &["later"]).await.expect(200);
    let last = sent.get(&job.log("?from=600")).await.expect(200);
    assert_eq!((texts(&last), &last.json["complete"]), (vec!["late".to_owned(), "later".to_owned()], &json!(true)));
    sent.counted().await;
    sent.server.clock.advance(Duration::from_hours(24));
    send(&job, Some(602), &["no"]).await.expect_error(409, "job_over", "This job is over.");
}

#[tokio::test]
async fn a_log_is_followed_without_a_gap_to_its_end() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    send(&job, Some(0), &["zero", "one"]).await.expect(200);
    let ticket = Ticket::issue_at(&sent.ada.client, &sent.at(&job.log("/live"))).await;
    let mut socket = ticket.open().await.expect("a socket");
    let first = socket.raw_message().await;
    assert_eq!(first, json!({ "from": 0, "lines": [{ "n": 0, "t": 7, "m": "zero" }, { "n": 1, "t": 7, "m": "one" }] }));
    for at in 2..20_u64 {
        send(&job, Some(at), &[format!("line {at}").as_str()]).await.expect(200);
    }
    let mut next = 2;
    while next < 20 {
        let frame = socket.raw_message().await;
        assert_eq!(frame["from"], json!(next));
        for line in frame["lines"].as_array().unwrap() {
            assert_eq!((&line["n"], &line["m"]), (&json!(next), &json!(format!("line {next}"))));
            next += 1;
        }
    }
    sent.end(&job).await;
    assert_eq!(socket.raw_message().await, json!({ "complete": true, "conclusion": "success" }));
    assert_eq!(socket.closed().await, Some(1000));
}

#[tokio::test]
async fn all_logs_of_a_run_are_in_one_archive() {
    let sent = Sent::new().await;
    let job = sent.job("refs/heads/main").await;
    let again = sent.job_of(&job.row.run_id.to_string(), 2).await;
    send(&job, Some(0), &["first"]).await.expect(200);
    send(&again, Some(0), &["second", "third"]).await.expect(200);
    let path = sent.at(&format!("runs/{}/logs", job.row.run_id));
    let response = sent.ada.client.get(&path).begin().await;
    let bytes = response.bytes().await.unwrap().to_vec();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut read = Vec::new();
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).unwrap();
        let (name, mut text) = (file.name().unwrap().into_owned(), String::new());
        std::io::Read::read_to_string(&mut file, &mut text).unwrap();
        read.push((name, text));
    }
    read.sort();
    let named = |attempt: &str| format!("{attempt}/test _ ___linux.txt");
    assert_eq!(read, [(named("1"), "first\n".to_owned()), (named("2"), "second\nthird\n".to_owned())]);
}
