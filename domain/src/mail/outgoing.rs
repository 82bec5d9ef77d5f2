//! Mail that leaves: what becomes of a message for each of its recipients, and when it is tried again.

use std::time::Duration;

use crate::{
    Email, Timestamp,
    id::{MailMessageId, MailboxId, OrgId},
    mail::RawId,
};

/// Pauses after the first tries that failed, in minutes; [`PAUSE_LAST`] after all others.
const PAUSES_MIN: [u64; 7] = [1, 5, 15, 30, 60, 120, 240];
/// The pause between later tries.
const PAUSE_LAST: Duration = Duration::from_hours(6);
/// How long a message is tried.
pub const TRIED_FOR: Duration = Duration::from_hours(4 * 24);
/// From when on its sender is told that a message is late.
pub const DELAY_TOLD_AFTER: Duration = Duration::from_hours(4);
/// Characters of what a server said that are kept.
const REPLY_CHARS_MAX: usize = 500;

/// How far a message got to a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// It leaves later, and can be taken back until then.
    Held,
    /// It leaves as soon as somebody gets to it.
    Queued,
    /// It is tried again later.
    Deferred,
    /// The recipient's server has it.
    Sent,
    /// The recipient's server has it, and says that it is late.
    Delayed,
    /// It won't be delivered.
    Failed,
    /// Its bytes were deleted before it left.
    Cancelled,
}

impl DeliveryState {
    const ALL: [Self; 7] =
        [Self::Held, Self::Queued, Self::Deferred, Self::Sent, Self::Delayed, Self::Failed, Self::Cancelled];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Queued => "queued",
            Self::Deferred => "deferred",
            Self::Sent => "sent",
            Self::Delayed => "delayed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// Whether nothing more is done about it.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Sent | Self::Delayed | Self::Failed | Self::Cancelled)
    }
}

/// What a try came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The message was taken.
    Taken,
    /// It may be taken later.
    Later,
    /// It never will be.
    Refused,
}

/// What a server said about a recipient, or what kept anybody from saying something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What it comes to.
    pub heard: Heard,
    /// The words: a reply of SMTP, or what went wrong.
    pub reply: String,
    /// Who said it; empty where nobody did.
    pub host: String,
    /// Whether the connection was encrypted.
    pub tls: bool,
}

impl Said {
    /// What kept anybody from saying something, and may go away.
    pub fn later(reply: impl Into<String>) -> Self {
        Self { heard: Heard::Later, reply: reply.into(), host: String::new(), tls: false }
    }

    /// What won't go away.
    pub fn refused(reply: impl Into<String>) -> Self {
        Self { heard: Heard::Refused, ..Self::later(reply) }
    }
}

/// A message on its way to a recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Whose mailbox it leaves from.
    pub org_id: OrgId,
    /// Which one.
    pub mailbox_id: MailboxId,
    /// The message.
    pub message_id: MailMessageId,
    /// Its bytes as they are kept: with `Bcc`, without signatures.
    pub raw_id: RawId,
    /// Who sends it by the envelope.
    pub sender: Email,
    /// To whom.
    pub recipient: Email,
    /// How far it got.
    pub state: DeliveryState,
    /// When it is tried next, where it is.
    pub due: Timestamp,
    /// How often it was tried.
    pub tries: u32,
    /// What was said last.
    pub reply: Option<String>,
    /// Who said it.
    pub host: Option<String>,
    /// Whether the last connection was encrypted.
    pub tls: bool,
    /// When it was to leave.
    pub leaves_at: Timestamp,
    /// Whether its sender was told that it is late.
    pub is_delay_told: bool,
    /// When it was sent.
    pub created_at: Timestamp,
}

/// What the sender of a message is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Nothing.
    None,
    /// That it is late.
    Delayed,
    /// That it was not delivered.
    Failed,
}

/// A message that leaves, whomever it goes to.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'l> {
    /// Whose mailbox it leaves from.
    pub org_id: OrgId,
    /// Which one.
    pub mailbox_id: MailboxId,
    /// The message.
    pub message_id: MailMessageId,
    /// Its bytes.
    pub raw_id: RawId,
    /// Who sends it by the envelope.
    pub sender: &'l Email,
}

impl Leaving<'_> {
    /// The message on its way to a recipient, as soon as somebody gets to it.
    pub fn to(&self, recipient: &Email, now: Timestamp) -> Outgoing {
        Outgoing {
            org_id: self.org_id,
            mailbox_id: self.mailbox_id,
            message_id: self.message_id,
            raw_id: self.raw_id,
            sender: self.sender.clone(),
            recipient: recipient.clone(),
            state: DeliveryState::Queued,
            due: now,
            tries: 0,
            reply: None,
            host: None,
            tls: false,
            leaves_at: now,
            is_delay_told: false,
            created_at: now,
        }
    }
}

