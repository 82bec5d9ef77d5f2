//! What is done with messages about events (contract B 4.9): those that came without mail, and those that came by it.

use domain::{
    Error, Result, Timestamp,
    calendar::{
        Attendee, EditScope, Event, EventPatch, InvitationState, Itip, Method, PROPOSAL_UNANSWERED,
        ical::{EventPlace, read_calendar},
        itip::MailedFile,
        no_calendar, no_message,
    },
    id::{CalendarId, EventId, MailMessageId, MailThreadId, MailboxId, OrgId},
    mail::Mailbox,
    notify::Zone,
};
use kernel::{Command, Handle, Turn};
use store::{
    Change, NewWork,
    calendar::{CalendarBook, InboxMessage},
};

use crate::{
    alarms::{Written, follow},
    arrivals::{read, unanswered},
    book::{Calendars, WriteContext, addresses, tell},
    events::{Changing, room_check},
    guests::{Notified, can_send, counted, post},
    scheduling::{CALENDAR_SCHEDULING, EventSync, Scheduled, asked_to, copy_of},
};

/// Events of one file that are added at once.
const ADDED_MAX: usize = 500;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invited {
    /// Something was done with an invitation.
    Done {
        /// Who was sent something.
        notified: Notified,
        /// The event, where it was added.
        event_id: Option<EventId>,
    },
    /// A file of events that nobody is asked to was added.
    Added {
        /// The calendar that has them.
        calendar_id: CalendarId,
        /// The events, those that were there included.
        event_ids: Vec<EventId>,
    },
}

impl Invited {
    const fn event(id: EventId) -> Self {
        Self::Done { notified: Notified { sent: 0 }, event_id: Some(id) }
    }

    const fn sent(sent: usize) -> Self {
        Self::Done { notified: Notified { sent }, event_id: None }
    }
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
        let message = message(turn, command).await?;
        if let Some(file) = MailedFile::read(&message.event) {
            return self.act_on_mail(turn, &context, command, (&message, &file)).await;
        }
        let organizer: MailboxId = message.event.parse().map_err(|_| no_message())?;
        let sync = EventSync { organizer, uid: message.uid };
        match command.action {
            InvitationAction::Add => self.add(turn, &context, &sync, command.calendar_id).await,
            InvitationAction::Refresh => {
                let scheduled = Scheduled::Look { mailbox_id: *turn.key(), organizer, uid: sync.uid };
                let mut change = Change::new();
                change.work_add(turn.now(), NewWork::new(CALENDAR_SCHEDULING.name, command.org_id, &scheduled));
                turn.commit(change).await?;
                Ok(Invited::sent(1))
            }
            // Proposals come by mail alone.
            InvitationAction::Counter => Err(no_message()),
        }
    }
}

/// The message, where it is about an event and in this conversation, or in what became of it.
async fn message(turn: &Turn<'_, Calendars>, command: &InvitationAct) -> Result<InboxMessage> {
    let store = &turn.services().store;
    let found = store.calendar_message(*turn.key(), command.message_id).await?.ok_or_else(no_message)?;
    if found.thread_id == command.thread_id {
        return Ok(found);
    }
    let thread_id = store.mail_thread_of(*turn.key(), command.message_id).await?;
    if thread_id == Some(command.thread_id) { Ok(found) } else { Err(no_message()) }
}

impl Calendars {
    async fn act_on_mail(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        command: &InvitationAct,
        (message, file): (&InboxMessage, &MailedFile),
    ) -> Result<Invited> {
        let of = |methods: &[Method]| methods.iter().any(|it| it.as_str() == message.method);
        match command.action {
            InvitationAction::Add if of(&[Method::Publish]) => {
                self.add_published(turn, context, (message, file), command.calendar_id).await
            }
            InvitationAction::Add if of(&[Method::Request]) => {
                self.add_mailed(turn, context, message, command.calendar_id).await
            }
            InvitationAction::Refresh if of(&[Method::Request, Method::Cancel]) => {
                self.ask_again(turn, context, message).await
            }
            InvitationAction::Counter if of(&[Method::Counter]) => {
                self.answer_proposal(turn, context, message, command.accept == Some(true)).await
            }
            _ => Err(no_message()),
        }
    }

