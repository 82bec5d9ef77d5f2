//! Ready-made protocols (contract A 2.3, `Template`).

use super::{
    channel::{Channel, Channels},
    rule::Rule,
    step::{Step, StepChannels},
};
use crate::Role;

/// A ready-made protocol.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Its id.
    pub id: &'static str,
    /// What a protocol made from it is called.
    pub name: &'static str,
    /// What such a protocol is for.
    pub description: &'static str,
    rules: fn() -> Vec<Rule>,
}

impl Template {
    /// Every one, in the contract's order.
    pub const ALL: &'static [Self] = &[
        Self {
            id: "production-on-call",
            name: "Production on-call",
            description: "Alarms and failed deployments go to everybody who builds at once and by text after five minutes, \
                          and after a quarter of an hour by call to the admins and owners.",
            rules: production_on_call,
        },
        Self {
            id: "meeting-guard",
            name: "Meeting guard",
            description: "Reminds the people of a meeting more and more urgently before it begins.",
            rules: meeting_guard,
        },
        Self {
            id: "invitation-chaser",
            name: "Invitation chaser",
            description: "Asks again, for three days, for the answer to an invitation.",
            rules: invitation_chaser,
        },
        Self {
            id: "vip-mail",
            name: "VIP mail",
            description: "Tells people of mail from a VIP, and texts them when they don't look.",
            rules: vip_mail,
        },
        Self {
            id: "service-desk-sla",
            name: "Service-desk SLA",
            description: "Tells whoever works on a request that its SLA was breached, then the admins and owners.",
            rules: service_desk_sla,
        },
        Self {
            id: "agent-jobs",
            name: "Agent jobs",
            description: "Tells people how their agents' jobs went, and reminds them of those that failed.",
            rules: agent_jobs,
        },
    ];

    /// The one with this id.
    pub fn find(id: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|template| template.id == id)
    }

    /// The ids of all.
    pub fn ids() -> Vec<&'static str> {
        Self::ALL.iter().map(|template| template.id).collect()
    }

    /// What a protocol made from it does.
    pub fn rules(&self) -> Vec<Rule> {
        (self.rules)()
    }
}

const LOOK: &[Channel] = &[Channel::Push, Channel::Inapp];
const READ: &[Channel] = &[Channel::Email, Channel::Push, Channel::Inapp];
const TEXT: &[Channel] = &[Channel::Sms, Channel::Push];
const CALL: &[Channel] = &[Channel::Voice];
const MAIL: &[Channel] = &[Channel::Email];
const LIST: &[Channel] = &[Channel::Inapp];

/// Tells whom the event concerns, unless the rule is given roles.
fn rule(events: &[&str], steps: &[(u32, &[Channel])]) -> Rule {
    let step = |(after_minutes, channels): &(u32, &[Channel])| Step {
        after_minutes: *after_minutes,
        channels: StepChannels(Channels::of(channels)),
        rota: None,
    };
    Rule {
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        steps: steps.iter().map(step).collect(),
        ..Rule::default()
    }
}

fn production_on_call() -> Vec<Rule> {
    let events = &["ops.alarm", "deployment.failed", "pipeline.failed"];
    let told =
        |roles: &[Role], steps| Rule { roles: roles.to_vec(), override_quiet_hours: true, ..rule(events, steps) };
    let team = told(&[Role::Owner, Role::Admin, Role::Developer], &[(0, READ), (5, TEXT)]);
    let leads = told(&[Role::Owner, Role::Admin], &[(15, CALL), (30, TEXT), (45, CALL)]);
    vec![team, leads]
}

fn meeting_guard() -> Vec<Rule> {
    vec![Rule { before_event: true, ..rule(&["calendar.meeting_soon"], &[(15, LOOK), (5, TEXT), (1, CALL)]) }]
}

fn invitation_chaser() -> Vec<Rule> {
    vec![rule(&["calendar.invite_unanswered"], &[(0, LOOK), (1_440, MAIL), (2_880, READ), (4_320, MAIL)])]
}

fn vip_mail() -> Vec<Rule> {
    vec![rule(&["mail.vip"], &[(0, LOOK), (15, TEXT)])]
}

fn service_desk_sla() -> Vec<Rule> {
    let events = &["issue.sla_breached"];
    let leads = Rule { roles: vec![Role::Owner, Role::Admin], ..rule(events, &[(30, READ), (60, TEXT)]) };
    vec![rule(events, &[(0, READ), (15, TEXT)]), leads]
}

fn agent_jobs() -> Vec<Rule> {
    vec![rule(&["agent.job_failed"], &[(0, LOOK), (30, READ), (1_440, MAIL)]), rule(&["agent.job_done"], &[(0, LIST)])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::{EventType, ProtocolDraft};

    #[test]
    fn there_are_the_contracts_six() {
        let ids = "production-on-call meeting-guard invitation-chaser vip-mail service-desk-sla agent-jobs";
        assert_eq!(Template::ids().join(" "), ids);
        assert!(Template::find("vip-mail").is_some() && Template::find("vip").is_none());
    }

    #[test]
    fn each_makes_a_protocol_that_passes_the_checks_as_it_is() {
        for template in Template::ALL {
            let draft = ProtocolDraft::from_template(template.id).unwrap();
            assert_eq!(draft.clone().check().unwrap(), draft, "{}", template.id);
        }
    }

    #[test]
    fn none_texts_about_what_never_texts() {
        for rule in Template::ALL.iter().flat_map(Template::rules) {
            let texts = rule.steps.iter().any(|step| !(step.channels.0 & Channels::TEXTS).is_empty());
            let never = rule.events.iter().filter_map(|kind| EventType::find(kind)).any(|event| event.texts_off);
            assert!(!(texts && never), "{rule:?}");
        }
    }
}
