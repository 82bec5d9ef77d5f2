//! Changes of events: of one occurrence, of one and all that follow, of all. Nothing that people wrote is lost.

use super::{
    event::{
        AttendeeKind, AttendeeRole, AttendeeStatus, BusyStatus, EventDraft, EventFields, EventStatus, Invited,
        InvitedFields, Sensitivity,
    },
    record::{Attendee, Event, EventHead, Exception, Organizer},
    recurrence::{LocalTime, Moment, Recurrence, Series, Wall},
    refusals::{EXCEPTIONS_MAX, no_event, too_many_exceptions},
    timing::{Timing, series_fault},
};
use crate::{Error, Result, app::names, id::EventId};

/// What isn't an occurrence's alone.
const WHOLE_SERIES: &str = "This can only be changed for the whole series.";

names! {
    /// Which occurrences a change is about.
    EditScope { One = "one", Following = "following", All = "all", }
}

/// What is to change of an event; nothing of what is `None`.
#[derive(Clone, Debug, Default)]
pub struct EventPatch {
    /// What it is called.
    pub summary: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// Where it is.
    pub location: Option<String>,
    /// Whether it is of whole days.
    pub all_day: Option<bool>,
    /// When it begins.
    pub start: Option<String>,
    /// When it ends.
    pub end: Option<String>,
    /// The zone.
    pub time_zone: Option<String>,
    /// How it recurs; none for once.
    pub recurrence: Option<Option<Recurrence>>,
    /// Those who are asked.
    pub attendees: Option<Vec<InvitedFields>>,
    /// How it shows people's time.
    pub busy_status: Option<BusyStatus>,
    /// Who may read more than its time.
    pub sensitivity: Option<Sensitivity>,
    /// Minutes before the start.
    pub reminders: Option<Vec<i64>>,
    /// Words that people sort by.
    pub categories: Option<Vec<String>>,
    /// Where more stands; none for nowhere.
    pub url: Option<Option<String>>,
    /// Whether it takes place.
    pub status: Option<EventStatus>,
}

/// A series that was cut in two: what was before, and what follows as an event of its own.
#[derive(Clone, Debug)]
pub struct EventSplit {
    /// What was before.
    pub before: Event,
    /// What follows.
    pub following: Event,
}

/// Those who are asked, with what they answered where they were asked before.
pub fn asked(invited: &[Invited], before: &[Attendee]) -> Vec<Attendee> {
    let attendee = |it: &Invited| {
        let role = if it.optional { AttendeeRole::Optional } else { AttendeeRole::Required };
        let known = before.iter().find(|known| known.email == it.email.as_str());
        match known {
            Some(known) => Attendee { name: it.name.clone().or_else(|| known.name.clone()), role, ..known.clone() },
            None => Attendee {
                email: it.email.to_string(),
                name: it.name.clone(),
                role,
                status: AttendeeStatus::NeedsAction,
                rsvp: true,
                kind: AttendeeKind::Individual,
                told: None,
            },
        }
    };
    invited.iter().map(attendee).collect()
}

impl EventPatch {
    /// The fields with what is to change of them.
    fn over(&self, mut fields: EventFields) -> EventFields {
        let texts = [
            (&self.summary, &mut fields.summary),
            (&self.description, &mut fields.description),
            (&self.location, &mut fields.location),
            (&self.start, &mut fields.start),
            (&self.end, &mut fields.end),
            (&self.time_zone, &mut fields.time_zone),
        ];
        for (new, old) in texts {
            if let Some(new) = new {
                old.clone_from(new);
            }
        }
        fields.all_day = self.all_day.unwrap_or(fields.all_day);
        if let Some(recurrence) = &self.recurrence {
            fields.recurrence.clone_from(recurrence);
        }
        if let Some(attendees) = &self.attendees {
            fields.attendees.clone_from(attendees);
        }
        if let Some(reminders) = &self.reminders {
            fields.reminders.clone_from(reminders);
        }
        if let Some(categories) = &self.categories {
            fields.categories.clone_from(categories);
        }
        if let Some(url) = &self.url {
            fields.url.clone_from(url);
        }
        fields
    }

    /// Whether nothing is to change but what is everybody's own: reminders, and how the event shows their time.
    pub fn is_own(&self) -> bool {
        let texts = [&self.summary, &self.description, &self.location, &self.start, &self.end, &self.time_zone];
        texts.iter().all(|text| text.is_none())
            && self.all_day.is_none()
            && self.recurrence.is_none()
            && self.attendees.is_none()
            && self.sensitivity.is_none()
            && self.categories.is_none()
            && self.url.is_none()
            && self.status.is_none()
    }

    /// The beginning that is named, where it can be read.
    fn moved_start(&self) -> Option<Wall> {
        self.start.as_deref().and_then(LocalTime::parse).map(LocalTime::wall)
    }

