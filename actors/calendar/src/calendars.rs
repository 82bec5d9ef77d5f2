//! Making, changing and deleting calendars.

use domain::{
    Error, Result,
    calendar::{
        Calendar, CalendarColor, DEFAULT_CALENDAR_KEPT, DEFAULT_CALENDAR_NAME, calendar_count_check, no_calendar,
    },
    id::{CalendarId, OrgId},
};
use kernel::{Command, Handle, Turn};
use store::{Change, calendar::CalendarBook};

use crate::{
    alarms,
    book::{Calendars, WriteContext, tell},
    removal::delete_after,
};

/// Has the mailbox have a default calendar; all of its calendars, the default one first.
#[derive(Clone, Copy, Debug)]
pub struct CalendarsOpen {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
}

impl Command for CalendarsOpen {
    type Reply = Vec<Calendar>;

    const NAME: &'static str = "calendars_open";
}

/// Adds the calendar that is made on first use. From then on what the mailbox's events ring for is looked at each day.
pub(crate) fn first(change: &mut Change, turn: &Turn<'_, Calendars>, org_id: OrgId, next: CalendarBook) -> Calendar {
    let calendar = Calendar {
        id: CalendarId::new(turn.now()),
        mailbox_id: *turn.key(),
        name: DEFAULT_CALENDAR_NAME.to_owned(),
        color: CalendarColor::least_used(&[]),
        description: String::new(),
        is_default: true,
        modseq: next.revision,
        version: 1,
        created_at: turn.now(),
    };
    change.calendar_add(&calendar);
    alarms::begin(change, turn, org_id);
    calendar
}

impl Handle<CalendarsOpen> for Calendars {
    async fn handle(&mut self, command: &CalendarsOpen, turn: &mut Turn<'_, Self>) -> Result<Vec<Calendar>> {
        WriteContext::open(turn, command.org_id).await?;
        let calendars = turn.services().store.calendars(*turn.key()).await?;
        if !calendars.is_empty() {
            return Ok(calendars);
        }
        let next = self.book.next(0);
        let mut change = self.change(next);
        let calendar = first(&mut change, turn, command.org_id, next);
        self.commit(turn, change, next).await?;
        Ok(vec![calendar])
    }
}

/// Makes a calendar.
#[derive(Clone, Debug)]
pub struct CalendarCreate {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// What it is called, checked.
    pub name: String,
    /// Its color; the one that is used least where nothing is said.
    pub color: Option<CalendarColor>,
    /// What it is about, checked.
    pub description: String,
}

impl Command for CalendarCreate {
    type Reply = Calendar;

    const NAME: &'static str = "calendar_create";
}

impl Handle<CalendarCreate> for Calendars {
    async fn handle(&mut self, command: &CalendarCreate, turn: &mut Turn<'_, Self>) -> Result<Calendar> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let (now, store) = (turn.now(), &turn.services().store);
        let calendars = store.calendars(*turn.key()).await?;
        let next = self.book.next(0);
        let mut change = self.change(next);
        let mut used: Vec<_> = calendars.iter().map(|calendar| calendar.color).collect();
        if calendars.is_empty() {
            used.push(first(&mut change, turn, command.org_id, next).color);
        }
        calendar_count_check(used.len())?;
        let calendar = Calendar {
            id: CalendarId::new(now),
            mailbox_id: *turn.key(),
            name: command.name.clone(),
            color: command.color.unwrap_or_else(|| CalendarColor::least_used(&used)),
            description: command.description.clone(),
            is_default: false,
            modseq: next.revision,
            version: 1,
            created_at: now,
        };
        change.calendar_add(&calendar);
        context.audit(&mut change, turn, "calendar.created", &calendar);
        tell(&mut change, now, &context.mailbox, calendar.id, &[], next.revision);
        self.commit(turn, change, next).await?;
        Ok(calendar)
    }
}

/// Changes a calendar; nothing of what is `None`.
#[derive(Clone, Debug)]
pub struct CalendarUpdate {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// Which.
    pub id: CalendarId,
    /// What it is called, checked.
    pub name: Option<String>,
    /// Its color.
    pub color: Option<CalendarColor>,
    /// What it is about, checked.
    pub description: Option<String>,
    /// Whether it becomes the default calendar.
    pub becomes_default: bool,
}

impl Command for CalendarUpdate {
    type Reply = Calendar;

    const NAME: &'static str = "calendar_update";
}

impl Handle<CalendarUpdate> for Calendars {
    async fn handle(&mut self, command: &CalendarUpdate, turn: &mut Turn<'_, Self>) -> Result<Calendar> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let calendars = turn.services().store.calendars(*turn.key()).await?;
        let before = calendars.iter().find(|calendar| calendar.id == command.id).ok_or_else(no_calendar)?;
        let next = self.book.next(0);
        let mut after = before.clone();
        if let Some(name) = &command.name {
            after.name.clone_from(name);
        }
        if let Some(description) = &command.description {
            after.description.clone_from(description);
        }
        after.color = command.color.unwrap_or(after.color);
        after.is_default |= command.becomes_default;
        if after == *before {
            return Ok(after);
        }
        after.modseq = next.revision;
        let mut change = self.change(next);
        change.calendar_set(&after);
        if after.is_default && !before.is_default {
            for other in calendars.iter().filter(|calendar| calendar.is_default) {
                let other = Calendar { is_default: false, modseq: next.revision, ..other.clone() };
                change.calendar_set(&other);
            }
        }
        context.audit(&mut change, turn, "calendar.changed", &after);
        tell(&mut change, turn.now(), &context.mailbox, after.id, &[], next.revision);
        self.commit(turn, change, next).await?;
        Ok(Calendar { version: after.version + 1, ..after })
    }
}

/// Deletes a calendar: it is out of sight at once, and its events are deleted by a job.
#[derive(Clone, Copy, Debug)]
pub struct CalendarDelete {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// Which.
    pub id: CalendarId,
}

impl Command for CalendarDelete {
    type Reply = ();

    const NAME: &'static str = "calendar_delete";
}

impl Handle<CalendarDelete> for Calendars {
    async fn handle(&mut self, command: &CalendarDelete, turn: &mut Turn<'_, Self>) -> Result<()> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let (now, store) = (turn.now(), &turn.services().store);
        let calendar = Self::calendar(turn, command.id).await?;
        if calendar.is_default {
            return Err(Error::bad_request("default_calendar", DEFAULT_CALENDAR_KEPT));
        }
        let events = i64::try_from(store.calendar_events_count(calendar.id).await?).unwrap_or(0);
        let next = self.book.next(-events);
        let mut change = self.change(next);
        change.calendar_close(&calendar, now);
        alarms::leave(&mut change, turn, &context.mailbox, calendar.id).await?;
        delete_after(&mut change, command.org_id, calendar.id, now);
        context.audit(&mut change, turn, "calendar.deleted", &calendar);
        tell(&mut change, now, &context.mailbox, calendar.id, &[], next.revision);
        self.commit(turn, change, next).await
    }
}
