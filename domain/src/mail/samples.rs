//! A mailbox and what arrives there, for the tests of what is decided on them.

use super::{Arrival, Mailbox, Outcome, RawId, Verdict};
use crate::{
    Timestamp,
    id::{MailArrivalId, MailboxId, OrgId},
};

const AT: Timestamp = Timestamp(1);

/// `ada@acme.example`, with an alias.
pub(super) fn mailbox() -> Mailbox {
    Mailbox {
        id: MailboxId::new(AT),
        org_id: OrgId::new(AT),
        address: "ada@acme.example".parse().expect("an address"),
        display_name: "Ada".to_owned(),
        members: Vec::new(),
        aliases: vec!["sales@acme.example".parse().expect("an address")],
        version: 1,
        created_at: AT,
    }
}

/// A message that arrived there from this sender.
pub(super) fn arrival(envelope_from: &str, dmarc: Outcome) -> Arrival {
    Arrival {
        id: MailArrivalId::new(AT),
        org_id: OrgId::new(AT),
        mailbox_id: MailboxId::new(AT),
        raw_id: RawId::of(b""),
        envelope_from: envelope_from.to_owned(),
        envelope_to: "ada@acme.example".to_owned(),
        received_at: AT,
        head: String::new(),
        verdict: Verdict { dmarc, ..Verdict::default() },
        tries: 0,
    }
}
