//! Spaces: where issues live, who may do what there, and which workflows they follow (contract B 2.3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    key::SpaceKey,
    limits::{SPACE_DESCRIPTION_LEN_MAX, SPACE_MEMBERS_MAX, SPACE_NAME_LEN},
    portal::ServiceDesk,
    settings::Settings,
};
use crate::{
    Error, Result, Timestamp,
    id::{OrgId, SpaceId, UserId},
    problems::Problems,
};

/// A space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Space {
    /// Whose it is.
    pub org_id: OrgId,
    /// Its id.
    pub space_id: SpaceId,
    /// What keys of issues begin with.
    pub key: String,
    /// What people read.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// What it was made of.
    pub template: Template,
    /// Whoever leads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_id: Option<UserId>,
    /// The name of a picture, or an emoji.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Its color.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<super::settings::Color>,
    /// Whether nothing changes in it any more.
    pub archived: bool,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
    /// The number of the newest issue.
    pub seq: i64,
    /// How it behaves.
    pub config: SpaceConfig,
    /// Counts its changes.
    pub version: i64,
    /// Since when there is the space.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a space is made of (contract B 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Template {
    Basic,
    Service,
    Scrum,
    Kanban,
    Bugs,
}

/// How a space behaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpaceConfig {
    /// Types that issues here may have.
    pub issue_type_ids: Vec<String>,
    /// The type of issues that aren't given one.
    pub default_type_id: String,
    /// The workflow of each type; `default` for those that have none of their own.
    pub workflows: BTreeMap<String, String>,
    /// Who sees the space, and does what.
    pub access: SpaceAccess,
    /// Who is responsible for issues that aren't given anybody.
    pub default_assignee: DefaultAssignee,
    /// What work is estimated in.
    pub estimation: Estimation,
    /// What the space offers to people who ask for something; nothing where it is no desk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servicedesk: Option<ServiceDesk>,
}

/// The parts of a configuration that are changed part by part themselves.
const BY_PART: [&str; 2] = ["access", "servicedesk"];

/// Who sees a space, and does what there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceAccess {
    /// Who has a part without being listed.
    pub visibility: Visibility,
    /// Who is listed.
    pub members: Vec<SpaceMember>,
}

/// Who has a part in a space without being listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Everybody of the organization.
    Org,
    /// Nobody.
    Private,
}

/// Somebody who is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceMember {
    /// A person or a team.
    #[serde(rename = "type")]
    pub kind: MemberKind,
    /// Which one.
    pub id: String,
    /// What they may do.
    pub role: SpaceRole,
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberKind {
    /// A person.
    User,
    /// A team.
    Team,
}

/// A role in a space; a higher one has what the lower ones have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum SpaceRole {
    Viewer,
    Member,
    Admin,
}

/// Who is responsible for new issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultAssignee {
    /// Whoever leads the space.
    Lead,
    /// Nobody.
    Unassigned,
}

/// What work is estimated in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Estimation {
    Count,
    StoryPoints,
    OriginalEstimate,
}

impl Template {
    /// All, in the order in which they are offered, with name and description.
    pub const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Basic, "Basic", "Tasks on a simple way from to do to done."),
        (Self::Scrum, "Scrum", "Epics and stories in sprints, estimated in story points."),
        (Self::Kanban, "Kanban", "Work that flows, with a review before the end."),
        (Self::Bugs, "Bugs", "Bugs that are found, fixed and looked at once more."),
        (Self::Service, "Service", "Requests of people whom somebody answers."),
    ];

    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Service => "service",
            Self::Scrum => "scrum",
            Self::Kanban => "kanban",
            Self::Bugs => "bugs",
        }
    }

    /// What a new space begins with.
    pub fn config(self) -> SpaceConfig {
        let (types, workflow, estimation): (&[&str], _, _) = match self {
            Self::Basic => (&["task", "epic", "subtask"], "wf_basic", Estimation::Count),
            Self::Service => {
                (&["request", "incident", "problem", "change", "subtask"], "wf_service", Estimation::Count)
            }
            Self::Scrum => (&["story", "epic", "task", "bug", "subtask"], "wf_software", Estimation::StoryPoints),
            Self::Kanban => (&["task", "epic", "story", "bug", "subtask"], "wf_kanban", Estimation::Count),
            Self::Bugs => (&["bug", "task", "subtask"], "wf_bugs", Estimation::Count),
        };
        SpaceConfig {
            issue_type_ids: types.iter().map(|id| (*id).to_owned()).collect(),
            default_type_id: types[0].to_owned(),
            workflows: BTreeMap::from([("default".to_owned(), workflow.to_owned())]),
            access: SpaceAccess { visibility: Visibility::Org, members: Vec::new() },
            default_assignee: DefaultAssignee::Unassigned,
            estimation,
            servicedesk: (self == Self::Service).then(ServiceDesk::default),
        }
    }
}

impl Space {
    /// The id of the workflow of a type.
    pub fn workflow_of(&self, type_id: &str) -> &str {
        self.config.workflow_of(type_id)
    }

    /// The key as one that is compared.
    pub fn parsed_key(&self) -> Option<SpaceKey> {
        self.key.parse().ok()
    }