    /// 400 for what isn't an occurrence's alone.
    fn check_one(&self) -> Result<()> {
        let mut problems = crate::problems::Problems::new();
        for (path, is_named) in [
            ("description", self.description.is_some()),
            ("allDay", self.all_day.is_some()),
            ("timeZone", self.time_zone.is_some()),
            ("recurrence", self.recurrence.is_some()),
            ("attendees", self.attendees.is_some()),
            ("sensitivity", self.sensitivity.is_some()),
            ("reminders", self.reminders.is_some()),
            ("categories", self.categories.is_some()),
            ("url", self.url.is_some()),
        ] {
            problems.require(!is_named, path, WHOLE_SERIES);
        }
        problems.into_result()
    }
}

impl Exception {
    /// Takes over what is to change of the series, as far as the occurrence has it as the series had it.
    fn follow(&mut self, series: &EventHead, draft: &EventDraft, status: EventStatus, busy_status: BusyStatus) {
        if self.summary == series.summary {
            self.summary.clone_from(&draft.summary);
        }
        if self.location == series.location {
            self.location.clone_from(&draft.location);
        }
        if self.status == series.status {
            self.status = status;
        }
        if self.busy_status == series.busy_status {
            self.busy_status = busy_status;
        }
    }
}

impl Event {
    /// The occurrence that `recurrenceId` names: one that the series gives, or that was changed alone.
    pub fn occurrence(&self, recurrence_id: &str) -> Result<Wall> {
        let time = LocalTime::parse(recurrence_id);
        let is_day = |time: &LocalTime| matches!(time, LocalTime::Day(_));
        let time = time.filter(|time| is_day(time) == self.head.timing.is_all_day()).ok_or_else(no_event)?;
        let wall = time.wall();
        let is_changed = self.exceptions.iter().any(|it| it.recurrence == wall);
        let known = self.head.timing.is_recurring() && (is_changed || self.head.timing.series()?.occurs(wall));
        if known { Ok(wall) } else { Err(no_event()) }
    }

    fn fields(&self) -> EventFields {
        let (head, timing) = (&self.head, &self.head.timing);
        let invited = |it: &Attendee| InvitedFields {
            email: it.email.clone(),
            name: it.name.clone(),
            optional: it.role == AttendeeRole::Optional,
        };
        EventFields {
            summary: head.summary.clone(),
            description: self.detail.description.clone(),
            location: head.location.clone(),
            all_day: timing.is_all_day(),
            start: timing.local(timing.start.at),
            end: timing.local(timing.end),
            time_zone: timing.start.zone.name().to_owned(),
            recurrence: timing.recurrence(),
            attendees: self.detail.attendees.iter().map(invited).collect(),
            reminders: head.reminders.clone(),
            categories: self.detail.categories.clone(),
            url: self.detail.url.clone(),
        }
    }

    /// The event with all of its occurrences changed; `me` asks others to it from now on, where anybody is asked.
    pub fn changed(mut self, patch: &EventPatch, me: &Organizer) -> Result<Self> {
        let (timing, fields) = (&self.head.timing, self.fields());
        let lasts = timing.end.0 - timing.start.at.0;
        let end = patch.moved_start().map_or(timing.end, |start| start.plus(lasts));
        let draft = patch.over(EventFields { end: timing.local(end), ..fields }).check()?;
        let was_moved = self.retime(patch, &draft)?;
        let was_placed = self.head.location != draft.location;
        let status = patch.status.unwrap_or(self.head.status);
        let was_called_off = status != self.head.status;
        let busy_status = patch.busy_status.unwrap_or(self.head.busy_status);
        for exception in &mut self.exceptions {
            exception.follow(&self.head, &draft, status, busy_status);
        }
        self.head.summary = draft.summary;
        self.head.location = draft.location;
        self.head.reminders = draft.reminders;
        (self.head.status, self.head.busy_status) = (status, busy_status);
        self.detail.description = draft.description;
        self.detail.categories = draft.categories;
        self.detail.url = draft.url;
        self.detail.sensitivity = patch.sensitivity.unwrap_or(self.detail.sensitivity);
        self.detail.attendees = asked(&draft.attendees, &self.detail.attendees);
        if self.detail.attendees.is_empty() {
            self.detail.organizer = None;
        } else if self.detail.organizer.is_none() {
            self.detail.organizer = Some(me.clone());
        }
        if was_moved {
            for attendee in &mut self.detail.attendees {
                attendee.status = attendee.status.asked_again();
            }
        }
        if was_moved || was_placed || was_called_off {
            self.sequence += 1;
        }
        Ok(self)
    }