impl Outgoing {
    /// Takes note of what a try came to; what the sender is to be told of it.
    pub fn heard(&mut self, said: &Said, now: Timestamp) -> Notice {
        self.tries += 1;
        let reply: String = said.reply.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
        self.reply = Some(reply.chars().take(REPLY_CHARS_MAX).collect());
        self.host = Some(said.host.clone()).filter(|host| !host.is_empty());
        self.tls = said.tls;
        self.state = match said.heard {
            Heard::Taken => DeliveryState::Sent,
            Heard::Refused => DeliveryState::Failed,
            Heard::Later => match next_try(self.tries, self.leaves_at, now) {
                Some(due) => {
                    self.due = due;
                    DeliveryState::Deferred
                }
                None => DeliveryState::Failed,
            },
        };
        let is_late = self.state == DeliveryState::Deferred && now >= self.leaves_at.after(DELAY_TOLD_AFTER);
        match self.state {
            DeliveryState::Failed => Notice::Failed,
            _ if is_late && !self.is_delay_told => {
                self.is_delay_told = true;
                Notice::Delayed
            }
            _ => Notice::None,
        }
    }
}

/// When the next try is after so many that failed, of a message that was to leave at `leaves_at`; none where it is given up.
fn next_try(tries: u32, leaves_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let place = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
    let pause = PAUSES_MIN.get(place).map_or(PAUSE_LAST, |minutes| Duration::from_secs(minutes * 60));
    let due = now.after(pause);
    (due <= leaves_at.after(TRIED_FOR)).then_some(due)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn outgoing() -> Outgoing {
        Outgoing {
            org_id: OrgId::new(NOW),
            mailbox_id: MailboxId::new(NOW),
            message_id: MailMessageId::new(NOW),
            raw_id: RawId::of(b""),
            sender: "ada@example.org".parse().expect("an address"),
            recipient: "bob@example.com".parse().expect("an address"),
            state: DeliveryState::Queued,
            due: NOW,
            tries: 0,
            reply: None,
            host: None,
            tls: false,
            leaves_at: NOW,
            is_delay_told: false,
            created_at: NOW,
        }
    }

    #[test]
    fn what_is_silent_is_tried_for_four_days_and_then_given_up() {
        let (mut it, mut now, mut minutes, mut told) = (outgoing(), NOW, Vec::new(), Vec::new());
        while it.state != DeliveryState::Failed {
            let notice = it.heard(&Said::later("silence"), now);
            if notice != Notice::None {
                told.push((notice, now.0 - NOW.0));
            }
            if it.state == DeliveryState::Deferred {
                minutes.push((it.due.0 - now.0) / 60_000);
                now = it.due;
            }
        }
        assert_eq!(minutes[..9], [1, 5, 15, 30, 60, 120, 240, 360, 360]);
        assert!(minutes[7..].iter().all(|it| *it == 360), "{minutes:?}");
        let hour = 3_600_000;
        let [(Notice::Delayed, delayed), (Notice::Failed, failed)] = told[..] else { panic!("{told:?}") };
        assert!((4 * hour..9 * hour).contains(&delayed), "{delayed}");
        assert!((90 * hour..=96 * hour).contains(&failed), "{failed}");
    }

    #[test]
    fn a_refusal_is_for_good_and_what_is_taken_is_sent() {
        let mut it = outgoing();
        assert_eq!(it.heard(&Said::refused("550 no\r\nsuch user"), NOW), Notice::Failed);
        assert_eq!((it.state, it.reply.as_deref()), (DeliveryState::Failed, Some("550 no  such user")));
        let taken =
            Said { heard: Heard::Taken, reply: "250 ok".to_owned(), host: "mx.example.com".to_owned(), tls: true };
        let mut it = outgoing();
        assert_eq!(it.heard(&taken, NOW), Notice::None);
        assert_eq!((it.state, it.tls, it.host.as_deref()), (DeliveryState::Sent, true, Some("mx.example.com")));
    }

    #[test]
    fn the_last_try_is_within_four_days() {
        let until = NOW.after(TRIED_FOR);
        for (before, goes_on) in [(PAUSE_LAST, true), (PAUSE_LAST.saturating_sub(Duration::from_millis(1)), false)] {
            assert_eq!(next_try(20, NOW, until.before(before)).is_some(), goes_on);
        }
    }
}
