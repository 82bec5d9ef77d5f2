//! The catalogs of an organization: statuses, types, priorities, resolutions and kinds of links (contract B 2.3, 4.2).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    limits::{
        CATALOG_DESCRIPTION_LEN_MAX, ICON_LEN_MAX, LEVELS, LINK_NAME_LEN, LINK_TYPES_MAX, NAME_LEN, PRIORITIES_MAX,
        RESOLUTIONS_MAX, STATUSES_MAX, TYPES_MAX,
    },
    workflow::Category,
};
use crate::{Result, problems::Problems};

/// Characters of an id in a catalog (contract B 2.3).
const ID_LEN: std::ops::RangeInclusive<usize> = 1..=32;

/// What an issue can be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// What it means.
    pub category: Category,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A kind of issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueType {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// The name of a picture.
    pub icon: String,
    /// Its color.
    pub color: Color,
    /// How high it stands: parents stand higher than their children.
    pub level: i64,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How urgent an issue is. The first of the list is the most urgent one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Priority {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// The name of a picture.
    pub icon: String,
    /// Its color.
    pub color: Color,
}

/// How an issue ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How two issues hang together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkType {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// What the first issue does to the other: `blocks`.
    pub outward: String,
    /// What the other suffers: `is blocked by`.
    pub inward: String,
}

/// Colors of types and priorities (contract B 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Color {
    Gray,
    Orange,
    Yellow,
    Green,
    Blue,
    Purple,
    Pink,
    Red,
    Teal,
}

/// All catalogs of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Statuses, in the order in which they are listed.
    pub statuses: Vec<Status>,
    /// Types.
    pub issue_types: Vec<IssueType>,
    /// Priorities, the most urgent first.
    pub priorities: Vec<Priority>,
    /// The priority of issues that aren't given one.
    pub default_priority_id: String,
    /// Resolutions.
    pub resolutions: Vec<Resolution>,
    /// Kinds of links.
    pub link_types: Vec<LinkType>,
}

/// Something of a catalog.
trait Entry {
    fn id(&self) -> &str;
    fn name(&self) -> &str;
}

macro_rules! entries {
    ($($kind:ty)*) => {$(
        impl Entry for $kind {
            fn id(&self) -> &str {
                &self.id
            }

            fn name(&self) -> &str {
                &self.name
            }
        }
    )*};
}

entries! { Status IssueType Priority Resolution LinkType }

impl Default for Settings {
    /// What every organization begins with.
    fn default() -> Self {
        Self {
            statuses: STATUSES.map(status).to_vec(),
            issue_types: TYPES.map(issue_type).to_vec(),
            priorities: PRIORITIES.map(priority).to_vec(),
            default_priority_id: "medium".to_owned(),
            resolutions: RESOLUTIONS.map(resolution).to_vec(),
            link_types: LINK_TYPES.map(link_type).to_vec(),
        }
    }
}

const STATUSES: [(&str, &str, Category); 10] = [
    ("todo", "To do", Category::Todo),
    ("in_progress", "In progress", Category::InProgress),
    ("in_review", "In review", Category::InProgress),
    ("done", "Done", Category::Done),
    ("waiting_for_support", "Waiting for support", Category::Todo),
    ("waiting_for_customer", "Waiting for customer", Category::InProgress),
    ("waiting_for_approval", "Waiting for approval", Category::InProgress),
    ("resolved", "Resolved", Category::Done),
    ("closed", "Closed", Category::Done),
    ("cancelled", "Cancelled", Category::Done),
];

const TYPES: [(&str, &str, Color, i64); 9] = [
    ("epic", "Epic", Color::Purple, 1),
    ("story", "Story", Color::Green, 0),
    ("task", "Task", Color::Blue, 0),
    ("bug", "Bug", Color::Red, 0),
    ("request", "Request", Color::Teal, 0),
    ("incident", "Incident", Color::Orange, 0),
    ("problem", "Problem", Color::Pink, 0),
    ("change", "Change", Color::Yellow, 0),
    ("subtask", "Subtask", Color::Gray, -1),
];

