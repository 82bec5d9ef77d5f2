//! Notification protocols (contract A 2.3): what an organization does about events, step by step.

use std::{collections::BTreeSet, ops::RangeInclusive};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{resource_type::ResourceType, rule::Rule, template::Template};
use crate::{
    Error, Result, Timestamp,
    account::{name_check, text_check},
    app::names,
    id::{OrgId, ProtocolId, RotaId, UserId},
    organization::DESCRIPTION_LEN_MAX,
    problems::{Problems, all},
};

/// Protocols of one organization (decisions, "Notifications").
pub const PROTOCOLS_MAX: usize = 100;
/// Rules of one protocol (decisions, "Notifications").
pub const RULES_MAX: usize = 20;
/// Things that one protocol is attached to.
pub const ATTACHMENTS_MAX: usize = 100;
/// Characters of the id of a thing that a protocol is attached to.
pub const RESOURCE_ID_LEN: RangeInclusive<usize> = 1..=128;
/// Characters of what such a thing is called.
pub const RESOURCE_LABEL_LEN: RangeInclusive<usize> = 1..=120;

/// A protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Its id.
    pub id: ProtocolId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// What it says.
    pub draft: ProtocolDraft,
    /// Who made it.
    pub created_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it or its attachments last changed.
    pub updated_at: Timestamp,
    /// What it is attached to. To nothing: it applies to no event.
    pub attachments: Vec<Attachment>,
}

/// What a protocol says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolDraft {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it does anything.
    pub enabled: bool,
    /// What it does.
    pub rules: Vec<Rule>,
}

/// What changes of a protocol; nothing of what is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolChange {
    /// What it is called.
    pub name: Option<String>,
    /// What it is for; `Some(None)` takes the description away.
    pub description: Option<Option<String>>,
    /// Whether it does anything.
    pub enabled: Option<bool>,
    /// What it does.
    pub rules: Option<Vec<Rule>>,
}

/// What a protocol is attached to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Its kind.
    pub resource_type: ResourceType,
    /// Its id; of an organization, the protocol's own.
    pub resource_id: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_label: Option<String>,
}

names! {
    /// Why a protocol does nothing.
    Inactive { Disabled = "disabled", NotAttached = "not_attached", }
}

impl Inactive {
    /// The same for whoever wonders why nothing happens.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Disabled => "It is disabled.",
            Self::NotAttached => {
                "It is attached to nothing, so it applies to no event. Attach it to the organization or to a part of it."
            }
        }
    }
}

impl Protocol {
    /// Why it does nothing, where it doesn't.
    pub const fn inactive(&self) -> Option<Inactive> {
        if !self.draft.enabled {
            Some(Inactive::Disabled)
        } else if self.attachments.is_empty() {
            Some(Inactive::NotAttached)
        } else {
            None
        }
    }

    /// The rules that are about an event of the type `kind` that says `data`, with their places.
    pub fn rules_for<'p>(
        &'p self,
        kind: &'p str,
        data: &'p Map<String, Value>,
    ) -> impl Iterator<Item = (usize, &'p Rule)> {
        self.draft.rules.iter().enumerate().filter(move |(_, rule)| self.draft.enabled && rule.applies(kind, data))
    }
}

impl ProtocolDraft {
    /// Checks what somebody wrote.
    pub fn check(self) -> Result<Self> {
        let description = self.description.as_deref().map(|text| description_check("description", text)).transpose();
        let checks = (name_check("name", &self.name), description, rules_check("rules", &self.rules));
        let (name, description, ()) = all(checks)?;
        Ok(Self { name, description: description.flatten(), ..self })
    }

    /// What a ready-made template says.
    pub fn from_template(id: &str) -> Result<Self> {
        let template = Template::find(id).ok_or_else(|| {
            Error::invalid(
                "template",
                format!("There is no such template. Use one of: {}.", Template::ids().join(", ")),
            )
        })?;
        Ok(Self {
            name: template.name.to_owned(),
            description: Some(template.description.to_owned()),
            enabled: true,
            rules: template.rules(),
        })
    }

    /// What it says after `change`.
    pub fn changed(&self, change: ProtocolChange) -> Result<Self> {
        let draft = Self {
            name: change.name.unwrap_or_else(|| self.name.clone()),
            description: change.description.unwrap_or_else(|| self.description.clone()),
            enabled: change.enabled.unwrap_or(self.enabled),
            rules: change.rules.unwrap_or_else(|| self.rules.clone()),
        };
        draft.check()
    }

    /// The rotas that its steps go to.
    pub fn rotas(&self) -> BTreeSet<RotaId> {
        self.rules.iter().flat_map(Rule::rotas).collect()
    }

    /// The people whom its rules name.
    pub fn people(&self) -> BTreeSet<UserId> {
        self.rules.iter().flat_map(|rule| rule.user_ids.iter().copied()).collect()
    }
}

impl Attachment {
    /// To the organization as a whole.
    pub fn to_organization(org_id: OrgId) -> Self {
        Self { resource_type: ResourceType::Org, resource_id: org_id.to_string(), resource_label: None }
    }

