//! What people say of an issue when they make or change it, and what follows.

use domain::{
    Email, Error, Result, Timestamp,
    id::{IssueId, OrgId, UserId},
    issues::{
        access::{Permission, require, role_of},
        builtin,
        family::{Child, Parent, parent_of},
        issue::{day_of, excerpt},
        label::labels,
        limits::{DESCRIPTION_LEN_MAX, GENERATIONS_MAX, ISSUE_NOT_FOUND, SUMMARY_LEN_MAX},
        portal::{REQUEST_TYPE_NOT_FOUND, RequestType},
        settings::Settings,
        space::Space,
    },
    problems::Problems,
};
use serde::{Deserialize, Deserializer, Serialize};
use store::{Store, issues::StoredIssue};

use super::parts;

/// What is said of an issue. What isn't said stays, or takes its default; null clears.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "each is what the contract calls it")]
pub struct IssueFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub description: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub priority: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub resolution: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub assignee: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub reporter: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_versions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affects_versions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub sprint: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub due_date: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub start_date: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub story_points: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub original_estimate: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub remaining_estimate: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub environment: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub parent: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub request_type: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

/// What is there is said, also where it is null.
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
fn said<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// Characters of an environment.
pub(crate) const ENVIRONMENT_LEN_MAX: usize = 32_000;
/// The largest number that an estimate or the points may be.
pub(crate) const NUMBER_MAX: f64 = 1e12;

/// Where fields are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub store: &'a Store,
    pub authority: &'a domain::Authority,
    pub settings: &'a Settings,
    pub space: &'a Space,
}

