//! Making, changing and deleting events.

use domain::{
    Error, Result, Timestamp,
    calendar::{
        Attendee, AttendeeStatus, BusyStatus, EVENTS_MAX, EditScope, Event, EventDetail, EventDraft, EventHead,
        EventPatch, EventStatus, InvitationState, Method, Sensitivity, Timing, asked, event_changed, no_event,
        not_organizer, recurrence::Wall, too_many_events,
    },
    id::{CalendarId, EventId, MailMessageId, OrgId},
};
use kernel::{Command, Handle, Turn};
use store::calendar::CalendarBook;

use crate::{
    alarms::{Written, follow},
    answering::{Answered, Asker, is_declined},
    book::{Calendars, WriteContext, tell},
    guests::{Notified, Sending, can_send, counted, send},
};

/// An event as it is to be made.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// What it says, checked.
    pub draft: EventDraft,
    /// Whether it takes place.
    pub status: EventStatus,
    /// How it shows people's time.
    pub busy_status: BusyStatus,
    /// Who may read more than its time.
    pub sensitivity: Sensitivity,
}

/// Makes an event. With guests the mailbox asks them to it.
#[derive(Clone, Debug)]
pub struct EventCreate {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// The calendar.
    pub calendar_id: CalendarId,
    /// The event.
    pub event: NewEvent,
    /// Whether guests are sent an invitation.
    pub notify: bool,
}

impl Command for EventCreate {
    type Reply = Event;

    const NAME: &'static str = "event_create";
}

impl Handle<EventCreate> for Calendars {
    async fn handle(&mut self, command: &EventCreate, turn: &mut Turn<'_, Self>) -> Result<Event> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let (now, services) = (turn.now(), turn.services());
        let calendar = Self::calendar(turn, command.calendar_id).await?;
        room_check(self.book)?;
        let mut next = self.book.next(1);
        let event = new_event(&context, calendar.id, &command.event, next.revision, now)?;
        let guests: Vec<Attendee> = if command.notify { event.guests().cloned().collect() } else { Vec::new() };
        if !guests.is_empty() {
            can_send(services, &context.mailbox).await?;
            next = counted(next, now, guests.len())?;
        }
        let mut change = self.change(next);
        change.calendar_event_add(&event)?;
        change.calendar_touch(calendar.id, next.revision);
        follow(&mut change, turn, &context.mailbox, Written { there: &[&event], gone: &[] }).await?;
        let sending = Sending { event: &event, method: Method::Request, at: None };
        send(&mut change, services, &context.mailbox, sending, &guests).await?;
        tell(&mut change, now, &context.mailbox, calendar.id, &[event.head.id], next.revision);
        self.commit(turn, change, next).await?;
        Ok(event)
    }
}

/// 400 for a mailbox that is full.
pub(crate) fn room_check(book: CalendarBook) -> Result<()> {
    let is_full = u64::try_from(book.events).is_ok_and(|events| events >= EVENTS_MAX);
    if is_full { Err(too_many_events()) } else { Ok(()) }
}

fn new_event(
    context: &WriteContext,
    calendar_id: CalendarId,
    new: &NewEvent,
    modseq: i64,
    now: Timestamp,
) -> Result<Event> {
    let (id, draft) = (EventId::new(now), &new.draft);
    let attendees = asked(&draft.attendees, &[]);
    let detail = EventDetail {
        description: draft.description.clone(),
        organizer: (!attendees.is_empty()).then(|| context.organizer()),
        attendees,
        sensitivity: new.sensitivity,
        categories: draft.categories.clone(),
        url: draft.url.clone(),
    };
    let mut event = Event {
        head: EventHead {
            id,
            calendar_id,
            timing: Timing::new(draft.start.clone(), draft.end, draft.rule.clone())?,
            summary: draft.summary.clone(),
            location: draft.location.clone(),
            status: new.status,
            busy_status: new.busy_status,
            reminders: draft.reminders.clone(),
            attendees: 0,
            is_organizer: true,
            my_status: None,
        },
        mailbox_id: context.mailbox.id,
        uid: format!("{id}@{}", context.mailbox.domain()),
        detail,
        exceptions: Vec::new(),
        sequence: 0,
        version: 1,
        modseq,
        created_at: now,
        updated_at: now,
    };
    settle(&mut event, &context.addresses(), modseq, now);
    Ok(event)
}

/// Has what follows from the rest of an event be so.
pub(crate) fn settle(event: &mut Event, addresses: &[String], modseq: i64, now: Timestamp) {
    event.head.attendees = event.detail.attendees.len();
    event.head.is_organizer = event.detail.is_organizer(addresses);
    event.head.my_status = event.detail.my_status(addresses);
    event.modseq = modseq;
    event.updated_at = now;
}

/// Which occurrences something is about.
#[derive(Clone, Debug)]
pub struct Occurrences {
    /// One, one and those that follow, all.
    pub scope: EditScope,
    /// The one (`recurrenceId`).
    pub recurrence_id: Option<String>,
}

