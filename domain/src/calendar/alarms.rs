//! Alarms: what rings before something begins, as it follows from an event.
//!
//! Alarms are rows for the days that lie ahead. A series is expanded for them alone, and anew each day, so that countries which
//! change their clocks move what rings. What has rung is kept until it is over: it rings once, and when what it told of is
//! moved or called off, that is told, too.

use super::{
    event::{AttendeeStatus, EventStatus},
    record::{Event, EventOccurrence},
    recurrence::{Moment, Wall},
    window::Window,
};
use crate::{Result, Timestamp, app::names, id::EventId};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// How far ahead there are alarms: eight days, and one until they are looked at again.
const AHEAD_MS: i64 = 9 * DAY_MS;
/// Occurrences of one event that are looked at; one that has more in these days doesn't ring.
pub const ALARM_OCCURRENCES_MAX: usize = 500;
/// How long before the start the members of a mailbox are looked at for the first time, in minutes: longer before it than this
/// nobody wants to hear of a meeting (contract A 4.3, `meetingLeadMinutes`).
pub const FIRST_LOOK_MINUTES: i64 = 120;
/// How long behind its time, and the start, a reminder still is of use.
const LATE_MS: i64 = HOUR_MS;
/// How long behind its start a meeting is told of.
const BEGUN_MS: i64 = 5 * MINUTE_MS;

names! {
    /// What an alarm tells of.
    AlarmKind {
        // The protocols that count back from the start of a meeting.
        CountingBack = "counting_back",
        // The members of the mailbox whose lead is as long.
        Lead = "lead",
        // A reminder of the event.
        Reminder = "reminder",
        // An invitation that nobody has answered.
        Invite = "invite",
    }
}

/// What tells an alarm of an event from its others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlarmKey {
    /// The time that the series gives the occurrence; 0 where the event occurs once, or it isn't about one occurrence.
    pub recurrence: Wall,
    /// What it tells of.
    pub kind: AlarmKind,
    /// Minutes before the start; 0 of an invitation and of what counts back.
    pub minutes: i64,
}

/// An alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// The event.
    pub event_id: EventId,
    /// Which of its alarms.
    pub key: AlarmKey,
    /// When it rings.
    pub at: Timestamp,
    /// When what it tells of begins.
    pub starts_at: Timestamp,
    /// Whether it has rung.
    pub has_rung: bool,
}

/// What alarms follow from, beside the event.
#[derive(Clone, Copy, Debug)]
pub struct AlarmFacts<'a> {
    /// The addresses that are the mailbox's.
    pub addresses: &'a [String],
    /// How long before a meeting the first protocol counts back, in minutes; none where no protocol does.
    pub counting_back: Option<i64>,
    /// The event's alarms as they are.
    pub kept: &'a [Alarm],
    /// The moment.
    pub now: Timestamp,
}

/// What becomes of an event's alarms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlarmsChange {
    /// Those that are no more.
    pub removed: Vec<Alarm>,
    /// Those that are new, or ring at another time.
    pub added: Vec<Alarm>,
    /// Those that have rung for something that doesn't begin any more when they said.
    pub over: Vec<Alarm>,
}

impl Alarm {
    /// Whether it is of no use any more that it rings.
    pub fn is_too_late(&self, now: Timestamp) -> bool {
        match self.key.kind {
            AlarmKind::Reminder => now.0 > self.at.0.max(self.starts_at.0).saturating_add(LATE_MS),
            AlarmKind::Lead => now.0 > self.starts_at.0.saturating_add(BEGUN_MS),
            AlarmKind::CountingBack | AlarmKind::Invite => now >= self.starts_at,
        }
    }

    /// What its event names what is wrong by (`dedupKey`); none of a reminder, which goes by itself.
    pub fn dedup_key(&self) -> Option<String> {
        let occurrence = || format!("{}/{}", self.event_id, self.key.recurrence);
        match self.key.kind {
            AlarmKind::CountingBack => Some(format!("meeting/{}", occurrence())),
            AlarmKind::Lead => Some(format!("meeting_soon/{}", occurrence())),
            AlarmKind::Invite => Some(format!("invite/{}", self.event_id)),
            AlarmKind::Reminder => None,
        }
    }
}

