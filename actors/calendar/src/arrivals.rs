//! What came by mail about events: looked at by the mailbox's calendars once the mail is filed, as a job.
//!
//! Files are read outside of turns. What became of a message is noted in the commit that changes the event, so that a job that comes
//! twice changes nothing twice.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actors_base::work::job::{Halt, Handler, Job, Topic};
use domain::{
    Context, Email, Origin, Result, Tenant,
    calendar::{
        AttendeeStatus, Event, EventStatus, InvitationState, Itip, Method,
        ical::EventPlace,
        itip::{
            ASKS_OTHERS, ItipRead, LATER_ONE_CAME, MailedFile, NO_ROOM, NO_SUCH_EVENT, NOT_ASKED, NOT_THE_ATTENDEE,
            NOT_THE_ORGANIZER, Taken, UNKNOWN_SENDER, UNREADABLE,
        },
    },
    id::{EventId, MailMessageId},
    mail::{Mailbox, domain_of},
    notify::Zone,
};
use kernel::{Command, Cpu, CpuKind, Handle, Registry, Turn};
use store::{
    Change, Permits,
    calendar::{CALENDAR_ARRIVALS, CalendarArrival, InboxMessage},
};

use crate::{
    alarms::{Written, follow},
    book::{Calendars, addresses, tell},
    events::room_check,
    guests::{can_send, counted, post},
    scheduling::called_off,
};

/// The job that has calendars look at what came by mail.
pub const CALENDAR_ARRIVALS_JOB: Topic = Topic { permits: Permits::with_spare(2, 6), ..Topic::new(CALENDAR_ARRIVALS) };

/// How long a turn may take.
const TURN_MAX: Duration = Duration::from_secs(30);
/// Messages about an event among which one is looked for that called it off before it came.
const EARLIER_MAX: u64 = 50;

/// Has calendars look at what came by mail.
#[derive(Clone)]
pub struct CalendarMail {
    /// The owners of calendars.
    pub calendars: Registry<Calendars>,
    /// Where files are read.
    pub cpu: Cpu,
}

impl Handler for CalendarMail {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let CalendarArrival { mailbox_id, message_id } = job.payload()?;
        let store = job.store();
        let Some(mailbox) = store.mailbox_by_id(mailbox_id).await? else { return Ok(Change::new()) };
        let message = store.calendar_message(mailbox_id, message_id).await?;
        let Some(message) = message.filter(|it| it.state == Some(InvitationState::Waiting)) else {
            return Ok(Change::new());
        };
        let reading = move || read(&message);
        let read = match self.cpu.run(Tenant::Org(mailbox.org_id), CpuKind::Document, reading).await? {
            Ok(read) => read,
            Err(fault) => {
                let mut change = Change::new();
                change.calendar_message_settle(message_id, InvitationState::Refused, Some(&fault.to_string()));
                return Ok(change);
            }
        };
        let context = Context::system(Origin::Actor, Instant::now() + TURN_MAX);
        let arrived = ItipArrived { message_id, read: Arc::new(read) };
        self.calendars.ask(&mailbox_id, arrived, context).await?;
        Ok(Change::new())
    }
}

/// What a message that came by mail says.
pub(crate) fn read(message: &InboxMessage) -> Result<ItipRead> {
    let file = MailedFile::read(&message.event).ok_or_else(domain::calendar::no_message)?;
    ItipRead::read(&file.file, message.received_at, &Zone::UTC)
}

/// A message about an event that came by mail.
#[derive(Clone, Debug)]
pub(crate) struct ItipArrived {
    message_id: MailMessageId,
    read: Arc<ItipRead>,
}

impl Command for ItipArrived {
    type Reply = ();

    const NAME: &'static str = "itip_arrived";
}

/// What is to become of a message.
enum Decided {
    /// The event is to be so.
    Write(Box<Event>),
    /// The event is new.
    Arrive,
    /// Nothing changes.
    Keep(InvitationState, Option<&'static str>),
    /// The sender is to be told of the event.
    Tell(Box<Event>),
}

impl Decided {
    const fn refused(why: &'static str) -> Self {
        Self::Keep(InvitationState::Refused, Some(why))
    }

