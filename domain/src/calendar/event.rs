//! What an event is made of (contract B 2.8), and what is taken when one is written (B 4.9).

use std::ops::RangeInclusive;

use super::{
    recurrence::{Form, LocalTime, Recurrence, Rule, Start, Wall},
    zone_named,
};
use crate::{Email, Error, Result, app::names, problems::Problems};

/// Characters of a summary; it may be empty (contract B 4.9).
pub const SUMMARY_LEN_MAX: usize = 1_000;
/// Characters of a description (contract B 4.9).
pub const DESCRIPTION_LEN_MAX: usize = 64_000;
/// Characters of a location (contract B 4.9).
pub const LOCATION_LEN_MAX: usize = 2_000;
/// Characters of an address on the web (contract B 4.9).
pub const URL_LEN_MAX: usize = 2_000;
/// People who are invited (contract B 4.9).
pub const ATTENDEES_MAX: usize = 200;
/// Characters of an invited person's name (contract B 4.9).
pub const ATTENDEE_NAME_LEN_MAX: usize = 200;
/// Reminders of an event (contract B 4.9).
pub const REMINDERS_MAX: usize = 5;
/// Minutes before the start at which a reminder comes; negative ones come behind it (contract B 4.9).
pub const REMINDER_MINUTES: RangeInclusive<i64> = -10_080..=40_320;
/// Categories of an event (contract B 4.9).
pub const CATEGORIES_MAX: usize = 30;
/// Characters of a category (contract B 4.9).
pub const CATEGORY_LEN: RangeInclusive<usize> = 1..=100;

names! {
    /// Whether an event takes place (contract B 2.8).
    EventStatus { Cancelled = "cancelled", Confirmed = "confirmed", Tentative = "tentative", }
}

names! {
    /// How an event shows the time of those who are in it (contract B 2.8).
    BusyStatus {
        Busy = "busy", Free = "free", Tentative = "tentative", OutOfOffice = "oof", WorkingElsewhere = "workingElsewhere",
    }
}

names! {
    /// Who may read more than the time of an event (contract B 2.8).
    Sensitivity { Private = "private", Personal = "personal", Normal = "normal", Confidential = "confidential", }
}

names! {
    /// What somebody is to an event (contract B 2.8).
    AttendeeRole { Optional = "optional", Required = "required", Chair = "chair", NonParticipant = "non-participant", }
}

names! {
    /// What somebody answered (contract B 2.8).
    AttendeeStatus {
        Accepted = "accepted", Delegated = "delegated", Tentative = "tentative", NeedsAction = "needs-action",
        Declined = "declined",
    }
}

names! {
    /// Who or what is invited (contract B 2.8).
    AttendeeKind { Unknown = "unknown", Resource = "resource", Group = "group", Individual = "individual", Room = "room", }
}

/// An event as it was sent; nothing of it has been looked at.
#[derive(Clone, Debug, Default)]
pub struct EventFields {
    /// What it is called.
    pub summary: String,
    /// What it is about.
    pub description: String,
    /// Where it is.
    pub location: String,
    /// Whether it is of whole days.
    pub all_day: bool,
    /// When it begins, on the wall of its zone.
    pub start: String,
    /// When it ends; that moment, or day, doesn't belong to it.
    pub end: String,
    /// The zone.
    pub time_zone: String,
    /// How it recurs.
    pub recurrence: Option<Recurrence>,
    /// Those who are invited.
    pub attendees: Vec<InvitedFields>,
    /// Minutes before the start.
    pub reminders: Vec<i64>,
    /// Words that people sort by.
    pub categories: Vec<String>,
    /// Where more stands.
    pub url: Option<String>,
}

/// Somebody who is to be invited, as it was sent.
#[derive(Clone, Debug, Default)]
pub struct InvitedFields {
    /// The address.
    pub email: String,
    /// The name.
    pub name: Option<String>,
    /// Whether the event takes place without them.
    pub optional: bool,
}

/// What may be written.
#[derive(Clone, Debug)]
pub struct EventDraft {
    /// What it is called.
    pub summary: String,
    /// What it is about.
    pub description: String,
    /// Where it is.
    pub location: String,
    /// When it begins, and in which zone.
    pub start: Start,
    /// When its first occurrence ends, on the same wall.
    pub end: Wall,
    /// How it recurs.
    pub rule: Option<Rule>,
    /// Those who are invited, each once.
    pub attendees: Vec<Invited>,
    /// Minutes before the start, each once, the earliest first.
    pub reminders: Vec<i64>,
    /// Words that people sort by.
    pub categories: Vec<String>,
    /// Where more stands.
    pub url: Option<String>,
}

