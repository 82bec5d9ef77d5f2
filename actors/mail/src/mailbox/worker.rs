//! Filing what arrived, as a job of each mailbox: it reads messages where that holds up nobody, and has the mailbox's owner file
//! them, some at a time, so that people's commands go in between.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use bytes::Bytes;
use domain::{
    Context, Email, Error, Origin, Tenant,
    mail::{Arrival, BounceAddress, MailContent, MailWords, Reported, reported},
};
use kernel::{Cpu, CpuKind, Registry};
use store::{
    Change, NewWork, Permits, Store,
    issues::{ISSUES_MAIL, IssuesMail},
    mail::{MAIL_FILING, MailFiling},
};

use super::{Arrived, MailFile, MailboxOwner};

/// The job that files what arrived for a mailbox.
pub const MAIL_FILING_JOB: Topic = Topic {
    permits: Permits::with_spare(2, 6),
    goes_on_because: Some("What was taken in must be filed."),
    ..Topic::new(MAIL_FILING)
};

/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_secs(30);
/// Messages that one commit files.
const AT_ONCE: u64 = 256;
/// Bytes of messages that are read for one commit, beside those of the first.
const BYTES_AT_ONCE: usize = 8 * 1024 * 1024;
/// From so many failures on a message is filed as it came.
const TRIES_MAX: u32 = 3;
/// After so many failures a message is set aside: filing it as it came failed three times, too.
const SET_ASIDE_FROM: u32 = 2 * TRIES_MAX;

/// Has mailboxes file what arrived.
#[derive(Clone)]
pub struct MailFiler {
    /// The owners of mailboxes.
    pub mailboxes: Registry<MailboxOwner>,
    /// Where messages are read.
    pub cpu: Cpu,
}

impl Handler for MailFiler {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let filing: MailFiling = job.payload()?;
        if let Some(handed) = desk_takes(job.store(), filing).await? {
            return Ok(handed);
        }
        let mut begun = Change::new();
        begun.work_begun(job.work());
        if let Some(id) = filing.again {
            begun.mail_arrival_take_up(id, TRIES_MAX);
        }
        let mut filed = 0_u64;
        job.step(begun, &filed).await?;
        loop {
            let arrivals = job.store().mail_arrivals(filing.mailbox_id, AT_ONCE).await?;
            if arrivals.is_empty() {
                return Ok(Change::new());
            }
            if let Some(stuck) = arrivals.iter().find(|arrival| arrival.tries >= SET_ASIDE_FROM) {
                let error = job.work().last_error.as_deref().unwrap_or("unknown");
                let why = format!("could not be filed in {} tries: {error}", stuck.tries);
                set_aside(job, stuck, &why, filed).await?;
                continue;
            }
            let (arrived, lost) = self.read(job.store(), filing, arrivals).await?;
            // They may come back, with a copy of what is kept; until then they keep nothing else from being filed.
            for arrival in &lost {
                set_aside(job, arrival, "has lost its bytes", filed).await?;
            }
            if arrived.is_empty() {
                continue;
            }
            let ids: Vec<_> = arrived.iter().map(|it| it.arrival.id).collect();
            filed += ids.len() as u64;
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            let command = MailFile { arrived: Arc::new(arrived) };
            if let Err(error) = self.mailboxes.ask(&filing.mailbox_id, command, context).await {
                if matches!(error, Error::Internal { .. }) {
                    let mut change = Change::new();
                    change.mail_arrivals_failed(ids);
                    job.store().commit(change).await?;
                }
                return Err(error.into());
            }
            job.step(Change::new(), &filed).await?;
        }
    }
}

impl MailFiler {
    /// Reads the first of these; answers those, too, whose bytes are gone. What failed before is read alone, so that it is in nobody's
    /// way.
    async fn read(
        &self,
        store: &Store,
        filing: MailFiling,
        arrivals: Vec<Arrival>,
    ) -> Result<(Vec<Arrived>, Vec<Arrival>), Halt> {
        let (mut read, mut lost, mut bytes) = (Vec::new(), Vec::new(), 0);
        for arrival in arrivals {
            let is_alone = arrival.tries > 0;
            if !read.is_empty() && (is_alone || bytes > BYTES_AT_ONCE) {
                break;
            }
            let Some(raw) = store.mail_raw_bytes(arrival.raw_id).await? else {
                lost.push(arrival);
                continue;
            };
            bytes += raw.len();
            let size = raw.len() as u64;
            let is_given_up = arrival.tries >= TRIES_MAX;
            let (parsed, tenant) = (raw.clone(), Tenant::Org(filing.org_id));
            let reading = move || {
                let content = (!is_given_up).then(|| MailContent::read(&parsed))?;
                Some((MailWords::of(&content), content))
            };
            let read_as = match self.cpu.run(tenant, CpuKind::Document, reading).await {
                Ok(read_as) => read_as,
                // Reading it made the reader panic: it is filed as it came.
                Err(Error::Internal { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            let is_unparsed = read_as.is_none();
            let (words, content) = read_as.unwrap_or_else(|| {
                let content = MailContent::unparsed(&raw);
                (MailWords::of(&content), content)
            });
            let words = words.brought_to(&arrival.envelope_to);
            let reported = self.reported(&arrival, raw, tenant).await?;
            read.push(Arrived { arrival, content, words, size, reported, is_unparsed });
            if is_alone {
                break;
            }
        }
        Ok((read, lost))
    }
}

impl MailFiler {
    /// What another server reports of a message of ours; nothing of what is no report, or can't be read as one.
    async fn reported(&self, arrival: &Arrival, raw: Bytes, tenant: Tenant) -> Result<Vec<Reported>, Halt> {
        let is_to_such = |to: Email| BounceAddress::read(&to).is_some();
        if !arrival.envelope_from.is_empty() || !arrival.envelope_to.parse().is_ok_and(is_to_such) {
            return Ok(Vec::new());
        }
        match self.cpu.run(tenant, CpuKind::Document, move || reported(&raw)).await {
            Err(Error::Internal { .. }) => Ok(Vec::new()),
            read => Ok(read?),
        }
    }
}

/// What came to a service desk is none of a mailbox's: it is handed on; nothing where the letterbox is no desk's.
async fn desk_takes(store: &Store, filing: MailFiling) -> Result<Option<Change>, Halt> {
    let Some(found) = store.issue_mail_box(filing.mailbox_id).await? else { return Ok(None) };
    let mut change = Change::new();
    if let Some(id) = filing.again {
        change.mail_arrival_take_up(id, 0);
    }
    let what = IssuesMail { org_id: found.org_id, mailbox_id: found.mailbox_id };
    let work = NewWork::new(ISSUES_MAIL, what.org_id, &what).with_key(what.mailbox_id.to_string());
    change.work_wanted(store.now(), work);
    Ok(Some(change))
}

/// Has operators look at a message that can't be filed, and goes on without it.
async fn set_aside(job: &Job, arrival: &Arrival, why: &str, filed: u64) -> Result<(), Halt> {
    let error = format!("The message {} {why}", arrival.raw_id);
    tracing::error!(mailbox = %arrival.mailbox_id, arrival = %arrival.id, error, "a message is set aside");
    let mut change = Change::new();
    change.mail_arrival_set_aside(job.store().now(), arrival, &error);
    job.step(change, &filed).await
}
