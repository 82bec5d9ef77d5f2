//! The gate through which mail comes in: it says where what is sent to an address goes, has a message checked, and commits it.
//!
//! It is no owner and has no turns, because it decides on nothing that is there: it adds rows, and what many connections bring is
//! one commit of the writer's. What a mailbox makes of a message is decided when it is filed.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use actors_base::Services;
use bytes::Bytes;
use domain::{
    Email,
    id::{MailArrivalId, MailboxId, OrgId},
    mail::{ARRIVALS_MAX, Arrival, BounceAddress, DmarcMode, HOPS_MAX, Stamp, Verdict, hops, placed},
};
use gateways::dns::Sender;
use parking_lot::Mutex;
use store::{
    Change, StoreError,
    faults::{Place, Stage},
    mail::{Bounced, Recipient},
};

/// How long it is remembered whether there is room.
const ROOM_KNOWN_FOR: Duration = Duration::from_secs(1);
/// Parts of a hundred of the disk that stay free.
const DISK_FREE_MIN: u64 = 5;

/// What operators chose of mail that comes in.
#[derive(Clone, Debug, Default)]
pub struct GateOptions {
    /// What is done for the owners of domains (`mail_server.dmarc`).
    pub dmarc: DmarcMode,
    /// Who is believed about mail that they passed on (`mail_server.trusted_sealers`).
    pub trusted_sealers: Vec<String>,
}

/// A recipient whom a message is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The address as the client wrote it.
    pub address: String,
    /// Whose mailbox.
    pub org_id: OrgId,
    /// Which one.
    pub mailbox_id: MailboxId,
}

/// A message that is whole.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// From where it came.
    pub client: IpAddr,
    /// How the client called itself.
    pub helo: String,
    /// What it spoke: `ESMTP`, `ESMTPS` or `SMTP`.
    pub protocol: &'static str,
    /// Whether it came over TLS.
    pub tls: bool,
    /// Who sent it by the envelope; empty for the null sender.
    pub envelope_from: String,
    /// For whom it is; at least one.
    pub recipients: Vec<Accepted>,
    /// Its bytes.
    pub bytes: Bytes,
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// It has been through too many servers.
    #[error("the message goes round in circles")]
    Loop,
    /// The owner of the domain in `From` wants it refused.
    #[error("the owner of the domain wants it refused")]
    Dmarc,
    /// The database or the blobs' place is away: the same may be taken later. The text is for the log.
    #[error("{0}")]
    Away(String),
}

/// The gate. One for each node.
#[derive(Debug)]
pub struct MailGate {
    services: Services,
    options: GateOptions,
    /// Whether there was room, and when that was looked at.
    room: Mutex<Option<(Instant, bool)>>,
}

impl MailGate {
    /// The gate of a node with these services.
    pub fn new(services: &Services, options: GateOptions) -> Self {
        Self { services: services.clone(), options, room: Mutex::new(None) }
    }

    /// What this server is called where mail is concerned.
    pub fn host(&self) -> &str {
        &self.services.settings.mail_host.name
    }

    /// Where what `sender` sends to the address goes. Reports on messages that left, which nobody sends, go to the mailboxes of
    /// those.
    pub async fn recipient(&self, address: &Email, sender: &str) -> Result<Recipient, StoreError> {
        let (store, platform) = (&self.services.store, &self.services.settings.platform_domain);
        let found = store.mail_recipient(address, platform).await?;
        let Some(report) = BounceAddress::read(address) else { return Ok(found) };
        let bounced = if sender.is_empty() { store.mail_bounced(&report, platform).await? } else { None };
        if let Some(Bounced { org_id, mailbox_id, .. }) = bounced {
            return Ok(Recipient::Mailbox { org_id, mailbox_id });
        }
        let is_ours =
            found == Recipient::Foreign && store.mail_domain_organization(&report.domain, platform).await?.is_some();
        Ok(if is_ours { Recipient::Unknown } else { found })
    }

