//! Events that come in files, and calendars that others follow.

use std::sync::Arc;

use domain::{
    Result, Timestamp,
    calendar::{
        Calendar, EVENTS_MAX, Event, TOO_MANY_EVENTS,
        ical::{EventPlace, ReadEvent, ReadFault, Writing, write_calendar},
    },
    id::{CalendarId, EventId, OrgId},
    token::{Token, TokenKind},
};
use kernel::{Command, Handle, Turn};
use store::Change;

use crate::{
    alarms::{Written, follow},
    book::{Calendars, WriteContext, tell},
};

/// Puts events of a file into a calendar. One that the mailbox has already, by its `UID`, becomes what the file says where that isn't
/// older. Nobody is sent anything.
#[derive(Clone, Debug)]
pub struct EventsImport {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// The calendar.
    pub calendar_id: CalendarId,
    /// The events.
    pub events: Arc<Vec<ReadEvent>>,
}

/// What an import came to.
#[derive(Clone, Debug, Default)]
pub struct EventsImported {
    /// How many events are new.
    pub added: usize,
    /// How many changed.
    pub updated: usize,
    /// How many were there as the file has them, or later.
    pub unchanged: usize,
    /// What couldn't be taken.
    pub failed: Vec<ReadFault>,
}

impl Command for EventsImport {
    type Reply = EventsImported;

    const NAME: &'static str = "events_import";
}

/// What is to be done with an event of a file.
enum Taken {
    Added(Event),
    Updated(Event),
    Unchanged,
}

impl Handle<EventsImport> for Calendars {
    async fn handle(&mut self, command: &EventsImport, turn: &mut Turn<'_, Self>) -> Result<EventsImported> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let calendar = Self::calendar(turn, command.calendar_id).await?;
        let (now, revision) = (turn.now(), self.book.next(0).revision);
        let (mut imported, mut written, mut change) = (EventsImported::default(), Vec::new(), Change::new());
        for read in command.events.iter() {
            let room = EVENTS_MAX.saturating_sub(u64::try_from(self.book.events).unwrap_or_default());
            let has_room = (imported.added as u64) < room;
            match take(turn, &context, &calendar, read.clone(), revision).await {
                Ok(Taken::Unchanged) => imported.unchanged += 1,
                Ok(Taken::Added(_)) if !has_room => imported.failed.push(fault(read, TOO_MANY_EVENTS.to_owned())),
                Ok(Taken::Added(event)) => match added(&event) {
                    Ok(one) => {
                        imported.added += 1;
                        change.append(one);
                        written.push(event);
                    }
                    Err(error) => imported.failed.push(fault(read, error.to_string())),
                },
                Ok(Taken::Updated(event)) => match updated(&event) {
                    Ok(one) => {
                        imported.updated += 1;
                        change.append(one);
                        written.push(event);
                    }
                    Err(error) => imported.failed.push(fault(read, error.to_string())),
                },
                Err(error) if error.status() < 500 => imported.failed.push(fault(read, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        if written.is_empty() {
            return Ok(imported);
        }
        let next = self.book.next(i64::try_from(imported.added).unwrap_or(i64::MAX));
        let mut whole = self.change(next);
        whole.append(change);
        whole.calendar_touch(calendar.id, next.revision);
        let there: Vec<&Event> = written.iter().collect();
        follow(&mut whole, turn, &context.mailbox, Written { there: &there, gone: &[] }).await?;
        let ids: Vec<EventId> = written.iter().map(|event| event.head.id).collect();
        tell(&mut whole, now, &context.mailbox, calendar.id, &ids, next.revision);
        self.commit(turn, whole, next).await?;
        Ok(imported)
    }
}

fn fault(read: &ReadEvent, reason: String) -> ReadFault {
    ReadFault { uid: Some(read.uid.clone()), line: read.line, reason }
}

fn added(event: &Event) -> Result<Change> {
    let mut change = Change::new();
    change.calendar_event_add(event)?;
    Ok(change)
}

fn updated(event: &Event) -> Result<Change> {
    let mut change = Change::new();
    change.calendar_event_set(event)?;
    Ok(change)
}

/// What is to be done with an event of a file.
async fn take(
    turn: &Turn<'_, Calendars>,
    context: &WriteContext,
    calendar: &Calendar,
    read: ReadEvent,
    modseq: i64,
) -> Result<Taken> {
    let (now, addresses) = (turn.now(), context.addresses());
    let there = turn.services().store.calendar_events_by_uid(context.mailbox.id, &read.uid).await?;
    let before = there.iter().find(|it| it.head.calendar_id == calendar.id).or_else(|| there.first());
    let place = EventPlace {
        id: before.map_or_else(|| EventId::new(now), |event| event.head.id),
        calendar_id: before.map_or(calendar.id, |event| event.head.calendar_id),
        mailbox_id: context.mailbox.id,
        modseq,
        now,
    };
    let event = read.into_event(place, &addresses);
    let Some(before) = before else { return Ok(Taken::Added(event)) };
    let Event { version, modseq: was, created_at, updated_at, .. } = *before;
    let same = Event { version, modseq: was, created_at, updated_at, ..event.clone() };
    if event.sequence < before.sequence || text_of(&same)? == text_of(before)? {
        return Ok(Taken::Unchanged);
    }
    Ok(Taken::Updated(Event { version, created_at, ..event }))
}

/// What a file says of an event.
fn text_of(event: &Event) -> Result<String> {
    write_calendar(std::slice::from_ref(event), &Writing { method: None, name: None, now: Timestamp(0) })
}

/// Has a calendar be followed at a new address, or nowhere.
#[derive(Clone, Copy, Debug)]
pub struct CalendarFeedSet {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// The calendar.
    pub calendar_id: CalendarId,
    /// Whether it is followed.
    pub is_followed: bool,
}

impl Command for CalendarFeedSet {
    type Reply = Option<Token>;

    const NAME: &'static str = "calendar_feed_set";
}

impl Handle<CalendarFeedSet> for Calendars {
    async fn handle(&mut self, command: &CalendarFeedSet, turn: &mut Turn<'_, Self>) -> Result<Option<Token>> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let calendar = Self::calendar(turn, command.calendar_id).await?;
        let mut change = Change::new();
        change.mailbox_confirm(context.mailbox.id);
        let token = if command.is_followed {
            let token = Token::generate(TokenKind::Hook)?;
            change.calendar_feed_set(&calendar, &token.hash(), turn.now());
            context.audit(&mut change, turn, "calendar.feed_made", &calendar);
            Some(token)
        } else {
            change.calendar_feed_remove(calendar.id);
            context.audit(&mut change, turn, "calendar.feed_removed", &calendar);
            None
        };
        turn.commit(change).await?;
        Ok(token)
    }
}
