//! An issue (contract B 2.1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    limits::{EXCERPT_LEN, FOLLOWERS_MAX, STATUS_LOG_MAX},
    workflow::Category,
};
use crate::{
    Timestamp,
    id::{IssueId, OrgId, SpaceId, UserId},
};

/// A place on the earth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// An issue, as it is kept and answered. What it lacks is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are the contract's")]
pub struct Issue {
    pub org_id: OrgId,
    pub issue_id: IssueId,
    pub space_id: SpaceId,
    pub number: i64,
    pub key: String,
    pub type_id: String,
    pub summary: String,
    pub status_id: String,
    pub status_category: Category,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_changed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee_id: Option<UserId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter_id: Option<UserId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creator_id: Option<UserId>,
    pub labels: Vec<String>,
    pub component_ids: Vec<String>,
    pub fix_version_ids: Vec<String>,
    pub affects_version_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub story_points: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_estimate: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_estimate: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<IssueId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprint_id: Option<String>,
    pub closed_sprint_ids: Vec<String>,
    pub rank: String,
    pub watchers: Vec<UserId>,
    pub voters: Vec<UserId>,
    pub fields: BTreeMap<String, Value>,
    pub excerpt: String,
    pub status_log: Vec<(String, Timestamp)>,
    pub comment_count: i64,
    pub attachment_count: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_type_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    pub participants: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester_email: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requester_unverified: bool,
    pub email_participants: Vec<String>,
    pub approvals: Vec<super::approval::Approval>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfaction: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfaction_comment: Option<String>,
    pub sla: BTreeMap<String, Value>,
    pub version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A comment on an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Its id.
    pub comment_id: crate::id::IssueCommentId,
    /// The issue.
    pub issue_id: IssueId,
    /// Whoever wrote it.
    pub author_id: UserId,
    /// Markdown.
    pub body: String,
    /// Whether those who raised the request read it too.
    pub public: bool,
    /// Counts its changes.
    pub version: i64,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A change of a field, as the history keeps it: ids, numbers as texts; no value is an empty list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The field, as queries name it.
    pub field: &'static str,
    /// What it held.
    pub from: Vec<String>,
    /// What it holds since.
    pub to: Vec<String>,
}

/// The fields whose history is kept, as queries name them, texts apart. Each comes with the kind of its values: what numbers are
/// given by.
pub const KEPT_FIELDS: [(&str, &str); 22] = [
    ("space", "space"),
    ("type", "type"),
    ("status", "status"),
    ("resolution", "resolution"),
    ("priority", "priority"),
    ("assignee", "person"),
    ("reporter", "person"),
    ("labels", "label"),
    ("component", "component"),
    ("fixVersion", "version"),
    ("affectedVersion", "version"),
    ("sprint", "sprint"),
    ("requestType", "requestType"),
    ("parent", "issue"),
    ("due", "number"),
    ("startDate", "number"),
    ("storyPoints", "number"),
    ("originalEstimate", "number"),
    ("remainingEstimate", "number"),
    ("creator", "person"),
    ("watcher", "person"),
    ("voter", "person"),
];

/// The texts whose changes are told, but not what they said.
pub const KEPT_TEXTS: [&str; 2] = ["summary", "environment"];

