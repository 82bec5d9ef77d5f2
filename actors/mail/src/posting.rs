//! Sending what calendars say, as a job: it is made into a message outside of turns, and leaves like all that its mailbox sends.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use bytes::Bytes;
use domain::{
    Context, Email, Error, Origin, Tenant,
    mail::{CalendarLetter, MailContent, calendar_letter, own_message_id},
};
use kernel::{Cpu, CpuKind, Registry};
use store::{
    Change, Permits,
    calendar::{CALENDAR_POSTING, CalendarPost},
};

use crate::{
    mailbox::{MailPost, MailboxOwner, WrittenBytes},
    writing::own_name,
};

/// The job that sends what calendars say.
pub const CALENDAR_POSTING_JOB: Topic = Topic { permits: Permits::with_spare(2, 6), ..Topic::new(CALENDAR_POSTING) };

/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_secs(30);

/// Has mailboxes send what their calendars say.
#[derive(Clone)]
pub struct CalendarPosting {
    /// The owners of mailboxes.
    pub mailboxes: Registry<MailboxOwner>,
    /// Where messages are made.
    pub cpu: Cpu,
}

impl Handler for CalendarPosting {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let post: CalendarPost = job.payload()?;
        let (store, now) = (job.store(), job.store().now());
        let Some(mailbox) = store.mailbox_by_id(post.mailbox_id).await? else { return Ok(Change::new()) };
        let recipients: Vec<Email> = post.recipients.iter().filter_map(|it| it.parse().ok()).collect();
        if recipients.is_empty() {
            return Ok(Change::new());
        }
        let (id, sender, mailbox_id) = (post.message_id, mailbox.address.clone(), mailbox.id);
        let (from, message_id) = (own_name(&mailbox, &sender), own_message_id(id, &sender));
        let making = move || {
            let letter = CalendarLetter {
                from,
                to: &post.recipients,
                subject: &post.subject,
                text: &post.text,
                method: &post.method,
                file: &post.file,
            };
            let bytes = Bytes::from(calendar_letter(&letter, &message_id, now));
            let content = MailContent::read(&bytes);
            (bytes, content)
        };
        let (bytes, content) = self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, making).await?;
        let size = bytes.len() as u64;
        let raw = store.mail_raw_write(mailbox.org_id, bytes).await?;
        let bytes = WrittenBytes { raw: raw.clone(), content: Arc::new(content), size };
        let asked = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        let sent = self.mailboxes.ask(&mailbox_id, MailPost { id, sender, recipients, bytes }, asked).await;
        match sent {
            Ok(()) => Ok(Change::new()),
            // Its domain was lost since its calendar asked: nothing leaves from it any more.
            Err(Error::Conflict { code, .. }) if code.starts_with("domain_") => {
                store.mail_raw_abandon(&raw).await?;
                Ok(Change::new())
            }
            Err(error) => Err(error.into()),
        }
    }
}
