//! What goes between organizers and guests who both have a mailbox here.
//!
//! An entry of the work queue says that there is something to look at. Whoever is told looks at the organizer's event as it is
//! then, so that entries may come twice, late and in any order.

use std::time::{Duration, Instant};

use actors_base::{
    Services,
    work::job::{Halt, Handler, Job, Topic},
};
use domain::{
    Context, Origin, Result,
    calendar::{AttendeeStatus, Event, EventHead, EventStatus, InvitationState},
    id::{CalendarId, EventId, MailMessageId, MailThreadId, MailboxId},
    mail::Mailbox,
};
use kernel::{Command, Handle, Registry, Turn};
use serde::{Deserialize, Serialize};
use store::{
    Change, Permits,
    calendar::{CalendarBook, InboxMessage},
};

use crate::{
    alarms::{Written, follow},
    book::{Calendars, addresses, tell},
    calendars::first,
    events::{room_check, settle},
};

/// The job that has calendars look at what others ask them to, and at what guests answered.
pub const CALENDAR_SCHEDULING: Topic =
    Topic { permits: Permits::with_spare(2, 6), ..Topic::new("calendar.scheduling") };

/// How long a look may take.
const TURN_MAX: Duration = Duration::from_secs(30);
/// What an invitation is kept as (RFC 5546).
const REQUEST: &str = "REQUEST";

/// What is to be looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Scheduled {
    /// An event that the organizer asks the mailbox to, changed, or called off.
    Look { mailbox_id: MailboxId, organizer: MailboxId, uid: String },
    /// What a guest answered to an event of the mailbox.
    Answer { mailbox_id: MailboxId, uid: String, answer: GuestAnswer },
}

/// Has the calendars of guests and organizers look.
#[derive(Clone)]
pub struct SchedulingLane(pub Registry<Calendars>);

impl Handler for SchedulingLane {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        match job.payload::<Scheduled>()? {
            Scheduled::Look { mailbox_id, organizer, uid } => {
                self.0.ask(&mailbox_id, EventSync { organizer, uid }, context).await?;
            }
            Scheduled::Answer { mailbox_id, uid, answer } => {
                self.0.ask(&mailbox_id, GuestAnswered { uid, answer }, context).await?;
            }
        }
        Ok(Change::new())
    }
}

/// Has a mailbox's copy of an event be as its organizer has it.
#[derive(Clone, Debug)]
pub struct EventSync {
    /// Whose event it is.
    pub organizer: MailboxId,
    /// What it is known by.
    pub uid: String,
}

impl Command for EventSync {
    type Reply = ();

    const NAME: &'static str = "event_sync";
}

impl Handle<EventSync> for Calendars {
    async fn handle(&mut self, command: &EventSync, turn: &mut Turn<'_, Self>) -> Result<()> {
        let store = &turn.services().store;
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else { return Ok(()) };
        let theirs = asked_to(turn.services(), command, &mailbox).await?;
        let mine = store.calendar_events_by_uid(mailbox.id, &command.uid).await?.into_iter().next();
        match (mine, theirs) {
            (Some(mine), Some((theirs, _))) => self.renew(turn, &mailbox, &mine, theirs).await,
            (Some(mine), None) if mine.head.status != EventStatus::Cancelled && !mine.head.is_organizer => {
                let mut cancelled = called_off(mine);
                cancelled.sequence += 1;
                self.rewrite(turn, &mailbox, cancelled).await
            }
            (None, Some((theirs, organizer))) if is_news(&theirs, &mailbox) => {
                self.arrive(turn, &mailbox, theirs, &organizer).await
            }
            _ => Ok(()),
        }
    }
}

/// The event once it doesn't take place: what was changed of it alone doesn't, either.
pub(crate) fn called_off(mut event: Event) -> Event {
    event.head.status = EventStatus::Cancelled;
    for exception in &mut event.exceptions {
        exception.status = EventStatus::Cancelled;
    }
    event
}

/// Whether an event that the mailbox doesn't have is news to it: it takes place, and wasn't declined.
fn is_news(theirs: &Event, mailbox: &Mailbox) -> bool {
    let answer = theirs.detail.my_status(&addresses(mailbox));
    theirs.head.status != EventStatus::Cancelled && answer != Some(AttendeeStatus::Declined)
}

/// The organizer's event, where it is there and asks the mailbox to it, and the organizer's mailbox.
pub(crate) async fn asked_to(
    services: &Services,
    command: &EventSync,
    mailbox: &Mailbox,
) -> Result<Option<(Event, Mailbox)>> {
    let store = &services.store;
    let Some(organizer) = store.mailbox_by_id(command.organizer).await? else { return Ok(None) };
    let calendars: Vec<CalendarId> = store.calendars(organizer.id).await?.iter().map(|it| it.id).collect();
    let events = store.calendar_events_by_uid(organizer.id, &command.uid).await?;
    let asks = |event: &Event| {
        event.head.is_organizer
            && calendars.contains(&event.head.calendar_id)
            && event.detail.attendees.iter().any(|it| mailbox.addresses().any(|own| own.as_str() == it.email))
    };
    Ok(events.into_iter().find(asks).map(|event| (event, organizer)))
}

impl Calendars {
    /// Has the copy be as the organizer's event is now; what is everybody's own stays.
    async fn renew(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox, mine: &Event, theirs: Event) -> Result<()> {
        if mine.head.is_organizer {
            return Ok(());
        }
        let renewed = Event {
            head: EventHead {
                id: mine.head.id,
                calendar_id: mine.head.calendar_id,
                reminders: mine.head.reminders.clone(),
                busy_status: mine.head.busy_status,
                ..theirs.head
            },
            mailbox_id: mailbox.id,
            version: mine.version,
            created_at: mine.created_at,
            ..theirs
        };
        self.rewrite(turn, mailbox, renewed).await
    }

