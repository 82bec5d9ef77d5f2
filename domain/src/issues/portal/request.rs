//! What follows of what the people of a request do.

use std::time::Duration;

use super::desk::ServiceDesk;
use crate::{
    Error, Result, Timestamp,
    id::UserId,
    issues::{
        approval::Approval,
        issue::Issue,
        settings::Settings,
        workflow::{Category, Definition, available},
    },
};

const DAY: Duration = Duration::from_hours(24);

/// Whether an issue is a request that somebody raised or takes part in; who was asked to approve it does.
pub fn takes_part(issue: &Issue, person: UserId) -> bool {
    let is_participant = || issue.participants.contains(&person.to_string());
    let is_asked = || issue.approvals.iter().any(|it| it.approvers.contains(&person));
    issue.request_type_id.is_some() && (issue.reporter_id == Some(person) || is_participant() || is_asked())
}

/// What the people of a request read of its status: the word of its type, or the status's name.
pub fn answered_status(desk: &ServiceDesk, settings: &Settings, issue: &Issue) -> String {
    let kind = issue.request_type_id.as_ref().and_then(|id| desk.request_type(id));
    let word = kind.and_then(|kind| kind.statuses.get(&issue.status_id)).cloned();
    let name = || settings.status(&issue.status_id).map(|status| status.name.clone());
    word.or_else(name).unwrap_or_else(|| issue.status_id.clone())
}

/// Whether a request waits for somebody who takes part in it.
pub fn waits_for(desk: &ServiceDesk, issue: &Issue, person: UserId) -> bool {
    desk.waiting.contains(&issue.status_id) || issue.approvals.iter().any(|it| it.waits_for(person))
}

/// The status that a comment of its people moves a request to, if any; 409 where the request is over for too long.
pub fn reply(desk: &ServiceDesk, issue: &Issue, workflow: &Definition, now: Timestamp) -> Result<Option<String>> {
    let is_over = issue.status_category == Category::Done;
    let since = issue.resolved_at.or(issue.status_changed_at).unwrap_or(issue.updated_at);
    if is_over && now > since.after(DAY * desk.reopen_days) {
        return Err(Error::conflict("request_closed", "This request is closed. Raise a new one."));
    }
    // What waits for an approval goes on by being approved, not by being talked about.
    let is_awaited = issue.approvals.iter().any(Approval::is_pending);
    if !is_over && (is_awaited || !desk.waiting.contains(&issue.status_id)) {
        return Ok(None);
    }
    let leads = |to: &String| available(workflow, &issue.status_id).any(|way| way.to == *to);
    Ok(desk.reopen_status.clone().filter(leads))
}

/// Whether somebody may rate a request.
pub fn rating_check(desk: &ServiceDesk, issue: &Issue, person: UserId) -> Result<()> {
    if issue.reporter_id != Some(person) {
        return Err(Error::forbidden("reporter_only", "Only the person who raised the request can rate it."));
    }
    if !desk.satisfaction {
        return Err(Error::conflict("ratings_off", "This help center doesn't take ratings."));
    }
    if issue.satisfaction.is_some() {
        return Err(Error::conflict("already_rated", "You have rated this request."));
    }
    if issue.status_category != Category::Done {
        return Err(Error::conflict("not_resolved", "You can rate a request once it is resolved."));
    }
    Ok(())
}
