//! What guests say to who asks them to an event: their answers, and other times that they propose.

use actors_base::Services;
use domain::{
    Error, Result, Timestamp,
    calendar::{
        Attendee, AttendeeStatus, DESCRIPTION_LEN_MAX, EVENT_CANCELLED, Event, EventFields, EventStatus, Itip, Method,
        recurrence::{Moment, Series, Wall},
    },
    id::{EventId, MailboxId, OrgId},
    mail::Mailbox,
};
use kernel::{Command, Handle, Turn};
use store::{Change, NewWork};

use crate::{
    alarms::{Written, follow},
    book::{Calendars, WriteContext, addresses, tell},
    events::event,
    guests::{Notified, can_send, counted, local_mailbox, post},
    scheduling::{CALENDAR_SCHEDULING, GuestAnswer, Scheduled, settle_copy},
};

/// Who asks to an event, as its guests reach them.
pub(crate) enum Asker {
    /// A mailbox of this server.
    Here(MailboxId),
    /// Somebody by mail.
    Elsewhere(String),
}

/// What is answered.
#[derive(Clone, Copy)]
pub(crate) struct Answered<'e> {
    pub event: &'e Event,
    pub status: AttendeeStatus,
    pub comment: Option<&'e str>,
}

/// Whether who deletes this event declines it: they are asked to it, and it takes place.
pub(crate) fn is_declined(event: &Event) -> bool {
    !event.head.is_organizer && event.head.my_status.is_some() && event.head.status != EventStatus::Cancelled
}

impl Asker {
    pub async fn of(services: &Services, event: &Event) -> Result<Self> {
        let email = event.detail.organizer.as_ref().map(|it| it.email.clone()).unwrap_or_default();
        Ok(local_mailbox(services, &email).await?.map_or(Self::Elsewhere(email), Self::Here))
    }

    /// Whether they hear by mail.
    pub const fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Elsewhere(_))
    }

    /// Whether the mailbox can reach them.
    pub async fn can_hear(&self, services: &Services, mailbox: &Mailbox) -> Result<bool> {
        match self {
            Self::Here(_) => Ok(true),
            Self::Elsewhere(_) => match can_send(services, mailbox).await {
                Ok(()) => Ok(true),
                Err(Error::Conflict { .. }) => Ok(false),
                Err(error) => Err(error),
            },
        }
    }

    /// Has them hear of an answer.
    pub fn answer(&self, change: &mut Change, now: Timestamp, mailbox: &Mailbox, answered: Answered<'_>) -> Result<()> {
        let Answered { event, status, comment } = answered;
        let own = addresses(mailbox);
        let asked = event.detail.attendees.iter().find(|it| own.contains(&it.email));
        match (self, asked) {
            (Self::Here(organizer), _) => {
                let email = asked.map_or_else(|| mailbox.address.to_string(), |it| it.email.clone());
                let answer = GuestAnswer { email, status };
                let scheduled = Scheduled::Answer { mailbox_id: *organizer, uid: event.uid.clone(), answer };
                change.work_add(now, NewWork::new(CALENDAR_SCHEDULING.name, mailbox.org_id, &scheduled));
                Ok(())
            }
            (Self::Elsewhere(organizer), Some(asked)) => {
                let attendees = [Attendee { status, rsvp: false, ..asked.clone() }];
                let itip = Itip { attendees: Some(&attendees), comment, ..Itip::of(event, Method::Reply, None) };
                post(change, now, mailbox, &itip, vec![organizer.clone()])
            }
            (Self::Elsewhere(_), None) => Ok(()),
        }
    }
}

/// Answers the invitation to an event; its organizer hears of it.
#[derive(Clone, Debug)]
pub struct EventRespond {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// The mailbox's copy of the event.
    pub id: EventId,
    /// The answer.
    pub status: AttendeeStatus,
    /// What is added for the organizer, where they hear by mail.
    pub comment: Option<String>,
}

impl Command for EventRespond {
    type Reply = Event;

    const NAME: &'static str = "event_respond";
}

