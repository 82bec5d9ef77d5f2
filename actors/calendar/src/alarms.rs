//! What rings before events begin: alarms follow from an event in the commit that writes it, and a timer rings them.
//!
//! A mailbox has two timers. `alarm` is due with its earliest alarm. `extend` comes once a day and has the alarms of the days
//! ahead follow from each event that may ring, some at a time, so that a series has no more rows than its next occurrences.
//! Whom a meeting concerns is decided when it rings: a first look comes two hours before the start, and each look sets the one
//! for those who want to hear of it next.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};

use domain::{
    Result, Timestamp,
    calendar::{Alarm, AlarmFacts, AlarmKey, AlarmKind, AlarmsChange, Calendar, Event, Window, alarms_of_gone},
    id::{CalendarId, EventId, OrgId},
    mail::Mailbox,
    notify::Recipient,
};
use kernel::{Handle, Resource, TimerFired, Turn};
use store::{Change, Store};

use crate::{
    book::{Calendars, addresses},
    tell_of::{MEETING_SOON, lead_before, over, told, within},
};

/// The timer of the earliest alarm.
const ALARM: &str = "alarm";
/// The timer that has alarms follow for the days ahead; behind a colon, the event after which it goes on.
const EXTEND: &str = "extend";
/// How often it does.
const EXTEND_EVERY: Duration = Duration::from_secs(24 * 3600);
/// Events that are looked at in one turn.
const EVENTS_PER_TURN: usize = 50;
/// Alarms that ring in one turn.
const ALARMS_PER_TURN: usize = 50;
/// Alarms of a calendar that goes away which are told to be over.
const OVER_MAX: usize = 200;
const DAY_MS: i64 = 86_400_000;
/// Milliseconds around the moment in which events are looked for: reminders come up to 28 days before the start and a week
/// behind it, for the nine days ahead.
const AROUND_MS: [i64; 2] = [8 * DAY_MS, 38 * DAY_MS];
const MINUTE_MS: i64 = 60_000;

/// The events that a commit leaves, and those that it takes away.
#[derive(Clone, Copy, Default)]
pub(crate) struct Written<'e> {
    pub there: &'e [&'e Event],
    pub gone: &'e [&'e Event],
}

/// Has a mailbox be looked at for the days ahead, from tomorrow on.
pub(crate) fn begin(change: &mut Change, turn: &Turn<'_, Calendars>, org_id: OrgId) {
    set(change, turn, org_id, (EXTEND, turn.now().after(EXTEND_EVERY)));
}

fn set(change: &mut Change, turn: &Turn<'_, Calendars>, org_id: OrgId, (name, due): (&str, Timestamp)) {
    change.timer_set_for(org_id, Calendars::KIND, &turn.key().to_string(), name, due);
}

/// Has the timer come with the next alarm.
fn wake(change: &mut Change, turn: &Turn<'_, Calendars>, org_id: OrgId, next: Option<Timestamp>) {
    match next {
        Some(due) => set(change, turn, org_id, (ALARM, due)),
        None => change.timer_cancel(Calendars::KIND, &turn.key().to_string(), ALARM),
    }
}

fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

/// Has the alarms of events be as these are now.
pub(crate) async fn follow(
    change: &mut Change,
    turn: &Turn<'_, Calendars>,
    mailbox: &Mailbox,
    written: Written<'_>,
) -> Result<()> {
    let (now, store) = (turn.now(), &turn.services().store);
    let Written { there, gone } = written;
    let ids: Vec<EventId> = there.iter().chain(gone).map(|event| event.head.id).collect();
    let kept = store.calendar_alarms(&ids).await?;
    if kept.is_empty() && !there.iter().any(|event| event.may_ring()) {
        return Ok(());
    }
    let own = addresses(mailbox);
    let mut counting_back: HashMap<CalendarId, Option<i64>> = HashMap::new();
    let mut next = store.calendar_alarm_next(mailbox.id, Timestamp(i64::MIN), &ids).await?;
    let of = |event: &Event| kept.iter().filter(|it| it.event_id == event.head.id).cloned().collect::<Vec<_>>();
    for &event in there {
        let calendar_id = event.head.calendar_id;
        if event.is_meeting(&own)
            && let Entry::Vacant(unknown) = counting_back.entry(calendar_id)
        {
            unknown.insert(counts_back(store, mailbox, calendar_id).await?);
        }
        let counting_back = counting_back.get(&calendar_id).copied().flatten();
        let kept = of(event);
        let becomes = event.alarms_change(&AlarmFacts { addresses: &own, counting_back, kept: &kept, now })?;
        next = earliest(next, write(change, (mailbox, event), (&kept, &becomes), now));
    }
    for &event in gone {
        let kept = of(event);
        write(change, (mailbox, event), (&kept, &alarms_of_gone(&kept, now)), now);
    }
    wake(change, turn, mailbox.org_id, next);
    Ok(())
}