impl Event {
    /// Whether somebody other than the mailbox with these addresses takes part, at a time of the day.
    pub fn is_meeting(&self, addresses: &[String]) -> bool {
        let is_other = |email: &str| addresses.iter().all(|own| own != email);
        let organizer = self.detail.organizer.as_ref().is_some_and(|it| is_other(&it.email));
        !self.head.timing.is_all_day() && (organizer || self.detail.attendees.iter().any(|it| is_other(&it.email)))
    }

    /// Whether alarms may follow from it; of most events nothing has to be looked up for them.
    pub fn may_ring(&self) -> bool {
        !self.head.reminders.is_empty() || !self.detail.attendees.is_empty()
    }

    /// When an occurrence that begins at `at` does, on the wall of the event: `2026-11-23 09:00 (Europe/Vienna)`, or a day.
    pub fn begins(&self, at: Timestamp) -> Result<String> {
        let timing = &self.head.timing;
        let wall = timing.series()?.wall_of(Moment::Instant(at));
        if timing.is_all_day() {
            return Ok(wall.day().to_string());
        }
        let clock = wall.to_string()[..16].replace('T', " ");
        Ok(format!("{clock} ({})", timing.start.zone.name()))
    }

    /// What becomes of its alarms.
    ///
    /// # Errors
    /// Where its series can't be.
    pub fn alarms_change(&self, facts: &AlarmFacts<'_>) -> Result<AlarmsChange> {
        Ok(changed(facts.kept, self.alarms(facts)?, facts.now))
    }

    fn alarms(&self, facts: &AlarmFacts<'_>) -> Result<Vec<Alarm>> {
        let mut alarms: Vec<Alarm> = self.invite_alarm(facts)?.into_iter().collect();
        let is_meeting = self.is_meeting(facts.addresses);
        let reminders = &self.head.reminders;
        if !is_meeting && reminders.is_empty() {
            return Ok(alarms);
        }
        let first = if is_meeting { FIRST_LOOK_MINUTES.max(facts.counting_back.unwrap_or(0)) } else { 0 };
        let earliest = reminders.iter().copied().chain([first]).max().unwrap_or(0);
        let latest = reminders.iter().copied().chain([0]).min().unwrap_or(0);
        let (now, horizon) = (facts.now, Timestamp(facts.now.0.saturating_add(AHEAD_MS)));
        let from = Timestamp(now.0 + latest * MINUTE_MS - LATE_MS);
        let window = Window { from, to: Timestamp(horizon.0 + earliest * MINUTE_MS) };
        let occurrences = match self.head.occurrences(&self.exceptions, window, ALARM_OCCURRENCES_MAX) {
            Ok(occurrences) => occurrences,
            Err(error) if error.code() == "too_many_occurrences" => return Ok(alarms),
            Err(error) => return Err(error),
        };
        for it in occurrences.iter().filter(|it| self.takes_place(it)) {
            let alarm = |kind, minutes, before: i64| Alarm {
                event_id: self.head.id,
                key: AlarmKey { recurrence: it.recurrence.unwrap_or(Wall(0)), kind, minutes },
                at: Timestamp(it.start.0 - before * MINUTE_MS),
                starts_at: it.start,
                has_rung: false,
            };
            if is_meeting && it.start > now {
                alarms.push(alarm(AlarmKind::Lead, FIRST_LOOK_MINUTES, FIRST_LOOK_MINUTES));
                alarms.extend(facts.counting_back.map(|minutes| alarm(AlarmKind::CountingBack, 0, minutes)));
            }
            let reminders = reminders.iter().map(|&minutes| alarm(AlarmKind::Reminder, minutes, minutes));
            // One that would have rung before the event was written is of no use; one that is there has its turn.
            alarms.extend(reminders.filter(|it| it.at > now || facts.kept.iter().any(|kept| kept.is_of(it))));
        }
        alarms.retain(|it| it.at < horizon);
        Ok(alarms)
    }

