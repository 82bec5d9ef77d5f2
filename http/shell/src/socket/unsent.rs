//! What waits for a client to read on.

use std::collections::VecDeque;

use actix_ws::{Closed, Session};
use bytes::Bytes;
use futures::FutureExt;

use super::Outgoing;

/// How much may wait for one client behind the message that is being sent, in bytes (decisions, "Sockets").
pub(super) const UNSENT_LEN_MAX: usize = 4 * 1024 * 1024;
/// What a message counts for beside its own length: its place in the queue.
const PLACE_LEN: usize = 64;

/// A frame that waits.
#[derive(Clone)]
enum Frame {
    Message(Outgoing),
    Ping,
    Pong(Bytes),
}

/// Too much waits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// The frames that wait, in their order. The first one may be however long its source makes it, such as the state of a large
/// document; the limit counts what waits behind it.
#[derive(Default)]
pub(super) struct Unsent {
    frames: VecDeque<Frame>,
    /// Of the frames behind the first one.
    len: usize,
}

impl Unsent {
    pub(super) fn push(&mut self, message: Outgoing) -> Result<(), Full> {
        self.add(Frame::Message(message))
    }

    pub(super) fn ping(&mut self) -> Result<(), Full> {
        self.add(Frame::Ping)
    }

    pub(super) fn pong(&mut self, said: Bytes) -> Result<(), Full> {
        self.add(Frame::Pong(said))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    fn add(&mut self, frame: Frame) -> Result<(), Full> {
        if !self.frames.is_empty() {
            self.len += frame.len();
            if self.len > UNSENT_LEN_MAX {
                return Err(Full);
            }
        }
        self.frames.push_back(frame);
        Ok(())
    }

    /// Sends as many as leave without waiting.
    pub(super) fn send_ready(&mut self, session: &mut Session) -> Result<(), Closed> {
        while !self.is_empty() {
            // Who has to wait is looked at again, by somebody who does.
            match self.send(session).now_or_never() {
                Some(sent) => sent?,
                None => break,
            }
        }
        Ok(())
    }

    /// Sends the first one. Safe to cancel: then it waits on.
    pub(super) async fn send(&mut self, session: &mut Session) -> Result<(), Closed> {
        let Some(frame) = self.frames.front().cloned() else { return Ok(()) };
        match frame {
            Frame::Message(Outgoing::Text(text)) => session.text(text).await?,
            Frame::Message(Outgoing::Binary(bytes)) => session.binary(bytes).await?,
            Frame::Ping => session.ping(b"").await?,
            Frame::Pong(said) => session.pong(&said).await?,
        }
        self.frames.pop_front();
        self.len -= self.frames.front().map_or(0, Frame::len);
        Ok(())
    }
}

impl Frame {
    fn len(&self) -> usize {
        let own = match self {
            Self::Message(Outgoing::Text(text)) => text.len(),
            Self::Message(Outgoing::Binary(bytes)) | Self::Pong(bytes) => bytes.len(),
            Self::Ping => 0,
        };
        own + PLACE_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(len: usize) -> Outgoing {
        Outgoing::Binary(Bytes::from(vec![0; len]))
    }

    #[test]
    fn exactly_the_limit_may_wait_behind_the_first_message_and_no_byte_more() {
        for first in [0, 2 * UNSENT_LEN_MAX] {
            let mut unsent = Unsent::default();
            assert_eq!(unsent.push(message(first)), Ok(()));
            assert_eq!(unsent.push(message(UNSENT_LEN_MAX - PLACE_LEN)), Ok(()));
            assert_eq!(unsent.ping(), Err(Full));
            let mut unsent = Unsent::default();
            assert_eq!(unsent.push(message(first)), Ok(()));
            assert_eq!(unsent.push(message(UNSENT_LEN_MAX - PLACE_LEN + 1)), Err(Full));
        }
    }

    #[test]
    fn small_messages_count_for_their_places_too() {
        let mut unsent = Unsent::default();
        let places = UNSENT_LEN_MAX / PLACE_LEN;
        assert!((0..=places).all(|_| unsent.ping().is_ok()));
        assert_eq!(unsent.ping(), Err(Full));
    }
}
