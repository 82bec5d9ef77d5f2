//! What people are told of an issue, as events for notifications (contract A 6).

use actors_base::event::Event;
use domain::{
    Result, Timestamp,
    id::UserId,
    issues::{access::Permission, issue::Issue, mention::mentioned, space::Space},
    notify::ResourceType,
};
use store::{Change, Store};

use super::access::person_may;

/// Something about an issue, for these people, and for the protocols of its space and its organization.
pub(crate) fn about(
    kind: &'static str,
    (space, issue): (&Space, &Issue),
    (people, title): (Vec<UserId>, String),
) -> Event {
    let mut event = Event::new(kind, ("issue", issue.issue_id.to_string()), title);
    event.org_id = Some(issue.org_id);
    event.user_ids = people;
    let space_id = space.space_id.to_string();
    event.within = vec![(ResourceType::Space, space_id), (ResourceType::Org, issue.org_id.to_string())];
    for (name, value) in [
        ("space", Some(space.key.as_str())),
        ("key", Some(issue.key.as_str())),
        ("type", Some(issue.type_id.as_str())),
        ("status", Some(issue.status_id.as_str())),
        ("priority", issue.priority_id.as_deref()),
        ("requestType", issue.request_type_id.as_deref()),
    ] {
        event.data.extend(value.map(|value| (name.to_owned(), value.into())));
    }
    event
}

/// Tells somebody that an issue is theirs now.
pub(crate) fn tell_assigned(change: &mut Change, (space, issue): (&Space, &Issue), assignee: UserId, now: Timestamp) {
    let title = format!("{} is yours: {}", issue.key, issue.summary);
    about("issue.assigned", (space, issue), (vec![assignee], title)).emit(change, now);
}

/// Tells people whom a text mentions and what it was before didn't, where they can see the issue; never who wrote it.
pub(crate) async fn tell_mentioned(
    change: &mut Change,
    store: &Store,
    (space, issue): (&Space, &Issue),
    (before, after): (&str, &str),
    (by, now): (UserId, Timestamp),
) -> Result<()> {
    let known = mentioned(before);
    let mut people = Vec::new();
    for person in mentioned(after).into_iter().filter(|it| *it != by && !known.contains(it)) {
        if person_may(store, space, (person, Permission::Browse)).await? {
            people.push(person);
        }
    }
    if !people.is_empty() {
        let title = format!("You are mentioned in {}: {}", issue.key, issue.summary);
        about("issue.mentioned", (space, issue), (people, title)).emit(change, now);
    }
    Ok(())
}
