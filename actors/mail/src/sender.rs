//! The queue of mail that leaves: a job for each message and domain brings the message to all of its recipients there, and the
//! commit that ends it says what became of each. What shall be tried again is another job, of the same commit.
//!
//! A message may be sent twice, with the same Message-ID, by a process that dies between a server's 250 and that commit
//! (RFC 1047); nothing else stands between the two.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::{
    Services,
    work::job::{Halt, Handler, Job, Topic},
};
use bytes::Bytes;
use domain::{
    Context, Origin, Tenant, Timestamp,
    id::{MailArrivalId, MailMessageId},
    mail::{
        Arrival, DeliveryState, DkimPlace, DomainName, HEAD_BYTES_MAX, Heard, MAIL_FROM_MX, MailContent, MailPolicy,
        Mailbox, Notice, Outgoing, Report, Said, Stamp, Verdict, domain_of, is_automatic_answer, is_passed_on,
        mail_date, passed_on, report, without_bcc,
    },
};
use gateways::post::{Letter, Signer, signed};
use kernel::{Cpu, CpuKind, Registry};
use parking_lot::Mutex;
use store::{
    Change, Permits,
    mail::{MAIL_SENDING, MailSending, Recipient},
};

use crate::mailbox::{MailLeave, MailboxOwner, tell_of_delivery};

/// The job that sends. As many as connections that there may be.
pub const MAIL_SENDING_JOB: Topic = Topic {
    permits: Permits::with_spare(8, 56),
    goes_on_because: Some("What people sent must leave."),
    ..Topic::new(MAIL_SENDING)
};

/// How long the turn may take in which a message leaves.
const TURN_MAX: Duration = Duration::from_secs(30);
/// How often it is counted what waits.
const COUNTED_EVERY: Duration = Duration::from_secs(10);

/// Sends what mailboxes sent.
#[derive(Clone)]
pub struct MailSender {
    services: Services,
    cpu: Cpu,
    mailboxes: Registry<MailboxOwner>,
    counted: Arc<Mutex<Option<Instant>>>,
}

impl MailSender {
    /// With the owners of mailboxes.
    pub fn new(services: Services, cpu: Cpu, mailboxes: Registry<MailboxOwner>) -> Self {
        Self { services, cpu, mailboxes, counted: Arc::default() }
    }
}

impl Handler for MailSender {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let what: MailSending = job.payload()?;
        self.count().await;
        let store = job.store();
        let mut rows = waiting(job, &what).await?;
        let Some(mailbox) = store.mail_letterbox(what.mailbox_id).await? else { return Ok(cancelled(rows)) };
        if rows.iter().any(|row| row.state == DeliveryState::Held) {
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            self.mailboxes.ask(&what.mailbox_id, MailLeave(what.message_id), context).await?;
            rows = waiting(job, &what).await?;
        }
        let now = store.now();
        // What was put off has a job of its own.
        rows.retain(|row| row.state != DeliveryState::Held && row.due <= now);
        let Some(first) = rows.first() else { return Ok(Change::new()) };
        let Some(raw) = store.mail_raw_bytes(first.raw_id).await? else { return Ok(cancelled(rows)) };
        let is_forward = store.mail_is_forward(mailbox.id, what.message_id).await?;
        let raw = if is_forward { passed_on(&mailbox, &raw).into() } else { raw };
        let mut change = Change::new();
        let said = match self.mailboxes_here(&rows).await? {
            Some(recipients) => self.bring_here(&mut change, &rows, &recipients, &raw).await?,
            None => self.bring_away(&mut change, &what, &rows, &raw).await?,
        };
        self.settle(&mut change, &mailbox, Tried { rows, said, raw }).await?;
        Ok(change)
    }
}

/// What became of a try.
struct Tried {
    rows: Vec<Outgoing>,
    said: Vec<Said>,
    raw: Bytes,
}

