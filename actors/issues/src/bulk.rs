//! Changes of many issues at once.
//!
//! The request leaves a row and an entry of the work queue in one commit. The job asks each issue's owner, which does it with the rights
//! that whoever asked has then, and keeps what became of it in the same commit; so nothing is done twice, and each issue's outcome is
//! known once it is done. Nobody is notified of what such a change does.

use std::time::{Duration, Instant};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Error, Origin, Result, Scope, Timestamp,
    id::{IssueId, IssueJobId, OrgId, UserId},
    issues::{
        access::Permission,
        bulk::{BULK_FOUND_MAX, BulkAct, BulkDiff, BulkState, ISSUE_JOB_NOT_FOUND, diff, undone},
        jql::meaning::Fallback,
    },
    tenant::Tenant,
};
use futures::future::join_all;
use kernel::{Command, Handle, Registry, Turn};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{
    Change, NewWork, Permits, Store,
    audit::{AuditEntry, AuditTarget},
    issues::{IssueJob, IssueJobResult, StoredIssue},
};

use super::{
    access::{issue_seen, require_open},
    catalog::IssueCatalog,
    clocks,
    fields::{IssueFields, Lookup},
    following::{watching, with_followers},
    issue::{BlockedTransition, IssueOwner, Opened, definition_of, moved, transitions_of, written},
    moving::{Destination, back, brought, relocated},
    search::{Asked, search_seqs},
    trash::restored,
};

/// What such a change is called in the histories of issues; nobody is notified of it.
pub(crate) const BULK: &str = "bulk";
/// How long what was done can be undone.
pub const UNDO_KEPT: Duration = Duration::from_hours(30 * 24);
/// Issues that are asked beside each other.
const AT_ONCE: usize = 25;
/// How long asking an issue may take.
const TURN_MAX: Duration = Duration::from_mins(1);

/// The job that changes many issues.
pub const BULK_CHANGES: Topic = Topic { permits: Permits::with_spare(1, 3), ..Topic::new("issues.bulk") };

/// Has many issues be changed.
#[derive(Clone, Debug)]
pub struct StartBulk {
    /// What is done with each.
    pub act: BulkAct,
    /// The issues, with their keys.
    pub issues: Vec<(IssueId, String)>,
}

/// Has a change of many issues stop where it is.
#[derive(Clone, Copy, Debug)]
pub struct CancelBulk {
    /// Which one.
    pub id: IssueJobId,
}

impl Command for StartBulk {
    type Reply = IssueJobId;

    const NAME: &'static str = "start_issue_bulk";
}

impl Command for CancelBulk {
    type Reply = ();

    const NAME: &'static str = "cancel_issue_bulk";
}

/// The issues that a query finds for a caller, with their keys.
///
/// # Errors
/// As [`search`](super::search); 400 `too_many` above 10,000.
pub async fn found_for_bulk(store: &Store, authority: &domain::Authority, jql: &str) -> Result<Vec<(IssueId, String)>> {
    let asked = Asked { jql, fallback: Fallback::Key, start: 0, limit: BULK_FOUND_MAX as u64 };
    let found = search_seqs(store, authority, &asked).await?;
    if found.total > BULK_FOUND_MAX as u64 {
        return Err(Error::bad_request("too_many", format!("At most {BULK_FOUND_MAX} issues can be changed at once.")));
    }
    Ok(store.issue_keys_at(&found.seqs).await?)
}

/// A change of many issues that the caller asked for, or any for who administers issues.
///
/// # Errors
/// 404 for others.
pub async fn bulk_seen(store: &Store, authority: &domain::Authority, id: IssueJobId) -> Result<IssueJob> {
    let person = authority.on_behalf_of()?;
    let found = store.issue_job(authority.org_id(), id).await?;
    let is_seen = |job: &IssueJob| job.by == person || authority.has(Scope::IssuesAdmin);
    found.filter(is_seen).ok_or_else(|| Error::not_found(ISSUE_JOB_NOT_FOUND))
}