    /// Checks what somebody attaches a protocol of `org_id` to.
    pub fn check(org_id: OrgId, resource_type: ResourceType, id: &str, label: Option<&str>) -> Result<Self> {
        let own = resource_type != ResourceType::Org || id == org_id.to_string();
        let id = if own {
            text_check("resourceId", id, &RESOURCE_ID_LEN)
        } else {
            Err(Error::invalid("resourceId", "A protocol is attached to its own organization only."))
        };
        let label = label.map(|label| text_check("label", label, &RESOURCE_LABEL_LEN)).transpose();
        let (resource_id, resource_label) = all((id, label))?;
        Ok(Self { resource_type, resource_id, resource_label })
    }

    /// Whether both are of the same thing.
    pub fn is_of(&self, resource_type: ResourceType, resource_id: &str) -> bool {
        self.resource_type == resource_type && self.resource_id == resource_id
    }
}

/// A description of up to 256 characters; an empty one is none.
fn description_check(path: &str, text: &str) -> Result<Option<String>> {
    let text = text_check(path, text, &(0..=DESCRIPTION_LEN_MAX))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn rules_check(path: &str, rules: &[Rule]) -> Result<()> {
    let mut problems = Problems::new();
    problems.require((1..=RULES_MAX).contains(&rules.len()), path, "A protocol has 1 to 20 rules.");
    // Beyond the limit the rules are not read: their problems would drown the one that matters.
    for (place, rule) in rules.iter().enumerate().take(RULES_MAX) {
        rule.check(&format!("{path}[{place}]"), &mut problems);
    }
    problems.into_result()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> ProtocolDraft {
        ProtocolDraft::from_template("production-on-call").unwrap()
    }

    fn org() -> OrgId {
        "org_01h455vb4pex5vsknk084sn02q".parse().unwrap()
    }

    #[test]
    fn a_draft_is_trimmed_and_an_empty_description_is_none() {
        let draft = ProtocolDraft { name: " Nights ".into(), description: Some("  ".into()), ..draft() };
        let checked = draft.check().unwrap();
        assert_eq!((checked.name.as_str(), checked.description), ("Nights", None));
    }

    #[test]
    fn every_field_at_fault_is_named() {
        let draft = ProtocolDraft {
            name: " ".into(),
            description: Some("d".repeat(257)),
            enabled: true,
            rules: vec![Rule::default()],
        };
        let Err(Error::Invalid { problems }) = draft.check() else { panic!() };
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["name", "description", "rules[0].events", "rules[0].steps"]);
    }

    #[test]
    fn a_protocol_has_one_to_twenty_rules() {
        let rule = draft().rules[0].clone();
        for (count, fits) in [(0, false), (1, true), (20, true), (21, false)] {
            assert_eq!(ProtocolDraft { rules: vec![rule.clone(); count], ..draft() }.check().is_ok(), fits, "{count}");
        }
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name() {
        let draft = draft();
        let change = ProtocolChange { enabled: Some(false), description: Some(None), ..ProtocolChange::default() };
        let changed = draft.changed(change).unwrap();
        assert_eq!(changed, ProtocolDraft { enabled: false, description: None, ..draft });
    }

    #[test]
    fn an_unknown_template_is_refused_with_the_known_ones() {
        let Err(Error::Invalid { problems }) = ProtocolDraft::from_template("on-call") else { panic!() };
        assert_eq!(problems[0].path, "template");
        assert!(problems[0].message.contains("production-on-call, meeting-guard"), "{}", problems[0].message);
    }

    #[test]
    fn a_protocol_is_attached_to_its_own_organization_only() {
        let own = org().to_string();
        assert!(Attachment::check(org(), ResourceType::Org, &own, None).is_ok());
        let other = OrgId::new(Timestamp(2)).to_string();
        assert!(Attachment::check(org(), ResourceType::Org, &other, None).is_err());
        assert!(Attachment::check(org(), ResourceType::Project, &other, Some("Shop")).is_ok());
    }

    #[test]
    fn what_a_protocol_is_attached_to_has_an_id_and_a_label_of_some_length() {
        for (id, label, fits) in [(1, 1, true), (128, 120, true), (129, 120, false), (128, 121, false), (1, 0, false)] {
            let (id, label) = ("i".repeat(id), "l".repeat(label));
            let checked = Attachment::check(org(), ResourceType::Space, &id, Some(&label));
            assert_eq!(checked.is_ok(), fits, "{} {}", id.len(), label.len());
        }
    }

    #[test]
    fn a_disabled_protocol_does_nothing() {
        let mut protocol = Protocol {
            id: ProtocolId::new(Timestamp(1)),
            org_id: org(),
            draft: draft(),
            created_by: UserId::new(Timestamp(1)),
            created_at: Timestamp(1),
            updated_at: Timestamp(1),
            attachments: Vec::new(),
        };
        let data = Map::new();
        assert_eq!(protocol.rules_for("ops.alarm", &data).count(), 2);
        protocol.draft.enabled = false;
        assert_eq!(protocol.rules_for("ops.alarm", &data).count(), 0);
    }
}
