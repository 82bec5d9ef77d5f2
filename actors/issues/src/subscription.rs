//! Mails of what a filter finds, to who asked for them.
//!
//! Each subscriber has a timer of their own at the filter. When it comes, one commit settles it, hands the mail to the outbox and
//! sets the next: a time for which there was a mail has no other, and times that were missed come to one.

use domain::{
    Error, Result, Timestamp,
    id::{IssueFilterId, OrgId, UserId},
    issues::{
        filter::{Filter, Subscription},
        issue::{Issue, issue_url},
        jql::meaning::Fallback,
        settings::Settings,
    },
};
use kernel::{Handle, Resource, TimerFired, Turn};
use store::{
    Change, EmailTo, OutboxEntry, Store,
    issues::{FilterOf, FoundIssues},
};

use super::{
    access::teams_of,
    filter::IssueFilter,
    people::People,
    search::{Asked, search},
};

/// What the names of timers begin with; behind it comes the subscriber.
const TIMER: &str = "sub:";
/// Issues that a mail lists.
const LISTED_MAX: u64 = 50;
/// What is told of each issue where the filter names no columns.
const COLUMNS: [&str; 3] = ["status", "assignee", "dueDate"];

/// Has the subscriber's next mail be sent, or none any more.
pub(crate) fn set_timer(
    change: &mut Change,
    (org_id, id, person): (OrgId, IssueFilterId, UserId),
    (wanted, now): (Option<Subscription>, Timestamp),
) {
    let (key, name) = (id.to_string(), format!("{TIMER}{person}"));
    match wanted {
        Some(wanted) => change.timer_set_for(org_id, IssueFilter::KIND, &key, &name, wanted.due_after(now, id)),
        None => change.timer_cancel(IssueFilter::KIND, &key, &name),
    }
}

impl Handle<TimerFired> for IssueFilter {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        let person = fired.name.strip_prefix(TIMER).and_then(|person| person.parse::<UserId>().ok());
        if let Some(person) = person {
            remind(&mut change, person, turn).await?;
        }
        turn.commit(change).await
    }
}

/// Adds the subscriber's mail, and their next timer.
async fn remind(change: &mut Change, person: UserId, turn: &Turn<'_, IssueFilter>) -> Result<()> {
    let (services, id, now) = (turn.services(), *turn.key(), turn.now());
    let store = &services.store;
    let Some(org_id) = store.issue_filter_org(id).await? else { return Ok(()) };
    let Some(FilterOf { filter, subscription: Some(wanted), .. }) = store.issue_filter(org_id, id, person).await?
    else {
        return Ok(());
    };
    let authority = match store.authority_of_person(org_id, person).await {
        Ok(authority) => authority,
        Err(Error::NotFound { .. }) => {
            change.issue_filter_subscribe(id, person, None);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if !filter.is_read_by(&authority, &teams_of(store, &authority).await?) {
        // Who may not read the filter any more is mailed nothing more.
        change.issue_filter_subscribe(id, person, None);
        return Ok(());
    }
    let asked = Asked { jql: &filter.jql, fallback: Fallback::default(), start: 0, limit: LISTED_MAX };
    let mail = match search(store, &authority, &asked).await {
        Ok(found) if found.total == 0 => None,
        Ok(found) => Some(listed(store, &services.settings.public_url, (&filter, &found)).await?),
        Err(Error::BadRequest { message, .. }) => {
            Some((format!("{}: the query can't be asked", filter.name), format!("{message}\n\n{}\n", filter.jql)))
        }
        Err(error) => return Err(error),
    };
    if let Some((subject, text)) = mail {
        let address = format!("{}/v1/orgs/{org_id}/issues/filters/{id}/subscription", services.settings.public_url);
        let body = format!(
            "{text}\nYou are sent this because you subscribed to the filter \"{}\". To stop it, open the filter in your app, or \
             PUT {{\"subscription\": null}} to\n{address}\n",
            filter.name
        );
        change.outbox_add(now, &OutboxEntry::Email { to: EmailTo::Person(person), subject, body, calendar: None });
        change.issue_filter_sent(id, person, now);
    }
    set_timer(change, (org_id, id, person), (Some(wanted), now));
    Ok(())
}

/// Subject and text of a mail.
async fn listed(store: &Store, public_url: &str, (filter, found): (&Filter, &FoundIssues)) -> Result<(String, String)> {
    let settings = store.issue_catalog(filter.org_id).await?.settings;
    let people = People::read(store, filter.org_id).await?;
    let count = if found.total == 1 { "1 issue".to_owned() } else { format!("{} issues", found.total) };
    let mut parts = Vec::new();
    let columns: Vec<&str> = match &filter.columns {
        Some(columns) => columns.iter().map(String::as_str).collect(),
        None => COLUMNS.to_vec(),
    };
    for issue in &found.issues {
        let told = columns.iter().filter_map(|column| column_of(column, issue, (&settings, &people)));
        let told = told.collect::<Vec<_>>().join(" · ");
        let told = if told.is_empty() { told } else { format!("  {told}\n") };
        let url = issue_url(public_url, filter.org_id, &issue.key);
        parts.push(format!("{}  {}\n{told}  {url}\n\n", issue.key, issue.summary));
    }
    let more = found.total.saturating_sub(found.issues.len() as u64);
    if more > 0 {
        parts.push(format!("And {more} more.\n\n"));
    }
    Ok((format!("{}: {count}", filter.name), parts.concat()))
}

/// What a column says of an issue; nothing where the issue has no value, or nobody knows the column.
fn column_of(column: &str, issue: &Issue, (settings, people): (&Settings, &People)) -> Option<String> {
    let named = |name: &str, id: &str| if name.is_empty() { id.to_owned() } else { name.to_owned() };
    let person = |id: Option<UserId>| id.map(|id| named(people.name(id), &id.to_string()));
    let (called, value) = match column.to_lowercase().as_str() {
        "status" => ("Status", settings.status(&issue.status_id).map(|it| it.name.clone())),
        "type" | "issuetype" => ("Type", settings.issue_type(&issue.type_id).map(|it| it.name.clone())),
        "priority" => {
            let found = settings.priorities.iter().find(|it| Some(&it.id) == issue.priority_id.as_ref());
            ("Priority", found.map(|it| it.name.clone()))
        }
        "resolution" => {
            let found = settings.resolutions.iter().find(|it| Some(&it.id) == issue.resolution_id.as_ref());
            ("Resolution", found.map(|it| it.name.clone()))
        }
        "assignee" => ("Assignee", person(issue.assignee_id)),
        "reporter" => ("Reporter", person(issue.reporter_id)),
        "duedate" | "due" => ("Due", issue.due_date.clone()),
        "startdate" => ("Start", issue.start_date.clone()),
        "storypoints" => ("Story points", issue.story_points.map(|it| it.to_string())),
        "labels" => ("Labels", Some(issue.labels.join(" ")).filter(|it| !it.is_empty())),
        _ => return None,
    };
    value.map(|value| format!("{called}: {value}"))
}