impl Occurrences {
    /// The one that is named; none for all of the event.
    fn at(&self, event: &Event) -> Result<Option<Wall>> {
        match (self.scope, &self.recurrence_id) {
            (EditScope::All, _) => Ok(None),
            (_, Some(id)) => event.occurrence(id).map(Some),
            (_, None) => Err(Error::invalid("recurrenceId", "Name the occurrence.")),
        }
    }
}

/// Changes an event.
#[derive(Clone, Debug)]
pub struct EventChange {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// Which.
    pub id: EventId,
    /// The version that the change was decided on.
    pub version: i64,
    /// Which of its occurrences.
    pub occurrences: Occurrences,
    /// What is to change.
    pub patch: EventPatch,
    /// Whether guests hear of it.
    pub notify: bool,
}

/// What a change came to.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The event.
    pub event: Event,
    /// What follows as an event of its own, where the change is about one occurrence and those that follow.
    pub following: Option<Event>,
    /// Who hears of it.
    pub notified: Notified,
}

impl Command for EventChange {
    type Reply = Changed;

    const NAME: &'static str = "event_change";
}

impl Handle<EventChange> for Calendars {
    async fn handle(&mut self, command: &EventChange, turn: &mut Turn<'_, Self>) -> Result<Changed> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let before = event(turn, command.id).await?;
        if before.version != command.version {
            return Err(event_changed());
        }
        if !before.head.is_organizer && !command.patch.is_own() {
            return Err(not_organizer());
        }
        let changing = Changing {
            scope: command.occurrences.scope,
            at: command.occurrences.at(&before)?,
            patch: &command.patch,
            notify: command.notify,
        };
        self.change_event(turn, &context, before, changing, None).await
    }
}

/// How an event is to be changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changing<'c> {
    /// Which of its occurrences.
    pub scope: EditScope,
    /// The one that is named.
    pub at: Option<Wall>,
    /// What is to change.
    pub patch: &'c EventPatch,
    /// Whether guests hear of it.
    pub notify: bool,
}

impl Calendars {
    /// Changes an event, and notes what became of the message that has it be changed.
    pub(crate) async fn change_event(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        before: Event,
        changing: Changing<'_>,
        message: Option<(MailMessageId, InvitationState)>,
    ) -> Result<Changed> {
        let (now, services) = (turn.now(), turn.services());
        let (mut after, mut following) = decide(changing, context, before.clone(), now)?;
        let mut next = self.book.next(i64::from(following.is_some()));
        if following.is_some() {
            room_check(self.book)?;
        }
        for event in std::iter::once(&mut after).chain(&mut following) {
            settle(event, &context.addresses(), next.revision, now);
        }
        let told = told(&before, &after, following.as_ref(), changing.notify);
        if told.count() > 0 {
            can_send(services, &context.mailbox).await?;
            next = counted(next, now, told.count())?;
        }
        let mut change = self.change(next);
        change.calendar_event_set(&after)?;
        if let Some(following) = &following {
            change.calendar_event_add(following)?;
        }
        if let Some((id, state)) = message {
            change.calendar_message_settle(id, state, None);
        }
        change.calendar_touch(after.head.calendar_id, next.revision);
        for (sending, guests) in told.sendings(&before, &after, following.as_ref()) {
            send(&mut change, services, &context.mailbox, sending, guests).await?;
        }
        let there: Vec<&Event> = std::iter::once(&after).chain(&following).collect();
        follow(&mut change, turn, &context.mailbox, Written { there: &there, gone: &[] }).await?;
        let ids: Vec<EventId> = there.iter().map(|event| event.head.id).collect();
        tell(&mut change, now, &context.mailbox, after.head.calendar_id, &ids, next.revision);
        self.commit(turn, change, next).await?;
        after.version += 1;
        Ok(Changed { event: after, following, notified: Notified { sent: told.count() } })
    }
}

/// The event as the change leaves it, and what follows as an event of its own.
fn decide(
    changing: Changing<'_>,
    context: &WriteContext,
    event: Event,
    now: Timestamp,
) -> Result<(Event, Option<Event>)> {
    let me = context.organizer();
    let Changing { scope, at, patch, .. } = changing;
    match (scope, at) {
        (EditScope::One, Some(at)) => Ok((event.changed_at(at, patch)?, None)),
        (EditScope::Following, Some(at)) => {
            let id = EventId::new(now);
            let uid = format!("{id}@{}", context.mailbox.domain());
            match event.clone().cut(at, id, uid)? {
                Some(split) => Ok((split.before, Some(split.following.changed(patch, &me)?))),
                None => Ok((event.changed(patch, &me)?, None)),
            }
        }
        _ => Ok((event.changed(patch, &me)?, None)),
    }
}

/// Who hears of a change.
struct Told {
    /// Of the event as it is now.
    asked: Vec<Attendee>,
    /// Of what follows.
    following: Vec<Attendee>,
    /// That they aren't asked any more.
    removed: Vec<Attendee>,
}