impl Handle<StartBulk> for IssueCatalog {
    async fn handle(&mut self, command: &StartBulk, turn: &mut Turn<'_, Self>) -> Result<IssueJobId> {
        let (org_id, now) = (*turn.key(), turn.now());
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let by = authority.on_behalf_of()?;
        if let BulkAct::Undo { job_id } = &command.act {
            undoable(&turn.services().store, &authority, (*job_id, now)).await?;
        }
        let job = IssueJob {
            id: IssueJobId::new(now),
            org_id,
            by,
            act: command.act.clone(),
            issues: command.issues.clone(),
            state: BulkState::Running,
            created_at: now,
            finished_at: None,
        };
        let mut change = Change::new();
        change.issue_job_add(&job);
        change.work_add(now, NewWork::new(BULK_CHANGES.name, org_id, &Running { job_id: job.id }));
        let act = if matches!(job.act, BulkAct::Undo { .. }) { "issues.bulk_undone" } else { "issues.bulk_changed" };
        let entry = AuditEntry::new(turn.context(), act, AuditTarget::new("organization", org_id)).in_org(org_id);
        change.audit_add(now, entry.with_metadata(json!({ "jobId": job.id, "issues": job.issues.len() })));
        turn.commit(change).await?;
        Ok(job.id)
    }
}

/// A change of many that ended and can still be undone.
async fn undoable(
    store: &Store,
    authority: &domain::Authority,
    (id, now): (IssueJobId, Timestamp),
) -> Result<IssueJob> {
    let job = bulk_seen(store, authority, id).await?;
    if matches!(job.act, BulkAct::Undo { .. }) {
        return Err(Error::conflict("wrong_state", "What was undone can't be undone."));
    }
    match job.finished_at {
        None => Err(Error::conflict("wrong_state", "This job is still running.")),
        Some(at) if at < now.before(UNDO_KEPT) => Err(Error::not_found(ISSUE_JOB_NOT_FOUND)),
        Some(_) => Ok(job),
    }
}

impl Handle<CancelBulk> for IssueCatalog {
    async fn handle(&mut self, command: &CancelBulk, turn: &mut Turn<'_, Self>) -> Result<()> {
        let org_id = *turn.key();
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::IssuesWrite)?;
        let job = bulk_seen(&turn.services().store, &authority, command.id).await?;
        if job.state != BulkState::Running {
            return Ok(());
        }
        let mut change = Change::new();
        change.issue_job_end(job.id, (BulkState::Cancelled, turn.now()));
        turn.commit(change).await
    }
}

/// Which change of many.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    job_id: IssueJobId,
}

/// How far it is: the place of the next issue.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Reached {
    next: usize,
}

/// Changes many issues.
#[derive(Clone)]
pub struct BulkChanges(pub Registry<IssueOwner>);

impl Handler for BulkChanges {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let Tenant::Org(org_id) = job.tenant() else {
            return Err(Halt::Refused("it names no organization".to_owned()));
        };
        let Running { job_id } = job.payload()?;
        let mut reached: Reached = job.progress()?.unwrap_or_default();
        loop {
            let Some(known) = job.store().issue_job(org_id, job_id).await? else { return Ok(Change::new()) };
            let rest = known.issues.get(reached.next..).unwrap_or_default();
            if known.state != BulkState::Running || rest.is_empty() {
                let mut change = Change::new();
                change.issue_job_end(job_id, (BulkState::Done, job.store().now()));
                return Ok(change);
            }
            // Moves take their numbers from one counter.
            let at_once = if matches!(known.act, BulkAct::Move { .. }) { 1 } else { AT_ONCE };
            let asked = rest.iter().take(at_once).enumerate().map(|(at, (id, key))| {
                let n = i64::try_from(reached.next + at).unwrap_or(i64::MAX);
                let command = BulkOne { org_id, job_id, n, key: key.clone(), by: known.by, act: known.act.clone() };
                let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
                async move { self.0.ask(id, command, context).await }
            });
            for outcome in join_all(asked).await {
                outcome?;
            }
            reached.next += rest.len().min(at_once);
            job.step(Change::new(), &reached).await?;
        }
    }

    async fn given_up(&self, job: &Job) -> Result<Change, Halt> {
        let Running { job_id } = job.payload()?;
        let mut change = Change::new();
        change.issue_job_end(job_id, (BulkState::Cancelled, job.store().now()));
        Ok(change)
    }
}

/// Does with one issue what is done with many.
#[derive(Clone, Debug)]
pub struct BulkOne {
    org_id: OrgId,
    job_id: IssueJobId,
    n: i64,
    key: String,
    by: UserId,
    act: BulkAct,
}

impl Command for BulkOne {
    type Reply = ();