const PRIORITIES: [(&str, &str, Color); 5] = [
    ("highest", "Highest", Color::Red),
    ("high", "High", Color::Orange),
    ("medium", "Medium", Color::Yellow),
    ("low", "Low", Color::Blue),
    ("lowest", "Lowest", Color::Gray),
];

const RESOLUTIONS: [(&str, &str); 4] =
    [("done", "Done"), ("wont_do", "Won't do"), ("duplicate", "Duplicate"), ("cannot_reproduce", "Cannot reproduce")];

const LINK_TYPES: [(&str, &str, &str, &str); 5] = [
    ("blocks", "Blocks", "blocks", "is blocked by"),
    ("clones", "Clones", "clones", "is cloned by"),
    ("duplicates", "Duplicates", "duplicates", "is duplicated by"),
    ("relates", "Relates", "relates to", "relates to"),
    ("causes", "Causes", "causes", "is caused by"),
];

fn status((id, name, category): (&str, &str, Category)) -> Status {
    Status { id: id.to_owned(), name: name.to_owned(), category, description: None }
}

fn issue_type((id, name, color, level): (&str, &str, Color, i64)) -> IssueType {
    let (id, name) = (id.to_owned(), name.to_owned());
    IssueType { icon: id.clone(), id, name, color, level, description: None }
}

fn priority((id, name, color): (&str, &str, Color)) -> Priority {
    Priority { id: id.to_owned(), name: name.to_owned(), icon: id.to_owned(), color }
}

fn resolution((id, name): (&str, &str)) -> Resolution {
    Resolution { id: id.to_owned(), name: name.to_owned(), description: None }
}

fn link_type((id, name, outward, inward): (&str, &str, &str, &str)) -> LinkType {
    let (id, name) = (id.to_owned(), name.to_owned());
    LinkType { id, name, outward: outward.to_owned(), inward: inward.to_owned() }
}

/// The id among these that a text names, by id or by name in whatever case; the id goes first.
fn named<T: Entry>(all: &[T], text: &str) -> Option<String> {
    let by_id = all.iter().find(|entry| entry.id() == text);
    let folded = text.trim().to_lowercase();
    let found = by_id.or_else(|| all.iter().find(|entry| entry.name().to_lowercase() == folded));
    found.map(|entry| entry.id().to_owned())
}

/// All ids among these that a text names.
fn all_named<T: Entry>(all: &[T], text: &str) -> Vec<String> {
    let folded = text.trim().to_lowercase();
    let fits = |entry: &&T| entry.id() == folded || entry.name().to_lowercase() == folded;
    all.iter().filter(fits).map(|entry| entry.id().to_owned()).collect()
}

impl Settings {
    /// The status with this id.
    pub fn status(&self, id: &str) -> Option<&Status> {
        self.statuses.iter().find(|status| status.id == id)
    }

    /// The type with this id.
    pub fn issue_type(&self, id: &str) -> Option<&IssueType> {
        self.issue_types.iter().find(|kind| kind.id == id)
    }

    /// The id of the type that a text names.
    pub fn type_named(&self, text: &str) -> Option<String> {
        named(&self.issue_types, text)
    }

    /// The id of the priority that a text names.
    pub fn priority_named(&self, text: &str) -> Option<String> {
        named(&self.priorities, text)
    }

    /// The id of the resolution that a text names.
    pub fn resolution_named(&self, text: &str) -> Option<String> {
        named(&self.resolutions, text)
    }