impl Issue {
    /// What a field holds, as the history keeps it.
    pub fn kept(&self, field: &str) -> Vec<String> {
        let person = |id: Option<UserId>| id.map(|id| id.to_string()).into_iter().collect();
        let number = |number: Option<f64>| number.map(|number| number.to_string()).into_iter().collect();
        let day =
            |day: Option<&String>| day.and_then(|day| day_of(day)).map(|day| day.to_string()).into_iter().collect();
        match field {
            "space" => vec![self.space_id.to_string()],
            "type" => vec![self.type_id.clone()],
            "status" => vec![self.status_id.clone()],
            "resolution" => self.resolution_id.iter().cloned().collect(),
            "priority" => self.priority_id.iter().cloned().collect(),
            "assignee" => person(self.assignee_id),
            "reporter" => person(self.reporter_id),
            "creator" => person(self.creator_id),
            "watcher" => self.watchers.iter().map(ToString::to_string).collect(),
            "voter" => self.voters.iter().map(ToString::to_string).collect(),
            "labels" => self.labels.iter().map(|label| super::label::folded(label)).collect(),
            "component" => self.component_ids.clone(),
            "fixVersion" => self.fix_version_ids.clone(),
            "affectedVersion" => self.affects_version_ids.clone(),
            "sprint" => self.sprint_id.iter().chain(&self.closed_sprint_ids).cloned().collect(),
            "parent" => self.parent_id.map(|id| id.to_string()).into_iter().collect(),
            "due" => day(self.due_date.as_ref()),
            "startDate" => day(self.start_date.as_ref()),
            "storyPoints" => number(self.story_points),
            "originalEstimate" => number(self.original_estimate),
            "remainingEstimate" => number(self.remaining_estimate),
            "requestType" => self.request_type_id.iter().cloned().collect(),
            "channel" => self.channel.iter().cloned().collect(),
            "participants" => self.participants.clone(),
            "approvals" => super::approval::marks(&self.approvals),
            "summary" => vec![self.summary.clone()],
            "environment" => self.environment.iter().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// What is other than it was, in the order of the fields. Who watches or votes is no change of the issue's content, and who
    /// made it never changes.
    pub fn changes_since(&self, before: &Self) -> Vec<FieldChange> {
        let fields = KEPT_FIELDS.iter().map(|(field, _)| *field).chain(KEPT_TEXTS);
        let changed = fields
            .filter(|field| !matches!(*field, "watcher" | "voter" | "creator"))
            .map(|field| FieldChange { field, from: before.kept(field), to: self.kept(field) });
        changed.filter(|change| change.from != change.to).collect()
    }

    /// The issue in another status, since `at`.
    pub fn enter(&mut self, status_id: &str, category: Category, at: Timestamp) {
        status_id.clone_into(&mut self.status_id);
        self.status_category = category;
        self.status_changed_at = Some(at);
        self.status_log.push((status_id.to_owned(), at));
        let over = self.status_log.len().saturating_sub(STATUS_LOG_MAX);
        self.status_log.drain(..over);
    }

    /// The issue behind the end of a sprint that it was in: in another one, or in none.
    pub fn leave_sprint(&mut self, next: Option<String>) {
        if let Some(ended) = std::mem::replace(&mut self.sprint_id, next)
            && !self.closed_sprint_ids.contains(&ended)
        {
            self.closed_sprint_ids.push(ended);
        }
    }

    /// Has somebody watch: whether they do now. Where [`FOLLOWERS_MAX`] people watch, nobody else does.
    pub fn watch(&mut self, person: UserId) -> bool {
        join(&mut self.watchers, person)
    }

    /// Has somebody watch no longer.
    pub fn unwatch(&mut self, person: UserId) {
        self.watchers.retain(|it| *it != person);
    }

    /// Counts somebody's vote, once: whether it counts now. Where [`FOLLOWERS_MAX`] votes count, no other does.
    pub fn vote(&mut self, person: UserId) -> bool {
        join(&mut self.voters, person)
    }

    /// Takes somebody's vote back.
    pub fn unvote(&mut self, person: UserId) {
        self.voters.retain(|it| *it != person);
    }
}

/// Adds somebody to those who follow an issue in one way, where there is room: whether they are among them.
fn join(people: &mut Vec<UserId>, person: UserId) -> bool {
    let is_in = people.contains(&person);
    if !is_in && people.len() < FOLLOWERS_MAX {
        people.push(person);
        return true;
    }
    is_in
}

/// Where people find an issue.
pub fn issue_url(public_url: &str, org_id: OrgId, key: &str) -> String {
    format!("{public_url}/orgs/{org_id}/issues/{key}")
}

/// A day's number since 1970; nothing for what is no day.
pub fn day_of(text: &str) -> Option<i64> {
    let date = if text.len() == 10 { text.parse::<crate::notify::Date>().ok()? } else { return None };
    Some(super::jql::meaning::day_number(date))
}

/// The beginning of a text in Markdown, as plain text on one line.
pub fn excerpt(markdown: &str) -> String {
    let plain: String =
        markdown.chars().map(|it| if matches!(it, '#' | '*' | '_' | '`' | '>' | '~') { ' ' } else { it }).collect();
    let mut line = String::new();
    for word in plain.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().count() >= EXCERPT_LEN {
            break;
        }
    }
    line.chars().take(EXCERPT_LEN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_of_so_many_characters() {
        assert_eq!(excerpt("# Hello\n\n**big**  `world`"), "Hello big world");
        assert_eq!(excerpt(&"é".repeat(199)).chars().count(), 199);
        assert_eq!(excerpt(&"é".repeat(200)).chars().count(), 200);
        assert_eq!(excerpt(&"é ".repeat(201)).chars().count(), 200);
    }

    #[test]
    fn days_are_whole_dates() {
        assert_eq!(
            (day_of("1970-01-02"), day_of("1970-1-2"), day_of("2026-02-30"), day_of("")),
            (Some(1), None, None, None)
        );
    }
}