/// Nobody hears of what guests can't see, nor of what another asks to.
fn told(before: &Event, after: &Event, following: Option<&Event>, notify: bool) -> Told {
    let mut told = Told { asked: Vec::new(), following: Vec::new(), removed: Vec::new() };
    if !notify || !after.head.is_organizer {
        return told;
    }
    let seen = |event: &Event| (event.head.summary.clone(), event.sequence, event.detail.clone());
    if seen(before) != seen(after) {
        told.asked = after.guests().cloned().collect();
    }
    told.following = following.into_iter().flat_map(Event::guests).cloned().collect();
    let is_asked = |guest: &&Attendee| after.detail.attendees.iter().any(|it| it.email == guest.email);
    told.removed = before.guests().filter(|guest| !is_asked(guest)).cloned().collect();
    told
}

impl Told {
    fn count(&self) -> usize {
        self.asked.len() + self.following.len() + self.removed.len()
    }

    fn sendings<'e>(
        &'e self,
        before: &'e Event,
        after: &'e Event,
        following: Option<&'e Event>,
    ) -> Vec<(Sending<'e>, &'e [Attendee])> {
        let request = |event| Sending { event, method: Method::Request, at: None };
        let mut sendings = vec![
            (request(after), self.asked.as_slice()),
            (Sending { event: before, method: Method::Cancel, at: None }, self.removed.as_slice()),
        ];
        sendings.extend(following.map(|event| (request(event), self.following.as_slice())));
        sendings
    }
}

/// Deletes an event, or some of its occurrences. Guests hear of it, or whoever asks others to it that the mailbox won't come.
#[derive(Clone, Debug)]
pub struct EventDelete {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// Which.
    pub id: EventId,
    /// Which of its occurrences.
    pub occurrences: Occurrences,
    /// Whether others hear of it.
    pub notify: bool,
}

impl Command for EventDelete {
    type Reply = Notified;

    const NAME: &'static str = "event_delete";
}

impl Handle<EventDelete> for Calendars {
    async fn handle(&mut self, command: &EventDelete, turn: &mut Turn<'_, Self>) -> Result<Notified> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let (now, services) = (turn.now(), turn.services());
        let before = event(turn, command.id).await?;
        let mut left = left(command, &before, now)?;
        if !before.head.is_organizer && left.is_some() {
            return Err(not_organizer());
        }
        let mut next = self.book.next(if left.is_some() { 0 } else { -1 });
        let is_told = command.notify && before.head.is_organizer && before.head.status != EventStatus::Cancelled;
        let guests: Vec<Attendee> = if is_told { before.guests().cloned().collect() } else { Vec::new() };
        if !guests.is_empty() {
            can_send(services, &context.mailbox).await?;
            next = counted(next, now, guests.len())?;
        }
        let asker = Asker::of(services, &before).await?;
        let declines = command.notify && is_declined(&before) && asker.can_hear(services, &context.mailbox).await?;
        if declines && asker.is_elsewhere() {
            next = counted(next, now, 1)?;
        }
        let mut change = self.change(next);
        let sequence = left.as_ref().map_or(before.sequence + 1, |(event, _)| event.sequence);
        let called_off = Event { sequence, ..before.clone() };
        let cancelled = |at| Sending { event: &called_off, method: Method::Cancel, at };
        let sending = if let Some((event, at)) = &mut left {
            settle(event, &context.addresses(), next.revision, now);
            change.calendar_event_set(event)?;
            follow(&mut change, turn, &context.mailbox, Written { there: &[&*event], gone: &[] }).await?;
            match *at {
                Some(at) => cancelled(Some(at)),
                None => Sending { event, method: Method::Request, at: None },
            }
        } else {
            change.calendar_event_remove(&before, next.revision);
            follow(&mut change, turn, &context.mailbox, Written { there: &[], gone: &[&before] }).await?;
            cancelled(None)
        };
        send(&mut change, services, &context.mailbox, sending, &guests).await?;
        if declines {
            let answer = Answered { event: &before, status: AttendeeStatus::Declined, comment: None };
            asker.answer(&mut change, now, &context.mailbox, answer)?;
        }
        change.calendar_touch(before.head.calendar_id, next.revision);
        tell(&mut change, now, &context.mailbox, before.head.calendar_id, &[before.head.id], next.revision);
        self.commit(turn, change, next).await?;
        Ok(Notified { sent: guests.len() })
    }
}

/// What is left of the event, and the occurrence that alone is gone; none when nothing is left.
fn left(command: &EventDelete, event: &Event, now: Timestamp) -> Result<Option<(Event, Option<Wall>)>> {
    let Some(at) = command.occurrences.at(event)? else { return Ok(None) };
    if command.occurrences.scope == EditScope::One {
        return Ok(Some((event.clone().without(at)?, Some(at))));
    }
    let split = event.clone().cut(at, EventId::new(now), String::new())?;
    Ok(split.map(|split| (split.before, None)))
}

/// The mailbox's event with this id, where its calendar is in sight.
pub(crate) async fn event(turn: &Turn<'_, Calendars>, id: EventId) -> Result<Event> {
    let found = turn.services().store.calendar_event(*turn.key(), id).await?.ok_or_else(no_event)?;
    match Calendars::calendar(turn, found.head.calendar_id).await {
        Ok(_) => Ok(found),
        Err(Error::NotFound { .. }) => Err(no_event()),
        Err(other) => Err(other),
    }
}
