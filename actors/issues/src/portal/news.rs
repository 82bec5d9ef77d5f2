//! What the people of a request are told: only what is public, never who did it themselves, and never who may not come in any more.

use domain::{
    Result, Timestamp,
    id::UserId,
    issues::{
        issue::{Comment, Issue},
        portal::{admits, answered_status, is_let_in},
        space::Space,
    },
};
use serde_json::json;
use store::{
    Change, EmailTo, NewWork, OutboxEntry, Store,
    issues::{ISSUES_MAILING, IssuesMailing, MailTo, StoredIssue},
};

use super::visitor;

/// Characters of an answer that an e-mail holds.
const QUOTED_LEN_MAX: usize = 4_000;

/// Whoever is told of a request.
#[derive(Default)]
struct Listeners {
    people: Vec<UserId>,
    /// Those who take part by mail.
    addresses: Vec<String>,
    /// Whether the desk takes mail, so that they can answer.
    by_mail: bool,
}

/// Who did something themselves, and so isn't mailed about it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Besides<'b> {
    /// A person.
    pub person: Option<UserId>,
    /// An address.
    pub address: Option<&'b str>,
}

impl Besides<'_> {
    const fn person(person: UserId) -> Self {
        Self { person: Some(person), address: None }
    }
}

impl Listeners {
    /// Whoever takes part in a request and may come in; nobody of an issue that is no request.
    async fn of(store: &Store, issue: &Issue) -> Result<Self> {
        let space = match &issue.request_type_id {
            Some(_) => store.issue_space(issue.org_id, issue.space_id).await?,
            None => None,
        };
        let Some(space) = space.filter(|space| !space.archived) else { return Ok(Self::default()) };
        let mut people: Vec<UserId> = issue.reporter_id.into_iter().collect();
        people.extend(issue.participants.iter().filter_map(|id| id.parse::<UserId>().ok()));
        people.sort();
        people.dedup();
        let mailing = space.config.servicedesk.as_ref().filter(|desk| desk.email.is_some());
        let mut listeners = Self { by_mail: mailing.is_some(), ..Self::default() };
        for person in people {
            let visitor = visitor(store, issue.org_id, person).await?;
            let hears = mailing.is_some_and(|desk| is_let_in(desk, &visitor)) || admits(&space, &visitor).is_some();
            listeners.people.extend(hears.then_some(person));
        }
        if listeners.by_mail {
            listeners.addresses.extend(issue.requester_email.iter().chain(&issue.email_participants).cloned());
        }
        Ok(listeners)
    }

    /// Something public of an issue changed: whoever listens is told live.
    fn touch(&self, change: &mut Change, issue: &Issue, now: Timestamp) {
        change.issue_request_touch(issue.issue_id, now);
        let space_key = issue.key.rsplit_once('-').map_or("", |(space, _)| space);
        let message = json!({ "type": "request.changed", "spaceKey": space_key, "key": issue.key });
        for user_id in &self.people {
            change.outbox_add(now, &OutboxEntry::Live { user_id: *user_id, message: message.clone() });
        }
    }

