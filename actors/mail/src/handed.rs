//! Mail that another server took in and hands over: nothing is known of who brought it there, so only a signature vouches for it.

use std::net::Ipv4Addr;

use actors_base::Services;
use bytes::Bytes;
use domain::{
    Email,
    id::{MailArrivalId, MailboxId, OrgId},
    issues::mailing::message_id_of,
    mail::{Arrival, HEAD_BYTES_MAX, MailContent, MessageIdHash, Outcome, Stamp, Verdict, fields},
};
use gateways::dns::Sender;
use store::{
    Change, CommitError, StoreError,
    faults::{Place, Stage},
};

/// A message that is handed over.
#[derive(Clone, Debug)]
pub struct HandedMail {
    /// Its bytes.
    pub bytes: Bytes,
}

impl HandedMail {
    /// The hash of its Message-ID, or of what it has in place of one.
    pub fn message_id(&self) -> MessageIdHash {
        MessageIdHash::of(&message_id_of(&self.bytes))
    }

    /// Who sent it by the envelope, as the server that took it in wrote it down; without that, who says to have written it.
    fn envelope_from(&self) -> String {
        let head = &self.bytes[..self.bytes.len().min(HEAD_BYTES_MAX)];
        let Some(path) = fields(head).find(|field| field.is("Return-Path")) else {
            let from = MailContent::read(head).from;
            return from.map_or_else(|| "unknown".to_owned(), |from| from.email);
        };
        let text = String::from_utf8_lossy(path.value).trim().trim_matches(['<', '>']).trim().to_owned();
        text.parse::<Email>().map(|email| email.to_string()).unwrap_or_default()
    }
}

/// Has a message arrive in a letterbox, in one commit with what else its bringer writes.
pub async fn take_handed(
    services: &Services,
    (org_id, mailbox_id): (OrgId, MailboxId),
    mail: HandedMail,
    mut change: Change,
) -> Result<(), CommitError> {
    let (store, host) = (&services.store, &services.settings.mail_host.name);
    let envelope_from = mail.envelope_from();
    let nowhere = Ipv4Addr::UNSPECIFIED.into();
    let sender = Sender { client: nowhere, helo: host.clone(), envelope_from: envelope_from.clone() };
    let findings = services.dns.findings(host, sender, mail.bytes.clone()).await;
    let is_signed = findings.dkim == Outcome::Pass && findings.dmarc == Outcome::Pass;
    let verdict = Verdict {
        dkim: findings.dkim,
        dmarc: if is_signed { Outcome::Pass } else { Outcome::None },
        tls: true,
        from_domain: findings.from_domains.first().cloned().unwrap_or_default(),
        ..Verdict::default()
    };
    let raw = store.mail_raw_write(org_id, mail.bytes).await.map_err(|error| unavailable(&error))?;
    let (now, id) = (store.now(), MailArrivalId::new(store.now()));
    let results = format!("{host}; dkim={}", verdict.dkim.as_str());
    let stamp = Stamp {
        host,
        client: nowhere,
        helo: host,
        protocol: "HTTP",
        envelope_from: &envelope_from,
        results: &results,
        received_at: now,
    };
    let arrival = Arrival {
        id,
        org_id,
        mailbox_id,
        raw_id: raw.id(),
        head: stamp.lines(id, ""),
        envelope_to: String::new(),
        envelope_from,
        received_at: now,
        verdict,
        tries: 0,
    };
    change.mail_arrive(now, &raw, &[arrival]);
    let place = Place { stage: Stage::Commit, kind: "mail.handed", command: "", key: &org_id };
    let outcome = store.commit_at(change, place).await;
    if outcome.is_err()
        && let Err(error) = store.mail_raw_abandon(&raw).await
    {
        tracing::debug!(%error, "the bytes of a message that was not taken are swept later");
    }
    outcome
}

fn unavailable(error: &StoreError) -> CommitError {
    CommitError::Unavailable(error.to_string())
}
