//! What a client says of a message before it comes.

use actors::mail::Accepted;
use smtp_proto::{MAIL_BODY_7BIT, MAIL_BODY_8BITMIME, MAIL_SMTPUTF8, MailFrom, RcptTo};

use crate::{
    intake::Intake,
    reply::{self, Reply},
};
use domain::{Email, mail::MESSAGE_BYTES_MAX};

/// The parameters of MAIL that are offered.
const OFFERED: u64 = MAIL_BODY_7BIT | MAIL_BODY_8BITMIME | MAIL_SMTPUTF8;

/// Who sends a message, and for whom.
pub(crate) struct Envelope {
    /// Empty for the null sender.
    pub from: String,
    /// The mailboxes of this server to which it goes, each once.
    pub recipients: Vec<Accepted>,
    /// The addresses to which a mail client sends it.
    pub sent_to: Vec<Email>,
    /// How many recipients were accepted; several may lead to one mailbox.
    pub accepted: usize,
    /// The message, where it comes in chunks.
    pub chunks: Option<Intake>,
}

impl Envelope {
    /// The envelope of a sender, or what is wrong with it.
    /// Clients that signed in may say for whom they think they act (RFC 4954 5), which nobody asks.
    pub fn of<T: AsRef<str>>(from: &MailFrom<T>, is_submission: bool) -> Result<Self, Reply> {
        let address = from.address.as_ref();
        if from.size as u64 > MESSAGE_BYTES_MAX {
            return Err(reply::TOO_LARGE);
        }
        let asks_for_more = from.flags & !OFFERED != 0
            || from.trans_id.is_some()
            || from.env_id.is_some()
            || from.solicit.is_some()
            || from.mtrk.is_some()
            || (from.auth.is_some() && !is_submission)
            || from.by != 0
            || from.hold_for != 0
            || from.hold_until != 0
            || from.mt_priority != 0;
        if asks_for_more {
            return Err(reply::UNSUPPORTED_PARAMETER);
        }
        if !address.is_ascii() && from.flags & MAIL_SMTPUTF8 == 0 {
            return Err(reply::NEEDS_UTF8);
        }
        Ok(Self { from: address.to_owned(), recipients: Vec::new(), sent_to: Vec::new(), accepted: 0, chunks: None })
    }

    /// Whether another recipient may be named, of `most`.
    pub fn takes<T>(&self, to: &RcptTo<T>, most: usize) -> Result<(), Reply> {
        if to.flags != 0 || to.orcpt.is_some() || to.rrvs != 0 {
            return Err(reply::UNSUPPORTED_PARAMETER);
        }
        if self.accepted >= most { Err(reply::TOO_MANY_RECIPIENTS) } else { Ok(()) }
    }

    /// Adds a recipient.
    pub fn add(&mut self, recipient: Accepted) {
        self.accepted += 1;
        if !self.recipients.iter().any(|known| known.mailbox_id == recipient.mailbox_id) {
            self.recipients.push(recipient);
        }
    }

    /// Adds an address to which a mail client sends.
    pub fn send_to(&mut self, address: Email) {
        self.accepted += 1;
        self.sent_to.push(address);
    }
}
