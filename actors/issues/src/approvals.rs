//! Approvals: a status asks for one when it is entered, and what is decided leads on in the same commit.

use std::collections::BTreeSet;

use actors_base::event::Event;
use domain::{
    Error, Result, Timestamp,
    id::{ApprovalId, IssueCommentId, OrgId, UserId},
    issues::{
        access::Permission,
        approval::{
            APPROVAL_NOT_FOUND, APPROVERS_MAX, Approval, ApprovalRule, Decided, Decision, NOBODY_APPROVES,
            TOO_MANY_APPROVE, rule_of,
        },
        issue::{Comment, Issue},
        limits::{COMMENT_LEN_MAX, COMMENTS_MAX},
        portal::admits,
        space::Space,
        workflow::available,
    },
};
use kernel::{Command, Handle, Turn};
use store::{
    Change, EmailTo, OutboxEntry, Store,
    issues::{IssueChanged, StoredIssue},
};

use super::{
    access::person_may,
    clocks::{Clocks, Happened},
    fields::touched,
    issue::{IssueOwner, Opened, definition_of, moved},
    portal,
    telling::about,
};

/// What follows of an approval, in the histories of issues.
const AUTOMATION: &str = "automation";
/// Where each thing that becomes of approvals stands in a commit.
const WITHDRAWN: i64 = 0;
const DECIDED: i64 = 1;
const ASKED: i64 = 2;

/// What somebody decides.
#[derive(Clone, Debug)]
pub struct DecideApproval {
    /// The organization.
    pub org_id: OrgId,
    /// What is decided.
    pub made: DecisionMade,
}

/// A decision on an approval.
#[derive(Clone, Debug)]
pub struct DecisionMade {
    /// Which approval.
    pub id: ApprovalId,
    /// What is decided.
    pub decision: Decision,
    /// What is said with it, as Markdown.
    pub comment: Option<String>,
}

impl Command for DecideApproval {
    type Reply = StoredIssue;

    const NAME: &'static str = "decide_issue_approval";
}

/// Whoever decides, and on what: `is_public` says whether their words are for the people of the request, too.
pub(crate) struct Deciding {
    pub person: UserId,
    pub space: Space,
    pub stored: StoredIssue,
    pub is_public: bool,
}

/// Whether somebody can decide: who reads the issue, as a member or through the help center.
async fn may_decide(store: &Store, space: &Space, person: UserId) -> Result<bool> {
    let visitor = portal::visitor(store, space.org_id, person).await?;
    if admits(space, &visitor).is_some() {
        return Ok(true);
    }
    person_may(store, space, (person, Permission::Browse)).await
}

/// Those of these people who can decide.
async fn able(store: &Store, space: &Space, people: impl IntoIterator<Item = UserId>) -> Result<Vec<UserId>> {
    let mut able = Vec::new();
    for person in people {
        if may_decide(store, space, person).await? {
            able.push(person);
        }
    }
    Ok(able)
}

fn refused(why: &'static str) -> Error {
    let blocked = serde_json::json!([{ "type": "approval", "why": why }]);
    Error::conflict("transition_blocked", why).adding("blocked", blocked)
}

/// The people whom a status asks; 409 where there is nobody, or there are too many.
async fn approvers(store: &Store, space: &Space, (rule, issue): (&ApprovalRule, &Issue)) -> Result<Vec<UserId>> {
    let mut people: BTreeSet<UserId> = rule.named(space, issue);
    for team in &rule.approvers.team_ids {
        if store.team(space.org_id, *team).await?.is_some() {
            people.extend(store.team_members(*team).await?.into_iter().map(|it| it.user_id));
        }
    }
    if !rule.reporter_may {
        people.retain(|it| Some(*it) != issue.reporter_id);
    }
    if people.len() > APPROVERS_MAX {
        return Err(refused(TOO_MANY_APPROVE));
    }
    let able = able(store, space, people).await?;
    if able.is_empty() { Err(refused(NOBODY_APPROVES)) } else { Ok(able) }
}

/// What a commit does to the approvals of an issue, beside what is decided.
#[derive(Default)]
pub(crate) struct Followed {
    asked: Vec<UserId>,
    withdrawn: bool,
}

/// An issue that leaves a status has nobody be asked there any more, and the status that it enters asks.
pub(crate) async fn follow(
    store: &Store,
    space: &Space,
    (before, after): (Option<&Issue>, &mut Issue),
    now: Timestamp,
) -> Result<Followed> {
    if before.is_some_and(|before| before.status_id == after.status_id && before.space_id == after.space_id) {
        return Ok(Followed::default());
    }
    let mut followed = Followed::default();
    for approval in after.approvals.iter_mut().filter(|it| it.is_pending()) {
        approval.withdraw(now);
        followed.withdrawn = true;
    }
    if let Some(rule) = rule_of(space, after) {
        followed.asked = approvers(store, space, (rule, after)).await?;
        after.approvals.push(Approval::asked(rule, followed.asked.clone(), now));
    }
    Ok(followed)
}