impl MailSender {
    /// Where messages to these recipients go on this server; none where their domain is elsewhere.
    async fn mailboxes_here(&self, rows: &[Outgoing]) -> Result<Option<Vec<Recipient>>, Halt> {
        let (store, platform) = (&self.services.store, &self.services.settings.platform_domain);
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            match store.mail_recipient(&row.recipient, platform).await? {
                Recipient::Foreign => return Ok(None),
                recipient => found.push(recipient),
            }
        }
        Ok(Some(found))
    }

    /// Brings a message to mailboxes of this server: it arrives in the commit that ends the job.
    async fn bring_here(
        &self,
        change: &mut Change,
        rows: &[Outgoing],
        recipients: &[Recipient],
        raw: &[u8],
    ) -> Result<Vec<Said>, Halt> {
        let (store, host) = (&self.services.store, &self.services.settings.mail_host.name);
        let now = store.now();
        let (mut arrivals, mut said) = (Vec::new(), Vec::new());
        // Who sends to themselves gets other bytes than those that were sent: the same ones would be taken for a message that came
        // twice.
        let trace = format!("Received: by {host} id {}; {}\r\n", rows[0].message_id, mail_date(rows[0].leaves_at));
        let travels = [trace.as_bytes(), &without_bcc(raw)].concat();
        let travels = store.mail_raw_write(rows[0].org_id, travels.into()).await?;
        for (row, recipient) in rows.iter().zip(recipients) {
            let Recipient::Mailbox { org_id, mailbox_id } = *recipient else {
                said.push(Said { host: host.clone(), ..Said::refused("550 5.1.1 There is no such mailbox here") });
                continue;
            };
            let sender = if is_automatic_answer(raw) { String::new() } else { row.sender.to_string() };
            let id = MailArrivalId::new(now);
            let from_domain = domain_of(&row.sender).to_owned();
            arrivals.push(Arrival {
                id,
                org_id,
                mailbox_id,
                raw_id: travels.id(),
                head: self.head(id, &sender, row.recipient.as_str(), now),
                envelope_from: sender,
                envelope_to: row.recipient.to_string(),
                received_at: now,
                // Nobody here wrote what is passed on.
                verdict: if is_passed_on(raw) { Verdict::default() } else { of_our_own(from_domain) },
                tries: 0,
            });
            let reply = "250 2.0.0 Delivered on this server".to_owned();
            said.push(Said { heard: Heard::Taken, reply, host: host.clone(), tls: true });
        }
        if !arrivals.is_empty() {
            change.mail_arrive(now, &travels, &arrivals);
        }
        Ok(said)
    }

    /// The lines before a message that never left this server.
    fn head(&self, id: MailArrivalId, from: &str, to: &str, now: Timestamp) -> String {
        let host = &self.services.settings.mail_host.name;
        let results = format!("{host}; auth=pass");
        let stamp = Stamp {
            host,
            client: std::net::Ipv4Addr::LOCALHOST.into(),
            helo: host,
            protocol: "LOCAL",
            envelope_from: from,
            results: &results,
            received_at: now,
        };
        stamp.lines(id, to)
    }

    /// Brings a message to the servers of another domain.
    async fn bring_away(
        &self,
        change: &mut Change,
        what: &MailSending,
        rows: &[Outgoing],
        raw: &Bytes,
    ) -> Result<Vec<Said>, Halt> {
        let letter = Letter {
            domain: what.domain.clone(),
            sender: if is_automatic_answer(raw) {
                String::new()
            } else {
                self.return_path(&rows[0], &what.domain).await?
            },
            recipients: rows.iter().map(|row| row.recipient.to_string()).collect(),
            bytes: self.signed(&rows[0], raw).await?,
            policy: self.policy(change, &what.domain).await?,
        };
        Ok(self.services.post.deliver(&letter).await)
    }

    /// What the owner of a domain asks of who brings mail there. A policy that is new is kept, so that nobody who keeps its record or its
    /// host from us takes it away.
    async fn policy(&self, change: &mut Change, domain: &str) -> Result<Option<MailPolicy>, Halt> {
        let store = &self.services.store;
        let known = store.mail_policy(domain).await?;
        let now = self.services.post.policy(domain, known.clone(), store.now()).await;
        if let Some(now) = now.as_ref().filter(|now| known.as_ref() != Some(now)) {
            change.mail_policy_set(domain, now);
        }
        Ok(now.map(|known| known.policy))
    }

    /// Who sends a message by the envelope: an address for reports on it where the sender's domain has those come here, else the sender.
    async fn return_path(&self, row: &Outgoing, recipients: &str) -> Result<String, Halt> {
        let store = &self.services.store;
        let domain = match domain_of(&row.sender).parse::<DomainName>() {
            Ok(name) => store.mail_domain(row.org_id, &name).await?,
            Err(_) => None,
        };
        let comes_here = domain.is_some_and(|domain| domain.checks.get(MAIL_FROM_MX) == Some(&true));
        let address =
            if comes_here { store.mail_bounce_address(row.message_id, &row.sender, recipients) } else { None };
        Ok(address.as_ref().unwrap_or(&row.sender).to_string())
    }

    /// The message as it travels, with the signatures of the domain in `From`. The domain that the platform lends has no keys.
    async fn signed(&self, row: &Outgoing, raw: &Bytes) -> Result<Bytes, Halt> {
        let (store, tenant) = (&self.services.store, Tenant::Org(row.org_id));
        let head = raw.slice(..raw.len().min(HEAD_BYTES_MAX));
        let from = self.cpu.run(tenant, CpuKind::Document, move || MailContent::read(&head).from).await?;
        let from = from.and_then(|from| from.email.rsplit_once('@').map(|(_, domain)| domain.to_owned()));
        let name = from.unwrap_or_else(|| domain_of(&row.sender).to_owned());
        let mut signers = Vec::new();
        if let Ok(name) = name.parse::<DomainName>()
            && let Some(domain) = store.mail_domain(row.org_id, &name).await?
        {
            for key in domain.keys_at(DkimPlace::Current) {
                let private = store.dkim_private(domain.id, &key.selector).await?;
                let signer = |private| Signer { selector: key.selector.clone(), kind: key.kind, private };
                signers.extend(private.map(signer));
            }
        }
        let raw = raw.clone();
        let signing = move || signed(&name, &signers, &without_bcc(&raw));
        let signed = self.cpu.run(tenant, CpuKind::Document, signing).await?;
        signed.map(Bytes::from).map_err(|error| Halt::Later(format!("a message can't be signed: {error}")))
    }

    /// Writes what became of the message, tells the members, has what is put off be tried again, and tells the sender of what failed.
    async fn settle(&self, change: &mut Change, mailbox: &Mailbox, tried: Tried) -> Result<(), Halt> {
        let now = self.services.store.now();
        let (mut again, mut failed, mut late) = (Vec::new(), Vec::new(), Vec::new());
        for (mut row, said) in tried.rows.into_iter().zip(&tried.said) {
            let told = (row.recipient.to_string(), said.reply.clone());
            match row.heard(said, now) {
                Notice::None => {}
                Notice::Delayed => late.push(told),
                Notice::Failed => failed.push(told),
            }
            metrics::counter!("troupe_mail_deliveries_total", "outcome" => row.state.as_str()).increment(1);
            change.mail_outgoing_set(&row);
            tell_of_delivery(change, now, mailbox, &row);
            if row.state == DeliveryState::Deferred {
                again.push(row);
            }
        }
        // A node whose clock is behind adds the job no earlier than the message was sent.
        let added_at = again.iter().map(|row| row.created_at).fold(now, Timestamp::max);
        change.mail_sending_add(added_at, &again);
        for (has_failed, recipients) in [(true, failed), (false, late)] {
            // Nobody wrote what a mailbox answers by itself.
            if !recipients.is_empty() && !is_automatic_answer(&tried.raw) {
                self.tell(change, mailbox, (has_failed, &recipients), &tried.raw).await?;
            }
        }
        Ok(())
    }

    /// Has a report arrive in the mailbox that sent the message. It is sent by nobody, and so never answered by one itself.
    async fn tell(
        &self,
        change: &mut Change,
        mailbox: &Mailbox,
        (has_failed, recipients): (bool, &[(String, String)]),
        message: &[u8],
    ) -> Result<(), Halt> {
        let (store, host) = (&self.services.store, &self.services.settings.mail_host.name);
        let now = store.now();
        let message_id = format!("{}@{host}", MailMessageId::new(now));
        let to = mailbox.address.as_str();
        let written = report(&Report { message_id: &message_id, host, to, at: now, has_failed, recipients, message });
        let raw = store.mail_raw_write(mailbox.org_id, written.into()).await?;
        let id = MailArrivalId::new(now);
        let arrival = Arrival {
            id,
            org_id: mailbox.org_id,
            mailbox_id: mailbox.id,
            raw_id: raw.id(),
            envelope_from: String::new(),
            envelope_to: to.to_owned(),
            received_at: now,
            head: self.head(id, "", to, now),
            verdict: of_our_own(host.clone()),
            tries: 0,
        };
        change.mail_arrive(now, &raw, &[arrival]);
        Ok(())
    }

    /// Tells operators what waits, not more often than every ten seconds.
    async fn count(&self) {
        {
            let mut counted = self.counted.lock();
            if counted.is_some_and(|at| at.elapsed() < COUNTED_EVERY) {
                return;
            }
            *counted = Some(Instant::now());
        }
        let Ok(queue) = self.services.store.mail_queue().await else { return };
        let age = queue.since.map_or(0, |since| self.services.store.now().0.saturating_sub(since.0));
        let recipients = i32::try_from(queue.recipients).unwrap_or(i32::MAX);
        metrics::gauge!("troupe_mail_queue_recipients").set(f64::from(recipients));
        metrics::gauge!("troupe_mail_queue_age_seconds").set(Duration::from_millis(age.unsigned_abs()).as_secs_f64());
    }
}

/// What of the message didn't reach its recipients of the domain yet. What was sent anew, or put off, after the job was added has a
/// job of its own.
async fn waiting(job: &Job, what: &MailSending) -> Result<Vec<Outgoing>, Halt> {
    let mut rows = job.store().mail_outgoing(what.mailbox_id, what.message_id).await?;
    let added_at = job.work().created_at;
    let is_its_own = |row: &Outgoing| domain_of(&row.recipient) == what.domain && row.created_at <= added_at;
    rows.retain(|row| is_its_own(row) && !row.state.is_final());
    Ok(rows)
}

/// What can't be sent any more: its mailbox, or its bytes, are gone.
fn cancelled(rows: Vec<Outgoing>) -> Change {
    let mut change = Change::new();
    for row in rows {
        change.mail_outgoing_set(&Outgoing { state: DeliveryState::Cancelled, ..row });
    }
    change
}

/// What is said of a message that never left this server, which knows who sent it.
fn of_our_own(from_domain: String) -> Verdict {
    use domain::mail::Outcome::Pass;
    Verdict { spf: Pass, dmarc: Pass, tls: true, from_domain, ..Verdict::default() }
}