    /// Has the event be when the draft says; whether that is another time.
    fn retime(&mut self, patch: &EventPatch, draft: &EventDraft) -> Result<bool> {
        let timing = &self.head.timing;
        let rule = if patch.recurrence.is_some() { draft.rule.clone() } else { timing.rule.clone() };
        let is_same = timing.start.at == draft.start.at
            && timing.start.form == draft.start.form
            && timing.start.zone == draft.start.zone
            && timing.end == draft.end
            && timing.rule == rule;
        if is_same {
            return Ok(false);
        }
        if matches!(patch.recurrence, Some(None)) {
            self.exceptions.clear();
            self.head.timing = Timing::new(draft.start.clone(), draft.end, None)?;
            return Ok(true);
        }
        let by = draft.start.at.0 - timing.start.at.0;
        let overridden: Vec<Wall> = self.exceptions.iter().map(|it| it.recurrence).collect();
        let moved = timing.series()?.moved(draft.start.clone(), rule, &overridden).map_err(series_fault)?;
        for (exception, recurrence) in self.exceptions.iter_mut().zip(&moved.overridden) {
            exception.recurrence = *recurrence;
            exception.start = moved.series.wall_of(Moment::Wall(exception.start.plus(by)));
            exception.end = moved.series.wall_of(Moment::Wall(exception.end.plus(by)));
            if draft.start.form == super::recurrence::Form::Days && exception.end <= exception.start {
                exception.end = exception.start.plus(super::recurrence::DAY_SECONDS);
            }
        }
        self.exceptions.sort_by_key(|it| it.recurrence);
        // Two that came to lie on one day can't both be told apart.
        self.exceptions.dedup_by_key(|it| it.recurrence);
        self.head.timing = Timing::of(&moved.series, draft.end);
        Ok(true)
    }

    /// The event with one of its occurrences changed alone.
    pub fn changed_at(mut self, at: Wall, patch: &EventPatch) -> Result<Self> {
        patch.check_one()?;
        let series = self.head.timing.series()?;
        let known = self.exceptions.iter().position(|it| it.recurrence == at);
        let mut exception = match known {
            Some(place) => self.exceptions.remove(place),
            None => self.as_exception(&series, at),
        };
        if self.exceptions.len() >= EXCEPTIONS_MAX {
            return Err(too_many_exceptions());
        }
        let fields = EventFields {
            summary: exception.summary.clone(),
            location: exception.location.clone(),
            start: self.head.timing.local(exception.start),
            end: self.end_after(&series, &exception, patch),
            recurrence: None,
            attendees: Vec::new(),
            ..self.fields()
        };
        let draft = patch.over(fields).check()?;
        let was_moved = (exception.start, exception.end) != (draft.start.at, draft.end);
        let status = patch.status.unwrap_or(exception.status);
        if was_moved || exception.location != draft.location || exception.status != status {
            self.sequence += 1;
        }
        (exception.start, exception.end) = (draft.start.at, draft.end);
        exception.summary = draft.summary;
        exception.location = draft.location;
        exception.status = status;
        exception.busy_status = patch.busy_status.unwrap_or(exception.busy_status);
        let place = self.exceptions.partition_point(|it| it.recurrence < at);
        self.exceptions.insert(place, exception);
        Ok(self)
    }

    /// When a changed occurrence ends where nobody says: it goes on lasting as long.
    fn end_after(&self, series: &Series, exception: &Exception, patch: &EventPatch) -> String {
        let lasts = exception.end.0 - exception.start.0;
        let end = patch.moved_start().map_or(exception.end, |start| start.plus(lasts));
        self.head.timing.local(series.wall_of(Moment::Wall(end)))
    }

    /// An occurrence as the series has it.
    fn as_exception(&self, series: &Series, at: Wall) -> Exception {
        Exception {
            recurrence: at,
            start: at,
            end: self.head.timing.end_of(series, at),
            summary: self.head.summary.clone(),
            location: self.head.location.clone(),
            status: self.head.status,
            busy_status: self.head.busy_status,
            my_status: self.head.my_status,
        }
    }

    /// The event without one of its occurrences.
    pub fn without(mut self, at: Wall) -> Result<Self> {
        let series = self.head.timing.series()?.without(at).map_err(series_fault)?;
        self.head.timing = Timing::of(&series, self.head.timing.end);
        self.exceptions.retain(|it| it.recurrence != at);
        self.sequence += 1;
        Ok(self)
    }

    /// The event cut before an occurrence; none where that is the first, so that all of it follows.
    pub fn cut(self, at: Wall, id: EventId, uid: String) -> Result<Option<EventSplit>> {
        if at <= self.head.timing.start.at {
            return Ok(None);
        }
        let series = self.head.timing.series()?;
        let Some(split) = series.cut(at).map_err(series_fault)? else {
            return Err(Error::bad_request("nothing_follows", "Change this occurrence alone: none follows it."));
        };
        let end = self.head.timing.end_of(&series, split.following.start().at);
        let mut before = self;
        let mut following = before.clone();
        before.head.timing = Timing::of(&split.before, before.head.timing.end);
        following.head.timing = Timing::of(&split.following, end);
        let (earlier, later) = before.exceptions.into_iter().partition(|it| it.recurrence < at);
        before.exceptions = earlier;
        before.sequence += 1;
        (following.head.id, following.uid, following.exceptions) = (id, uid, later);
        (following.version, following.sequence) = (1, 0);
        Ok(Some(EventSplit { before, following }))
    }
}

#[cfg(test)]
mod tests;