    /// Whether there is room for more: on the disk, and among what isn't filed yet.
    pub async fn has_room(&self) -> Result<bool, StoreError> {
        let known = *self.room.lock();
        if let Some((_, has_room)) = known.filter(|(looked, _)| looked.elapsed() < ROOM_KNOWN_FOR) {
            return Ok(has_room);
        }
        let waiting = self.services.store.mail_arrivals_waiting(ARRIVALS_MAX).await?;
        let has_room = waiting < ARRIVALS_MAX && self.disk_has_room();
        *self.room.lock() = Some((Instant::now(), has_room));
        Ok(has_room)
    }

    /// Whether the disk of the data folder has room; a system that doesn't say has.
    fn disk_has_room(&self) -> bool {
        let folder = self.services.settings.spool.ancestors().find(|folder| folder.is_dir());
        let Some(disk) = folder.and_then(|folder| rustix::fs::statvfs(folder).ok()) else { return true };
        disk.f_bavail.saturating_mul(100) >= disk.f_blocks.saturating_mul(DISK_FREE_MIN)
    }

    /// Takes a message in: it is committed for all of its recipients when this answers, or for none.
    pub async fn take(&self, incoming: Incoming) -> Result<(), NotTaken> {
        if hops(&incoming.bytes) > HOPS_MAX {
            return Err(NotTaken::Loop);
        }
        let (client, helo, envelope_from) = (incoming.client, incoming.helo.clone(), incoming.envelope_from.clone());
        let sender = Sender { client, helo, envelope_from };
        let findings = self.services.dns.findings(self.host(), sender, incoming.bytes.clone()).await;
        let (mode, trusted) = (self.options.dmarc, &self.options.trusted_sealers);
        if findings.is_refused(mode, trusted) {
            return Err(NotTaken::Dmarc);
        }
        let points = findings.points(&incoming.bytes, trusted);
        let verdict = Verdict {
            spf: findings.spf,
            dkim: findings.dkim,
            dmarc: findings.dmarc,
            arc: findings.arc,
            tls: incoming.tls,
            client_ip: Some(incoming.client),
            helo: incoming.helo.clone(),
            from_domain: findings.from_domains.first().cloned().unwrap_or_default(),
            placed: placed(&points),
            points,
            ..Verdict::default()
        };
        self.commit(&incoming, &verdict, &findings.results).await
    }

    async fn commit(&self, incoming: &Incoming, verdict: &Verdict, results: &str) -> Result<(), NotTaken> {
        let store = &self.services.store;
        let Some(first) = incoming.recipients.first() else { return Ok(()) };
        let raw = store.mail_raw_write(first.org_id, incoming.bytes.clone()).await;
        let raw = raw.map_err(|error| NotTaken::Away(error.to_string()))?;
        let now = store.now();
        let stamp = Stamp {
            host: self.host(),
            client: incoming.client,
            helo: &incoming.helo,
            protocol: incoming.protocol,
            envelope_from: &incoming.envelope_from,
            results,
            received_at: now,
        };
        let arrival = |recipient: &Accepted| {
            let id = MailArrivalId::new(now);
            Arrival {
                id,
                org_id: recipient.org_id,
                mailbox_id: recipient.mailbox_id,
                raw_id: raw.id(),
                envelope_from: incoming.envelope_from.clone(),
                envelope_to: recipient.address.clone(),
                received_at: now,
                head: stamp.lines(id, &recipient.address),
                verdict: verdict.clone(),
                tries: 0,
            }
        };
        let arrivals: Vec<Arrival> = incoming.recipients.iter().map(arrival).collect();
        let mut change = Change::new();
        change.mail_arrive(now, &raw, &arrivals);
        let place = Place { stage: Stage::Commit, kind: "mail.gate", command: "", key: &first.org_id };
        let Err(error) = store.commit_at(change, place).await else { return Ok(()) };
        // The outcome may be unknown: what is named stays.
        if let Err(error) = store.mail_raw_abandon(&raw).await {
            tracing::debug!(%error, "the bytes of a message that was not taken are swept later");
        }
        Err(NotTaken::Away(error.to_string()))
    }
}
