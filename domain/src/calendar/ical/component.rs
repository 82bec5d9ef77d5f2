//! One `VEVENT` of a file: an event, or one of its occurrences.

use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarDuration, ICalendarEntry, ICalendarParameterName,
    ICalendarProperty, ICalendarValue, utils::strip_mailto_scheme,
};

use super::{
    super::{
        event::{
            ATTENDEE_NAME_LEN_MAX, AttendeeKind, AttendeeRole, AttendeeStatus, BusyStatus, CATEGORIES_MAX,
            CATEGORY_LEN, DESCRIPTION_LEN_MAX, EventStatus, LOCATION_LEN_MAX, REMINDER_MINUTES, REMINDERS_MAX,
            SUMMARY_LEN_MAX, Sensitivity, URL_LEN_MAX,
        },
        record::{Attendee, Organizer},
        recurrence::{DATES_MAX, Rule},
    },
    marks::Mark,
    time::{Time, Zones, text},
};
use crate::{Email, Timestamp};

/// Characters of a `UID` that is read.
pub const UID_LEN_MAX: usize = 1_000;
/// People who are asked to an event that is read.
pub const READ_ATTENDEES_MAX: usize = 500;

/// A `VEVENT` as it is written.
#[derive(Clone, Debug)]
pub struct Component {
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// What the event is known by.
    pub uid: String,
    /// The time that the series gives the occurrence; none for all of the event.
    pub recurrence: Option<Time>,
    /// `SEQUENCE`.
    pub sequence: i64,
    /// When it was written (`DTSTAMP`).
    pub stamp: Option<Timestamp>,
    /// When it begins.
    pub start: Option<Time>,
    /// When it ends.
    pub end: Option<Time>,
    /// How long it lasts: days and seconds.
    pub lasts: Option<(i64, i64)>,
    /// How it recurs.
    pub rule: Option<Rule>,
    /// What stands beside the rule.
    pub beside: Vec<Time>,
    /// What is taken out.
    pub removed: Vec<Time>,
    /// What it is called.
    pub summary: Option<String>,
    /// Where it is.
    pub location: Option<String>,
    /// What it is about.
    pub description: String,
    /// Where more stands.
    pub url: Option<String>,
    /// What somebody adds to their answer or proposal.
    pub comment: Option<String>,
    /// Words that people sort by.
    pub categories: Vec<String>,
    /// Whether it takes place.
    pub status: EventStatus,
    /// How it shows people's time.
    pub busy_status: BusyStatus,
    /// Who may read more than its time.
    pub sensitivity: Sensitivity,
    /// Who asks others to it.
    pub organizer: Option<Organizer>,
    /// Those who are asked.
    pub attendees: Vec<Attendee>,
    /// Who may write for whom (`SENT-BY`): for the first of two addresses the second.
    pub sent_by: Vec<(String, String)>,
    /// Minutes before the start.
    pub reminders: Vec<i64>,
}

impl Component {
    /// The component, or the reason for which it can't be read.
    pub(super) fn read(
        calendar: &ICalendar,
        component: &ICalendarComponent,
        mark: &Mark,
        zones: &Zones,
    ) -> Result<Self, String> {
        let uid = line(text(component, &ICalendarProperty::Uid).unwrap_or_default());
        if uid.is_empty() || uid.chars().count() > UID_LEN_MAX {
            return Err(format!("An event needs a UID of at most {UID_LEN_MAX} characters."));
        }
        let recurrence = component.property(&ICalendarProperty::RecurrenceId);
        if recurrence.is_some_and(|it| it.has_parameter(&ICalendarParameterName::Range)) {
            return Err("RECURRENCE-ID with RANGE isn't read.".to_owned());
        }
        if component.has_property(&ICalendarProperty::Exrule) {
            return Err("EXRULE isn't read.".to_owned());
        }
        let mut people = People::default();
        people.read(component)?;
        let dates = |property: &ICalendarProperty| dates(component, zones, property);
        Ok(Self {
            line: mark.line,
            uid,
            recurrence: recurrence.map(|it| one(zones, it)).transpose()?,
            sequence: number(component, &ICalendarProperty::Sequence).clamp(0, i64::from(i32::MAX)),
            stamp: component.property(&ICalendarProperty::Dtstamp).and_then(|it| stamp(zones, it)),
            start: component.property(&ICalendarProperty::Dtstart).map(|it| one(zones, it)).transpose()?,
            end: component.property(&ICalendarProperty::Dtend).map(|it| one(zones, it)).transpose()?,
            lasts: component.property(&ICalendarProperty::Duration).and_then(lasts),
            rule: rule(mark)?,
            beside: dates(&ICalendarProperty::Rdate)?,
            removed: dates(&ICalendarProperty::Exdate)?,
            summary: text(component, &ICalendarProperty::Summary).map(|it| cut(&line(it), SUMMARY_LEN_MAX)),
            location: text(component, &ICalendarProperty::Location).map(|it| cut(&line(it), LOCATION_LEN_MAX)),
            description: cut(&lines(text(component, &ICalendarProperty::Description)), DESCRIPTION_LEN_MAX),
            url: text(component, &ICalendarProperty::Url).map(line).filter(|it| fits_url(it)),
            comment: text(component, &ICalendarProperty::Comment).map(|it| cut(&lines(Some(it)), DESCRIPTION_LEN_MAX)),
            categories: categories(component),
            status: status(component),
            busy_status: busy_status(component),
            sensitivity: sensitivity(component),
            organizer: people.organizer,
            attendees: people.attendees,
            sent_by: people.sent_by,
            reminders: reminders(calendar, component),
        })
    }