    /// Puts the event of an invitation into a calendar: the one that is there already where nothing is said.
    async fn add_mailed(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        message: &InboxMessage,
        wanted: Option<CalendarId>,
    ) -> Result<Invited> {
        let read = read(message).map_err(|_| no_message())?;
        if let Some(done) = self.moved(turn, context, &read.uid, wanted).await? {
            return Ok(done);
        }
        room_check(self.book)?;
        let (next, now, mailbox) = (self.book.next(1), turn.now(), &context.mailbox);
        let mut change = self.change(next);
        let calendar_id = match wanted {
            Some(id) => id,
            None => Self::default_calendar(turn, &mut change, mailbox, next).await?,
        };
        let own = addresses(mailbox);
        let event = read.event(place(mailbox, calendar_id, next, now), &own).map_err(|_| no_message())?;
        let event = unanswered(event.clone(), &own).unwrap_or(event);
        change.calendar_event_add(&event)?;
        change.calendar_message_settle(message.id, InvitationState::Applied, None);
        follow(&mut change, turn, mailbox, Written { there: &[&event], gone: &[] }).await?;
        change.calendar_touch(calendar_id, next.revision);
        tell(&mut change, now, mailbox, calendar_id, &[event.head.id], next.revision);
        self.commit(turn, change, next).await?;
        Ok(Invited::event(event.head.id))
    }

    /// Puts all events of a file into a calendar, those that the mailbox has already but for them.
    async fn add_published(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        (message, file): (&InboxMessage, &MailedFile),
        wanted: Option<CalendarId>,
    ) -> Result<Invited> {
        let (mailbox, now, store) = (&context.mailbox, turn.now(), turn.services().store.clone());
        let events = read_calendar(&file.file, &Zone::UTC).map_err(|_| no_message())?.events;
        if events.is_empty() {
            return Err(no_message());
        }
        let calendars = store.calendars(mailbox.id).await?;
        if wanted.is_some_and(|id| calendars.iter().all(|calendar| calendar.id != id)) {
            return Err(no_calendar());
        }
        let (mut event_ids, mut added) = (Vec::new(), Vec::new());
        for event in events.into_iter().take(ADDED_MAX) {
            let there = store.calendar_events_by_uid(mailbox.id, &event.uid).await?;
            let there = there.iter().find(|it| calendars.iter().any(|calendar| calendar.id == it.head.calendar_id));
            match there {
                Some(there) => event_ids.push((there.head.id, there.head.calendar_id)),
                None => added.push(event),
            }
        }
        let mut next = self.book.next(0);
        for _ in &added {
            room_check(next)?;
            next.events += 1;
        }
        let mut change = self.change(next);
        change.calendar_message_settle(message.id, InvitationState::Applied, None);
        let calendar_id = match (wanted, event_ids.first()) {
            (Some(id), _) => id,
            (None, Some((_, id))) if added.is_empty() => *id,
            _ => Self::default_calendar(turn, &mut change, mailbox, next).await?,
        };
        let mut ids: Vec<EventId> = event_ids.into_iter().map(|(id, _)| id).collect();
        if added.is_empty() {
            return Ok(Invited::Added { calendar_id, event_ids: ids });
        }
        let own = addresses(mailbox);
        for event in added {
            let event = event.into_event(place(mailbox, calendar_id, next, now), &own);
            change.calendar_event_add(&event)?;
            follow(&mut change, turn, mailbox, Written { there: &[&event], gone: &[] }).await?;
            ids.push(event.head.id);
        }
        change.calendar_touch(calendar_id, next.revision);
        tell(&mut change, now, mailbox, calendar_id, &ids, next.revision);
        self.commit(turn, change, next).await?;
        Ok(Invited::Added { calendar_id, event_ids: ids })
    }

    /// Asks who asks to an event for it once more (`REFRESH`).
    async fn ask_again(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        message: &InboxMessage,
    ) -> Result<Invited> {
        let (mailbox, now) = (&context.mailbox, turn.now());
        let read = read(message).map_err(|_| no_message())?;
        let calendar_id = CalendarId::new(now);
        let own = addresses(mailbox);
        let event = read.event(place(mailbox, calendar_id, self.book, now), &own).map_err(|_| no_message())?;
        let organizer = event.detail.organizer.as_ref().filter(|it| !own.contains(&it.email)).ok_or_else(no_message)?;
        let asked = event.detail.attendees.iter().find(|it| own.contains(&it.email)).ok_or_else(no_message)?;
        can_send(turn.services(), mailbox).await?;
        let next = counted(self.book.next(0), now, 1)?;
        let mut change = self.change(next);
        let attendees = [asked.clone()];
        let itip = Itip { attendees: Some(&attendees), ..Itip::of(&event, Method::Refresh, None) };
        post(&mut change, now, mailbox, &itip, vec![organizer.email.clone()])?;
        self.commit(turn, change, next).await?;
        Ok(Invited::sent(1))
    }

