//! What one client is to be told.

use std::{
    collections::VecDeque,
    task::{self, Poll, Waker},
};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use super::ending::Ending;

/// How many bytes may wait for one client, beside the state of the document that it was shown.
const UNSENT_LEN_MAX: usize = 16 * 1024 * 1024;
/// How many of a client's questions for what it is missing are answered one by one; whoever has so many open has no use for
/// more answers than that.
const QUESTIONS_MAX: u32 = 64;
/// How many places of an outbox are kept when it is empty.
const KEPT_CAPACITY: usize = 64;

/// What waits to be sent to one client.
#[derive(Default)]
pub(super) struct Outbox {
    unsent: Mutex<Unsent>,
}

#[derive(Default)]
struct Unsent {
    frames: VecDeque<Bytes>,
    len: usize,
    /// How long the longest answer was: so much more may wait.
    answer_len_max: usize,
    /// Questions that are not answered.
    questions: u32,
    /// How it ends, once the frames are sent.
    ending: Option<Ending>,
    /// Who waits for something to send.
    sender: Option<Waker>,
}

impl Outbox {
    /// Adds a message. Too much unsent ends the connection.
    pub(super) fn push(&self, frame: Bytes) {
        Self::add(self.unsent.lock(), frame);
    }

    /// Takes a question, which [`answer`](Self::answer) follows; `false` when too many are open.
    pub(super) fn ask(&self) -> bool {
        let mut unsent = self.unsent.lock();
        let may_ask = unsent.questions < QUESTIONS_MAX;
        unsent.questions += u32::from(may_ask);
        may_ask
    }

    /// Adds the answer to a question. However long it is: only the first one is.
    pub(super) fn answer(&self, frame: Bytes) {
        let mut unsent = self.unsent.lock();
        unsent.questions = unsent.questions.saturating_sub(1);
        unsent.answer_len_max = unsent.answer_len_max.max(frame.len());
        Self::add(unsent, frame);
    }

    fn add(mut unsent: MutexGuard<'_, Unsent>, frame: Bytes) {
        if unsent.ending.is_some() {
            return;
        }
        unsent.len += frame.len();
        if unsent.len > UNSENT_LEN_MAX + unsent.answer_len_max {
            (unsent.frames, unsent.len, unsent.ending) = (VecDeque::new(), 0, Some(Ending::TooSlow));
        } else {
            unsent.frames.push_back(frame);
        }
        wake(unsent);
    }

    /// Ends the connection behind what waits.
    pub(super) fn end(&self, ending: Ending) {
        let mut unsent = self.unsent.lock();
        unsent.ending.get_or_insert(ending);
        wake(unsent);
    }

    pub(super) fn take(&self) -> Option<Result<Bytes, Ending>> {
        self.unsent.lock().take()
    }

    pub(super) fn poll_take(&self, context: &mut task::Context<'_>) -> Poll<Result<Bytes, Ending>> {
        let mut unsent = self.unsent.lock();
        if let Some(next) = unsent.take() {
            return Poll::Ready(next);
        }
        match &mut unsent.sender {
            Some(sender) => sender.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Unsent {
    fn take(&mut self) -> Option<Result<Bytes, Ending>> {
        if let Some(frame) = self.frames.pop_front() {
            self.len -= frame.len();
            if self.frames.is_empty() && self.frames.capacity() > KEPT_CAPACITY {
                // What one burst needed is not kept for ever.
                self.frames = VecDeque::new();
            }
            return Some(Ok(frame));
        }
        self.ending.map(Err)
    }
}

/// Wakes whoever waits for something to send, with the lock given back.
fn wake(mut unsent: MutexGuard<'_, Unsent>) {
    let sender = unsent.sender.take();
    drop(unsent);
    if let Some(sender) = sender {
        sender.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(len: usize) -> Bytes {
        vec![0; len].into()
    }

    #[test]
    fn an_answer_of_any_length_may_wait_and_the_limit_counts_beside_it() {
        let outbox = Outbox::default();
        assert!(outbox.ask());
        outbox.answer(frame(2 * UNSENT_LEN_MAX));
        outbox.push(frame(UNSENT_LEN_MAX));
        assert!(outbox.take().is_some_and(|taken| taken.is_ok()));
        let outbox = Outbox::default();
        outbox.answer(frame(2 * UNSENT_LEN_MAX));
        outbox.push(frame(UNSENT_LEN_MAX + 1));
        assert_eq!(outbox.take(), Some(Err(Ending::TooSlow)));
    }

    #[test]
    fn so_many_questions_are_open_and_each_answer_makes_room_for_another() {
        let outbox = Outbox::default();
        assert!((0..QUESTIONS_MAX).all(|_| outbox.ask()));
        assert!(!outbox.ask());
        outbox.answer(frame(1));
        assert!(outbox.ask());
        assert!(!outbox.ask());
    }
}