    /// Who may write in the name of `address`, beside whoever it belongs to.
    pub fn writes_for(&self, address: &str) -> Option<&str> {
        self.sent_by.iter().find(|(whose, _)| whose == address).map(|(_, by)| by.as_str())
    }
}

/// The one time of a property.
fn one(zones: &Zones, entry: &ICalendarEntry) -> Result<Time, String> {
    let time = zones.times(entry).into_iter().next().flatten();
    time.ok_or_else(|| format!("{} has no time that there is.", entry.name.as_str()))
}

fn stamp(zones: &Zones, entry: &ICalendarEntry) -> Option<Timestamp> {
    let time = zones.times(entry).into_iter().next().flatten()?;
    Some(Timestamp(time.wall.0.saturating_mul(1000)))
}

fn dates(component: &ICalendarComponent, zones: &Zones, property: &ICalendarProperty) -> Result<Vec<Time>, String> {
    let mut times = Vec::new();
    for entry in component.entries.iter().filter(|it| it.name == *property) {
        if times.len() + entry.values.len() > DATES_MAX {
            return Err(format!("A series has at most 1,000 dates in {}.", property.as_str()));
        }
        times.extend(zones.times(entry).into_iter().flatten());
    }
    Ok(times)
}

fn rule(mark: &Mark) -> Result<Option<Rule>, String> {
    match mark.rules.as_slice() {
        [] => Ok(None),
        [rule] => rule.parse::<Rule>().map(Some).map_err(|fault| fault.to_string()),
        _ => Err("An event has at most one RRULE.".to_owned()),
    }
}

fn number(component: &ICalendarComponent, property: &ICalendarProperty) -> i64 {
    component.property(property).and_then(|it| it.values.first()).and_then(ICalendarValue::as_integer).unwrap_or(0)
}

fn lasts(entry: &ICalendarEntry) -> Option<(i64, i64)> {
    let ICalendarValue::Duration(ICalendarDuration { neg: false, weeks, days, hours, minutes, seconds }) =
        entry.values.first()?
    else {
        return None;
    };
    let days = i64::from(*weeks) * 7 + i64::from(*days);
    Some((days, i64::from(*hours) * 3600 + i64::from(*minutes) * 60 + i64::from(*seconds)))
}

/// A text of one line, without control characters.
fn line(text: &str) -> String {
    let kept: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    kept.trim().to_owned()
}