impl Lookup<'_> {
    fn org_id(&self) -> OrgId {
        self.authority.org_id()
    }

    /// Puts what is said into an issue; an error names everything that can't be.
    pub(crate) async fn apply(&self, fields: &IssueFields, stored: &mut StoredIssue, is_new: bool) -> Result<()> {
        let mut problems = Problems::new();
        texts(fields, stored, &mut problems);
        self.named(fields, stored, &mut problems);
        numbers(fields, stored, &mut problems);
        parts::apply((self.store, self.space), fields, &mut stored.issue, &mut problems).await?;
        if let Some(asked) = &fields.labels {
            let kept = problems.keep(labels("labels", asked))?;
            stored.issue.labels = kept.unwrap_or_default();
        }
        if let Some(who) = &fields.assignee {
            stored.issue.assignee_id = self.person("assignee", who.as_deref(), &mut problems).await?;
        }
        if let Some(who) = &fields.reporter {
            stored.issue.reporter_id = self.person("reporter", who.as_deref(), &mut problems).await?;
        }
        if let Some(parent) = &fields.parent {
            let found = self.parent(parent.as_deref()).await;
            stored.issue.parent_id = problems.keep(found)?.flatten();
        }
        problems.into_result()?;
        if is_new || fields.parent.is_some() || fields.kind.is_some() {
            self.family(stored, is_new).await?;
        }
        Ok(())
    }

    fn named(&self, fields: &IssueFields, stored: &mut StoredIssue, problems: &mut Problems) {
        let issue = &mut stored.issue;
        if let Some(text) = &fields.kind {
            let found = self.settings.type_named(text).filter(|id| self.space.config.issue_type_ids.contains(id));
            match found {
                Some(id) => issue.type_id = id,
                None => problems.add("type", "The space has no such type."),
            }
            let workflow = builtin::workflow(self.space.workflow_of(&issue.type_id));
            let fits = issue.status_id.is_empty() || workflow.is_some_and(|it| it.has_status(&issue.status_id));
            problems.require(fits, "type", "The workflow of this type doesn't have the issue's status.");
        }
        if let Some(asked) = &fields.request_type {
            issue.request_type_id = self.request_type(asked.as_deref(), &issue.type_id, problems);
        }
        if let Some(asked) = &fields.priority {
            issue.priority_id = asked.as_ref().and_then(|text| self.settings.priority_named(text));
            problems.require(asked.is_some() == issue.priority_id.is_some(), "priority", "There is no such priority.");
        }
        if let Some(asked) = &fields.resolution {
            issue.resolution_id = asked.as_ref().and_then(|text| self.settings.resolution_named(text));
            let fits = asked.is_some() == issue.resolution_id.is_some();
            problems.require(fits, "resolution", "There is no such resolution.");
        }
    }

    /// The request type that a text names by id or name, whose issues have to be of the issue's type.
    fn request_type(&self, text: Option<&str>, type_id: &str, problems: &mut Problems) -> Option<String> {
        let text = text?;
        let kinds = || self.space.config.servicedesk.iter().flat_map(|desk| &desk.request_types);
        let named = |it: &&RequestType| it.name.trim().eq_ignore_ascii_case(text.trim());
        let Some(kind) = kinds().find(|it| it.id == text).or_else(|| kinds().find(named)) else {
            problems.add("requestType", REQUEST_TYPE_NOT_FOUND);
            return None;
        };
        let fits = kind.issue_type_id == type_id;
        problems.require(fits, "requestType", "Requests of this kind are issues of another type.");
        Some(kind.id.clone())
    }

    /// A member of the organization whom a text names by id or e-mail address; an assignee must be one whom issues of the space may
    /// be assigned.
    async fn person(&self, path: &'static str, text: Option<&str>, problems: &mut Problems) -> Result<Option<UserId>> {
        let Some(text) = text else { return Ok(None) };
        let id = match (text.parse::<UserId>(), Email::parse(path, text)) {
            (Ok(id), _) => Some(id),
            (_, Ok(email)) => self.store.person_by_email(&email).await?.map(|person| person.id),
            _ => None,
        };
        let member = match id {
            Some(id) => self.store.member(self.org_id(), id).await?,
            None => None,
        };
        let Some(member) = member else {
            problems.add(path, "There is no such person.");
            return Ok(None);
        };
        if path == "assignee" && !self.is_assignable(member.user_id).await? {
            problems.add(path, "Issues of this space can't be assigned to this person.");
        }
        Ok(Some(member.user_id))
    }

    /// Whether issues of the space may be assigned to somebody.
    pub(crate) async fn is_assignable(&self, person: UserId) -> Result<bool> {
        is_assignable(self.store, self.space, person).await
    }

    /// The issue that a text names, which the caller must see.
    async fn parent(&self, text: Option<&str>) -> Result<Option<IssueId>> {
        let Some(text) = text else { return Ok(None) };
        let gone = || Error::invalid("parent", ISSUE_NOT_FOUND);
        let found = self.store.issue_named(self.org_id(), text).await?.ok_or_else(gone)?;
        let space = self.store.issue_space(self.org_id(), found.issue.space_id).await?.ok_or_else(gone)?;
        let teams = super::access::teams_of(self.store, self.authority).await?;
        require(role_of(self.authority, &teams, &space), Permission::Browse, ISSUE_NOT_FOUND).map_err(|_| gone())?;
        Ok(Some(found.issue.issue_id))
    }

    /// Whether the issue may stand below its parent.
    pub(crate) async fn family(&self, stored: &StoredIssue, is_new: bool) -> Result<()> {
        let level = |type_id: &str| self.settings.issue_type(type_id).map_or(0, |kind| kind.level);
        let issue = &stored.issue;
        let (own, space) = (issue.issue_id.to_string(), issue.space_id.to_string());
        let generations = if is_new || self.store.issue_children_count(issue.issue_id).await? == 0 { 1 } else { 2 };
        let key = (!is_new).then_some(own.as_str());
        let child = Child { key, level: level(&issue.type_id), space: &space, generations };
        let Some(parent_id) = issue.parent_id else { return parent_of(child, None) };
        let mut line = Vec::new();
        let mut next = Some(parent_id);
        let mut first = None;
        while let Some(id) = next.filter(|_| line.len() <= GENERATIONS_MAX) {
            let Some(facts) = self.store.issue_parent_facts(self.org_id(), id).await? else { break };
            line.push(facts.id.to_string());
            next = facts.parent_id;
            first = first.or(Some((level(&facts.type_id), facts.space_id.to_string())));
        }
        let Some((level, space)) = first else { return Err(Error::invalid("parent", ISSUE_NOT_FOUND)) };
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        parent_of(child, Some(Parent { level, space: &space, line: &line }))
    }
}

