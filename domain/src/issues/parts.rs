//! What a space is made of, and what it comes out as: components, and versions that issues are fixed in or affect.

use serde::{Deserialize, Serialize};

use super::{
    issue::day_of,
    limits::{CATALOG_NAME_LEN_MAX, PART_DESCRIPTION_LEN_MAX},
};
use crate::{
    Timestamp,
    id::{IssueComponentId, IssueVersionId, SpaceId, UserId},
    problems::Problems,
};

/// A component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its id.
    pub id: IssueComponentId,
    /// The space.
    pub space_id: SpaceId,
    /// What people read; no two of a space have one that differs by case only.
    pub name: String,
    /// What it is; may be empty.
    pub description: String,
    /// Whoever leads it.
    pub lead_id: Option<UserId>,
    /// Who is responsible for its new issues that aren't given anybody.
    pub default_assignee: ComponentAssignee,
    /// Counts its changes.
    pub version: i64,
    /// Since when it is there.
    pub created_at: Timestamp,
}

/// Who is responsible for new issues of a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComponentAssignee {
    /// Whomever the space names.
    #[default]
    Space,
    /// Whoever leads the component.
    Lead,
    /// Nobody.
    Unassigned,
}

impl ComponentAssignee {
    /// The name of it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Lead => "lead",
            Self::Unassigned => "unassigned",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Space, Self::Lead, Self::Unassigned].into_iter().find(|it| it.as_str() == name)
    }
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its id.
    pub id: IssueVersionId,
    /// The space.
    pub space_id: SpaceId,
    /// What people read; no two of a space have one that differs by case only.
    pub name: String,
    /// What it is; may be empty.
    pub description: String,
    /// The day on which work on it begins, `YYYY-MM-DD`.
    pub start_date: Option<String>,
    /// The day on which it is to come out, or came out.
    pub release_date: Option<String>,
    /// When it was released.
    pub released_at: Option<Timestamp>,
    /// Whether no more issues come to it.
    pub archived: bool,
    /// Its place among the versions of the space, by which versions compare.
    pub place: i64,
    /// Counts its changes.
    pub version: i64,
    /// Since when it is there.
    pub created_at: Timestamp,
}

/// A name as names of components and versions are compared.
pub fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

fn named(problems: &mut Problems, name: &str, description: &str) {
    let is_name = |name: &str| (1..=CATALOG_NAME_LEN_MAX).contains(&name.chars().count());
    let fits = is_name(name.trim()) && !name.chars().any(char::is_control);
    problems.require(fits, "name", "Use 1 to 100 characters.");
    let fits = description.chars().count() <= PART_DESCRIPTION_LEN_MAX && !description.contains('\0');
    problems.require(fits, "description", "Use at most 1000 characters.");
}

impl Component {
    /// Says everything that is wrong with it.
    pub fn check(&self, problems: &mut Problems) {
        named(problems, &self.name, &self.description);
        let has_lead = self.default_assignee != ComponentAssignee::Lead || self.lead_id.is_some();
        problems.require(has_lead, "defaultAssignee", "Nobody leads this component.");
    }
}

impl Version {
    /// Says everything that is wrong with it.
    pub fn check(&self, problems: &mut Problems) {
        named(problems, &self.name, &self.description);
        for (path, day) in [("startDate", &self.start_date), ("releaseDate", &self.release_date)] {
            let fits = day.as_ref().is_none_or(|day| day_of(day).is_some());
            problems.require(fits, path, "Write the day as YYYY-MM-DD.");
        }
    }

    /// Whether it was released.
    pub const fn is_released(&self) -> bool {
        self.released_at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_to_a_hundred_characters_and_days_are_days() {
        let version = |name: &str, day: &str| Version {
            id: IssueVersionId::new(Timestamp(0)),
            space_id: SpaceId::new(Timestamp(0)),
            name: name.to_owned(),
            description: String::new(),
            start_date: None,
            release_date: Some(day.to_owned()),
            released_at: None,
            archived: false,
            place: 1,
            version: 1,
            created_at: Timestamp(0),
        };
        let faults = |version: Version| {
            let mut problems = Problems::new();
            version.check(&mut problems);
            problems.count()
        };
        for (length, wrong) in [(0, 1), (1, 0), (99, 0), (100, 0), (101, 1)] {
            assert_eq!(faults(version(&"x".repeat(length), "2027-01-01")), wrong, "{length}");
        }
        assert_eq!(faults(version("a\nb", "soon")), 2);
        assert_eq!(folded(" É1 "), "é1");
    }

    #[test]
    fn only_a_component_with_a_lead_gives_issues_to_them() {
        for kind in [ComponentAssignee::Space, ComponentAssignee::Lead, ComponentAssignee::Unassigned] {
            assert_eq!(ComponentAssignee::from_name(kind.as_str()), Some(kind));
            let component = Component {
                id: IssueComponentId::new(Timestamp(0)),
                space_id: SpaceId::new(Timestamp(0)),
                name: "Front".to_owned(),
                description: String::new(),
                lead_id: None,
                default_assignee: kind,
                version: 1,
                created_at: Timestamp(0),
            };
            let mut problems = Problems::new();
            component.check(&mut problems);
            assert_eq!(problems.is_empty(), kind != ComponentAssignee::Lead);
        }
    }
}
