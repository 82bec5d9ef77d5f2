//! What the people of a request are told: only what is public, never who did it themselves, and never who may not come in any more.

use domain::{
    Result, Timestamp,
    id::UserId,
    issues::{
        issue::{Comment, Issue},
        portal::admits,
    },
};
use serde_json::json;
use store::{Change, EmailTo, OutboxEntry, Store, issues::StoredIssue};

use super::visitor;

/// Characters of an answer that an e-mail holds.
const QUOTED_LEN_MAX: usize = 4_000;

/// Whoever takes part in a request and may come in; nobody of an issue that is no request.
async fn listeners(store: &Store, issue: &Issue) -> Result<Vec<UserId>> {
    if issue.request_type_id.is_none() {
        return Ok(Vec::new());
    }
    let Some(space) = store.issue_space(issue.org_id, issue.space_id).await? else { return Ok(Vec::new()) };
    let mut people: Vec<UserId> = issue.reporter_id.into_iter().collect();
    people.extend(issue.participants.iter().filter_map(|id| id.parse::<UserId>().ok()));
    people.sort();
    people.dedup();
    let mut listeners = Vec::new();
    for person in people {
        let visitor = visitor(store, issue.org_id, person).await?;
        listeners.extend(admits(&space, &visitor).map(|_| person));
    }
    Ok(listeners)
}

/// Something public of an issue changed: whoever listens is told live.
fn touch(change: &mut Change, issue: &Issue, listeners: &[UserId], now: Timestamp) {
    change.issue_request_touch(issue.issue_id, now);
    let space_key = issue.key.rsplit_once('-').map_or("", |(space, _)| space);
    let message = json!({ "type": "request.changed", "spaceKey": space_key, "key": issue.key });
    for user_id in listeners {
        change.outbox_add(now, &OutboxEntry::Live { user_id: *user_id, message: message.clone() });
    }
}

/// Mails these people.
fn mail(change: &mut Change, issue: &Issue, people: impl IntoIterator<Item = UserId>, now: Timestamp, body: &str) {
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

/// A request was raised: whoever did is told that it arrived.
pub(super) fn tell_raised(change: &mut Change, issue: &Issue, by: UserId, now: Timestamp) {
    let body = format!("We have your request {}: {}\n\nYou hear from us here.", issue.key, issue.summary);
    mail(change, issue, [by], now, &body);
}

/// Something public of a request changed that nobody is mailed about.
pub(super) async fn tell_touched(change: &mut Change, store: &Store, issue: &Issue, now: Timestamp) -> Result<()> {
    let listeners = listeners(store, issue).await?;
    touch(change, issue, &listeners, now);
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
        let words = (issue.summary.clone(), stored.description.clone());
        (words, issue.status_id.clone(), issue.resolution_id.clone(), issue.reporter_id)
    };
    let issue = &after.issue;
    if issue.request_type_id.is_none() || seen(before) == seen(after) {
        return Ok(());
    }
    let listeners = listeners(store, issue).await?;
    touch(change, issue, &listeners, now);
    if before.issue.resolved_at.is_none() && issue.resolved_at.is_some() {
        let body = format!("Your request {} is resolved: {}", issue.key, issue.summary);
        mail(change, issue, listeners.into_iter().filter(|person| *person != by), now, &body);
    }
    Ok(())
}

/// A comment was written: the people of a request are told of a public one.
pub(crate) async fn tell_said(
    change: &mut Change,
    store: &Store,
    issue: &Issue,
    (comment, now): (&Comment, Timestamp),
) -> Result<()> {
    if !comment.public {
        return Ok(());
    }
    let listeners = listeners(store, issue).await?;
    touch(change, issue, &listeners, now);
    let body: String = comment.body.chars().take(QUOTED_LEN_MAX).collect();
    mail(change, issue, listeners.into_iter().filter(|person| *person != comment.author_id), now, &body);
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
