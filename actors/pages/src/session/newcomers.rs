//! Showing the document to whoever comes.
//!
//! A client says what it has, and is answered with what it is missing once that is written down. Each connection is shown
//! the document once: from then on it is told of all that is new, in order, so that whoever asks again is missing nothing
//! that isn't on its way, and the answer costs no look at the document. What one turn spends on newcomers is bounded, and a
//! large document is encoded away from the actors' threads.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use bytes::Bytes;
use kernel::Turn;
use yrs::StateVector;

use super::{
    PageSession,
    connection::ConnectionId,
    ending::Ending,
    live::{Live, Shown},
    wire,
};

/// How many bytes a turn encodes for newcomers, at most, but for one of them.
const ENCODED_LEN_MAX: usize = 4 * 1024 * 1024;
/// How long a turn encodes for newcomers, at most, but for one of them.
const ENCODED_WITHIN: Duration = Duration::from_millis(10);

impl PageSession {
    /// Shows the document to those who wait for it, as many as a turn has the time for.
    pub(super) async fn show_newcomers(&mut self, turn: &Turn<'_, Self>) {
        let Some(live) = self.live.as_ref().filter(|live| !live.newcomers.is_empty()) else { return };
        let is_much = live.document.is_large();
        let shown = self.work(turn, is_much, |live| catch_unwind(AssertUnwindSafe(|| live.show_newcomers()))).await;
        if !matches!(shown, Ok(Ok(()))) {
            tracing::error!(page = %turn.key(), "a live document can't be encoded; its clients connect again");
            self.drop_live(Ending::Failed);
        }
    }
}

impl Live {
    /// A client asks what it is missing.
    pub(super) fn ask(&mut self, from: ConnectionId, state_vector: StateVector) {
        let Some(client) = self.clients.get_mut(&from) else { return };
        match &mut client.shown {
            Shown::All => self.update_writer.answer_when_written(&client.outbox, wire::missing_nothing()),
            Shown::Waits { times, state_vector: last } => (*times, *last) = (*times + 1, state_vector),
            nothing @ Shown::Nothing => {
                *nothing = Shown::Waits { times: 1, state_vector };
                self.newcomers.push_back(from);
            }
        }
    }

    fn show_newcomers(&mut self) {
        let started = Instant::now();
        let (mut encoded_len, mut whole) = (0, None);
        while encoded_len < ENCODED_LEN_MAX && started.elapsed() < ENCODED_WITHIN {
            let Some(newcomer) = self.newcomers.pop_front() else { return };
            encoded_len += self.show(newcomer, &mut whole);
        }
        if !self.newcomers.is_empty() {
            // Behind all that came meanwhile.
            self.door.knock();
        }
    }

    /// Answers a newcomer's questions; how many bytes were encoded for that. `whole` is the answer for those who have
    /// nothing yet, which they share.
    fn show(&mut self, newcomer: ConnectionId, whole: &mut Option<Bytes>) -> usize {
        let Some(client) = self.clients.get_mut(&newcomer) else { return 0 };
        let Shown::Waits { times, state_vector } = mem::replace(&mut client.shown, Shown::All) else { return 0 };
        let (answer, encoded_len) = match whole {
            Some(whole) if state_vector.is_empty() => (whole.clone(), 0),
            _ => {
                let answer = wire::missing(&self.document.missing(&state_vector));
                if state_vector.is_empty() {
                    *whole = Some(answer.clone());
                }
                let len = answer.len();
                (answer, len)
            }
        };
        self.update_writer.answer_when_written(&client.outbox, answer);
        for _ in 1..times {
            self.update_writer.answer_when_written(&client.outbox, wire::missing_nothing());
        }
        encoded_len
    }
}