/// How long before a meeting the first of the protocols counts back, in minutes. They are told a minute before that, so that
/// their steps are in time.
async fn counts_back(store: &Store, mailbox: &Mailbox, calendar_id: CalendarId) -> Result<Option<i64>> {
    let protocols = store.protocols_attached(mailbox.org_id, &within(mailbox, calendar_id)).await?;
    let rules = protocols.iter().flat_map(|protocol| &protocol.draft.rules);
    let rules = rules.filter(|rule| rule.before_event && rule.events.iter().any(|kind| kind == MEETING_SOON));
    Ok(rules.flat_map(|rule| &rule.steps).map(|step| i64::from(step.after_minutes) + 1).max())
}

/// Writes what becomes of an event's alarms, and tells of those that are over; answers when the next one rings.
fn write(
    change: &mut Change,
    (mailbox, event): (&Mailbox, &Event),
    (kept, becomes): (&[Alarm], &AlarmsChange),
    now: Timestamp,
) -> Option<Timestamp> {
    for alarm in &becomes.removed {
        change.calendar_alarm_remove(alarm);
    }
    for alarm in &becomes.added {
        change.calendar_alarm_set(mailbox.id, alarm);
    }
    for alarm in &becomes.over {
        over(mailbox, event, alarm).emit(change, now);
    }
    let is_replaced = |it: &Alarm| becomes.removed.iter().chain(&becomes.added).any(|other| other.key == it.key);
    let stay = kept.iter().filter(|it| !it.has_rung && !is_replaced(it));
    stay.chain(&becomes.added).map(|it| it.at).min()
}

/// Tells that the alarms of a calendar that goes away are over; the rows go with its events.
pub(crate) async fn leave(
    change: &mut Change,
    turn: &Turn<'_, Calendars>,
    mailbox: &Mailbox,
    id: CalendarId,
) -> Result<()> {
    let (now, store) = (turn.now(), &turn.services().store);
    let kept = store.calendar_alarms_rung(id, now, OVER_MAX).await?;
    let mut events = InSight::default();
    for alarms in kept.chunk_by(|one, other| one.event_id == other.event_id) {
        let Some(event) = events.find(store, mailbox, alarms[0].event_id).await? else { continue };
        for alarm in &alarms_of_gone(alarms, now).over {
            over(mailbox, event, alarm).emit(change, now);
        }
    }
    Ok(())
}

/// A mailbox's events in calendars that are in sight, each read once.
#[derive(Default)]
struct InSight {
    calendars: Option<Vec<Calendar>>,
    events: HashMap<EventId, Option<Event>>,
}

impl InSight {
    async fn find(&mut self, store: &Store, mailbox: &Mailbox, id: EventId) -> Result<Option<&Event>> {
        if self.calendars.is_none() {
            self.calendars = Some(store.calendars(mailbox.id).await?);
        }
        if let Entry::Vacant(unknown) = self.events.entry(id) {
            let in_sight = |event: &Event| {
                let mut calendars = self.calendars.iter().flatten();
                calendars.any(|calendar| calendar.id == event.head.calendar_id)
            };
            unknown.insert(store.calendar_event(mailbox.id, id).await?.filter(in_sight));
        }
        Ok(self.events.get(&id).and_then(Option::as_ref))
    }
}