/// Somebody who is invited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invited {
    /// The address.
    pub email: Email,
    /// The name.
    pub name: Option<String>,
    /// Whether the event takes place without them.
    pub optional: bool,
}

impl EventFields {
    /// The event, where all of it may be written; otherwise every field at fault.
    pub fn check(&self) -> Result<EventDraft> {
        let mut problems = Problems::new();
        let time = problems.keep(self.time())?;
        let rule = match (&self.recurrence, &time) {
            (Some(recurrence), Some((start, _))) => problems.keep(recurrence.check("recurrence", start.at))?,
            _ => None,
        };
        self.lengths(&mut problems);
        let attendees = self.invited(&mut problems)?;
        let reminders = self.reminders(&mut problems);
        let (Some((start, end)), true) = (time, problems.is_empty()) else { return Err(problems.into_error()) };
        Ok(EventDraft {
            summary: self.summary.trim().to_owned(),
            description: self.description.clone(),
            location: self.location.trim().to_owned(),
            start,
            end,
            rule,
            attendees,
            reminders,
            categories: self.categories.iter().map(|it| it.trim().to_owned()).collect(),
            url: self.url.as_ref().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()),
        })
    }

    fn time(&self) -> Result<(Start, Wall)> {
        let mut problems = Problems::new();
        let mut read = |path: &str, text: &str| {
            let time = LocalTime::parse(text).filter(|time| !self.all_day || matches!(time, LocalTime::Day(_)));
            let form =
                if self.all_day { "Write the day as YYYY-MM-DD." } else { "Write the time as YYYY-MM-DDTHH:MM." };
            problems.require(time.is_some(), path, form);
            time.map(LocalTime::wall)
        };
        let (start, end) = (read("start", &self.start), read("end", &self.end));
        let zone = zone_named(&self.time_zone);
        problems.require(zone.is_some(), "timeZone", "This isn't a time zone such as Europe/Vienna.");
        if let (Some(start), Some(end)) = (start, end) {
            let fits = if self.all_day { start < end } else { start <= end };
            let text = if self.all_day {
                "Choose a day behind the first."
            } else {
                "Choose an end that isn't before the start."
            };
            problems.require(fits, "end", text);
        }
        match (start, end, zone) {
            (Some(at), Some(end), Some(zone)) if problems.is_empty() => {
                let form = if self.all_day { Form::Days } else { Form::Zoned };
                Ok((Start { at, form, zone }, end))
            }
            _ => Err(problems.into_error()),
        }
    }

    fn lengths(&self, problems: &mut Problems) {
        let mut at_most = |path: &str, text: &str, most: usize, message: &str| {
            problems.require(text.trim().chars().count() <= most, path, message);
        };
        at_most("summary", &self.summary, SUMMARY_LEN_MAX, "Use at most 1,000 characters.");
        at_most("description", &self.description, DESCRIPTION_LEN_MAX, "Use at most 64,000 characters.");
        at_most("location", &self.location, LOCATION_LEN_MAX, "Use at most 2,000 characters.");
        at_most("url", self.url.as_deref().unwrap_or_default(), URL_LEN_MAX, "Use at most 2,000 characters.");
        for (path, text) in [("summary", &self.summary), ("location", &self.location)] {
            one_line(problems, path, text.trim());
        }
        one_line(problems, "url", self.url.as_deref().unwrap_or_default().trim());
        let is_control = |it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\t');
        let is_text = !self.description.chars().any(is_control);
        problems.require(is_text, "description", "Use no control characters but tabs and ends of lines.");
        problems.require(self.categories.len() <= CATEGORIES_MAX, "categories", "Give at most 30 categories.");
        for (at, category) in self.categories.iter().take(CATEGORIES_MAX).enumerate() {
            let fits = CATEGORY_LEN.contains(&category.trim().chars().count());
            problems.require(fits, format!("categories[{at}]"), "Use 1 to 100 characters.");
            one_line(problems, &format!("categories[{at}]"), category.trim());
        }
    }

    fn invited(&self, problems: &mut Problems) -> Result<Vec<Invited>> {
        problems.require(self.attendees.len() <= ATTENDEES_MAX, "attendees", "Invite at most 200 people.");
        let mut invited: Vec<Invited> = Vec::new();
        for (at, fields) in self.attendees.iter().take(ATTENDEES_MAX).enumerate() {
            let email = problems.keep(Email::parse(&format!("attendees[{at}].email"), &fields.email))?;
            let name = fields.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
            let fits = name.is_none_or(|name| name.chars().count() <= ATTENDEE_NAME_LEN_MAX);
            problems.require(fits, format!("attendees[{at}].name"), "Use at most 200 characters.");
            one_line(problems, &format!("attendees[{at}].name"), name.unwrap_or_default());
            if let Some(email) = email
                && !invited.iter().any(|it| it.email == email)
            {
                invited.push(Invited { email, name: name.map(str::to_owned), optional: fields.optional });
            }
        }
        Ok(invited)
    }

    fn reminders(&self, problems: &mut Problems) -> Vec<i64> {
        problems.require(self.reminders.len() <= REMINDERS_MAX, "reminders", "Give at most 5 reminders.");
        for (at, minutes) in self.reminders.iter().take(REMINDERS_MAX).enumerate() {
            let fits = REMINDER_MINUTES.contains(minutes);
            problems.require(fits, format!("reminders[{at}]"), "Use -10,080 to 40,320 minutes before the start.");
        }
        let mut reminders = self.reminders.clone();
        reminders.sort_unstable_by(|one, other| other.cmp(one));
        reminders.dedup();
        reminders
    }
}

