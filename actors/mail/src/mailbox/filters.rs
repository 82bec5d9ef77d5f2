//! A mailbox's filters: what they are, and their application to what is there, some messages at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use domain::{
    Result, Timestamp,
    id::{MailFilterId, MailLabelId, MailMessageId, MailThreadId, OrgId},
    mail::{
        Conversation, FilterActions, Filtered, MailFilter, Mailbox, filter_count_check, filter_runs, filters_ordered,
        forwards_within, no_filter, no_label,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::{Value, json};
use store::{
    NewWork, OutboxEntry, Store,
    audit::{AuditEntry, AuditTarget},
    mail::{FilterJob, FilterJobState, FoundWanted},
};

use super::{Draft, MailboxOwner, open};
use crate::filtering::{MAIL_FILTERING, MailFiltering};

/// Messages that one commit looks at.
const AT_ONCE: u32 = 200;
/// How long a day is.
const DAY: Duration = Duration::from_hours(24);

/// Makes a filter.
#[derive(Clone, Debug)]
pub struct FilterCreate {
    /// The organization.
    pub org_id: OrgId,
    /// What it is called, checked.
    pub name: String,
    /// What it asks, checked.
    pub query: String,
    /// Where its days are days.
    pub zone: String,
    /// What it does, checked.
    pub actions: FilterActions,
}

impl Command for FilterCreate {
    type Reply = MailFilter;

    const NAME: &'static str = "filter_create";
}

impl Handle<FilterCreate> for MailboxOwner {
    async fn handle(&mut self, command: &FilterCreate, turn: &mut Turn<'_, Self>) -> Result<MailFilter> {
        let (mailbox, now, store) = (open(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        filter_count_check(store.mail_filters(mailbox.id).await?.len())?;
        actions_check(&store, &mailbox, &command.actions).await?;
        let FilterCreate { name, query, zone, actions, .. } = command.clone();
        let filter = MailFilter { id: MailFilterId::new(now), name, query, zone, actions, created_at: now };
        let mut draft = self.draft(&mailbox);
        draft.change.mail_filter_add(mailbox.id, &filter);
        noted(&mut draft, turn, &mailbox, "mail.filter_added", said(&filter));
        self.commit(turn, &mailbox, draft).await?;
        Ok(filter)
    }
}

/// Changes a filter; nothing of what is `None`.
#[derive(Clone, Debug)]
pub struct FilterUpdate {
    /// The organization.
    pub org_id: OrgId,
    /// Which filter.
    pub id: MailFilterId,
    /// What it is called, checked.
    pub name: Option<String>,
    /// What it asks, checked, and where its days are days.
    pub query: Option<(String, String)>,
    /// What it does, checked.
    pub actions: Option<FilterActions>,
}

impl Command for FilterUpdate {
    type Reply = MailFilter;

    const NAME: &'static str = "filter_update";
}

impl Handle<FilterUpdate> for MailboxOwner {
    async fn handle(&mut self, command: &FilterUpdate, turn: &mut Turn<'_, Self>) -> Result<MailFilter> {
        let (mailbox, store) = (open(turn, command.org_id).await?, turn.services().store.clone());
        let before = filter(&store, &mailbox, command.id).await?;
        let mut after = before.clone();
        after.name = command.name.clone().unwrap_or(after.name);
        after.actions = command.actions.clone().unwrap_or(after.actions);
        (after.query, after.zone) = command.query.clone().unwrap_or((after.query, after.zone));
        if after == before {
            return Ok(after);
        }
        if command.actions.is_some() {
            actions_check(&store, &mailbox, &after.actions).await?;
        }
        idle_check(&store, &mailbox, command.id).await?;
        let mut draft = self.draft(&mailbox);
        draft.change.mail_filter_set(mailbox.id, &after);
        noted(&mut draft, turn, &mailbox, "mail.filter_changed", said(&after));
        self.commit(turn, &mailbox, draft).await?;
        Ok(after)
    }
}

/// Deletes a filter; what it did stays.
#[derive(Clone, Debug)]
pub struct FilterDelete {
    /// The organization.
    pub org_id: OrgId,
    /// Which filter.
    pub id: MailFilterId,
}

impl Command for FilterDelete {
    type Reply = ();

    const NAME: &'static str = "filter_delete";
}

impl Handle<FilterDelete> for MailboxOwner {
    async fn handle(&mut self, command: &FilterDelete, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (mailbox, store) = (open(turn, command.org_id).await?, turn.services().store.clone());
        let gone = filter(&store, &mailbox, command.id).await?;
        let mut draft = self.draft(&mailbox);
        draft.change.mail_filter_remove(mailbox.id, gone.id);
        noted(&mut draft, turn, &mailbox, "mail.filter_removed", said(&gone));
        self.commit(turn, &mailbox, draft).await
    }
}

/// Has the filters hold in another order.
#[derive(Clone, Debug)]
pub struct FiltersOrder {
    /// The organization.
    pub org_id: OrgId,
    /// All of them, each once.
    pub ids: Vec<MailFilterId>,
}

impl Command for FiltersOrder {
    type Reply = ();

    const NAME: &'static str = "filters_order";
}

impl Handle<FiltersOrder> for MailboxOwner {
    async fn handle(&mut self, command: &FiltersOrder, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mailbox = open(turn, command.org_id).await?;
        let filters = turn.services().store.mail_filters(mailbox.id).await?;
        filters_ordered(&filters, &command.ids)?;
        if filters.iter().map(|it| it.id).eq(command.ids.iter().copied()) {
            return Ok(());
        }
        let mut draft = self.draft(&mailbox);
        draft.change.mail_filters_order(mailbox.id, &command.ids);
        noted(&mut draft, turn, &mailbox, "mail.filters_ordered", json!({ "filterIds": command.ids }));
        self.commit(turn, &mailbox, draft).await
    }
}

/// Applies a filter to what came in the last days.
#[derive(Clone, Copy, Debug)]
pub struct FilterApply {
    /// The organization.
    pub org_id: OrgId,
    /// Which filter.
    pub id: MailFilterId,
    /// How many days, checked.
    pub days: u32,
}

impl Command for FilterApply {
    type Reply = FilterJob;

    const NAME: &'static str = "filter_apply";
}

impl Handle<FilterApply> for MailboxOwner {
    async fn handle(&mut self, command: &FilterApply, turn: &mut Turn<'_, Self>) -> Result<FilterJob> {
        let (mailbox, now, store) = (open(turn, command.org_id).await?, turn.now(), turn.services().store.clone());
        let filter = filter(&store, &mailbox, command.id).await?;
        idle_check(&store, &mailbox, filter.id).await?;
        let job = FilterJob {
            state: FilterJobState::Running,
            since: now.before(DAY * command.days),
            behind: None,
            matched: 0,
            changed: 0,
            started_at: now,
            ended_at: None,
        };
        let mut draft = self.draft(&mailbox);
        draft.change.mail_filter_job_set(mailbox.id, filter.id, &job);
        let work = MailFiltering { mailbox_id: mailbox.id, filter_id: filter.id };
        draft.change.work_add(now, NewWork::new(MAIL_FILTERING.name, mailbox.org_id, &work));
        noted(&mut draft, turn, &mailbox, "mail.filter_applied", said(&filter));
        self.commit(turn, &mailbox, draft).await?;
        Ok(job)
    }
}

/// Goes on with the application of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterStep(pub MailFilterId);

impl Command for FilterStep {
    /// Whether there is more.
    type Reply = bool;

    const NAME: &'static str = "filter_step";
}

impl Handle<FilterStep> for MailboxOwner {
    async fn handle(&mut self, FilterStep(id): &FilterStep, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let (now, store) = (turn.now(), turn.services().store.clone());
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else { return Ok(false) };
        let job = store.mail_filter_job(mailbox.id, *id).await?.filter(|job| job.state == FilterJobState::Running);
        let filter = store.mail_filters(mailbox.id).await?.into_iter().find(|it| it.id == *id);
        let (Some(job), Some(filter)) = (job, filter) else { return Ok(false) };
        let mut draft = self.draft(&mailbox);
        // The query's times are counted from when it was asked for, whenever a step comes.
        let found = match filter.question(job.started_at).filter(|question| !question.is_empty()) {
            Some(question) => {
                let wanted = FoundWanted { since: job.since, behind: job.behind, limit: AT_ONCE };
                store.mail_messages_found(mailbox.id, &question, wanted).await?
            }
            None => Vec::new(),
        };
        let labels: BTreeSet<MailLabelId> = store.mail_labels(mailbox.id).await?.iter().map(|it| it.id).collect();
        let changed = apply(&store, &mailbox, &mut draft, &filter, (&found, &labels)).await?;
        let has_more = found.len() == usize::try_from(AT_ONCE).unwrap_or(usize::MAX);
        let next = FilterJob {
            state: if has_more { FilterJobState::Running } else { FilterJobState::Done },
            behind: found.last().copied().or(job.behind),
            matched: job.matched + found.len() as u64,
            changed: job.changed + changed,
            ended_at: (!has_more).then_some(now),
            ..job
        };
        draft.change.mail_filter_job_set(mailbox.id, filter.id, &next);
        if !has_more {
            tell(&mut draft, &mailbox, now);
        }
        self.commit(turn, &mailbox, draft).await?;
        Ok(has_more)
    }
}

/// Does to messages what the filter does; how many changed.
async fn apply(
    store: &Store,
    mailbox: &Mailbox,
    draft: &mut Draft,
    filter: &MailFilter,
    (found, labels): (&[(MailThreadId, MailMessageId)], &BTreeSet<MailLabelId>),
) -> Result<u64> {
    let mut of_threads: BTreeMap<MailThreadId, BTreeSet<MailMessageId>> = BTreeMap::new();
    for (thread, message) in found {
        of_threads.entry(*thread).or_default().insert(*message);
    }
    let ids: Vec<MailThreadId> = of_threads.keys().copied().collect();
    let mut changed = 0;
    for mut conversation in store.mail_conversations(mailbox.id, &ids).await?.into_values() {
        let Some(found) = of_threads.get(&conversation.id) else { continue };
        let before = conversation.state();
        let ids = filtered(&mut conversation, found, &filter.actions, labels);
        changed += ids.len() as u64;
        for message in conversation.messages.iter_mut().filter(|it| ids.contains(&it.placing.id)) {
            let note = filter.note();
            message.verdict.filters.retain(|it| it.filter_id != note.filter_id);
            message.verdict.filters.push(note);
            draft.change.mail_message_judge(mailbox.id, message.placing.id, &message.verdict);
        }
        if !ids.is_empty() {
            draft.rewrite(&before, &conversation);
        }
    }
    Ok(changed)
}

/// Does to these messages of a conversation what a filter does; which of them changed.
pub(crate) fn filtered(
    conversation: &mut Conversation,
    found: &BTreeSet<MailMessageId>,
    actions: &FilterActions,
    labels: &BTreeSet<MailLabelId>,
) -> BTreeSet<MailMessageId> {
    let mut changed = BTreeSet::new();
    for message in conversation.messages.iter_mut().filter(|it| found.contains(&it.placing.id)) {
        let mut filtered = Filtered::new(&message.placing, &conversation.labels);
        if filtered.act(actions, |id| labels.contains(&id)) {
            filtered.write(&mut message.placing, &mut conversation.labels);
            changed.insert(message.placing.id);
        }
    }
    changed
}

/// The mailbox's filter with this id.
async fn filter(store: &Store, mailbox: &Mailbox, id: MailFilterId) -> Result<MailFilter> {
    let found = store.mail_filters(mailbox.id).await?.into_iter().find(|it| it.id == id);
    found.ok_or_else(no_filter)
}

/// 404 for a label that the mailbox hasn't, 400 for an address that nobody of the organization has.
async fn actions_check(store: &Store, mailbox: &Mailbox, actions: &FilterActions) -> Result<()> {
    if let Some(id) = actions.label {
        store.mail_label(mailbox.id, id).await?.ok_or_else(no_label)?;
    }
    if let Some(forward) = &actions.forward
        && !store.mail_is_of_org(mailbox.org_id, &forward.parse()?).await?
    {
        return Err(forwards_within());
    }
    Ok(())
}

/// 409 for a filter that is being applied.
async fn idle_check(store: &Store, mailbox: &Mailbox, id: MailFilterId) -> Result<()> {
    let job = store.mail_filter_job(mailbox.id, id).await?;
    if job.is_some_and(|job| job.state == FilterJobState::Running) { Err(filter_runs()) } else { Ok(()) }
}

fn said(filter: &MailFilter) -> Value {
    json!({ "filterId": filter.id, "name": filter.name, "query": filter.query, "actions": filter.actions })
}

/// Has a change of what the mailbox does by itself stand in the audit trail, and tells the members.
pub(super) fn noted(
    draft: &mut Draft,
    turn: &Turn<'_, MailboxOwner>,
    mailbox: &Mailbox,
    action: &'static str,
    said: Value,
) {
    let target = AuditTarget::new("mailbox", mailbox.id).labelled(mailbox.address.as_str());
    let entry = AuditEntry::new(turn.context(), action, target).in_org(mailbox.org_id).with_metadata(said);
    draft.change.audit_add(turn.now(), entry);
    tell(draft, mailbox, turn.now());
}

/// Tells the members that something of what the mailbox does by itself is another.
pub(super) fn tell(draft: &mut Draft, mailbox: &Mailbox, now: Timestamp) {
    let message = json!({
        "type": "mail.changed", "mailboxId": mailbox.id, "threadIds": [], "settings": true, "modseq": draft.modseq,
    });
    for &user_id in &mailbox.members {
        draft.change.outbox_add(now, &OutboxEntry::Live { user_id, message: message.clone() });
    }
}
