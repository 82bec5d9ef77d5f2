//! The rules of protocols as they travel.

use std::collections::BTreeMap;

use domain::{
    Role,
    id::{RotaId, UserId},
    notify::{Channel, Channels, Rule, Step, StepChannels},
    problems::Problems,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a protocol does about some events.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "events": ["ops.alarm"], "match": {"severity": ["critical"]}, "roles": ["admin"],
    "steps": [
        {"afterMinutes": 0, "channels": {"push": true, "inapp": true}},
        {"afterMinutes": 10, "channels": {"sms": true, "voice": true}, "rota": "rot_01jd7rt4m5e9fv2w8x3c6k0hqz"}
    ],
    "overrideQuietHours": true
}))]
pub(crate) struct RuleBody {
    /// The types of the events.
    events: Vec<String>,
    /// What an event's data must say: for each key, one of the values.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    matches: Option<BTreeMap<String, Vec<String>>>,
    /// What is done, and when: 1 to 10.
    steps: Vec<StepBody>,
    /// Whether the steps count back from the event's own start.
    #[serde(skip_serializing_if = "Option::is_none")]
    before_event: Option<bool>,
    /// Tells the members with these roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<Vec<String>>,
    /// Tells these members. With neither, the rule tells whom the event concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_ids: Option<Vec<String>>,
    /// Whether quiet hours don't hold it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    override_quiet_hours: Option<bool>,
}

/// What a rule does at one moment.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"afterMinutes": 0, "channels": {"push": true, "inapp": true}}))]
pub(crate) struct StepBody {
    /// How many minutes after the event, or before its own start: 0 to 10,080.
    after_minutes: i64,
    /// Over which channels; at least one.
    channels: ChannelsBody,
    /// The rota whose person on call is told, instead of the rule's people.
    #[serde(skip_serializing_if = "Option::is_none")]
    rota: Option<String>,
}

/// A step's channels.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"push": true, "inapp": true}))]
pub(crate) struct ChannelsBody {
    /// An e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<bool>,
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    sms: Option<bool>,
    /// A push message to each device.
    #[serde(skip_serializing_if = "Option::is_none")]
    push: Option<bool>,
    /// A call.
    #[serde(skip_serializing_if = "Option::is_none")]
    voice: Option<bool>,
    /// An entry in the list of notices.
    #[serde(skip_serializing_if = "Option::is_none")]
    inapp: Option<bool>,
}

impl From<Channels> for ChannelsBody {
    fn from(channels: Channels) -> Self {
        let has = |channel| channels.contains(channel).then_some(true);
        Self {
            email: has(Channel::Email),
            sms: has(Channel::Sms),
            push: has(Channel::Push),
            voice: has(Channel::Voice),
            inapp: has(Channel::Inapp),
        }
    }
}

impl ChannelsBody {
    fn read(&self) -> Channels {
        let Self { email, sms, push, voice, inapp } = *self;
        let chosen = [
            (Channel::Email, email),
            (Channel::Sms, sms),
            (Channel::Push, push),
            (Channel::Voice, voice),
            (Channel::Inapp, inapp),
        ];
        chosen.into_iter().filter_map(|(channel, chosen)| chosen.unwrap_or(false).then_some(channel)).collect()
    }
}

impl From<&Rule> for RuleBody {
    fn from(rule: &Rule) -> Self {
        let step = |step: &Step| StepBody {
            after_minutes: step.after_minutes.into(),
            channels: step.channels.0.into(),
            rota: step.rota.map(|rota| rota.to_string()),
        };
        let roles: Vec<_> = rule.roles.iter().map(Role::to_string).collect();
        let user_ids: Vec<_> = rule.user_ids.iter().map(UserId::to_string).collect();
        Self {
            events: rule.events.clone(),
            matches: Some(rule.matches.clone()).filter(|matches| !matches.is_empty()),
            steps: rule.steps.iter().map(step).collect(),
            before_event: rule.before_event.then_some(true),
            roles: Some(roles).filter(|roles| !roles.is_empty()),
            user_ids: Some(user_ids).filter(|user_ids| !user_ids.is_empty()),
            override_quiet_hours: rule.override_quiet_hours.then_some(true),
        }
    }
}

/// Reads rules; what names nothing is noted in `problems` and left out. The rest is checked by `domain`.
pub(super) fn read_rules(rules: Vec<RuleBody>, problems: &mut Problems) -> Vec<Rule> {
    let rules = rules.into_iter().enumerate();
    rules.map(|(place, rule)| rule.read(&format!("rules[{place}]"), problems)).collect()
}

impl RuleBody {
    fn read(self, path: &str, problems: &mut Problems) -> Rule {
        let mut roles = Vec::new();
        for (place, name) in self.roles.unwrap_or_default().iter().enumerate() {
            match Role::from_name(name) {
                Some(role) => roles.push(role),
                None => problems.add(format!("{path}.roles[{place}]"), "Use owner, admin, developer or viewer."),
            }
        }
        let mut user_ids = Vec::new();
        for (place, id) in self.user_ids.unwrap_or_default().iter().enumerate() {
            match id.parse::<UserId>() {
                Ok(user_id) => user_ids.push(user_id),
                Err(_) => problems.add(format!("{path}.userIds[{place}]"), "This is no person's id."),
            }
        }
        let steps = self.steps.into_iter().enumerate();
        let steps = steps.map(|(place, step)| step.read(&format!("{path}.steps[{place}]"), problems)).collect();
        Rule {
            events: self.events,
            matches: self.matches.unwrap_or_default(),
            steps,
            before_event: self.before_event.unwrap_or(false),
            roles,
            user_ids,
            override_quiet_hours: self.override_quiet_hours.unwrap_or(false),
        }
    }
}

impl StepBody {
    fn read(self, path: &str, problems: &mut Problems) -> Step {
        let rota = self.rota.and_then(|id| {
            let rota = id.parse::<RotaId>().ok();
            problems.require(rota.is_some(), format!("{path}.rota"), "The organization has no such rota.");
            rota
        });
        // What is no number of minutes at all is over the limit too.
        let after_minutes = u32::try_from(self.after_minutes).unwrap_or(u32::MAX);
        Step { after_minutes, channels: StepChannels(self.channels.read()), rota }
    }
}
