//! Sends a job's log: every line once, in order, whoever dies meanwhile.

use std::io;

use domain::pipelines::logs::{LOG_BODY_LEN_MAX, LOG_LINES_SENT_MAX};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::spool::{Spool, SpoolReader, SpooledLine};
use crate::runner::server::{AskError, Backoff, LOG_FIRST_HEADER, Question, Server};

/// Bytes of lines that are sent at once.
const SENT_LEN_MAX: usize = LOG_BODY_LEN_MAX / 8;

/// What became of some lines.
enum Sent {
    /// The server has all up to this one.
    Next(u64),
    /// The server wants no line of this job.
    Unwanted,
}

/// Sends what is counted, until nothing more is and all was sent.
pub async fn send(
    server: &Server,
    spool: &Spool,
    mut counted: watch::Receiver<u64>,
    first: Option<u64>,
) -> io::Result<()> {
    let mut reader = spool.reader()?;
    // A runner that begins anew doesn't know what the server has: the answer to the first line says so.
    let (mut next, mut is_known) = (first.unwrap_or(0), first.is_some());
    loop {
        let count = *counted.borrow_and_update();
        while next < count {
            let to = if is_known { count.min(next + LOG_LINES_SENT_MAX as u64) } else { next + 1 };
            let lines = reader.lines(next, to, SENT_LEN_MAX)?;
            match post(server, next, &lines).await {
                Sent::Next(answered) => (next, is_known) = (answered, true),
                Sent::Unwanted => return Ok(()),
            }
        }
        if counted.changed().await.is_err() {
            let last = *counted.borrow();
            if next >= last {
                return Ok(());
            }
            return rest(server, &mut reader, next, last).await;
        }
    }
}

/// Sends what is left once nobody writes any more.
async fn rest(server: &Server, reader: &mut SpoolReader, mut next: u64, last: u64) -> io::Result<()> {
    while next < last {
        let lines = reader.lines(next, last.min(next + LOG_LINES_SENT_MAX as u64), SENT_LEN_MAX)?;
        match post(server, next, &lines).await {
            Sent::Next(answered) => next = answered,
            Sent::Unwanted => return Ok(()),
        }
    }
    Ok(())
}

/// Sends lines until the server answers.
async fn post(server: &Server, first: u64, lines: &[SpooledLine]) -> Sent {
    let body = json!({ "lines": lines });
    let mut backoff = Backoff::default();
    loop {
        let question = Question::new("/v1/runner/logs", &body).header(LOG_FIRST_HEADER, first.to_string());
        match server.ask(question).await {
            Ok(answer) => {
                let next = answer.as_ref().and_then(|answer| answer.get("next")).and_then(Value::as_u64);
                return Sent::Next(next.unwrap_or(first + lines.len() as u64));
            }
            Err(AskError::Refused { code, body, .. }) if code == "log_gap" => {
                return body.get("next").and_then(Value::as_u64).map_or(Sent::Unwanted, Sent::Next);
            }
            Err(AskError::Refused { message, .. }) => {
                eprintln!("troupe: a log isn't taken: {message}");
                return Sent::Unwanted;
            }
            Err(AskError::Unreachable(_)) => backoff.wait().await,
        }
    }
}
