//! Components and versions as issues name them.

use domain::{
    Result,
    id::UserId,
    issues::{
        boards::{Sprint, SprintState},
        issue::Issue,
        limits::{CATALOG_FIELD_MAX, CATALOG_NAME_LEN_MAX},
        parts::{Component, ComponentAssignee, Version, folded},
        space::{DefaultAssignee, Space},
    },
    problems::Problems,
};
use store::Store;

use super::fields::IssueFields;

/// What a text may name: its id, its name, and whether it may be given to an issue that hasn't it yet.
struct Choice {
    id: String,
    folded: String,
    is_open: bool,
}

impl From<&Component> for Choice {
    fn from(component: &Component) -> Self {
        Self { id: component.id.to_string(), folded: folded(&component.name), is_open: true }
    }
}

impl From<&Version> for Choice {
    fn from(version: &Version) -> Self {
        Self { id: version.id.to_string(), folded: folded(&version.name), is_open: !version.archived }
    }
}

/// Puts the components and versions that are said into an issue. Archived versions stay where they are, and come to no other issue.
pub(crate) async fn apply(
    (store, space): (&Store, &Space),
    fields: &IssueFields,
    issue: &mut Issue,
    problems: &mut Problems,
) -> Result<()> {
    let of = (space.org_id, Some(space.space_id));
    if let Some(asked) = &fields.sprint {
        let known = store.issue_sprints(of.0, of.1).await?;
        issue.sprint_id = sprint(&known, asked.as_deref(), issue.sprint_id.as_deref(), problems);
    }
    if let Some(asked) = &fields.components {
        let known: Vec<Choice> = store.issue_components(of.0, of.1).await?.iter().map(Choice::from).collect();
        put(("components", "component"), asked, &mut issue.component_ids, (&known[..], &mut *problems));
    }
    if fields.fix_versions.is_none() && fields.affects_versions.is_none() {
        return Ok(());
    }
    let known: Vec<Choice> = store.issue_versions(of.0, of.1).await?.iter().map(Choice::from).collect();
    for (path, asked, field) in [
        ("fixVersions", &fields.fix_versions, &mut issue.fix_version_ids),
        ("affectsVersions", &fields.affects_versions, &mut issue.affects_version_ids),
    ] {
        if let Some(asked) = asked {
            put((path, "version"), asked, field, (&known[..], &mut *problems));
        }
    }
    Ok(())
}

/// The sprint that a text names, which the issue is in already or which isn't closed.
fn sprint(known: &[Sprint], asked: Option<&str>, had: Option<&str>, problems: &mut Problems) -> Option<String> {
    let text = asked?;
    let is_open = |it: &&Sprint| it.state != SprintState::Closed || had == Some(it.id.to_string().as_str());
    let mut open = known.iter().filter(is_open);
    let named = |it: &&Sprint| it.id.to_string() == text.trim() || folded(&it.name) == folded(text);
    let found = open.find(named).map(|it| it.id.to_string());
    problems.require(found.is_some(), "sprint", "The space has no such sprint that is open.");
    found
}

fn put(
    (path, what): (&str, &str),
    asked: &[String],
    field: &mut Vec<String>,
    (known, problems): (&[Choice], &mut Problems),
) {
    if asked.len() > CATALOG_FIELD_MAX {
        return problems.add(path, format!("Use at most {CATALOG_FIELD_MAX}."));
    }
    let had = std::mem::take(field);
    for (at, text) in asked.iter().enumerate() {
        let path = || format!("{path}.{at}");
        if text.chars().count() > CATALOG_NAME_LEN_MAX {
            problems.add(path(), format!("Use at most {CATALOG_NAME_LEN_MAX} characters."));
            continue;
        }
        let name = folded(text);
        let found = known.iter().find(|it| it.id == text.trim()).or_else(|| known.iter().find(|it| it.folded == name));
        match found {
            None => problems.add(path(), format!("The space has no such {what}.")),
            Some(it) if !it.is_open && !had.contains(&it.id) => problems.add(path(), "This version is archived."),
            Some(it) if field.contains(&it.id) => {}
            Some(it) => field.push(it.id.clone()),
        }
    }
}

/// Who is responsible for a new issue that isn't given anybody: what the first of its components says that says something, else what
/// the space does.
pub(crate) async fn default_assignee(store: &Store, space: &Space, issue: &Issue) -> Result<Option<UserId>> {
    let by_space = match space.config.default_assignee {
        DefaultAssignee::Lead => space.lead_id,
        DefaultAssignee::Unassigned => None,
    };
    if issue.component_ids.is_empty() {
        return Ok(by_space);
    }
    let known = store.issue_components(space.org_id, Some(space.space_id)).await?;
    let own = issue.component_ids.iter().filter_map(|id| known.iter().find(|it| it.id.to_string() == *id));
    let mut says = own.filter(|it| it.default_assignee != ComponentAssignee::Space);
    Ok(says.next().map_or(by_space, |it| match it.default_assignee {
        ComponentAssignee::Lead => it.lead_id,
        ComponentAssignee::Unassigned | ComponentAssignee::Space => None,
    }))
}
