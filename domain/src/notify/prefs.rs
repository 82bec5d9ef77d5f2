//! What a person chose about being told things (contract A 2.3, 4.3).

use std::{collections::BTreeMap, ops::RangeInclusive};

use super::{catalog::EventType, channel::Channels, quiet::QuietHours, zone::Zone};
use crate::{Error, Result, problems::Problems};

/// VIP senders of a person (contract A 4.3).
pub const VIP_SENDERS_MAX: usize = 100;
/// Characters of a VIP sender (contract A 4.3).
pub const VIP_SENDER_LEN_MAX: usize = 254;
/// Minutes before a meeting (contract A 4.3).
pub const MEETING_LEAD_MINUTES: RangeInclusive<u16> = 0..=120;
/// Minutes before a meeting, for whoever chose nothing.
const MEETING_LEAD_MINUTES_DEFAULT: u16 = 10;

/// A person's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyPrefs {
    /// When not to interrupt them.
    pub quiet_hours: Option<QuietHours>,
    /// Where their clock hangs.
    pub zone: Zone,
    /// Whose mail is a `mail.vip`.
    pub vip_senders: Vec<String>,
    /// How long before a meeting they hear of it.
    pub meeting_lead_minutes: u16,
    /// Whether their calendar reminds them.
    pub calendar_reminders: bool,
    /// The channels that they chose, by type of event; the type's own where they chose none.
    pub choices: BTreeMap<String, Channels>,
}

impl Default for NotifyPrefs {
    fn default() -> Self {
        Self {
            quiet_hours: None,
            zone: Zone::UTC,
            vip_senders: Vec::new(),
            meeting_lead_minutes: MEETING_LEAD_MINUTES_DEFAULT,
            calendar_reminders: true,
            choices: BTreeMap::new(),
        }
    }
}

impl NotifyPrefs {
    /// The channels over which they want to be told of `event`.
    pub fn channels(&self, event: &EventType) -> Channels {
        self.choices.get(event.kind).copied().unwrap_or(event.channels) & event.allowed()
    }

    /// Chooses `channels` for the events of type `kind`; 404 for an unknown type, 400 for a text or call of one that
    /// never texts.
    pub fn choose(&mut self, kind: &str, channels: Channels) -> Result<&'static EventType> {
        let event = EventType::find(kind).ok_or_else(|| Error::not_found("There is no such event."))?;
        if !(channels - event.allowed()).is_empty() {
            return Err(Error::invalid("channels", "This event never texts or calls."));
        }
        if channels == event.channels {
            self.choices.remove(kind);
        } else {
            self.choices.insert(kind.to_owned(), channels);
        }
        Ok(event)
    }
}

/// A change of settings: what is not named stays as it is (`PUT …/settings/prefs`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrefsChange {
    /// Other quiet hours, or none.
    pub quiet_hours: Option<Option<QuietHours>>,
    /// Another time zone.
    pub zone: Option<Zone>,
    /// Other VIP senders.
    pub vip_senders: Option<Vec<String>>,
    /// Another lead.
    pub meeting_lead_minutes: Option<u16>,
    /// Reminders, or none.
    pub calendar_reminders: Option<bool>,
}

impl PrefsChange {
    /// Notes every field that breaks a rule.
    pub fn check(&self, problems: &mut Problems) {
        if let Some(Some(quiet)) = &self.quiet_hours {
            quiet.check("quietHours", problems);
        }
        if let Some(senders) = &self.vip_senders {
            problems.require(senders.len() <= VIP_SENDERS_MAX, "vipSenders", "At most 100 senders fit.");
            for (at, sender) in senders.iter().enumerate() {
                let path = || format!("vipSenders[{at}]");
                let fits = sender.trim().chars().count() <= VIP_SENDER_LEN_MAX;
                problems.require(fits, path(), "Use at most 254 characters.");
                problems.require(!sender.trim().chars().any(char::is_control), path(), "Use no control characters.");
            }
        }
        if let Some(minutes) = self.meeting_lead_minutes {
            let fits = MEETING_LEAD_MINUTES.contains(&minutes);
            problems.require(fits, "meetingLeadMinutes", "Use 0 to 120 minutes.");
        }
    }