impl Handle<EventRespond> for Calendars {
    async fn handle(&mut self, command: &EventRespond, turn: &mut Turn<'_, Self>) -> Result<Event> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let (now, services) = (turn.now(), turn.services());
        let mut event = event(turn, command.id).await?;
        let status = invited(&event)?.answered(event.head.status, command.status)?;
        comment_check(command.comment.as_deref())?;
        let asker = Asker::of(services, &event).await?;
        let mut next = self.book.next(0);
        if asker.is_elsewhere() {
            can_send(services, &context.mailbox).await?;
            next = counted(next, now, 1)?;
        }
        let own = context.addresses();
        for attendee in event.detail.attendees.iter_mut().filter(|it| own.contains(&it.email)) {
            attendee.status = status;
        }
        settle_copy(&mut event, &context.mailbox, next, turn);
        let mut change = self.change(next);
        change.calendar_event_set(&event)?;
        change.calendar_touch(event.head.calendar_id, next.revision);
        follow(&mut change, turn, &context.mailbox, Written { there: &[&event], gone: &[] }).await?;
        let answered = Answered { event: &event, status, comment: command.comment.as_deref() };
        asker.answer(&mut change, now, &context.mailbox, answered)?;
        tell(&mut change, now, &context.mailbox, event.head.calendar_id, &[event.head.id], next.revision);
        self.commit(turn, change, next).await?;
        event.version += 1;
        Ok(event)
    }
}

/// What the mailbox answered to who asks it; 400 where nobody does.
fn invited(event: &Event) -> Result<AttendeeStatus> {
    let mine = event.head.my_status.filter(|_| !event.head.is_organizer);
    mine.ok_or_else(|| Error::bad_request("not_invited", "You weren't asked to this event."))
}

fn comment_check(comment: Option<&str>) -> Result<()> {
    let fits = comment.is_none_or(|comment| comment.chars().count() <= DESCRIPTION_LEN_MAX);
    if fits { Ok(()) } else { Err(Error::invalid("comment", "Use at most 64,000 characters.")) }
}

/// Proposes another time to who asks to an event.
#[derive(Clone, Debug)]
pub struct EventPropose {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// The mailbox's copy of the event.
    pub id: EventId,
    /// The occurrence (`recurrenceId`); none for all of the event.
    pub recurrence_id: Option<String>,
    /// When it would begin, on the wall of the zone.
    pub start: String,
    /// When it would end.
    pub end: String,
    /// The zone.
    pub time_zone: String,
    /// What is added.
    pub comment: Option<String>,
}

impl Command for EventPropose {
    type Reply = Notified;

    const NAME: &'static str = "event_propose";
}

impl Handle<EventPropose> for Calendars {
    async fn handle(&mut self, command: &EventPropose, turn: &mut Turn<'_, Self>) -> Result<Notified> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let (now, services, mailbox) = (turn.now(), turn.services(), &context.mailbox);
        let event = event(turn, command.id).await?;
        invited(&event)?;
        if event.head.status == EventStatus::Cancelled {
            return Err(Error::conflict("event_cancelled", EVENT_CANCELLED));
        }
        comment_check(command.comment.as_deref())?;
        let at = command.recurrence_id.as_deref().map(|id| event.occurrence(id)).transpose()?;
        let moved = Some(proposed(command, &event)?);
        let own = context.addresses();
        let asked = event.detail.attendees.iter().filter(|it| own.contains(&it.email)).take(1).cloned();
        let attendees: Vec<Attendee> = asked.collect();
        let organizer = event.detail.organizer.as_ref().map(|it| it.email.clone()).unwrap_or_default();
        can_send(services, mailbox).await?;
        let next = counted(self.book.next(0), now, 1)?;
        let mut change = self.change(next);
        let (attendees, comment) = (Some(attendees.as_slice()), command.comment.as_deref());
        let itip = Itip { attendees, comment, moved, ..Itip::of(&event, Method::Counter, at) };
        post(&mut change, now, mailbox, &itip, vec![organizer])?;
        self.commit(turn, change, next).await?;
        Ok(Notified { sent: 1 })
    }
}

/// The proposed time on the wall of the event.
fn proposed(command: &EventPropose, event: &Event) -> Result<(Wall, Wall)> {
    let fields = EventFields {
        all_day: event.head.timing.is_all_day(),
        start: command.start.clone(),
        end: command.end.clone(),
        time_zone: command.time_zone.clone(),
        ..EventFields::default()
    };
    let draft = fields.check()?;
    if event.head.timing.is_all_day() {
        return Ok((draft.start.at, draft.end));
    }
    let theirs = event.head.timing.series()?;
    let ours = Series::stored(draft.start.clone(), None, Some(draft.start.at));
    let on = |wall: Wall| theirs.wall_of(Moment::Instant(ours.instant(wall)));
    Ok((on(draft.start.at), on(draft.end)))
}