    async fn rewrite(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox, event: Event) -> Result<()> {
        self.rewrite_for(turn, mailbox, event, None).await
    }

    /// Writes an event as it is now, and notes what became of the message that has it be so.
    pub(crate) async fn rewrite_for(
        &mut self,
        turn: &mut Turn<'_, Self>,
        mailbox: &Mailbox,
        mut event: Event,
        message: Option<(MailMessageId, InvitationState)>,
    ) -> Result<()> {
        let (now, next) = (turn.now(), self.book.next(0));
        settle_copy(&mut event, mailbox, next, turn);
        let mut change = self.change(next);
        if let Some((id, state)) = message {
            change.calendar_message_settle(id, state, None);
        }
        change.calendar_event_set(&event)?;
        change.calendar_touch(event.head.calendar_id, next.revision);
        follow(&mut change, turn, mailbox, Written { there: &[&event], gone: &[] }).await?;
        tell(&mut change, now, mailbox, event.head.calendar_id, &[event.head.id], next.revision);
        self.commit(turn, change, next).await
    }

    /// Takes in what is new: into the default calendar what somebody of the organization asks to; the rest waits until it is
    /// added, so that nobody else fills people's calendars.
    async fn arrive(
        &mut self,
        turn: &mut Turn<'_, Self>,
        mailbox: &Mailbox,
        theirs: Event,
        organizer: &Mailbox,
    ) -> Result<()> {
        let (now, store) = (turn.now(), &turn.services().store);
        let known = store.calendar_messages(mailbox.id, &theirs.uid, 1).await?;
        let is_colleague = organizer.org_id == mailbox.org_id && room_check(self.book).is_ok();
        if !known.is_empty() && !is_colleague {
            return Ok(());
        }
        let next = self.book.next(i64::from(is_colleague));
        let mut change = self.change(next);
        if known.is_empty() {
            change.calendar_message_add(&InboxMessage {
                id: MailMessageId::new(now),
                thread_id: MailThreadId::new(now),
                mailbox_id: mailbox.id,
                method: REQUEST.to_owned(),
                uid: theirs.uid.clone(),
                sender: organizer.address.to_string(),
                event: organizer.id.to_string(),
                received_at: now,
                state: None,
                why: None,
            });
        }
        if is_colleague {
            let calendar_id = Self::default_calendar(turn, &mut change, mailbox, next).await?;
            let copy = copy_of(theirs, mailbox, calendar_id, next, turn);
            change.calendar_event_add(&copy)?;
            follow(&mut change, turn, mailbox, Written { there: &[&copy], gone: &[] }).await?;
            change.calendar_touch(calendar_id, next.revision);
            tell(&mut change, now, mailbox, calendar_id, &[copy.head.id], next.revision);
        }
        self.commit(turn, change, next).await
    }

    /// The default calendar, which the change makes where there is none.
    pub(crate) async fn default_calendar(
        turn: &Turn<'_, Self>,
        change: &mut Change,
        mailbox: &Mailbox,
        next: CalendarBook,
    ) -> Result<CalendarId> {
        let calendars = turn.services().store.calendars(*turn.key()).await?;
        if let Some(calendar) = calendars.first() {
            return Ok(calendar.id);
        }
        Ok(first(change, turn, mailbox.org_id, next).id)
    }
}

/// A guest's own copy of an event.
pub(crate) fn copy_of(
    theirs: Event,
    mailbox: &Mailbox,
    calendar_id: CalendarId,
    next: CalendarBook,
    turn: &Turn<'_, Calendars>,
) -> Event {
    let now = turn.now();
    let mut copy = Event {
        head: EventHead { id: EventId::new(now), calendar_id, reminders: Vec::new(), ..theirs.head },
        mailbox_id: mailbox.id,
        version: 1,
        created_at: now,
        ..theirs
    };
    settle_copy(&mut copy, mailbox, next, turn);
    copy
}

pub(crate) fn settle_copy(event: &mut Event, mailbox: &Mailbox, next: CalendarBook, turn: &Turn<'_, Calendars>) {
    settle(event, &addresses(mailbox), next.revision, turn.now());
    for exception in &mut event.exceptions {
        exception.my_status = event.head.my_status;
    }
}

/// Who answered, and what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GuestAnswer {
    /// The guest's address.
    pub email: String,
    /// What they answered.
    pub status: AttendeeStatus,
}

/// What a guest answered to an event of the mailbox.
#[derive(Clone, Debug)]
pub(crate) struct GuestAnswered {
    uid: String,
    answer: GuestAnswer,
}

impl Command for GuestAnswered {
    type Reply = ();

    const NAME: &'static str = "guest_answered";
}

impl Handle<GuestAnswered> for Calendars {
    async fn handle(&mut self, command: &GuestAnswered, turn: &mut Turn<'_, Self>) -> Result<()> {
        let store = &turn.services().store;
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else { return Ok(()) };
        let events = store.calendar_events_by_uid(mailbox.id, &command.uid).await?;
        let Some(mut event) = events.into_iter().find(|event| event.head.is_organizer) else { return Ok(()) };
        let guest = event.detail.attendees.iter_mut().find(|it| it.email == command.answer.email);
        let Some(guest) = guest.filter(|it| it.status != command.answer.status) else { return Ok(()) };
        guest.status = command.answer.status;
        self.rewrite(turn, &mailbox, event).await
    }
}