    /// Makes the change. Senders are trimmed; empty ones and repetitions go.
    pub fn apply(self, prefs: &mut NotifyPrefs) {
        if let Some(quiet_hours) = self.quiet_hours {
            prefs.quiet_hours = quiet_hours;
        }
        if let Some(zone) = self.zone {
            prefs.zone = zone;
        }
        if let Some(senders) = self.vip_senders {
            prefs.vip_senders = distinct(&senders);
        }
        if let Some(minutes) = self.meeting_lead_minutes {
            prefs.meeting_lead_minutes = minutes;
        }
        if let Some(reminders) = self.calendar_reminders {
            prefs.calendar_reminders = reminders;
        }
    }
}

fn distinct(senders: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for sender in senders.iter().map(|sender| sender.trim()).filter(|sender| !sender.is_empty()) {
        if !kept.iter().any(|other| other.eq_ignore_ascii_case(sender)) {
            kept.push(sender.to_owned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::Channel;

    #[test]
    fn whoever_chose_nothing_has_the_types_own_channels() {
        let prefs = NotifyPrefs::default();
        for event in EventType::all() {
            assert_eq!(prefs.channels(event), event.channels);
        }
    }

    #[test]
    fn a_choice_counts_until_it_is_the_types_own_again() {
        let mut prefs = NotifyPrefs::default();
        let event = prefs.choose("ops.alarm", Channels::of(&[Channel::Voice])).unwrap();
        assert_eq!(prefs.channels(event), Channels::of(&[Channel::Voice]));
        prefs.choose("ops.alarm", Channels::EMPTY).unwrap();
        assert!(prefs.channels(event).is_empty());
        prefs.choose("ops.alarm", event.channels).unwrap();
        assert!(prefs.choices.is_empty());
    }

    #[test]
    fn what_never_texts_can_not_be_made_to() {
        let mut prefs = NotifyPrefs::default();
        let refused = prefs.choose("food.receipt", Channels::of(&[Channel::Inapp, Channel::Sms]));
        assert!(matches!(refused, Err(Error::Invalid { .. })));
        assert!(matches!(prefs.choose("food.fight", Channels::EMPTY), Err(Error::NotFound { .. })));
    }

    #[test]
    fn a_change_touches_what_it_names() {
        let mut prefs = NotifyPrefs::default();
        let senders = [" Ada@Example.com ", "", "ada@example.com", "bob@example.com"].map(str::to_owned).to_vec();
        PrefsChange { vip_senders: Some(senders), ..PrefsChange::default() }.apply(&mut prefs);
        assert_eq!(prefs.vip_senders, ["Ada@Example.com", "bob@example.com"]);
        let expected = NotifyPrefs { vip_senders: prefs.vip_senders.clone(), ..NotifyPrefs::default() };
        PrefsChange::default().apply(&mut prefs);
        assert_eq!(prefs, expected);
    }

    fn problems(change: &PrefsChange) -> Vec<String> {
        let mut problems = Problems::new();
        change.check(&mut problems);
        match problems.into_error() {
            Error::Invalid { problems } => problems.into_iter().map(|problem| problem.path).collect(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn limits_hold_on_both_sides() {
        let senders = |count: usize, length: usize| PrefsChange {
            vip_senders: Some(vec!["s".repeat(length); count]),
            ..PrefsChange::default()
        };
        assert!(problems(&senders(100, 254)).is_empty());
        assert_eq!(problems(&senders(101, 1)), ["vipSenders"]);
        assert_eq!(problems(&senders(1, 255)), ["vipSenders[0]"]);
        let lead = |minutes| PrefsChange { meeting_lead_minutes: Some(minutes), ..PrefsChange::default() };
        assert!(problems(&lead(0)).is_empty() && problems(&lead(120)).is_empty());
        assert_eq!(problems(&lead(121)), ["meetingLeadMinutes"]);
    }
}