/// Notes a text of one line that isn't one.
fn one_line(problems: &mut Problems, path: &str, text: &str) {
    problems.require(!text.chars().any(char::is_control), path, "Use no control characters.");
}

/// The answer to what an event's organizer asks: what may be sent in whose name, and what becomes of it.
impl AttendeeStatus {
    /// The status once somebody answered `answer`; an event that was cancelled takes no answer, and nobody takes theirs
    /// back.
    pub fn answered(self, event: EventStatus, answer: Self) -> Result<Self> {
        if event == EventStatus::Cancelled {
            return Err(Error::conflict("event_cancelled", EVENT_CANCELLED));
        }
        match answer {
            Self::NeedsAction | Self::Delegated => {
                Err(Error::invalid("status", "Choose accepted, tentative or declined."))
            }
            answer => Ok(answer),
        }
    }

    /// The status once the organizer moved the event: whoever answered for another time is asked again.
    #[must_use]
    pub const fn asked_again(self) -> Self {
        match self {
            Self::Delegated => Self::Delegated,
            _ => Self::NeedsAction,
        }
    }
}

/// An answer to an event that doesn't take place.
pub const EVENT_CANCELLED: &str = "This event was cancelled.";

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> EventFields {
        EventFields {
            start: "2026-11-23T09:00".to_owned(),
            end: "2026-11-23T10:00:00".to_owned(),
            time_zone: "Europe/Vienna".to_owned(),
            ..EventFields::default()
        }
    }

    fn invited(email: &str, name: Option<&str>) -> InvitedFields {
        InvitedFields { email: email.to_owned(), name: name.map(str::to_owned), optional: false }
    }

    fn at_fault(fields: &EventFields) -> Vec<String> {
        match fields.check() {
            Ok(_) => Vec::new(),
            Err(Error::Invalid { problems }) => problems.into_iter().map(|it| it.path).collect(),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn texts_have_their_lengths_and_no_character_more() {
        type Set = fn(&mut EventFields, String);
        let cases: [(&str, usize, Set); 4] = [
            ("summary", SUMMARY_LEN_MAX, |it, text| it.summary = text),
            ("description", DESCRIPTION_LEN_MAX, |it, text| it.description = text),
            ("location", LOCATION_LEN_MAX, |it, text| it.location = text),
            ("url", URL_LEN_MAX, |it, text| it.url = Some(text)),
        ];
        for (path, most, set) in cases {
            for (length, expected) in [(most - 1, vec![]), (most, vec![]), (most + 1, vec![path.to_owned()])] {
                let mut fields = fields();
                set(&mut fields, "ü".repeat(length));
                assert_eq!(at_fault(&fields), expected, "{length}");
            }
        }
    }

    #[test]
    fn lists_have_their_lengths_and_no_entry_more() {
        type Fill = fn(&mut EventFields, usize);
        let cases: [(&str, usize, Fill); 3] = [
            ("attendees", ATTENDEES_MAX, |it, count| {
                it.attendees = (0..count).map(|at| invited(&format!("p{at}@x.example"), None)).collect();
            }),
            ("reminders", REMINDERS_MAX, |it, count| it.reminders = (0..).take(count).collect()),
            ("categories", CATEGORIES_MAX, |it, count| it.categories = vec!["a".to_owned(); count]),
        ];
        for (path, most, set) in cases {
            for (count, expected) in [(most - 1, vec![]), (most, vec![]), (most + 1, vec![path.to_owned()])] {
                let mut fields = fields();
                set(&mut fields, count);
                assert_eq!(at_fault(&fields), expected, "{count}");
            }
        }
    }

    #[test]
    fn reminders_and_categories_have_their_ranges() {
        let minutes = |minutes| at_fault(&EventFields { reminders: vec![minutes], ..fields() });
        assert!(minutes(-10_080).is_empty() && minutes(40_320).is_empty() && minutes(0).is_empty());
        assert_eq!([minutes(-10_081), minutes(40_321)].concat(), ["reminders[0]", "reminders[0]"]);
        let category = |length| at_fault(&EventFields { categories: vec!["a".repeat(length)], ..fields() });
        assert!(category(1).is_empty() && category(100).is_empty());
        assert_eq!([category(0), category(101)].concat(), ["categories[0]", "categories[0]"]);
    }

    #[test]
    fn texts_have_no_control_characters() {
        let bad = EventFields {
            summary: "a\u{0}b".to_owned(),
            description: "a\u{0}b".to_owned(),
            location: "a\nb".to_owned(),
            url: Some("a\rb".to_owned()),
            categories: vec!["a\tb".to_owned()],
            attendees: vec![invited("a@x.example", Some("a\nb"))],
            ..fields()
        };
        let all = ["summary", "location", "url", "description", "categories[0]", "attendees[0].name"];
        assert_eq!(at_fault(&bad), all);
        let lines = EventFields { description: "a\r\n\tb".to_owned(), ..fields() };
        assert!(at_fault(&lines).is_empty());
    }

    #[test]
    fn an_event_ends_after_it_began() {
        let times = |all_day, start: &str, end: &str| {
            at_fault(&EventFields { all_day, start: start.to_owned(), end: end.to_owned(), ..fields() })
        };
        assert!(times(false, "2026-11-23T09:00", "2026-11-23T09:00").is_empty());
        assert_eq!(times(false, "2026-11-23T09:00", "2026-11-23T08:59:59"), ["end"]);
        assert!(times(true, "2026-11-23", "2026-11-24").is_empty());
        assert_eq!(times(true, "2026-11-23", "2026-11-23"), ["end"]);
        assert_eq!(times(true, "2026-11-23T00:00", "2026-11-24"), ["start"]);
        assert_eq!(times(false, "2026-02-29", "2026-13-01"), ["start", "end"]);
        assert_eq!(at_fault(&EventFields { time_zone: "Mars".to_owned(), ..fields() }), ["timeZone"]);
    }

    #[test]
    fn whoever_is_invited_twice_is_invited_once() {
        let attendees = vec![invited("A@x.example", Some("A")), invited("a@x.example", None)];
        let draft = EventFields { attendees, ..fields() }.check().unwrap();
        assert_eq!(draft.attendees.len(), 1);
        let attendees = vec![invited("nobody", None)];
        assert_eq!(at_fault(&EventFields { attendees, ..fields() }), ["attendees[0].email"]);
    }

    #[test]
    fn an_answer_is_one_of_three() {
        let asked = AttendeeStatus::NeedsAction;
        for answer in [AttendeeStatus::Accepted, AttendeeStatus::Tentative, AttendeeStatus::Declined] {
            assert_eq!(asked.answered(EventStatus::Confirmed, answer).unwrap(), answer);
            assert_eq!(asked.answered(EventStatus::Cancelled, answer).unwrap_err().to_string(), EVENT_CANCELLED);
        }
        assert_eq!(asked.answered(EventStatus::Confirmed, asked).unwrap_err().code(), "invalid");
        assert_eq!(AttendeeStatus::Accepted.asked_again(), asked);
    }
}