impl Handle<TimerFired> for Calendars {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        // What is left of a mailbox that is gone goes with it.
        let Some(mailbox) = turn.services().store.mailbox_by_id(*turn.key()).await? else { return Ok(()) };
        match fired.name.split_once(':') {
            None if fired.name == ALARM => self.ring(turn, &mailbox).await,
            None => self.extend(turn, &mailbox, None).await,
            Some((_, after)) => self.extend(turn, &mailbox, after.parse().ok()).await,
        }
    }
}

impl Calendars {
    /// Rings what is due.
    async fn ring(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox) -> Result<()> {
        let (now, store) = (turn.now(), &turn.services().store);
        let due = store.calendar_alarms_due(mailbox.id, now, ALARMS_PER_TURN).await?;
        let people = store.recipients(&mailbox.members).await?;
        let mut ids: Vec<EventId> = due.iter().map(|alarm| alarm.event_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let kept = store.calendar_alarms(&ids).await?;
        let mut events = InSight::default();
        let book = self.book.next(0);
        let mut change = self.change(book);
        let mut next = store.calendar_alarm_next(mailbox.id, now, &[]).await?;
        for alarm in &due {
            let Some(event) = events.find(store, mailbox, alarm.event_id).await? else {
                change.calendar_alarm_remove(alarm);
                continue;
            };
            if !alarm.is_too_late(now)
                && let Some(told) = told((mailbox, &people), (event, alarm), now)?
            {
                told.emit(&mut change, now);
            }
            change.calendar_alarm_set(mailbox.id, &Alarm { has_rung: true, ..alarm.clone() });
            let look = next_look(&people, alarm, now);
            let look = look.filter(|look| kept.iter().all(|it| (it.event_id, it.key) != (look.event_id, look.key)));
            if let Some(look) = look {
                change.calendar_alarm_set(mailbox.id, &look);
                next = earliest(next, Some(look.at));
            }
        }
        let there_is_more = due.len() == ALARMS_PER_TURN;
        wake(&mut change, turn, mailbox.org_id, if there_is_more { Some(now) } else { next });
        self.commit(turn, change, book).await
    }

    /// Has the alarms of the days ahead follow from the next events that may ring.
    async fn extend(&mut self, turn: &mut Turn<'_, Self>, mailbox: &Mailbox, after: Option<EventId>) -> Result<()> {
        let (now, store) = (turn.now(), &turn.services().store);
        let [behind, ahead] = AROUND_MS;
        let window = Window { from: Timestamp(now.0 - behind), to: Timestamp(now.0 + ahead) };
        let ids = store.calendar_events_that_ring(mailbox.id, window, after, EVENTS_PER_TURN).await?;
        let mut found = InSight::default();
        for id in &ids {
            found.find(store, mailbox, *id).await?;
        }
        let events: Vec<&Event> = ids.iter().filter_map(|id| found.events.get(id)?.as_ref()).collect();
        let book = self.book.next(0);
        let mut change = self.change(book);
        if after.is_none() {
            change.calendar_alarms_forget(mailbox.id, window.from);
        }
        follow(&mut change, turn, mailbox, Written { there: &events, gone: &[] }).await?;
        match ids.last().filter(|_| ids.len() == EVENTS_PER_TURN) {
            Some(last) => set(&mut change, turn, mailbox.org_id, (&format!("{EXTEND}:{last}"), now)),
            None => begin(&mut change, turn, mailbox.org_id),
        }
        self.commit(turn, change, book).await
    }
}

/// The look at whoever wants to hear of a meeting next, where this was one.
fn next_look(people: &[Recipient], alarm: &Alarm, now: Timestamp) -> Option<Alarm> {
    if alarm.key.kind != AlarmKind::Lead {
        return None;
    }
    let times = people.iter().map(|person| lead_before(person, alarm.starts_at));
    let at = times.filter(|at| *at > now).min()?;
    let minutes = (alarm.starts_at.0 - at.0) / MINUTE_MS;
    Some(Alarm { key: AlarmKey { minutes, ..alarm.key }, at, has_rung: false, ..alarm.clone() })
}