    /// Says everything that is wrong with name, description and configuration.
    pub fn check(&self, settings: &Settings) -> Result<()> {
        let mut problems = Problems::new();
        let fits = SPACE_NAME_LEN.contains(&self.name.chars().count()) && !self.name.contains('\0');
        problems.require(fits, "name", "Use 1 to 80 characters.");
        let length = self.description.chars().count();
        let fits = length <= SPACE_DESCRIPTION_LEN_MAX && !self.description.contains('\0');
        problems.require(fits, "description", "Use at most 1000 characters.");
        let fits =
            self.icon.as_ref().is_none_or(|it| it.chars().count() <= super::limits::ICON_LEN_MAX && !it.contains('\0'));
        problems.require(fits, "icon", "Use at most 40 characters.");
        self.config.check(&mut problems, settings);
        problems.into_result()
    }
}

impl SpaceConfig {
    /// The id of the workflow of a type.
    pub fn workflow_of(&self, type_id: &str) -> &str {
        let of_type = self.workflows.get(type_id).or_else(|| self.workflows.get("default"));
        of_type.map_or("wf_basic", String::as_str)
    }

    /// The configuration with the parts that are said; of `access` and of the desk those that are said of them, too. A desk that is
    /// null is taken away.
    ///
    /// # Errors
    /// 400 where what is said is none.
    pub fn with(&self, said: &Value) -> Result<Self> {
        let refused =
            |why: &dyn std::fmt::Display| Error::invalid("config", format!("This is no configuration: {why}."));
        let Value::Object(said) = said else { return Err(refused(&"an object was expected")) };
        let mut whole = serde_json::to_value(self).map_err(Error::internal)?;
        for (name, part) in said {
            match (&mut whole[name], part) {
                (Value::Object(old), Value::Object(new)) if BY_PART.contains(&name.as_str()) => {
                    old.extend(new.iter().map(|(name, value)| (name.clone(), value.clone())));
                }
                (old, new) => *old = new.clone(),
            }
        }
        serde_json::from_value(whole).map_err(|error| refused(&error))
    }

    fn check(&self, problems: &mut Problems, settings: &Settings) {
        let (path, count) = ("config.issueTypeIds", self.issue_type_ids.len());
        problems.require((1..=super::limits::TYPES_MAX).contains(&count), path, "Use 1 to 50 types.");
        for (at, id) in self.issue_type_ids.iter().enumerate() {
            problems.require(settings.issue_type(id).is_some(), format!("{path}[{at}]"), "There is no such type.");
            let is_first = self.issue_type_ids.iter().position(|it| it == id) == Some(at);
            problems.require(is_first, format!("{path}[{at}]"), "This type stands here twice.");
        }
        let has_default = self.issue_type_ids.contains(&self.default_type_id);
        problems.require(has_default, "config.defaultTypeId", "Use one of the space's types.");
        let is_subtask = settings.issue_type(&self.default_type_id).is_some_and(|kind| kind.level < 0);
        problems.require(!is_subtask, "config.defaultTypeId", "A subtask needs a parent, so it is no default.");
        problems.require(self.workflows.contains_key("default"), "config.workflows.default", "This field is required.");
        for (kind, id) in &self.workflows {
            let path = format!("config.workflows.{kind}");
            let is_known = kind == "default" || self.issue_type_ids.contains(kind);
            problems.require(is_known, path.clone(), "Use `default` or one of the space's types.");
            problems.require(super::builtin::workflow(id).is_some(), path, super::limits::WORKFLOW_NOT_FOUND);
        }
        if let Some(desk) = &self.servicedesk {
            desk.check(problems, settings, &self.issue_type_ids);
        }
        super::approval::check(problems, self, settings);
        let members = &self.access.members;
        problems.require(members.len() <= SPACE_MEMBERS_MAX, "config.access.members", "Use at most 500.");
        for (at, member) in members.iter().enumerate() {
            let is_id = match member.kind {
                MemberKind::User => member.id.parse::<UserId>().is_ok(),
                MemberKind::Team => member.id.parse::<crate::id::TeamId>().is_ok(),
            };
            let path = format!("config.access.members[{at}].id");
            problems.require(is_id, path, "This is no id of a person or a team.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_right() {
        for (template, ..) in Template::ALL {
            let mut problems = Problems::new();
            template.config().check(&mut problems, &Settings::default());
            assert!(problems.is_empty(), "{template:?}");
        }
    }

    #[test]
    fn what_is_not_said_of_a_configuration_stays() {
        let config = Template::Service.config();
        let with = |said: serde_json::Value| config.with(&said);
        assert_eq!(with(serde_json::json!({})).ok().as_ref(), Some(&config));
        let changed =
            with(serde_json::json!({ "estimation": "storyPoints", "servicedesk": { "satisfaction": false } }));
        let desk = changed.ok().and_then(|it| it.servicedesk);
        let wanted = config.servicedesk.clone().map(|desk| ServiceDesk { satisfaction: false, ..desk });
        assert_eq!(desk, wanted);
        assert_eq!(with(serde_json::json!({ "servicedesk": null })).ok().map(|it| it.servicedesk), Some(None));
        for wrong in [serde_json::json!([]), serde_json::json!({ "nothing": 1 }), serde_json::json!({ "access": 1 })] {
            assert_eq!(with(wrong).err().map(|it| it.status()), Some(400));
        }
    }

    #[test]
    fn a_configuration_names_what_is_there() {
        let mut config = Template::Basic.config();
        config.issue_type_ids.push("dream".to_owned());
        config.default_type_id = "subtask".to_owned();
        config.workflows.insert("bug".to_owned(), "wf_none".to_owned());
        let mut problems = Problems::new();
        config.check(&mut problems, &Settings::default());
        assert_eq!(problems.count(), 4);
    }
}