    /// Whether an occurrence takes place with the mailbox.
    fn takes_place(&self, it: &EventOccurrence) -> bool {
        let changed = it.exception.and_then(|at| self.exceptions.get(at));
        let status = changed.map_or(self.head.status, |it| it.status);
        let mine = changed.map_or(self.head.my_status, |it| it.my_status);
        status != EventStatus::Cancelled && mine != Some(AttendeeStatus::Declined)
    }

    /// The alarm of an invitation that waits: a day after it came or a day before the start, whichever is earlier, and an hour
    /// after it came at the earliest.
    fn invite_alarm(&self, facts: &AlarmFacts<'_>) -> Result<Option<Alarm>> {
        let (head, now) = (&self.head, facts.now);
        let waits = !head.is_organizer && head.my_status == Some(AttendeeStatus::NeedsAction);
        if !waits || head.status == EventStatus::Cancelled {
            return Ok(None);
        }
        let first = head.timing.series()?.instant(head.timing.start.at);
        let goes_on = head.timing.is_recurring() && first <= now;
        let starts_at = if goes_on { Timestamp(i64::MAX) } else { first };
        let key = AlarmKey { recurrence: Wall(0), kind: AlarmKind::Invite, minutes: 0 };
        let kept = facts.kept.iter().find(|it| it.key == key);
        let (soon, day_before) = (now.0.saturating_add(HOUR_MS), starts_at.0.saturating_sub(DAY_MS));
        let at = match kept {
            Some(kept) if kept.has_rung => kept.at.0,
            Some(kept) => kept.at.0.min(day_before.max(soon)),
            None => now.0.saturating_add(DAY_MS).min(day_before).max(soon),
        };
        let alarm = Alarm { event_id: head.id, key, at: Timestamp(at), starts_at, has_rung: false };
        Ok(Some(alarm).filter(|it| it.at < starts_at && starts_at > now))
    }
}

impl Alarm {
    /// Whether `wanted` is the same alarm of something that begins at the same time. Of an invitation it doesn't matter when.
    fn is_of(&self, wanted: &Self) -> bool {
        self.key == wanted.key && (self.starts_at == wanted.starts_at || self.key.kind == AlarmKind::Invite)
    }

    /// Whether it stays as it is beside what is wanted. The looks at members that follow from the first one stay with it.
    fn stays(&self, wanted: &[Self]) -> bool {
        let is_follower = self.key.kind == AlarmKind::Lead && self.key.minutes != FIRST_LOOK_MINUTES;
        let minutes = if is_follower { FIRST_LOOK_MINUTES } else { self.key.minutes };
        let anchor = Self { key: AlarmKey { minutes, ..self.key }, ..self.clone() };
        wanted.iter().any(|it| anchor.is_of(it) && (self.has_rung || is_follower || it.at == self.at))
    }
}

/// What becomes of alarms where these are wanted.
fn changed(kept: &[Alarm], wanted: Vec<Alarm>, now: Timestamp) -> AlarmsChange {
    let (stay, gone): (Vec<&Alarm>, Vec<&Alarm>) = kept.iter().partition(|it| it.stays(&wanted));
    let added: Vec<Alarm> = wanted.into_iter().filter(|it| stay.iter().all(|kept| kept.key != it.key)).collect();
    let mut over: Vec<Alarm> = Vec::new();
    for alarm in gone.iter().filter(|it| it.has_rung && it.starts_at > now) {
        let key = alarm.dedup_key();
        if key.is_some() && over.iter().all(|it| it.dedup_key() != key) {
            over.push((*alarm).clone());
        }
    }
    let removed = gone.into_iter().filter(|it| added.iter().all(|new| new.key != it.key)).cloned().collect();
    AlarmsChange { removed, added, over }
}

/// What becomes of the alarms of an event that is gone.
pub fn alarms_of_gone(kept: &[Alarm], now: Timestamp) -> AlarmsChange {
    changed(kept, Vec::new(), now)
}

#[cfg(test)]
mod tests;
