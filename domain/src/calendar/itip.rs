//! What a message about an event changes (RFC 5546): pure, so that each rule stands in one place.

use serde::{Deserialize, Serialize};

use super::{
    event::{AttendeeStatus, EventStatus},
    ical::{Component, EventPlace, end, event_of, exception, read_components},
    invitation::Method,
    record::{Attendee, Event, EventHead, Told},
    recurrence::{Moment, Series, Wall},
    timing::{Timing, series_fault},
};
use crate::{Error, Result, Timestamp, notify::Zone};

/// Bytes of a file about an event that came by mail and is read.
pub const ITIP_BYTES_MAX: usize = 1_000_000;

/// The sender, whom nobody vouches for.
pub const NOT_PROVED: &str = "Nobody vouches for the sender of this message (DMARC).";
/// A message in the name of somebody else.
pub const NOT_THE_ORGANIZER: &str = "The sender isn't who asks to this event.";
/// An answer in the name of somebody else.
pub const NOT_THE_ATTENDEE: &str = "The sender isn't who this message speaks for.";
/// An answer of somebody who isn't asked.
pub const NOT_ASKED: &str = "The sender isn't asked to this event.";
/// A message about an event that the calendar hasn't.
pub const NO_SUCH_EVENT: &str = "The calendar has no such event.";
/// A message that a later one came before.
pub const LATER_ONE_CAME: &str = "A later message about this event came before.";
/// An answer to one occurrence.
pub const OF_ONE_OCCURRENCE: &str = "The answer is to one occurrence; it stands in its message.";
/// An invitation of somebody whom the mailbox doesn't know.
pub const UNKNOWN_SENDER: &str = "The mailbox has never written to the sender.";
/// An invitation that asks somebody else.
pub const ASKS_OTHERS: &str = "The invitation asks somebody else.";
/// What doesn't fit the event that the calendar has.
pub const UNREADABLE: &str = "The message doesn't fit the event that the calendar has.";
/// A calendar that is full.
pub const NO_ROOM: &str = "The mailbox has as many events as it may.";

/// A file about an event as it came with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailInvitation {
    /// What it asks for.
    pub method: String,
    /// What the event is known by.
    pub uid: String,
    /// The file.
    pub file: String,
    /// What the event is called.
    pub summary: String,
    /// When it begins and ends, in milliseconds, where it says so.
    pub times: Option<(i64, i64)>,
    /// Why it can't be read, where it can't.
    pub fault: Option<String>,
}

impl MailInvitation {
    /// The file of a message, where it says something of events.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > ITIP_BYTES_MAX {
            return None;
        }
        let file = String::from_utf8_lossy(bytes).replace('\0', "");
        let read = read_components(&file, &Zone::UTC).ok()?;
        let method = read.method.unwrap_or_else(|| Method::Publish.as_str().to_owned());
        let fault = read.failed.first();
        let uid = match (read.components.first(), fault) {
            (Some(component), _) => component.uid.clone(),
            (None, Some(fault)) => fault.uid.clone().unwrap_or_default().replace('\0', ""),
            (None, None) => return None,
        };
        let fault = read.components.is_empty().then(|| fault.map(|fault| fault.reason.clone())).flatten();
        let first = read.components.first();
        let summary = first.and_then(|it| it.summary.clone()).unwrap_or_default();
        let times = first.and_then(times);
        Some(Self { method: method.chars().take(40).collect(), uid, file, summary, times, fault })
    }
}

/// When what a component says begins and ends.
fn times(component: &Component) -> Option<(i64, i64)> {
    let start = component.start.as_ref()?.start(&Zone::UTC);
    let series = Series::stored(start.clone(), None, Some(start.at));
    Some((series.instant(start.at).0, series.instant(end(component, &series, start.at)).0))
}

/// A file that came by mail, and what is known of its sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MailedFile {
    /// The file.
    pub file: String,
    /// Whether somebody vouches for the sender.
    pub is_proved: bool,
    /// What the event is called.
    pub summary: String,
    /// When it begins and ends, in milliseconds, where it says so.
    pub times: Option<(i64, i64)>,
}

impl MailedFile {
    /// The file of a message that nobody vouches for yet.
    pub fn of(invitation: &MailInvitation) -> Self {
        let MailInvitation { file, summary, times, .. } = invitation.clone();
        Self { file, is_proved: false, summary, times }
    }

