//! Tickets that open sockets (decisions, "Sockets"): single-use, short-lived, spent with one atomic operation.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use dashmap::DashMap;
use domain::{
    Error, Result, Timestamp,
    id::{SignInId, UserId},
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a ticket opens a socket.
pub const TICKET_LIFETIME: Duration = Duration::from_mins(2);
/// Random bytes in a ticket.
const TOKEN_BYTES: usize = 32;
/// Unspent tickets that one process holds; beyond them, issuing answers 503.
const TICKETS_MAX: usize = 100_000;

/// What a ticket stands for: the person, the resource, and the rights at the moment of issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Who may open the socket.
    pub user_id: UserId,
    /// The sign-in that asked for it; when it dies, so does the socket.
    pub sign_in_id: Option<SignInId>,
    /// What the socket is for, as `live` or `page:pag_…`. A ticket opens nothing else.
    pub resource: String,
    /// What the socket may do, in the words of its area.
    pub rights: Value,
}

/// A ticket as it is kept, in memory or in Redis.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) ticket: Ticket,
    pub(super) expires_at: Timestamp,
}

impl Kept {
    pub(super) fn new(ticket: Ticket, now: Timestamp) -> Self {
        Self { ticket, expires_at: now.after(TICKET_LIFETIME) }
    }

    /// The ticket, if it is still good for `resource`.
    pub(super) fn open(self, resource: &str, now: Timestamp) -> Option<Ticket> {
        (now < self.expires_at && self.ticket.resource == resource).then_some(self.ticket)
    }
}

/// A new token: 256 random bits, safe in a URL.
pub(super) fn token_new() -> Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(Error::internal)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Whether `text` can be a token at all; nothing else is looked up.
pub(super) fn is_token(text: &str) -> bool {
    // No longer than a token encodes to: base64 turns three bytes into four characters.
    text.len() == (TOKEN_BYTES * 4).div_ceil(3) && URL_SAFE_NO_PAD.decode(text).is_ok()
}

/// The tickets of one process.
#[derive(Default)]
pub(super) struct Tickets {
    by_token: DashMap<String, Kept>,
    /// When expired ones are thrown out next.
    sweep_at: Mutex<Timestamp>,
}

impl Tickets {
    pub(super) fn put(&self, token: String, kept: Kept, now: Timestamp) -> Result<()> {
        self.sweep(now);
        if self.by_token.len() >= TICKETS_MAX {
            return Err(Error::busy(Duration::from_secs(1)));
        }
        self.by_token.insert(token, kept);
        Ok(())
    }

    pub(super) fn take(&self, token: &str) -> Option<Kept> {
        self.by_token.remove(token).map(|(_, kept)| kept)
    }

    /// Throws out what expired, at most once in a ticket's lifetime.
    fn sweep(&self, now: Timestamp) {
        let mut sweep_at = self.sweep_at.lock();
        if now < *sweep_at {
            return;
        }
        *sweep_at = now.after(TICKET_LIFETIME);
        drop(sweep_at);
        self.by_token.retain(|_, kept| now < kept.expires_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(now: Timestamp) -> Kept {
        let ticket =
            Ticket { user_id: UserId::new(now), sign_in_id: None, resource: "live".into(), rights: Value::Null };
        Kept::new(ticket, now)
    }

    #[test]
    fn a_token_is_43_characters_that_need_no_escaping() {
        let token = token_new().unwrap();
        assert_eq!(token.len(), 43);
        assert!(is_token(&token));
        assert_ne!(token, token_new().unwrap());
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let padded = "A".repeat(42) + "=";
        for text in ["", "A", &"A".repeat(42), &"A".repeat(44), &"/".repeat(43), &padded] {
            assert!(!is_token(text), "{text}");
        }
    }

    #[test]
    fn unspent_tickets_do_not_pile_up() {
        let tickets = Tickets::default();
        let start = Timestamp(1_700_000_000_000);
        for number in 0..100 {
            tickets.put(format!("a{number}"), kept(start), start).unwrap();
        }
        let later = start.after(TICKET_LIFETIME);
        tickets.put("b".into(), kept(later), later).unwrap();
        assert_eq!(tickets.by_token.len(), 1);
    }
}
