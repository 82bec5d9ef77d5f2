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
    Context, Error, Origin, Result,
    calendar::{AttendeeStatus, Event, EventHead, EventStatus, PROPOSAL_UNANSWERED, no_calendar, no_message},
    id::{CalendarId, EventId, MailMessageId, MailThreadId, MailboxId, OrgId},
    mail::Mailbox,
};
use kernel::{Command, Handle, Registry, Turn};
use serde::{Deserialize, Serialize};
use store::{
    Change, NewWork, Permits,
    calendar::{CalendarBook, InboxMessage},
};

use crate::{
    book::{Calendars, WriteContext, addresses, tell},
    calendars::first,
    events::{event, room_check, settle},
    guests::{Notified, local_mailbox},
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
                let mut cancelled = mine;
                cancelled.head.status = EventStatus::Cancelled;
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

/// Whether an event that the mailbox doesn't have is news to it: it takes place, and wasn't declined.
fn is_news(theirs: &Event, mailbox: &Mailbox) -> bool {
    let answer = theirs.detail.my_status(&addresses(mailbox));
    theirs.head.status != EventStatus::Cancelled && answer != Some(AttendeeStatus::Declined)
}

/// The organizer's event, where it is there and asks the mailbox to it, and the organizer's mailbox.
async fn asked_to(services: &Services, command: &EventSync, mailbox: &Mailbox) -> Result<Option<(Event, Mailbox)>> {
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

    async fn rewrite(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox, mut event: Event) -> Result<()> {
        let (now, next) = (turn.now(), self.book.next(0));
        settle_copy(&mut event, mailbox, next, turn);
        let mut change = self.change(next);
        change.calendar_event_set(&event)?;
        change.calendar_touch(event.head.calendar_id, next.revision);
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
            });
        }
        if is_colleague {
            let calendar_id = Self::default_calendar(turn, &mut change, next).await?;
            let copy = copy_of(theirs, mailbox, calendar_id, next, turn);
            change.calendar_event_add(&copy)?;
            change.calendar_touch(calendar_id, next.revision);
            tell(&mut change, now, mailbox, calendar_id, &[copy.head.id], next.revision);
        }
        self.commit(turn, change, next).await
    }

    /// The default calendar, which the change makes where there is none.
    async fn default_calendar(turn: &Turn<'_, Self>, change: &mut Change, next: CalendarBook) -> Result<CalendarId> {
        let calendars = turn.services().store.calendars(*turn.key()).await?;
        if let Some(calendar) = calendars.first() {
            return Ok(calendar.id);
        }
        let calendar = first(turn, next);
        change.calendar_add(&calendar);
        Ok(calendar.id)
    }
}

/// A guest's own copy of an event.
fn copy_of(
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

fn settle_copy(event: &mut Event, mailbox: &Mailbox, next: CalendarBook, turn: &Turn<'_, Calendars>) {
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

/// Answers the invitation to an event; its organizer hears of it.
#[derive(Clone, Copy, Debug)]
pub struct EventRespond {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// The mailbox's copy of the event.
    pub id: EventId,
    /// The answer.
    pub status: AttendeeStatus,
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
        let mine = event.head.my_status.filter(|_| !event.head.is_organizer);
        let mine = mine.ok_or_else(|| Error::bad_request("not_invited", "You weren't asked to this event."))?;
        let status = mine.answered(event.head.status, command.status)?;
        let next = self.book.next(0);
        let own = context.addresses();
        for attendee in event.detail.attendees.iter_mut().filter(|it| own.contains(&it.email)) {
            attendee.status = status;
        }
        settle_copy(&mut event, &context.mailbox, next, turn);
        let mut change = self.change(next);
        change.calendar_event_set(&event)?;
        change.calendar_touch(event.head.calendar_id, next.revision);
        answer(&mut change, services, &context.mailbox, &event, status).await?;
        tell(&mut change, now, &context.mailbox, event.head.calendar_id, &[event.head.id], next.revision);
        self.commit(turn, change, next).await?;
        event.version += 1;
        Ok(event)
    }
}

/// Has the organizer of an event hear that the mailbox won't come.
pub(crate) async fn decline(change: &mut Change, services: &Services, mailbox: &Mailbox, event: &Event) -> Result<()> {
    if event.head.my_status.is_none() || event.head.status == EventStatus::Cancelled {
        return Ok(());
    }
    answer(change, services, mailbox, event, AttendeeStatus::Declined).await
}

async fn answer(
    change: &mut Change,
    services: &Services,
    mailbox: &Mailbox,
    event: &Event,
    status: AttendeeStatus,
) -> Result<()> {
    let organizer = event.detail.organizer.as_ref().map_or("", |it| it.email.as_str());
    if let Some(organizer) = local_mailbox(services, organizer).await? {
        let own = addresses(mailbox);
        let asked = event.detail.attendees.iter().map(|it| &it.email).find(|email| own.contains(email));
        let email = asked.cloned().unwrap_or_else(|| mailbox.address.to_string());
        let answer = GuestAnswer { email, status };
        let scheduled = Scheduled::Answer { mailbox_id: organizer, uid: event.uid.clone(), answer };
        let now = services.store.now();
        change.work_add(now, NewWork::new(CALENDAR_SCHEDULING.name, mailbox.org_id, &scheduled));
    }
    Ok(())
}

/// What is done with an invitation that came as a message (contract B 4.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationAction {
    /// The event is put into a calendar.
    Add,
    /// Its organizer is asked for it once more.
    Refresh,
    /// A proposal of another time is answered.
    Counter,
}