    const NAME: &'static str = "bulk_issue";
}

/// What was done with an issue.
#[derive(Default)]
struct Done {
    change: Change,
    diff: BulkDiff,
    /// What of it couldn't be done.
    left: Option<String>,
}

/// What the caller is told of a refusal; nothing of what is none.
fn refusal(error: &Error) -> Option<String> {
    match error {
        Error::Invalid { problems } => {
            let said = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message));
            Some(said.collect::<Vec<_>>().join(" "))
        }
        error if error.status() < 500 => Some(error.to_string()),
        _ => None,
    }
}

impl Handle<BulkOne> for IssueOwner {
    async fn handle(&mut self, command: &BulkOne, turn: &mut Turn<'_, Self>) -> Result<()> {
        let BulkOne { job_id, n, key, .. } = command;
        if turn.services().store.issue_job_has(*job_id, *n).await? {
            return Ok(());
        }
        let done = match command.done(turn).await {
            Ok(done) => done,
            Err(error) => {
                let left = Some(refusal(&error).ok_or(error)?);
                Done { left, ..Done::default() }
            }
        };
        let Done { mut change, diff, left: error } = done;
        let result = IssueJobResult { n: *n, issue_id: *turn.key(), key: key.clone(), error, diff };
        change.issue_job_result_add(*job_id, &result);
        turn.commit(change).await
    }
}

impl BulkOne {
    async fn done(&self, turn: &Turn<'_, IssueOwner>) -> Result<Done> {
        let store = &turn.services().store;
        let authority = store.authority_of_person(self.org_id, self.by).await?;
        authority.require(Scope::IssuesWrite)?;
        if let BulkAct::Undo { job_id } = &self.act {
            let results = store.issue_job_results(*job_id, Some(self.n - 1), 1).await?;
            let was = results.into_iter().find(|it| it.n == self.n && it.issue_id == *turn.key());
            let Some(was) = was else { return Ok(Done::default()) };
            if was.diff.contains_key(DELETED) {
                let mut change = Change::new();
                restored(turn, (&authority, self.by), self.org_id, &mut change).await?;
                return Ok(Done { change, ..Done::default() });
            }
            return self.undo(turn, &self.opened(turn, authority).await?, &was.diff).await;
        }
        let opened = self.opened(turn, authority).await?;
        match &self.act {
            BulkAct::Edit { fields } => edit(turn, &opened, fields).await,
            BulkAct::Transition { to } => transition(turn, &opened, to).await,
            BulkAct::Move { space, to_type, to_status } => {
                let (space, kind, status) = (space.clone(), to_type.clone(), to_status.clone());
                bring(turn, &opened, &Destination { space, kind, status }).await
            }
            BulkAct::Delete => delete(turn, &opened).await,
            BulkAct::Watch { on } => watch(&opened, *on),
            BulkAct::Undo { .. } => Ok(Done::default()),
        }
    }

    async fn opened(&self, turn: &Turn<'_, IssueOwner>, authority: domain::Authority) -> Result<Opened> {
        let store = &turn.services().store;
        let (stored, space, role) = issue_seen(store, &authority, (self.org_id, *turn.key())).await?;
        require_open(&space)?;
        Ok(Opened { authority, person: self.by, stored, space, role })
    }

    async fn undo(&self, turn: &Turn<'_, IssueOwner>, opened: &Opened, was: &BulkDiff) -> Result<Done> {
        opened.require_edit()?;
        let before = &opened.stored;
        let put = undone(was, &before.issue, &before.description);
        let (issue, description, kept) = put.ok_or_else(|| Error::internal("a change that can't go back"))?;
        let mut after = StoredIssue { issue, description };
        if after.issue.status_id != before.issue.status_id {
            let (status, category) = (after.issue.status_id.clone(), after.issue.status_category);
            after.issue.enter(&status, category, turn.now());
        }
        let left = (!kept.is_empty()).then(|| format!("Changed since: {}.", kept.join(", ")));
        if was.contains_key("key") {
            if kept.iter().any(|field| field == "key") {
                return Err(Error::conflict("moved_again", "The issue was moved again."));
            }
            let change = back(turn, (opened, BULK), &mut after).await?;
            return Ok(Done { change, diff: BulkDiff::new(), left });
        }
        Ok(Done { left, ..changed(turn, opened, after).await? })
    }
}