    const LATE: Self = Self::Keep(InvitationState::Stale, Some(LATER_ONE_CAME));
}

impl Handle<ItipArrived> for Calendars {
    async fn handle(&mut self, command: &ItipArrived, turn: &mut Turn<'_, Self>) -> Result<()> {
        let store = turn.services().store.clone();
        let Some(mailbox) = store.mailbox_by_id(*turn.key()).await? else { return Ok(()) };
        let message = store.calendar_message(mailbox.id, command.message_id).await?;
        let Some(message) = message.filter(|it| it.state == Some(InvitationState::Waiting)) else { return Ok(()) };
        let read = &*command.read;
        let mine = store.calendar_events_by_uid(mailbox.id, &read.uid).await?.into_iter().next();
        let decided = match read.method {
            Method::Request => self.requested(turn, &mailbox, &message, read, mine).await?,
            Method::Cancel => cancelled(read, &message.sender, mine)?,
            Method::Publish => return Ok(()),
            _ => to_organizer(read, &message.sender, mine),
        };
        match decided {
            Decided::Write(event) => {
                self.rewrite_for(turn, &mailbox, *event, Some((message.id, InvitationState::Applied))).await
            }
            Decided::Arrive => self.arrive_by_mail(turn, &mailbox, message.id, read).await,
            Decided::Tell(event) => self.tell_again(turn, &mailbox, &message, &event).await,
            Decided::Keep(state, why) => {
                let mut change = Change::new();
                change.calendar_message_settle(message.id, state, why);
                turn.commit(change).await
            }
        }
    }
}

impl Calendars {
    /// An invitation, or what became of one.
    async fn requested(
        &self,
        turn: &Turn<'_, Self>,
        mailbox: &Mailbox,
        message: &InboxMessage,
        read: &ItipRead,
        mine: Option<Event>,
    ) -> Result<Decided> {
        if !read.is_from_organizer(&message.sender) {
            return Ok(Decided::refused(NOT_THE_ORGANIZER));
        }
        let own = addresses(mailbox);
        if let Some(mine) = mine {
            return Ok(renewed(read, mine, &own));
        }
        let waiting = |why| Decided::Keep(InvitationState::Waiting, Some(why));
        if !read.asks(&own) {
            return Ok(waiting(ASKS_OTHERS));
        }
        if was_called_off(turn, mailbox, message, read).await? {
            return Ok(Decided::LATE);
        }
        if !is_familiar(turn, mailbox, &message.sender).await? {
            return Ok(waiting(UNKNOWN_SENDER));
        }
        Ok(if room_check(self.book).is_err() { waiting(NO_ROOM) } else { Decided::Arrive })
    }
}

/// What becomes of the event that a mailbox has.
fn renewed(read: &ItipRead, mine: Event, own: &[String]) -> Decided {
    if !is_asked_by(&mine, read) {
        return Decided::refused(NOT_THE_ORGANIZER);
    }
    if read.is_stale(&mine) {
        return Decided::LATE;
    }
    match read.renewed(mine, own) {
        Ok(event) => Decided::Write(Box::new(event)),
        Err(_) => Decided::refused(UNREADABLE),
    }
}

/// Whether who asks by the message is who asks to the event that the mailbox has.
fn is_asked_by(mine: &Event, read: &ItipRead) -> bool {
    let asks = mine.detail.organizer.as_ref().map(|it| it.email.as_str());
    !mine.head.is_organizer && asks == read.organizer()
}

/// Whether who asks has called the event off by a message that came before the one that asks.
async fn was_called_off(
    turn: &Turn<'_, Calendars>,
    mailbox: &Mailbox,
    message: &InboxMessage,
    request: &ItipRead,
) -> Result<bool> {
    let earlier = turn.services().store.calendar_messages(mailbox.id, &request.uid, EARLIER_MAX).await?;
    let is_later = |it: &InboxMessage| {
        let is_cancel = it.method == Method::Cancel.as_str() && it.sender == message.sender && it.id != message.id;
        let is_proved = is_cancel && MailedFile::read(&it.event).is_some_and(|file| file.is_proved);
        is_proved && read(it).is_ok_and(|cancel| cancel.is_whole() && cancel.told >= request.told)
    };
    Ok(earlier.iter().any(is_later))
}

/// Whether somebody is of the organization, or the mailbox has written to them.
async fn is_familiar(turn: &Turn<'_, Calendars>, mailbox: &Mailbox, sender: &str) -> Result<bool> {
    let (store, platform) = (&turn.services().store, &turn.services().settings.platform_domain);
    let Ok(address) = Email::parse("from", sender) else { return Ok(false) };
    if let Ok(name) = domain_of(&address).parse()
        && store.org_domain(mailbox.org_id, &name, platform).await?.is_some()
    {
        return Ok(true);
    }
    if store.mail_is_of_org(mailbox.org_id, &address).await? {
        return Ok(true);
    }
    Ok(store.mail_wrote_to(mailbox.id, &address).await?)
}

fn cancelled(read: &ItipRead, sender: &str, mine: Option<Event>) -> Result<Decided> {
    if !read.is_from_organizer(sender) {
        return Ok(Decided::refused(NOT_THE_ORGANIZER));
    }
    let Some(mine) = mine else { return Ok(Decided::Keep(InvitationState::Applied, Some(NO_SUCH_EVENT))) };
    if !is_asked_by(&mine, read) {
        return Ok(Decided::refused(NOT_THE_ORGANIZER));
    }
    if read.is_stale(&mine) {
        return Ok(Decided::LATE);
    }
    let event = read.cancelled(mine)?;
    let event = if event.head.status == EventStatus::Cancelled { called_off(event) } else { event };
    Ok(Decided::Write(Box::new(event)))
}

/// What guests say to who asks them.
fn to_organizer(read: &ItipRead, sender: &str, mine: Option<Event>) -> Decided {
    if read.method == Method::DeclineCounter {
        return Decided::Keep(InvitationState::Applied, None);
    }
    let Some(mut event) = mine.filter(|it| it.head.is_organizer) else { return Decided::refused(NO_SUCH_EVENT) };
    let Some((_, guest)) = read.speaks_for(sender) else { return Decided::refused(NOT_THE_ATTENDEE) };
    if !event.detail.attendees.iter().any(|it| it.email == guest.email) {
        return Decided::refused(NOT_ASKED);
    }
    match read.method {
        Method::Counter if event.head.status == EventStatus::Cancelled => Decided::LATE,
        Method::Counter => Decided::Keep(InvitationState::Proposed, None),
        Method::Refresh => Decided::Tell(Box::new(event)),
        _ => match read.reply(&mut event, sender) {
            Taken::Changed => Decided::Write(Box::new(event)),
            Taken::Stale => Decided::LATE,
            Taken::Refused(why) => Decided::refused(why),
        },
    }
}

impl Calendars {
    /// Takes in an invitation: it waits for an answer, whatever it says of that itself.
    async fn arrive_by_mail(
        &mut self,
        turn: &mut Turn<'_, Self>,
        mailbox: &Mailbox,
        message_id: MailMessageId,
        read: &ItipRead,
    ) -> Result<()> {
        let next = self.book.next(1);
        let mut change = self.change(next);
        let calendar_id = Self::default_calendar(turn, &mut change, mailbox, next).await?;
        let (now, own) = (turn.now(), addresses(mailbox));
        let place =
            EventPlace { id: EventId::new(now), calendar_id, mailbox_id: mailbox.id, modseq: next.revision, now };
        let is_news = |event: &Event| event.head.status != EventStatus::Cancelled;
        let taken = read.event(place, &own).map(|event| unanswered(event, &own).filter(is_news));
        let Ok(Some(event)) = taken else {
            let fault = taken.err().map(|fault| fault.to_string());
            let state = if fault.is_some() { InvitationState::Refused } else { InvitationState::Applied };
            let mut change = Change::new();
            change.calendar_message_settle(message_id, state, fault.as_deref());
            return turn.commit(change).await;
        };
        change.calendar_event_add(&event)?;
        change.calendar_message_settle(message_id, InvitationState::Applied, None);
        follow(&mut change, turn, mailbox, Written { there: &[&event], gone: &[] }).await?;
        change.calendar_touch(calendar_id, next.revision);
        tell(&mut change, now, mailbox, calendar_id, &[event.head.id], next.revision);
        self.commit(turn, change, next).await
    }