    /// Mails them, each a mail of their own.
    fn mail(self, change: &mut Change, issue: &Issue, (besides, now): (Besides<'_>, Timestamp), body: &str) {
        let people = self.people.into_iter().filter(|person| besides.person != Some(*person));
        if self.by_mail {
            let addresses = self.addresses.into_iter().filter(|address| besides.address != Some(address.as_str()));
            for to in people.map(MailTo::Person).chain(addresses.map(MailTo::Address)) {
                let (org_id, issue_id, body) = (issue.org_id, issue.issue_id, body.to_owned());
                let what = IssuesMailing::Write { org_id, issue_id, to, body };
                change.work_add(now, NewWork::new(ISSUES_MAILING, org_id, &what));
            }
            return;
        }
        for user_id in people {
            let entry = OutboxEntry::Email {
                to: EmailTo::Person(user_id),
                subject: format!("[{}] {}", issue.key, issue.summary),
                body: body.to_owned(),
                calendar: None,
            };
            change.outbox_add_for(issue.org_id, now, &entry);
        }
    }
}

/// A request was raised: whoever did is told that it arrived.
pub(crate) fn tell_raised(change: &mut Change, (space, issue): (&Space, &Issue), now: Timestamp) {
    let body = format!("We have your request {}: {}\n\nYou hear from us here.", issue.key, issue.summary);
    let by_mail = space.config.servicedesk.as_ref().is_some_and(|desk| desk.email.is_some());
    let people = issue.reporter_id.into_iter().collect();
    let listeners = Listeners { people, addresses: issue.requester_email.iter().cloned().collect(), by_mail };
    listeners.mail(change, issue, (Besides::default(), now), &body);
}

/// Something public of a request changed that nobody is mailed about.
pub(super) async fn tell_touched(change: &mut Change, store: &Store, issue: &Issue, now: Timestamp) -> Result<()> {
    Listeners::of(store, issue).await?.touch(change, issue, now);
    Ok(())
}

/// What of an issue's fields its people see changed; nothing where none of that did.
pub(crate) async fn tell_changed(
    change: &mut Change,
    store: &Store,
    (before, after): (&StoredIssue, &StoredIssue),
    (by, now): (UserId, Timestamp),
) -> Result<()> {
    let seen = |stored: &StoredIssue| {
        let issue = &stored.issue;
        let words = (issue.summary.clone(), stored.description.clone(), issue.request_type_id.clone());
        (words, issue.status_id.clone(), issue.resolution_id.clone(), issue.reporter_id, issue.approvals.clone())
    };
    let issue = &after.issue;
    if issue.request_type_id.is_none() || seen(before) == seen(after) {
        return Ok(());
    }
    let listeners = Listeners::of(store, issue).await?;
    listeners.touch(change, issue, now);
    if before.issue.resolved_at.is_none() && issue.resolved_at.is_some() {
        let body = format!("Your request {} is resolved: {}", issue.key, issue.summary);
        listeners.mail(change, issue, (Besides::person(by), now), &body);
    } else if listeners.by_mail
        && let Some(status) = new_status(store, &before.issue, issue).await?
    {
        let body = format!("Your request {} is now \"{status}\": {}", issue.key, issue.summary);
        listeners.mail(change, issue, (Besides::person(by), now), &body);
    }
    Ok(())
}

/// What the people of a request read of its status, where that is another word than before.
async fn new_status(store: &Store, before: &Issue, issue: &Issue) -> Result<Option<String>> {
    if before.status_id == issue.status_id {
        return Ok(None);
    }
    let Some(space) = store.issue_space(issue.org_id, issue.space_id).await? else { return Ok(None) };
    let Some(desk) = &space.config.servicedesk else { return Ok(None) };
    let settings = store.issue_catalog(issue.org_id).await?.settings;
    let (was, is) = (answered_status(desk, &settings, before), answered_status(desk, &settings, issue));
    Ok((was != is).then_some(is))
}

/// A comment was written: the people of a request are told of a public one.
pub(crate) async fn tell_said(
    change: &mut Change,
    store: &Store,
    issue: &Issue,
    (comment, now): (&Comment, Timestamp),
) -> Result<()> {
    tell_written(change, store, issue, ((comment, now), Besides::person(comment.author_id))).await
}

/// The same of a comment whose writer may be known by their address only.
pub(crate) async fn tell_written(
    change: &mut Change,
    store: &Store,
    issue: &Issue,
    ((comment, now), besides): ((&Comment, Timestamp), Besides<'_>),
) -> Result<()> {
    if !comment.public {
        return Ok(());
    }
    let listeners = Listeners::of(store, issue).await?;
    listeners.touch(change, issue, now);
    let body: String = comment.body.chars().take(QUOTED_LEN_MAX).collect();
    listeners.mail(change, issue, (besides, now), &body);
    Ok(())
}

/// A comment was changed or deleted.
pub(crate) async fn tell_unsaid(
    change: &mut Change,
    store: &Store,
    issue: &Issue,
    (comment, now): (&Comment, Timestamp),
) -> Result<()> {
    if comment.public { tell_touched(change, store, issue, now).await } else { Ok(()) }
}