/// How the change of an issue that went into the trash is told.
const DELETED: &str = "deleted";

/// What a change of an issue writes; nothing where nothing changes.
async fn changed(turn: &Turn<'_, IssueOwner>, opened: &Opened, mut after: StoredIssue) -> Result<Done> {
    let before = &opened.stored;
    if after == *before {
        return Ok(Done::default());
    }
    let change = written(turn, opened, (&mut after, BULK)).await?;
    let diff = diff((&before.issue, &before.description), (&after.issue, &after.description));
    Ok(Done { change, diff, left: None })
}

async fn edit(turn: &Turn<'_, IssueOwner>, opened: &Opened, fields: &serde_json::Value) -> Result<Done> {
    let fields: IssueFields =
        serde_json::from_value(fields.clone()).map_err(|error| Error::internal(format!("fields: {error}")))?;
    opened.require_fields(&fields)?;
    let store = &turn.services().store;
    let settings = store.issue_catalog(opened.stored.issue.org_id).await?.settings;
    let mut after = opened.stored.clone();
    let lookup = Lookup { store, authority: &opened.authority, settings: &settings, space: &opened.space };
    lookup.apply(&fields, &mut after, false).await?;
    changed(turn, opened, after).await
}

async fn transition(turn: &Turn<'_, IssueOwner>, opened: &Opened, to: &str) -> Result<Done> {
    opened.require(Permission::Transition)?;
    let issue = &opened.stored.issue;
    if issue.status_id == to {
        return Ok(Done::default());
    }
    let open = transitions_of(&opened.authority, (&opened.space, opened.role), issue);
    let way = open.iter().find(|it: &&BlockedTransition| it.transition.to == to);
    let wrong = || Error::conflict("wrong_status", "This transition doesn't leave the issue's status.");
    let way = way.ok_or_else(wrong)?;
    if !way.blocked.is_empty() {
        return Err(Error::conflict("transition_blocked", "Something stands in the way."));
    }
    let settings = turn.services().store.issue_catalog(issue.org_id).await?.settings;
    let definition = definition_of(&opened.space, issue)
        .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
    let mut after = opened.stored.clone();
    moved(&mut after.issue, &definition, to, &settings, turn.now());
    changed(turn, opened, after).await
}

async fn bring(turn: &Turn<'_, IssueOwner>, opened: &Opened, to: &Destination) -> Result<Done> {
    let (before, store) = (&opened.stored, &turn.services().store);
    let there = store.issue_space_named(before.issue.org_id, &to.space).await?;
    if there.is_some_and(|space| space.space_id == before.issue.space_id) {
        return Ok(Done::default());
    }
    let (there, mut after) = brought(turn, opened, (to, &IssueFields::default())).await?;
    let change = Box::pin(relocated(turn, (opened, BULK), (there, &mut after))).await?;
    let diff = diff((&before.issue, &before.description), (&after.issue, &after.description));
    Ok(Done { change, diff, left: None })
}

async fn delete(turn: &Turn<'_, IssueOwner>, opened: &Opened) -> Result<Done> {
    let (issue, store) = (&opened.stored.issue, &turn.services().store);
    opened.require_delete()?;
    if store.issue_children_count(issue.issue_id).await? > 0 {
        return Err(Error::conflict("has_subtasks", "Other issues stand below this one."));
    }
    let mut change = Change::new();
    change.issue_trash(issue, turn.now());
    clocks::leave(&mut change, store, (&opened.space, issue), turn.now()).await?;
    let target = AuditTarget::new("issue", issue.issue_id).labelled(&issue.key);
    change.audit_add(turn.now(), AuditEntry::new(turn.context(), "issue.deleted", target).in_org(issue.org_id));
    let diff = BulkDiff::from_iter([(DELETED.to_owned(), json!([false, true]))]);
    Ok(Done { change, diff, left: None })
}

/// Watching is no change of the content: it counts the version, and leaves `updatedAt`.
fn watch(opened: &Opened, on: bool) -> Result<Done> {
    opened.require(Permission::Browse)?;
    let before = &opened.stored;
    let after = with_followers(before, |issue| watching(issue, opened.person, on))?;
    if after == *before {
        return Ok(Done::default());
    }
    let mut change = Change::new();
    change.issue_set(&after, before);
    let diff = diff((&before.issue, &before.description), (&after.issue, &after.description));
    Ok(Done { change, diff, left: None })
}