    /// Sends who asks for it the event as it is.
    async fn tell_again(
        &mut self,
        turn: &mut Turn<'_, Self>,
        mailbox: &Mailbox,
        message: &InboxMessage,
        event: &Event,
    ) -> Result<()> {
        let now = turn.now();
        // Nobody waits for a refusal here: what can't be sent isn't.
        let sent = can_send(turn.services(), mailbox).await.and_then(|()| counted(self.book.next(0), now, 1));
        let next = sent.as_ref().copied().unwrap_or_else(|_| self.book.next(0));
        let mut change = self.change(next);
        change.calendar_message_settle(message.id, InvitationState::Applied, None);
        if sent.is_ok() {
            let method = if event.head.status == EventStatus::Cancelled { Method::Cancel } else { Method::Request };
            post(&mut change, now, mailbox, &Itip::of(event, method, None), vec![message.sender.clone()])?;
        }
        self.commit(turn, change, next).await
    }
}

/// The event as somebody has it who hasn't answered yet; none where who asks knows that they won't come.
pub(crate) fn unanswered(mut event: Event, own: &[String]) -> Option<Event> {
    if event.detail.my_status(own) == Some(AttendeeStatus::Declined) {
        return None;
    }
    for attendee in event.detail.attendees.iter_mut().filter(|it| own.contains(&it.email)) {
        attendee.status = AttendeeStatus::NeedsAction;
    }
    event.head.my_status = event.detail.my_status(own);
    for exception in &mut event.exceptions {
        exception.my_status = event.head.my_status;
    }
    Some(event)
}
