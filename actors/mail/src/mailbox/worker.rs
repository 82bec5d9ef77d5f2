//! Filing what arrived, as a job of each mailbox: it reads messages where that holds up nobody, and has the mailbox's owner file
//! them, some at a time, so that people's commands go in between.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Error, Origin, Tenant,
    mail::{Arrival, MailContent, RawId},
};
use kernel::{Cpu, CpuKind, Registry};
use store::{
    Change, Permits, Store,
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
        let mut begun = Change::new();
        begun.work_begun(job.work());
        let mut filed = 0_u64;
        job.step(begun, &filed).await?;
        loop {
            let arrivals = job.store().mail_arrivals(filing.mailbox_id, AT_ONCE).await?;
            if arrivals.is_empty() {
                return Ok(Change::new());
            }
            let arrived = self.read(job.store(), filing, arrivals).await?;
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
    /// Reads the first of these. What failed before is read alone, so that it is in nobody's way.
    async fn read(&self, store: &Store, filing: MailFiling, arrivals: Vec<Arrival>) -> Result<Vec<Arrived>, Halt> {
        let (mut read, mut bytes) = (Vec::new(), 0);
        for arrival in arrivals {
            let is_alone = arrival.tries > 0;
            if !read.is_empty() && (is_alone || bytes > BYTES_AT_ONCE) {
                break;
            }
            let raw = raw_bytes(store, arrival.raw_id).await?;
            bytes += raw.len();
            let size = raw.len() as u64;
            let is_given_up = arrival.tries >= TRIES_MAX;
            let (parsed, tenant) = (raw.clone(), Tenant::Org(filing.org_id));
            let reading = move || if is_given_up { None } else { Some(MailContent::read(&parsed)) };
            let content = match self.cpu.run(tenant, CpuKind::Document, reading).await {
                Ok(content) => content,
                // Reading it made the reader panic: it is filed as it came.
                Err(Error::Internal { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            let is_unparsed = content.is_none();
            let content = content.unwrap_or_else(|| MailContent::unparsed(&raw));
            read.push(Arrived { arrival, content, size, is_unparsed });
            if is_alone {
                break;
            }
        }
        Ok(read)
    }
}

async fn raw_bytes(store: &Store, id: RawId) -> Result<bytes::Bytes, Halt> {
    store.mail_raw_bytes(id).await?.ok_or_else(|| Halt::Later(format!("the bytes of a message {id} are not there")))
}