/// A text without control characters but tabs and ends of lines.
fn lines(text: Option<&str>) -> String {
    let is_kept = |it: &char| !it.is_control() || matches!(it, '\n' | '\t');
    text.unwrap_or_default().chars().filter(is_kept).collect()
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn fits_url(url: &str) -> bool {
    !url.is_empty() && url.chars().count() <= URL_LEN_MAX
}

fn categories(component: &ICalendarComponent) -> Vec<String> {
    let entries = component.entries.iter().filter(|it| it.name == ICalendarProperty::Categories);
    let words = entries.flat_map(|it| &it.values).filter_map(ICalendarValue::as_text).map(line);
    words.filter(|word| CATEGORY_LEN.contains(&word.chars().count())).take(CATEGORIES_MAX).collect()
}

fn status(component: &ICalendarComponent) -> EventStatus {
    match text(component, &ICalendarProperty::Status).map(str::to_ascii_uppercase).as_deref() {
        Some("CANCELLED") => EventStatus::Cancelled,
        Some("TENTATIVE") => EventStatus::Tentative,
        _ => EventStatus::Confirmed,
    }
}

/// The value of a property that the standard doesn't know, in big letters.
fn other(component: &ICalendarComponent, name: &str) -> Option<String> {
    let is_it = |entry: &&ICalendarEntry| match &entry.name {
        ICalendarProperty::Other(it) => it.eq_ignore_ascii_case(name),
        _ => false,
    };
    component.entries.iter().find(is_it)?.values.first()?.as_text().map(str::to_ascii_uppercase)
}

fn busy_status(component: &ICalendarComponent) -> BusyStatus {
    match other(component, "X-MICROSOFT-CDO-BUSYSTATUS").as_deref() {
        Some("FREE") => BusyStatus::Free,
        Some("TENTATIVE") => BusyStatus::Tentative,
        Some("OOF") => BusyStatus::OutOfOffice,
        Some("WORKINGELSEWHERE") => BusyStatus::WorkingElsewhere,
        _ => match text(component, &ICalendarProperty::Transp) {
            Some(transparent) if transparent.eq_ignore_ascii_case("TRANSPARENT") => BusyStatus::Free,
            _ => BusyStatus::Busy,
        },
    }
}

fn sensitivity(component: &ICalendarComponent) -> Sensitivity {
    match text(component, &ICalendarProperty::Class).map(str::to_ascii_uppercase).as_deref() {
        Some("PRIVATE") if other(component, "X-TROUPE-CLASS").as_deref() == Some("PERSONAL") => Sensitivity::Personal,
        Some("PRIVATE") => Sensitivity::Private,
        Some("CONFIDENTIAL") => Sensitivity::Confidential,
        _ => Sensitivity::Normal,
    }
}

/// Reminders that come before or behind the start.
fn reminders(calendar: &ICalendar, component: &ICalendarComponent) -> Vec<i64> {
    let alarms = component.component_ids.iter().filter_map(|id| calendar.component_by_id(*id));
    let triggers = alarms
        .filter(|it| it.component_type == ICalendarComponentType::VAlarm)
        .filter_map(|it| it.property(&ICalendarProperty::Trigger)?.values.first());
    let minutes = triggers.filter_map(|trigger| match trigger {
        ICalendarValue::Duration(before) => Some(-before.as_seconds().div_euclid(60)),
        _ => None,
    });
    let mut minutes: Vec<i64> = minutes.filter(|it| REMINDER_MINUTES.contains(it)).take(DATES_MAX).collect();
    minutes.sort_unstable_by(|one, other| other.cmp(one));
    minutes.dedup();
    minutes.truncate(REMINDERS_MAX);
    minutes
}

/// Who stands in a component.
#[derive(Default)]
struct People {
    organizer: Option<Organizer>,
    attendees: Vec<Attendee>,
    sent_by: Vec<(String, String)>,
}

impl People {
    fn read(&mut self, component: &ICalendarComponent) -> Result<(), String> {
        let attendees = component.entries.iter().filter(|it| it.name == ICalendarProperty::Attendee);
        if attendees.clone().count() > READ_ATTENDEES_MAX {
            return Err(format!("An event has at most {READ_ATTENDEES_MAX} people who are asked to it."));
        }
        if let Some(entry) = component.property(&ICalendarProperty::Organizer)
            && let Some(email) = self.address(entry)
        {
            self.organizer = Some(Organizer { email, name: name(entry), told: None });
        }
        for entry in attendees {
            let Some(email) = self.address(entry) else { continue };
            if !self.attendees.iter().any(|it| it.email == email) {
                self.attendees.push(attendee(entry, email));
            }
        }
        Ok(())
    }

    /// The address of whom a property names; who writes for them is noted.
    fn address(&mut self, entry: &ICalendarEntry) -> Option<String> {
        let email = email(entry.calendar_address()?)?;
        let by = entry.parameter(&ICalendarParameterName::SentBy).and_then(|it| it.as_text()).and_then(email_of);
        if let Some(by) = by {
            self.sent_by.push((email.clone(), by));
        }
        Some(email)
    }
}

fn email(address: &str) -> Option<String> {
    Email::parse("email", address.trim()).ok().map(|it| it.to_string())
}

fn email_of(address: &str) -> Option<String> {
    email(strip_mailto_scheme(address))
}

fn name(entry: &ICalendarEntry) -> Option<String> {
    let name = entry.parameter(&ICalendarParameterName::Cn)?.as_text()?;
    Some(cut(&line(name), ATTENDEE_NAME_LEN_MAX)).filter(|it| !it.is_empty())
}

fn attendee(entry: &ICalendarEntry, email: String) -> Attendee {
    let parameter = |name: &ICalendarParameterName| {
        entry.parameter(name).and_then(|it| it.as_text()).unwrap_or_default().to_ascii_uppercase()
    };
    Attendee {
        email,
        name: name(entry),
        role: match parameter(&ICalendarParameterName::Role).as_str() {
            "CHAIR" => AttendeeRole::Chair,
            "OPT-PARTICIPANT" => AttendeeRole::Optional,
            "NON-PARTICIPANT" => AttendeeRole::NonParticipant,
            _ => AttendeeRole::Required,
        },
        status: match parameter(&ICalendarParameterName::Partstat).as_str() {
            "ACCEPTED" => AttendeeStatus::Accepted,
            "DECLINED" => AttendeeStatus::Declined,
            "TENTATIVE" => AttendeeStatus::Tentative,
            "DELEGATED" => AttendeeStatus::Delegated,
            _ => AttendeeStatus::NeedsAction,
        },
        rsvp: parameter(&ICalendarParameterName::Rsvp) == "TRUE",
        kind: match parameter(&ICalendarParameterName::Cutype).as_str() {
            "" | "INDIVIDUAL" => AttendeeKind::Individual,
            "GROUP" => AttendeeKind::Group,
            "RESOURCE" => AttendeeKind::Resource,
            "ROOM" => AttendeeKind::Room,
            _ => AttendeeKind::Unknown,
        },
        told: None,
    }
}