    /// As it is kept.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As it was kept; none of what came without mail.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// A message about one event, read.
#[derive(Clone, Debug)]
pub struct ItipRead {
    /// What it asks for.
    pub method: Method,
    /// What the event is known by.
    pub uid: String,
    /// Which of two is the later one.
    pub told: Told,
    /// The event, and occurrences of it.
    pub components: Vec<Component>,
    /// The zone of times that are everywhere.
    here: Zone,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The event is otherwise now.
    Changed,
    /// A later one came before.
    Stale,
    /// It isn't taken, for this reason.
    Refused(&'static str),
}

impl ItipRead {
    /// Reads a file about one event, the first that it names. What came at `received_at` and has no time of its own has that one.
    ///
    /// # Errors
    /// 400 with the reason.
    pub fn read(file: &str, received_at: Timestamp, here: &Zone) -> Result<Self> {
        let refused = |reason: String| Error::bad_request("not_a_calendar", reason);
        let read = read_components(file, here)?;
        let method = read.method.as_deref().unwrap_or(Method::Publish.as_str());
        let method = Method::from_name(method).ok_or_else(|| refused(format!("{method} isn't read.")))?;
        let Some(first) = read.components.first() else {
            let reason = read.failed.into_iter().next().map(|fault| fault.reason);
            return Err(refused(reason.unwrap_or_else(|| "There is no event in this file.".to_owned())));
        };
        let uid = first.uid.clone();
        let components: Vec<Component> = read.components.into_iter().filter(|it| it.uid == uid).collect();
        let sequence = components.iter().map(|it| it.sequence).max().unwrap_or(0);
        let stamp = components.iter().filter_map(|it| it.stamp).max().unwrap_or(received_at);
        // A sender's clock that is ahead would keep out whatever comes later.
        let stamp = stamp.0.min(received_at.0).div_euclid(1000) * 1000;
        Ok(Self { method, uid, told: Told { sequence, stamp }, components, here: here.clone() })
    }

    /// Whether it is about all of the event.
    pub fn is_whole(&self) -> bool {
        self.components.iter().any(|it| it.recurrence.is_none())
    }

    /// Whether `sender` asks to the event, or writes for who does.
    pub fn is_from_organizer(&self, sender: &str) -> bool {
        self.components.iter().all(|it| {
            it.organizer
                .as_ref()
                .is_some_and(|organizer| organizer.email == sender || it.writes_for(&organizer.email) == Some(sender))
        })
    }

    /// The address of who asks to the event.
    pub fn organizer(&self) -> Option<&str> {
        self.components.iter().find_map(|it| it.organizer.as_ref()).map(|it| it.email.as_str())
    }

    /// Whether one of these addresses is asked.
    pub fn asks(&self, addresses: &[String]) -> bool {
        self.components.iter().flat_map(|it| &it.attendees).any(|it| addresses.contains(&it.email))
    }

    /// Whom `sender` speaks for: themselves, or who lets them write.
    pub fn speaks_for(&self, sender: &str) -> Option<(&Component, &Attendee)> {
        let all = || self.components.iter().flat_map(|it| it.attendees.iter().map(move |attendee| (it, attendee)));
        let own = all().find(|(_, attendee)| attendee.email == sender);
        own.or_else(|| all().find(|(it, attendee)| it.writes_for(&attendee.email) == Some(sender)))
    }

    /// The event as a mailbox with these addresses gets it.
    ///
    /// # Errors
    /// 400 with the reason for which it is none.
    pub fn event(&self, place: EventPlace, addresses: &[String]) -> Result<Event> {
        let mut event = event_of(self.components.clone(), &self.here)?.into_event(place, addresses);
        event.sequence = self.told.sequence;
        event.head.reminders.clear();
        self.note(&mut event);
        Ok(event)
    }

    fn note(&self, event: &mut Event) {
        if let Some(organizer) = &mut event.detail.organizer {
            organizer.told = Some(self.told);
        }
    }

    /// Whether a later message came before. What is about an occurrence counts on its own.
    pub fn is_stale(&self, event: &Event) -> bool {
        let told = event.detail.organizer.as_ref().and_then(|it| it.told);
        let stamp = told.map_or(i64::MIN, |it| it.stamp);
        let before = Told { sequence: event.sequence, stamp };
        if self.is_whole() { self.told < before } else { self.told.stamp < stamp }
    }

    /// Takes what a guest answered (`REPLY`) into the organizer's event.
    pub fn reply(&self, event: &mut Event, sender: &str) -> Taken {
        let Some((component, answer)) = self.speaks_for(sender) else { return Taken::Refused(NOT_THE_ATTENDEE) };
        if component.recurrence.is_some() && event.head.timing.is_recurring() {
            return Taken::Refused(OF_ONE_OCCURRENCE);
        }
        let (email, status, sequence) = (answer.email.clone(), answer.status, event.sequence);
        let Some(guest) = event.detail.attendees.iter_mut().find(|it| it.email == email) else {
            return Taken::Refused(NOT_ASKED);
        };
        // What was answered before the organizer asked again is no answer to that.
        let asked_again = guest.status == AttendeeStatus::NeedsAction && self.told.sequence < sequence;
        if asked_again || guest.told.is_some_and(|told| self.told < told) {
            return Taken::Stale;
        }
        (guest.status, guest.told) = (status, Some(self.told));
        Taken::Changed
    }

