//! Deleting what lies in mailboxes that are out of sight, and then the mailboxes, as a job.

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use domain::{Tenant, Timestamp, id::OrgId};
use store::{Change, NewWork, Permits, Purge};

/// The job that empties an organization's mailboxes that are out of sight.
pub(crate) const MAILBOX_REMOVAL: Topic = Topic {
    permits: Permits::with_spare(1, 3),
    goes_on_because: Some("These mailboxes are deleted; what is left in them can't be kept."),
    ..Topic::new("mail.mailbox_removal")
};

/// Messages that a step deletes.
const MESSAGES_AT_ONCE: u32 = 300;

/// Drafts that a step deletes.
const DRAFTS_AT_ONCE: u32 = 50;

/// Has the mailboxes that the change takes out of sight be emptied after it. Each deletion adds an entry of its own: one that
/// is about to end must not keep the next one out.
pub(crate) fn delete_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.work_add(now, NewWork::new(MAILBOX_REMOVAL.name, org_id, &()));
}

/// Has the mailboxes of an organization that the change deletes be deleted after it.
pub(crate) fn delete_mailboxes_after(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.mailboxes_close(org_id, now);
    delete_after(change, org_id, now);
}

/// Imports and exports that a step deletes.
const TRANSFERS_AT_ONCE: u32 = 50;

/// Empties an organization's mailboxes that are out of sight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MailboxRemoval;

impl Handler for MailboxRemoval {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let mut cleared = Cleared::of(job)?;
        while let Some(id) = job.store().mailbox_closed_next(org_id).await? {
            cleared.clear(job, &Purge::mailbox_calendars(id)).await?;
            loop {
                let (change, count) = job.store().mail_messages_clear_next(id, MESSAGES_AT_ONCE).await?;
                if count == 0 {
                    break;
                }
                cleared.step(job, change, &[("messages", count)]).await?;
            }
            cleared.clear(job, &Purge::mailbox_threads(id)).await?;
            loop {
                let batch = job.store().mail_drafts_clear_next(id, DRAFTS_AT_ONCE).await?;
                if batch.rows.is_empty() {
                    break;
                }
                cleared.step(job, batch.change, &batch.rows).await?;
            }
            loop {
                let batch = job.store().mail_automatic_next(id, true, MESSAGES_AT_ONCE).await?;
                if batch.rows.is_empty() {
                    break;
                }
                cleared.step(job, batch.change, &batch.rows).await?;
            }
            loop {
                let batch = job.store().mail_transfers_clear_next(id, TRANSFERS_AT_ONCE).await?;
                if batch.rows.is_empty() {
                    break;
                }
                cleared.step(job, batch.change, &batch.rows).await?;
            }
            let mut change = Change::new();
            change.mailbox_remove(id);
            cleared.step(job, change, &[("mailboxes", 1)]).await?;
        }
        Ok(Change::new())
    }
}
