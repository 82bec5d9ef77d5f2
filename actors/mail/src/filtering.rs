//! Filters over what is there: trying one before it is saved, and the job that applies one.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Error, Origin, Result, Timestamp,
    id::{MailFilterId, MailLabelId, MailMessageId, MailThreadId, MailboxId},
    mail::{FilterActions, MailMessage, MailQuestion},
};
use kernel::Registry;
use serde::{Deserialize, Serialize};
use store::{
    Change, Permits, Store,
    mail::{FilterJobState, FoundWanted},
};

use crate::mailbox::{FilterStep, MailboxOwner, filtered};

/// The job that applies a filter.
pub const MAIL_FILTERING: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("mail.filtering") };

/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_secs(30);
/// Messages of which one read has all that is asked.
const AT_ONCE: u32 = 200;
/// Messages that are shown of those that a filter finds.
const SAMPLE_MAX: usize = 10;

/// Which filter a job applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailFiltering {
    pub mailbox_id: MailboxId,
    pub filter_id: MailFilterId,
}

/// Has mailboxes apply filters.
#[derive(Clone)]
pub struct MailFilters {
    /// The owners of mailboxes.
    pub mailboxes: Registry<MailboxOwner>,
}

impl Handler for MailFilters {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let what: MailFiltering = job.payload()?;
        let mut steps = job.progress::<u64>()?.unwrap_or_default();
        loop {
            let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
            if !self.mailboxes.ask(&what.mailbox_id, FilterStep(what.filter_id), context).await? {
                return Ok(Change::new());
            }
            // What is done stands in the commit of the mailbox itself.
            steps += 1;
            job.step(Change::new(), &steps).await?;
        }
    }

    async fn cancelled(&self, job: &Job) -> Result<Change, Halt> {
        ended(job)
    }

    async fn given_up(&self, job: &Job) -> Result<Change, Halt> {
        ended(job)
    }
}

fn ended(job: &Job) -> Result<Change, Halt> {
    let MailFiltering { mailbox_id, filter_id } = job.payload()?;
    let mut change = Change::new();
    change.mail_filter_job_end(mailbox_id, filter_id, FilterJobState::Failed, job.store().now());
    Ok(change)
}

/// What a filter would do with what is there.
#[derive(Clone, Debug, Default)]
pub struct FilterPreview {
    /// How many messages it finds.
    pub matched: u64,
    /// How many of them would change.
    pub changes: u64,
    /// The newest of those that it finds.
    pub sample: Vec<Previewed>,
}

/// A message that a filter finds.
#[derive(Clone, Debug)]
pub struct Previewed {
    /// Its conversation.
    pub thread_id: MailThreadId,
    /// The message.
    pub message: MailMessage,
    /// Whether it would change.
    pub changes: bool,
}

/// What a filter does with messages of the mailbox that came since then. `apply` does the same.
pub async fn filter_preview(
    store: &Store,
    mailbox_id: MailboxId,
    question: &MailQuestion,
    actions: &FilterActions,
    since: Timestamp,
) -> Result<FilterPreview, Error> {
    let labels: BTreeSet<MailLabelId> = store.mail_labels(mailbox_id).await?.iter().map(|it| it.id).collect();
    let (mut preview, mut behind) = (FilterPreview::default(), None);
    loop {
        let wanted = FoundWanted { since, behind, limit: AT_ONCE };
        let found = store.mail_messages_found(mailbox_id, question, wanted).await?;
        let mut of_threads: BTreeMap<MailThreadId, BTreeSet<MailMessageId>> = BTreeMap::new();
        for (thread, message) in &found {
            of_threads.entry(*thread).or_default().insert(*message);
        }
        let ids: Vec<MailThreadId> = of_threads.keys().copied().collect();
        for mut conversation in store.mail_conversations(mailbox_id, &ids).await?.into_values() {
            let Some(found) = of_threads.get(&conversation.id) else { continue };
            let thread_id = conversation.id;
            let messages: Vec<MailMessage> =
                conversation.messages.iter().filter(|it| found.contains(&it.placing.id)).cloned().collect();
            let differing = filtered(&mut conversation, found, actions, &labels);
            preview.changes += differing.len() as u64;
            preview.sample.extend(messages.into_iter().map(|message| {
                let changes = differing.contains(&message.placing.id);
                Previewed { thread_id, message, changes }
            }));
        }
        preview.matched += found.len() as u64;
        preview.sample.sort_by_key(|it| std::cmp::Reverse((it.message.placing.at, it.message.placing.id)));
        preview.sample.truncate(SAMPLE_MAX);
        behind = found.last().copied();
        if found.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX) {
            return Ok(preview);
        }
    }
}
