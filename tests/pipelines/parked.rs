//! What questions for jobs take while they wait.

use std::{io::Write, net::TcpStream};

use tokio::process::Command;

use super::{Runner, Works};
use crate::ALLOCATOR;

/// Set in the process of its own in which memory is measured, so that no other test takes any.
const MEASURE: &str = "TROUPE_TEST_MEASURES_MEMORY";
/// Questions that wait before memory is looked at.
const FIRST: u32 = 50;
/// Questions that wait then.
const QUESTIONS: u32 = 400;
/// Bytes that each of them may take. 16 KiB are the buffers of its connection, and 5 KiB more are actix's own.
const EACH_MAX: usize = 28 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_waits_takes_little_more_than_its_connection() {
    if std::env::var_os(MEASURE).is_some() {
        return ask_and_measure().await;
    }
    let mut alone = Command::new(std::env::current_exe().unwrap());
    alone.args([
        "--exact",
        "--nocapture",
        "pipelines::parked::a_question_that_waits_takes_little_more_than_its_connection",
    ]);
    let output = alone.env(MEASURE, "1").output().await.expect("this program runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

async fn ask_and_measure() {
    let works = Works::new().await;
    let runner = works.runner("box", &[]).await;
    // What the first ones bring along, such as caches, stays.
    let first = waiting(&works, &runner, FIRST, FIRST).await;
    let before = ALLOCATOR.allocated();
    let others = waiting(&works, &runner, QUESTIONS, FIRST + QUESTIONS).await;
    let each = || ALLOCATOR.allocated().saturating_sub(before) / others.len();
    // What they took on their way here is given back.
    works.server.eventually("little memory", async || Some(each()).filter(|each| *each < EACH_MAX)).await;
    eprintln!("{} bytes each", each());
    drop((first, others));
}

/// The connections of so many questions, once so many wait in all.
async fn waiting(works: &Works, runner: &Runner, questions: u32, in_all: u32) -> Vec<TcpStream> {
    let address = runner.client.base().trim_start_matches("http://").to_owned();
    let body = r#"{"version": "0.1.0", "wait": 50}"#;
    let question = format!(
        "POST /v1/runner/poll HTTP/1.1\r\nhost: {address}\r\nx-service-runner: {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        runner.secret,
        body.len()
    );
    let mut connections = Vec::new();
    for _ in 0..questions {
        let mut connection = TcpStream::connect(&address).unwrap();
        connection.write_all(question.as_bytes()).unwrap();
        connections.push(connection);
    }
    let all_wait = async || {
        let text = works.server.operator().get("/metrics").send().await.expect(200).text;
        let in_flight = text.lines().find_map(|line| line.strip_prefix("troupe_http_in_flight "))?;
        let count: f64 = in_flight.parse().expect("a number");
        (count >= f64::from(in_all)).then_some(())
    };
    works.server.eventually("questions that wait", all_wait).await;
    connections
}
