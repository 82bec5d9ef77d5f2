//! The steps of a protocol's rule (contract A 2.3, `steps`).

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};

use super::channel::{Channel, Channels};
use crate::{id::RotaId, problems::Problems};

/// Minutes from the event to a step, or from a step to the event's own start: a week (decisions, "Notifications").
pub const AFTER_MINUTES_MAX: u32 = 10_080;

/// What a rule does at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// How long after the event; in a rule that counts back, how long before the event's own start.
    pub after_minutes: u32,
    /// Over which channels.
    pub channels: StepChannels,
    /// The rota whose person on call is told, instead of the rule's people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rota: Option<RotaId>,
}

impl Step {
    /// Notes what breaks a rule; `path` names the step.
    pub(super) fn check(&self, path: &str, problems: &mut Problems) {
        let in_time = self.after_minutes <= AFTER_MINUTES_MAX;
        problems.require(in_time, format!("{path}.afterMinutes"), "Use 0 to 10080 minutes.");
        let told = !self.channels.0.is_empty();
        problems.require(told, format!("{path}.channels"), "Choose at least one channel.");
    }
}

/// A step's channels. In JSON they are an object, with `true` for each: `{"push": true}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepChannels(pub Channels);

impl Serialize for StepChannels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut channels = serializer.serialize_map(None)?;
        for channel in self.0.iter() {
            channels.serialize_entry(&channel, &true)?;
        }
        channels.end()
    }
}

impl<'de> Deserialize<'de> for StepChannels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = std::collections::BTreeMap::<Channel, bool>::deserialize(deserializer)?;
        Ok(Self(named.into_iter().filter_map(|(channel, chosen)| chosen.then_some(channel)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_an_object() {
        let channels = StepChannels(Channels::of(&[Channel::Voice, Channel::Email]));
        let text = serde_json::to_string(&channels).unwrap();
        assert_eq!(text, r#"{"email":true,"voice":true}"#);
        assert_eq!(serde_json::from_str::<StepChannels>(&text).unwrap(), channels);
        let chosen = serde_json::from_str::<StepChannels>(r#"{"email":true,"sms":false}"#).unwrap();
        assert_eq!(chosen.0, Channels::of(&[Channel::Email]));
        for text in [r#"{"fax":true}"#, r#"{"email":1}"#, r#"["email"]"#] {
            assert!(serde_json::from_str::<StepChannels>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_step_waits_at_most_a_week_and_has_a_channel() {
        let push = StepChannels(Channels::of(&[Channel::Push]));
        for (after_minutes, channels, faults) in
            [(0, push, 0), (10_080, push, 0), (10_081, push, 1), (10_081, StepChannels(Channels::EMPTY), 2)]
        {
            let mut problems = Problems::new();
            Step { after_minutes, channels, rota: None }.check("steps[0]", &mut problems);
            let found = match problems.into_result() {
                Err(crate::Error::Invalid { problems }) => problems.len(),
                _ => 0,
            };
            assert_eq!(found, faults, "{after_minutes}");
        }
    }
}
