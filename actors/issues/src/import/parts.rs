//! Components and versions of a file's issues, which are made where the caller says so.

use domain::{
    id::{IssueComponentId, IssueVersionId},
    issues::{
        issue::Issue,
        limits::{CATALOG_FIELD_MAX, COMPONENTS_MAX, VERSIONS_MAX},
        parts::{Component, ComponentAssignee, Version, folded},
        transfer::SourceIssue,
    },
    problems::Problems,
};
use store::Change;

use super::{Desk, Made};

/// The parts of the space, and those that a call makes.
#[derive(Debug, Default)]
pub(super) struct FileParts {
    components: Vec<Component>,
    versions: Vec<Version>,
    /// How many of each were there before the call.
    known: (usize, usize),
}

impl FileParts {
    pub(super) fn new(components: Vec<Component>, versions: Vec<Version>) -> Self {
        let known = (components.len(), versions.len());
        Self { components, versions, known }
    }

    /// Writes what the call makes.
    pub(super) fn write(&self, change: &mut Change, org_id: domain::id::OrgId) {
        for component in &self.components[self.known.0..] {
            change.issue_component_add(org_id, component);
        }
        for version in &self.versions[self.known.1..] {
            change.issue_version_add(org_id, version);
        }
    }
}

impl Desk<'_> {
    /// Gives an issue its components and versions; what is left out is told.
    pub(super) fn parts(&self, made: &mut Made, issue: &mut Issue, source: &SourceIssue, warnings: &mut Vec<String>) {
        for text in &source.components {
            let id = self.component(&mut made.parts, text);
            kept(&mut issue.component_ids, (id, "component", text), warnings);
        }
        for (texts, field) in [
            (&source.fix_versions, &mut issue.fix_version_ids),
            (&source.affects_versions, &mut issue.affects_version_ids),
        ] {
            for text in texts {
                let id = self.version(&mut made.parts, text);
                kept(field, (id, "version", text), warnings);
            }
        }
    }

    fn component(&self, parts: &mut FileParts, text: &str) -> Option<String> {
        let name = folded(text);
        let found = parts.components.iter().find(|it| folded(&it.name) == name || it.id.to_string() == name);
        if let Some(found) = found {
            return Some(found.id.to_string());
        }
        let component = Component {
            id: IssueComponentId::new(self.now),
            space_id: self.space.space_id,
            name: text.trim().to_owned(),
            description: String::new(),
            lead_id: None,
            default_assignee: ComponentAssignee::default(),
            version: 1,
            created_at: self.now,
        };
        let mut problems = Problems::new();
        component.check(&mut problems);
        if !self.create_missing || !problems.is_empty() || parts.components.len() >= COMPONENTS_MAX {
            return None;
        }
        let id = component.id.to_string();
        parts.components.push(component);
        Some(id)
    }

    fn version(&self, parts: &mut FileParts, text: &str) -> Option<String> {
        let name = folded(text);
        let found = parts.versions.iter().find(|it| folded(&it.name) == name || it.id.to_string() == name);
        if let Some(found) = found {
            return Some(found.id.to_string());
        }
        let version = Version {
            id: IssueVersionId::new(self.now),
            space_id: self.space.space_id,
            name: text.trim().to_owned(),
            description: String::new(),
            start_date: None,
            release_date: None,
            released_at: None,
            archived: false,
            place: parts.versions.iter().map(|it| it.place).max().unwrap_or(0) + 1,
            version: 1,
            created_at: self.now,
        };
        let mut problems = Problems::new();
        version.check(&mut problems);
        if !self.create_missing || !problems.is_empty() || parts.versions.len() >= VERSIONS_MAX {
            return None;
        }
        let id = version.id.to_string();
        parts.versions.push(version);
        Some(id)
    }
}

/// Adds what was found, once, as long as there is room for it.
fn kept(field: &mut Vec<String>, (id, what, text): (Option<String>, &str, &str), warnings: &mut Vec<String>) {
    match id {
        None => warnings.push(format!("Unknown {what}: {text}")),
        Some(id) if field.contains(&id) => {}
        Some(_) if field.len() >= CATALOG_FIELD_MAX => {
            warnings.push(format!("An issue can have {CATALOG_FIELD_MAX} {what}s."));
        }
        Some(id) => field.push(id),
    }
}
