//! Sends a job's log: every line once, in order, whoever dies meanwhile.

use std::io;

use domain::pipelines::logs::{LOG_BODY_LEN_MAX, LOG_LINES_SENT_MAX};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::spool::{Spool, SpoolReader, SpooledLine};
use crate::runner::server::{AskError, Backoff, LOG_FIRST_HEADER, Question, Server};

/// Bytes of lines that are sent at once. Where something on the way takes less, it becomes less.
const SENT_LEN_MAX: usize = LOG_BODY_LEN_MAX / 8;
/// What is answered to a question that is too long.
const TOO_LONG: u16 = 413;

/// What became of some lines.
enum Sent {
    /// The server has all up to this one.
    Next(u64),
    /// They are too long together.
    TooLong,
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
    let (next, is_known) = (first.unwrap_or(0), first.is_some());
    let mut sending = Sending { server, reader: spool.reader()?, next, is_known, len_max: SENT_LEN_MAX };
    loop {
        let count = *counted.borrow_and_update();
        if !sending.up_to(count).await? {
            return Ok(());
        }
        if counted.changed().await.is_err() {
            // Nobody writes any more.
            let last = *counted.borrow();
            return sending.up_to(last).await.map(drop);
        }
    }
}

/// A log that is sent.
struct Sending<'s> {
    server: &'s Server,
    reader: SpoolReader,
    /// The line that the server wants.
    next: u64,
    /// Whether the server said so. A runner that begins anew doesn't know what it has: the answer to the first line says it.
    is_known: bool,
    /// Bytes of lines that are sent at once.
    len_max: usize,
}

impl Sending<'_> {
    /// Sends all lines before this one; false where the server wants none.
    async fn up_to(&mut self, count: u64) -> io::Result<bool> {
        while self.next < count {
            let most = if self.is_known { LOG_LINES_SENT_MAX as u64 } else { 1 };
            let lines = self.reader.lines(self.next, count.min(self.next + most), self.len_max)?;
            match post(self.server, self.next, &lines).await {
                Sent::Next(answered) => (self.next, self.is_known) = (answered, true),
                Sent::TooLong if lines.len() > 1 => {
                    let len = serde_json::to_vec(&lines)?.len();
                    self.len_max = (self.len_max.min(len) / 2).max(1);
                }
                Sent::TooLong => {
                    eprintln!("troupe: a log isn't taken: a line is too long for something on the way");
                    return Ok(false);
                }
                Sent::Unwanted => return Ok(false),
            }
        }
        Ok(true)
    }
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
            Err(AskError::Refused { status: TOO_LONG, .. }) => return Sent::TooLong,
            Err(AskError::Refused { message, .. }) => {
                eprintln!("troupe: a log isn't taken: {message}");
                return Sent::Unwanted;
            }
            Err(AskError::Unreachable { .. }) => backoff.wait().await,
        }
    }
}