    /// The guest's event as who asks to it has it now (`REQUEST`); what is everybody's own stays.
    ///
    /// # Errors
    /// 400 with the reason for which it is none.
    pub fn renewed(&self, mine: Event, addresses: &[String]) -> Result<Event> {
        let (before, sequence) = (mine.head.my_status, mine.sequence);
        let mut event = if self.is_whole() { self.replaced(mine, addresses)? } else { self.with_occurrences(mine)? };
        let theirs = event.detail.my_status(addresses);
        let is_asked_again = theirs == Some(AttendeeStatus::NeedsAction) && self.told.sequence > sequence;
        let status = before.filter(|_| !is_asked_again).unwrap_or(AttendeeStatus::NeedsAction);
        for attendee in event.detail.attendees.iter_mut().filter(|it| addresses.contains(&it.email)) {
            attendee.status = status;
        }
        event.sequence = sequence.max(self.told.sequence);
        self.note(&mut event);
        Ok(event)
    }

    fn replaced(&self, mine: Event, addresses: &[String]) -> Result<Event> {
        let place = EventPlace {
            id: mine.head.id,
            calendar_id: mine.head.calendar_id,
            mailbox_id: mine.mailbox_id,
            modseq: mine.modseq,
            now: mine.created_at,
        };
        let theirs = event_of(self.components.clone(), &self.here)?.into_event(place, addresses);
        let EventHead { reminders, busy_status, .. } = mine.head;
        Ok(Event { head: EventHead { busy_status, reminders, ..theirs.head }, version: mine.version, ..theirs })
    }

    fn with_occurrences(&self, mut event: Event) -> Result<Event> {
        for component in &self.components {
            let Some(at) = &component.recurrence else { continue };
            let series = event.head.timing.series()?;
            let recurrence = series.wall_of(at.moment());
            let series = having(series, recurrence)?;
            let named = (event.head.summary.as_str(), event.head.location.as_str());
            let read = exception(component.clone(), &series, &event.head.timing, recurrence, named);
            event.exceptions.retain(|it| it.recurrence != recurrence);
            let place = event.exceptions.partition_point(|it| it.recurrence < recurrence);
            event.exceptions.insert(place, read.exception);
            event.head.timing = Timing::of(&series, event.head.timing.end);
        }
        if event.exceptions.len() > super::EXCEPTIONS_MAX {
            return Err(super::too_many_exceptions());
        }
        Ok(event)
    }

    /// The guest's event once who asks to it called it, or occurrences of it, off (`CANCEL`).
    ///
    /// # Errors
    /// Where its series can't be.
    pub fn cancelled(&self, mut event: Event) -> Result<Event> {
        // Who asks counts what they call off, not who hears of it.
        let sequence = event.sequence.max(self.told.sequence);
        if self.is_whole() || !event.head.timing.is_recurring() {
            event.head.status = EventStatus::Cancelled;
        } else {
            for at in self.components.iter().filter_map(|it| it.recurrence.as_ref()) {
                let at = event.head.timing.series()?.wall_of(at.moment());
                event = event.without(at)?;
            }
        }
        event.sequence = sequence;
        self.note(&mut event);
        Ok(event)
    }

    /// The time that a guest proposes (`COUNTER`) for an event, or for the occurrence that comes first here.
    ///
    /// # Errors
    /// 400 where it names no time.
    pub fn proposal(&self, event: &Event) -> Result<(Option<Wall>, Wall, Wall)> {
        let no_time = || Error::bad_request("not_a_calendar", "The proposal names no time.");
        let component = self.components.first().ok_or_else(no_time)?;
        let series = event.head.timing.series()?;
        let start = component.start.as_ref().ok_or_else(no_time)?.on(&series);
        let has_end = component.end.is_some() || component.lasts.is_some();
        let end = if has_end { end(component, &series, start) } else { event.head.timing.end_of(&series, start) };
        let at = component.recurrence.as_ref().map(|at| series.wall_of(at.moment()));
        Ok((at.filter(|_| event.head.timing.is_recurring()), start, end))
    }
}

/// The series with an occurrence at `wall`, whether its rule has one there or not.
fn having(series: Series, wall: Wall) -> Result<Series> {
    if series.occurs(wall) {
        return Ok(series);
    }
    let removed: Vec<Moment> = series.removed().iter().copied().filter(|it| series.wall_of(*it) != wall).collect();
    let beside: Vec<Moment> = series.beside().iter().copied().chain([wall]).map(Moment::Wall).collect();
    series.with_dates(&beside, &removed).map_err(series_fault)
}

#[cfg(test)]
mod tests;