    /// The kind of link that a text names, by id, name, or what it is called from either end; and whether it is called so from
    /// the other issue's end.
    pub fn link_named(&self, text: &str) -> Option<(&LinkType, bool)> {
        let folded = text.trim().to_lowercase();
        let outward = self.link_types.iter().find(|link| {
            link.id == folded || link.name.to_lowercase() == folded || link.outward.to_lowercase() == folded
        });
        let inward = || self.link_types.iter().find(|link| link.inward.to_lowercase() == folded);
        outward.map(|link| (link, false)).or_else(|| inward().map(|link| (link, true)))
    }

    /// All ids that a name stands for in a catalog of queries: `status`, `type`, `priority`, `resolution` or `link`.
    pub fn ids_named(&self, catalog: Catalog, text: &str) -> Vec<String> {
        match catalog {
            Catalog::Status => all_named(&self.statuses, text),
            Catalog::Type => all_named(&self.issue_types, text),
            Catalog::Priority => all_named(&self.priorities, text),
            Catalog::Resolution => all_named(&self.resolutions, text),
            Catalog::Link => all_named(&self.link_types, text),
        }
    }

    /// Says everything that is wrong with catalogs that are to replace others.
    pub fn check(&self) -> Result<()> {
        let mut problems = Problems::new();
        catalog(&mut problems, "statuses", &self.statuses, 1..=STATUSES_MAX);
        catalog(&mut problems, "issueTypes", &self.issue_types, 1..=TYPES_MAX);
        catalog(&mut problems, "priorities", &self.priorities, 1..=PRIORITIES_MAX);
        catalog(&mut problems, "resolutions", &self.resolutions, 0..=RESOLUTIONS_MAX);
        catalog(&mut problems, "linkTypes", &self.link_types, 0..=LINK_TYPES_MAX);
        for (at, status) in self.statuses.iter().enumerate() {
            description(&mut problems, &format!("statuses[{at}]"), status.description.as_ref());
        }
        for (at, resolution) in self.resolutions.iter().enumerate() {
            description(&mut problems, &format!("resolutions[{at}]"), resolution.description.as_ref());
        }
        for (at, kind) in self.issue_types.iter().enumerate() {
            let path = format!("issueTypes[{at}]");
            description(&mut problems, &path, kind.description.as_ref());
            icon(&mut problems, &path, &kind.icon);
            problems.require(LEVELS.contains(&kind.level), format!("{path}.level"), "Use a whole number from -1 to 5.");
        }
        for (at, priority) in self.priorities.iter().enumerate() {
            icon(&mut problems, &format!("priorities[{at}]"), &priority.icon);
        }
        for (at, link) in self.link_types.iter().enumerate() {
            for (name, text) in [("outward", &link.outward), ("inward", &link.inward)] {
                let fits = LINK_NAME_LEN.contains(&text.trim().chars().count()) && !text.contains('\0');
                problems.require(fits, format!("linkTypes[{at}].{name}"), "Use 1 to 60 characters.");
            }
        }
        let has_default = self.priorities.iter().any(|priority| priority.id == self.default_priority_id);
        problems.require(has_default, "defaultPriorityId", "There is no such priority.");
        problems.into_result()
    }

    /// The same with names as they are kept: without white space around them.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        let names = self.statuses.iter_mut().map(|it| &mut it.name);
        let names = names.chain(self.issue_types.iter_mut().map(|it| &mut it.name));
        let names = names.chain(self.priorities.iter_mut().map(|it| &mut it.name));
        let names = names.chain(self.resolutions.iter_mut().map(|it| &mut it.name));
        for name in names {
            *name = name.trim().to_owned();
        }
        for link in &mut self.link_types {
            for text in [&mut link.name, &mut link.outward, &mut link.inward] {
                *text = text.trim().to_owned();
            }
        }
        self
    }

    /// The ids that stand in these catalogs and not in others, each with the name of its catalog and its own.
    pub fn without(&self, others: &Self) -> Vec<Removed> {
        let mut gone = Vec::new();
        removed(&mut gone, Catalog::Status, &self.statuses, &others.statuses);
        removed(&mut gone, Catalog::Type, &self.issue_types, &others.issue_types);
        removed(&mut gone, Catalog::Priority, &self.priorities, &others.priorities);
        removed(&mut gone, Catalog::Resolution, &self.resolutions, &others.resolutions);
        removed(&mut gone, Catalog::Link, &self.link_types, &others.link_types);
        gone
    }
}