/// Does something with an invitation.
#[derive(Clone, Copy, Debug)]
pub struct InvitationAct {
    /// The organization that the mailbox was asked for in.
    pub org_id: OrgId,
    /// The conversation.
    pub thread_id: MailThreadId,
    /// The message.
    pub message_id: MailMessageId,
    /// What.
    pub action: InvitationAction,
    /// The calendar that the event goes into; the default one where nothing is said.
    pub calendar_id: Option<CalendarId>,
    /// Whether a proposal is accepted.
    pub accept: Option<bool>,
}

/// What came of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invited {
    /// Who was sent something.
    pub notified: Notified,
    /// The event, where it was added.
    pub event_id: Option<EventId>,
}

impl Command for InvitationAct {
    type Reply = Invited;

    const NAME: &'static str = "invitation_act";
}

impl Handle<InvitationAct> for Calendars {
    async fn handle(&mut self, command: &InvitationAct, turn: &mut Turn<'_, Self>) -> Result<Invited> {
        let context = WriteContext::open(turn, command.org_id).await?;
        if command.action == InvitationAction::Counter && command.accept.is_none() {
            return Err(Error::bad_request("proposal_unanswered", PROPOSAL_UNANSWERED));
        }
        let store = &turn.services().store;
        let message = store.calendar_message(*turn.key(), command.thread_id, command.message_id).await?;
        let message = message.filter(|it| it.method == REQUEST).ok_or_else(no_message)?;
        let organizer: MailboxId = message.event.parse().map_err(|_| no_message())?;
        let sync = EventSync { organizer, uid: message.uid };
        match command.action {
            InvitationAction::Add => self.add(turn, &context, &sync, command.calendar_id).await,
            InvitationAction::Refresh => {
                let scheduled = Scheduled::Look { mailbox_id: *turn.key(), organizer, uid: sync.uid };
                let mut change = Change::new();
                change.work_add(turn.now(), NewWork::new(CALENDAR_SCHEDULING.name, command.org_id, &scheduled));
                turn.commit(change).await?;
                Ok(Invited { notified: Notified { sent: 1 }, event_id: None })
            }
            // Proposals come by mail alone.
            InvitationAction::Counter => Err(no_message()),
        }
    }
}

impl Calendars {
    /// Puts the event into a calendar: the one that is there already where nothing is said.
    async fn add(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        sync: &EventSync,
        wanted: Option<CalendarId>,
    ) -> Result<Invited> {
        let (mailbox, store) = (&context.mailbox, &turn.services().store);
        let calendars = store.calendars(mailbox.id).await?;
        if wanted.is_some_and(|id| calendars.iter().all(|calendar| calendar.id != id)) {
            return Err(no_calendar());
        }
        let done = |id| Ok(Invited { notified: Notified::default(), event_id: Some(id) });
        let in_sight = |event: &Event| calendars.iter().any(|calendar| calendar.id == event.head.calendar_id);
        let mine = store.calendar_events_by_uid(mailbox.id, &sync.uid).await?.into_iter().find(in_sight);
        if let Some(mut mine) = mine {
            let (id, before) = (mine.head.id, mine.head.calendar_id);
            match wanted.filter(|wanted| *wanted != before) {
                None => return done(id),
                Some(wanted) => mine.head.calendar_id = wanted,
            }
            self.rewrite(turn, mailbox, mine).await?;
            return done(id);
        }
        let (theirs, _) = asked_to(turn.services(), sync, mailbox).await?.ok_or_else(no_message)?;
        room_check(self.book)?;
        let next = self.book.next(1);
        let mut change = self.change(next);
        let calendar_id = match wanted {
            Some(id) => id,
            None => Self::default_calendar(turn, &mut change, next).await?,
        };
        let copy = copy_of(theirs, mailbox, calendar_id, next, turn);
        change.calendar_event_add(&copy)?;
        change.calendar_touch(calendar_id, next.revision);
        tell(&mut change, turn.now(), mailbox, calendar_id, &[copy.head.id], next.revision);
        self.commit(turn, change, next).await?;
        done(copy.head.id)
    }
}