impl Followed {
    /// Keeps it in the history, and tells those who are asked but whoever did it: members as they like, others by e-mail.
    pub(crate) async fn write(
        &self,
        change: &mut Change,
        store: &Store,
        (changed, space): (IssueChanged<'_>, &Space),
    ) -> Result<()> {
        let (issue, pending) = (&changed.after.issue, "pending".to_owned());
        if self.withdrawn {
            change.issue_approval_note(changed, (WITHDRAWN, vec![pending.clone()], vec!["withdrawn".to_owned()]));
        }
        if self.asked.is_empty() {
            return Ok(());
        }
        let people = self.asked.iter().map(ToString::to_string);
        let asked: Vec<String> = std::iter::once(pending).chain(people).collect();
        change.issue_approval_note(changed, (ASKED, Vec::new(), asked));
        let (mut members, title) = (Vec::new(), format!("{} waits for your approval: {}", issue.key, issue.summary));
        for person in self.asked.iter().copied().filter(|it| *it != changed.by) {
            if store.membership(issue.org_id, person).await?.is_some() {
                members.push(person);
                continue;
            }
            let subject = format!("[{}] {}", issue.key, issue.summary);
            let entry =
                OutboxEntry::Email { to: EmailTo::Person(person), subject, body: title.clone(), calendar: None };
            change.outbox_add_for(issue.org_id, changed.at, &entry);
        }
        if !members.is_empty() {
            asking(space, issue, (members, title)).emit(change, changed.at);
        }
        Ok(())
    }
}

fn asking(space: &Space, issue: &Issue, asked: (Vec<UserId>, String)) -> Event {
    let mut event = about("issue.assigned", (space, issue), asked);
    event.data.insert("reason".to_owned(), "approval".into());
    event
}

impl Handle<DecideApproval> for IssueOwner {
    async fn handle(&mut self, command: &DecideApproval, turn: &mut Turn<'_, Self>) -> Result<StoredIssue> {
        let Opened { person, space, stored, .. } = Opened::of(turn, command.org_id).await?;
        let (after, change) =
            decided(turn, &Deciding { person, space, stored, is_public: false }, &command.made).await?;
        turn.commit(change).await?;
        Ok(after)
    }
}

/// What is said with a decision; nothing where it is blank.
fn said(deciding: &Deciding, made: &DecisionMade, now: Timestamp) -> Result<Option<Comment>> {
    let body = made.comment.as_deref().map_or("", str::trim);
    if body.chars().count() > COMMENT_LEN_MAX || body.contains('\0') {
        return Err(Error::invalid("comment", "Use at most 32000 characters."));
    }
    if body.is_empty() {
        return Ok(None);
    }
    let issue = &deciding.stored.issue;
    if u64::try_from(issue.comment_count).unwrap_or(0) >= COMMENTS_MAX {
        return Err(Error::bad_request("limit_reached", format!("An issue has at most {COMMENTS_MAX} comments.")));
    }
    Ok(Some(Comment {
        comment_id: IssueCommentId::new(now),
        issue_id: issue.issue_id,
        author_id: deciding.person,
        body: body.to_owned(),
        public: deciding.is_public,
        version: 1,
        created_at: now,
        updated_at: now,
    }))
}

/// The issue with what somebody decides, and with what follows of it.
async fn settled(
    turn: &Turn<'_, IssueOwner>,
    Deciding { person, space, stored, .. }: &Deciding,
    made: &DecisionMade,
) -> Result<StoredIssue> {
    let (store, now, mut after) = (&turn.services().store, turn.now(), stored.clone());
    let gone = || Error::not_found(APPROVAL_NOT_FOUND);
    let approval = after.issue.approvals.iter_mut().find(|it| it.id == made.id).ok_or_else(gone)?;
    let others = approval.approvers.iter().copied().filter(|it| it != person && !approval.has_decided(*it));
    let able = able(store, space, others).await?;
    let one = Decided { user_id: *person, decision: made.decision, at: now };
    let is_over = approval.decide(one, |it| able.contains(&it))?;
    let (state, of) = (approval.state, approval.status_id.clone());
    let to = rule_of(space, &after.issue).and_then(|rule| rule.leads_to(state)).map(str::to_owned);
    let Some(to) = to.filter(|_| is_over && of == after.issue.status_id) else { return Ok(after) };
    let definition = definition_of(space, &after.issue)
        .ok_or_else(|| Error::internal("a space names a workflow that isn't there"))?;
    // Where the workflow has no such way any more, people take it from there.
    if available(&definition, &of).any(|way| way.to == to) {
        let settings = store.issue_catalog(space.org_id).await?.settings;
        moved(&mut after.issue, &definition, &to, &settings, now);
    }
    Ok(after)
}

/// The issue as a decision leaves it, and what that writes.
pub(crate) async fn decided(
    turn: &Turn<'_, IssueOwner>,
    deciding: &Deciding,
    made: &DecisionMade,
) -> Result<(StoredIssue, Change)> {
    let (store, now) = (&turn.services().store, turn.now());
    let comment = said(deciding, made, now)?;
    let mut after = settled(turn, deciding, made).await?;
    let Deciding { person, space, stored: before, .. } = deciding;
    after.issue.comment_count += i64::from(comment.is_some());
    touched(&mut after, now);
    let followed = follow(store, space, (Some(&before.issue), &mut after.issue), now).await?;
    let happened = Happened { before: Some(&before.issue), said: None };
    let clocks = Clocks::follow(store, space, (happened, &mut after.issue), now).await?;
    let mut change = Change::new();
    change.issue_set(&after, before);
    clocks.write(&mut change, (space, &after.issue), now);
    let changed = IssueChanged { before, after: &after, by: *person, cause: AUTOMATION, at: now };
    change.issue_history_add(changed);
    let by_person = IssueChanged { cause: "person", ..changed };
    change.issue_approval_note(by_person, (DECIDED, Vec::new(), vec![made.decision.as_str().to_owned()]));
    followed.write(&mut change, store, (changed, space)).await?;
    portal::tell_changed(&mut change, store, (before, &after), (*person, now)).await?;
    if let Some(comment) = &comment {
        change.issue_comment_add(&after.issue, comment);
        portal::tell_said(&mut change, store, &after.issue, (comment, now)).await?;
    }
    Ok((after, change))
}