    /// Answers a proposal: the event is moved, and all guests hear of it, or its guest hears that it isn't.
    async fn answer_proposal(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        message: &InboxMessage,
        accept: bool,
    ) -> Result<Invited> {
        match message.state {
            Some(InvitationState::Proposed) => {}
            Some(InvitationState::Accepted | InvitationState::Declined) => return Ok(Invited::sent(0)),
            _ => return Err(no_message()),
        }
        let (mailbox, now) = (&context.mailbox, turn.now());
        let read = read(message).map_err(|_| no_message())?;
        let events = turn.services().store.calendar_events_by_uid(mailbox.id, &read.uid).await?;
        let event = events.into_iter().find(|event| event.head.is_organizer).ok_or_else(no_message)?;
        let (at, start, end) = read.proposal(&event)?;
        if accept {
            let timing = &event.head.timing;
            let (start, end) = (Some(timing.local(start)), Some(timing.local(end)));
            let patch = EventPatch { start, end, ..EventPatch::default() };
            let scope = if at.is_some() { EditScope::One } else { EditScope::All };
            let changing = Changing { scope, at, patch: &patch, notify: true };
            let settled = Some((message.id, InvitationState::Accepted));
            let changed = self.change_event(turn, context, event, changing, settled).await?;
            return Ok(Invited::Done { notified: changed.notified, event_id: Some(changed.event.head.id) });
        }
        can_send(turn.services(), mailbox).await?;
        let next = counted(self.book.next(0), now, 1)?;
        let mut change = self.change(next);
        change.calendar_message_settle(message.id, InvitationState::Declined, None);
        let (_, guest) = read.speaks_for(&message.sender).ok_or_else(no_message)?;
        let attendees: [Attendee; 1] = [guest.clone()];
        let itip = Itip { attendees: Some(&attendees), ..Itip::of(&event, Method::DeclineCounter, at) };
        post(&mut change, now, mailbox, &itip, vec![message.sender.clone()])?;
        self.commit(turn, change, next).await?;
        Ok(Invited::sent(1))
    }

    /// The event that the mailbox has already, in the calendar that is wanted; none where it hasn't one.
    async fn moved(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        uid: &str,
        wanted: Option<CalendarId>,
    ) -> Result<Option<Invited>> {
        let (mailbox, store) = (&context.mailbox, &turn.services().store);
        let calendars = store.calendars(mailbox.id).await?;
        if wanted.is_some_and(|id| calendars.iter().all(|calendar| calendar.id != id)) {
            return Err(no_calendar());
        }
        let in_sight = |event: &Event| calendars.iter().any(|calendar| calendar.id == event.head.calendar_id);
        let mine = store.calendar_events_by_uid(mailbox.id, uid).await?.into_iter().find(in_sight);
        let Some(mut mine) = mine else { return Ok(None) };
        let (id, before) = (mine.head.id, mine.head.calendar_id);
        if let Some(wanted) = wanted.filter(|wanted| *wanted != before) {
            mine.head.calendar_id = wanted;
            self.rewrite_for(turn, mailbox, mine, None).await?;
        }
        Ok(Some(Invited::event(id)))
    }

    /// Puts the event of an organizer on this server into a calendar: the one that is there already where nothing is said.
    async fn add(
        &mut self,
        turn: &mut Turn<'_, Self>,
        context: &WriteContext,
        sync: &EventSync,
        wanted: Option<CalendarId>,
    ) -> Result<Invited> {
        let mailbox = &context.mailbox;
        if let Some(done) = self.moved(turn, context, &sync.uid, wanted).await? {
            return Ok(done);
        }
        let (theirs, _) = asked_to(turn.services(), sync, mailbox).await?.ok_or_else(no_message)?;
        room_check(self.book)?;
        let next = self.book.next(1);
        let mut change = self.change(next);
        let calendar_id = match wanted {
            Some(id) => id,
            None => Self::default_calendar(turn, &mut change, mailbox, next).await?,
        };
        let copy = copy_of(theirs, mailbox, calendar_id, next, turn);
        change.calendar_event_add(&copy)?;
        follow(&mut change, turn, mailbox, Written { there: &[&copy], gone: &[] }).await?;
        change.calendar_touch(calendar_id, next.revision);
        tell(&mut change, turn.now(), mailbox, calendar_id, &[copy.head.id], next.revision);
        self.commit(turn, change, next).await?;
        Ok(Invited::event(copy.head.id))
    }
}

/// Where an event of a file is put.
fn place(mailbox: &Mailbox, calendar_id: CalendarId, next: CalendarBook, now: Timestamp) -> EventPlace {
    EventPlace { id: EventId::new(now), calendar_id, mailbox_id: mailbox.id, modseq: next.revision, now }
}