/// Whether issues of a space may be assigned to somebody.
pub(crate) async fn is_assignable(store: &Store, space: &Space, person: UserId) -> Result<bool> {
    super::access::person_may(store, space, (person, Permission::Assignable)).await
}

fn texts(fields: &IssueFields, stored: &mut StoredIssue, problems: &mut Problems) {
    if let Some(summary) = &fields.summary {
        let summary = summary.trim();
        let fits = (1..=SUMMARY_LEN_MAX).contains(&summary.chars().count()) && !summary.contains('\0');
        problems.require(fits, "summary", "Use 1 to 255 characters.");
        summary.clone_into(&mut stored.issue.summary);
    }
    if let Some(description) = &fields.description {
        let text = description.clone().unwrap_or_default();
        let fits = text.chars().count() <= DESCRIPTION_LEN_MAX && !text.contains('\0');
        problems.require(fits, "description", "Use at most 65536 characters.");
        stored.issue.excerpt = excerpt(&text);
        stored.description = text;
    }
    if let Some(environment) = &fields.environment {
        let fits =
            environment.as_ref().is_none_or(|it| it.chars().count() <= ENVIRONMENT_LEN_MAX && !it.contains('\0'));
        problems.require(fits, "environment", "Use at most 32000 characters.");
        stored.issue.environment = environment.clone().filter(|text| !text.is_empty());
    }
}

fn numbers(fields: &IssueFields, stored: &mut StoredIssue, problems: &mut Problems) {
    let issue = &mut stored.issue;
    for (path, asked, field) in
        [("dueDate", &fields.due_date, &mut issue.due_date), ("startDate", &fields.start_date, &mut issue.start_date)]
    {
        let Some(day) = asked else { continue };
        let fits = day.as_ref().is_none_or(|day| day_of(day).is_some());
        problems.require(fits, path, "Write the day as YYYY-MM-DD.");
        field.clone_from(day);
    }
    for (path, asked, field) in [
        ("storyPoints", fields.story_points, &mut issue.story_points),
        ("originalEstimate", fields.original_estimate, &mut issue.original_estimate),
        ("remainingEstimate", fields.remaining_estimate, &mut issue.remaining_estimate),
    ] {
        let Some(number) = asked else { continue };
        let fits = number.is_none_or(|number| (0.0..=NUMBER_MAX).contains(&number));
        problems.require(fits, path, "Use a number that isn't negative.");
        *field = number;
    }
}

/// What is common to all writes of an issue: it counts its version and knows when it changed.
pub(crate) fn touched(stored: &mut StoredIssue, now: Timestamp) {
    stored.issue.version += 1;
    stored.issue.updated_at = now;
}

impl IssueFields {
    /// Whether nothing is said but the version.
    pub fn is_empty(&self) -> bool {
        let Self { kind, summary, description, priority, resolution, assignee, reporter, labels, .. } = self;
        let texts = [kind, summary].iter().all(|it| it.is_none());
        let named = [description, priority, resolution, assignee, reporter].iter().all(|it| it.is_none());
        let days =
            [&self.due_date, &self.start_date, &self.environment, &self.parent, &self.sprint, &self.request_type]
                .iter()
                .all(|it| it.is_none());
        let numbers = [self.story_points, self.original_estimate, self.remaining_estimate].iter().all(Option::is_none);
        let lists =
            [labels, &self.components, &self.fix_versions, &self.affects_versions].iter().all(|it| it.is_none());
        texts && named && lists && days && numbers
    }
}