/// A catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Catalog {
    Status,
    Type,
    Priority,
    Resolution,
    Link,
}

/// Something that is to leave its catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Which catalog.
    pub catalog: Catalog,
    /// Its id.
    pub id: String,
    /// What people read.
    pub name: String,
}

fn removed<T: Entry>(gone: &mut Vec<Removed>, catalog: Catalog, before: &[T], after: &[T]) {
    let left = before.iter().filter(|entry| after.iter().all(|it| it.id() != entry.id()));
    gone.extend(left.map(|it| Removed { catalog, id: it.id().to_owned(), name: it.name().to_owned() }));
}

fn catalog<T: Entry>(problems: &mut Problems, path: &str, all: &[T], count: std::ops::RangeInclusive<usize>) {
    let (least, most) = (count.start(), count.end());
    problems.require(count.contains(&all.len()), path, format!("Use {least} to {most}."));
    let mut seen = BTreeSet::new();
    for (at, entry) in all.iter().enumerate() {
        let fits = ID_LEN.contains(&entry.id().len())
            && entry.id().bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        problems.require(fits, format!("{path}[{at}].id"), "Use 1 to 32 small letters, digits and underscores.");
        problems.require(seen.insert(entry.id()), format!("{path}[{at}].id"), "This id stands here twice.");
        let fits = NAME_LEN.contains(&entry.name().trim().chars().count()) && !entry.name().contains('\0');
        problems.require(fits, format!("{path}[{at}].name"), "Use 1 to 80 characters.");
    }
}

fn description(problems: &mut Problems, path: &str, text: Option<&String>) {
    let fits = text.is_none_or(|text| text.chars().count() <= CATALOG_DESCRIPTION_LEN_MAX && !text.contains('\0'));
    problems.require(fits, format!("{path}.description"), "Use at most 500 characters.");
}

fn icon(problems: &mut Problems, path: &str, text: &str) {
    let fits = text.chars().count() <= ICON_LEN_MAX && !text.contains('\0');
    problems.require(fits, format!("{path}.icon"), "Use at most 40 characters.");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn paths(settings: &Settings) -> Vec<String> {
        match settings.check() {
            Err(Error::Invalid { problems }) => problems.into_iter().map(|problem| problem.path).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn what_everybody_begins_with_is_right() {
        let settings = Settings::default();
        assert_eq!(paths(&settings), [""; 0]);
        assert_eq!(settings.without(&settings), []);
        assert_eq!(settings.type_named("BUG").as_deref(), Some("bug"));
        assert_eq!(
            settings.link_named("is blocked by").map(|(link, inward)| (link.id.as_str(), inward)),
            Some(("blocks", true))
        );
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let mut settings = Settings::default();
        settings.statuses[1].id = "todo".to_owned();
        settings.issue_types[0].level = 6;
        settings.priorities[0].name = " ".to_owned();
        settings.link_types[0].inward = "x".repeat(61);
        settings.default_priority_id = "none".to_owned();
        assert_eq!(
            paths(&settings),
            ["statuses[1].id", "priorities[0].name", "issueTypes[0].level", "linkTypes[0].inward", "defaultPriorityId"]
        );
    }

    #[test]
    fn catalogs_have_a_size() {
        let with = |count: usize| {
            let status = |at: usize| Status { id: format!("s{at}"), ..Settings::default().statuses[0].clone() };
            paths(&Settings { statuses: (0..count).map(status).collect(), ..Settings::default() }).len()
        };
        assert_eq!([with(0), with(1), with(199), with(200), with(201)], [1, 0, 0, 0, 1]);
    }
}
