//! What people and protocols are told of an event: that it is about to begin, that an invitation to it waits, or that this is
//! over.

use actors_base::event::{Audience, Event as Told};
use domain::{
    Result, Timestamp,
    calendar::{Alarm, AlarmKind, Event, Exception, FIRST_LOOK_MINUTES},
    id::{CalendarId, UserId},
    mail::Mailbox,
    notify::{Recipient, ResourceType},
};
use serde_json::{Value, json};

/// The type of an event that tells of a meeting, or reminds of an event (contract A 6).
pub(crate) const MEETING_SOON: &str = "calendar.meeting_soon";
/// The type of one that tells of an invitation that waits.
const INVITE_UNANSWERED: &str = "calendar.invite_unanswered";
const MINUTE_MS: i64 = 60_000;

/// What protocols may be attached to, so that they are told of an event.
pub(crate) fn within(mailbox: &Mailbox, calendar_id: CalendarId) -> Vec<(ResourceType, String)> {
    vec![
        (ResourceType::Calendar, calendar_id.to_string()),
        (ResourceType::Mailbox, mailbox.id.to_string()),
        (ResourceType::Org, mailbox.org_id.to_string()),
    ]
}

/// When somebody wants to hear of what begins then.
pub(crate) fn lead_before(person: &Recipient, starts_at: Timestamp) -> Timestamp {
    Timestamp(starts_at.0.saturating_sub(i64::from(person.prefs.meeting_lead_minutes) * MINUTE_MS))
}

/// What an alarm tells, and to whom; nothing where that is nobody.
pub(crate) fn told(
    (mailbox, people): (&Mailbox, &[Recipient]),
    (event, alarm): (&Event, &Alarm),
    now: Timestamp,
) -> Result<Option<Told>> {
    let is_meeting = event.is_meeting(&mailbox.addresses().map(ToString::to_string).collect::<Vec<_>>());
    let wants = |person: &&Recipient| match alarm.key.kind {
        AlarmKind::CountingBack | AlarmKind::Invite => true,
        AlarmKind::Lead => lead_before(person, alarm.starts_at) <= now,
        // Whoever hears of the meeting at that moment has no use for a reminder of it.
        AlarmKind::Reminder => {
            let lead = i64::from(person.prefs.meeting_lead_minutes);
            person.prefs.calendar_reminders && !(is_meeting && lead == alarm.key.minutes)
        }
    };
    let user_ids: Vec<UserId> = people.iter().filter(wants).map(|person| person.user_id).collect();
    if user_ids.is_empty() {
        return Ok(None);
    }
    let audience = match alarm.key.kind {
        AlarmKind::CountingBack => Audience::CountingBack,
        // Protocols hear of it with the first of the people.
        AlarmKind::Lead if is_first_look(people, alarm) => Audience::Rest,
        AlarmKind::Lead | AlarmKind::Reminder => Audience::People,
        AlarmKind::Invite => Audience::All,
    };
    let body = body(event, alarm)?;
    Ok(Some(Told { user_ids, audience, body, ..about(mailbox, event, alarm) }))
}

/// Whether nobody wanted to hear of the meeting before.
fn is_first_look(people: &[Recipient], alarm: &Alarm) -> bool {
    let earliest = people.iter().map(|person| lead_before(person, alarm.starts_at)).min();
    alarm.key.minutes == FIRST_LOOK_MINUTES || earliest >= Some(alarm.at)
}

/// That what an alarm told of is over: it was moved, called off, declined or answered.
pub(crate) fn over(mailbox: &Mailbox, event: &Event, alarm: &Alarm) -> Told {
    // Whoever answered an invitation knows.
    let user_ids = if alarm.key.kind == AlarmKind::Invite { Vec::new() } else { mailbox.members.clone() };
    Told { user_ids, resolved: true, ..about(mailbox, event, alarm) }
}

fn changed<'e>(event: &'e Event, alarm: &Alarm) -> Option<&'e Exception> {
    event.exceptions.iter().find(|it| event.head.timing.is_recurring() && it.recurrence == alarm.key.recurrence)
}

fn body(event: &Event, alarm: &Alarm) -> Result<String> {
    let (head, organizer) = (&event.head, event.detail.organizer.as_ref());
    if alarm.key.kind == AlarmKind::Invite {
        let begins = event.begins(event.head.timing.series()?.instant(head.timing.start.at))?;
        return Ok(format!("{} asks you to it: {begins}.", organizer.map_or("Somebody", |it| it.email.as_str())));
    }
    let location = changed(event, alarm).map_or(head.location.as_str(), |it| it.location.as_str());
    let begins = event.begins(alarm.starts_at)?;
    Ok(if location.is_empty() { format!("Begins {begins}.") } else { format!("Begins {begins}, {location}.") })
}

fn about(mailbox: &Mailbox, event: &Event, alarm: &Alarm) -> Told {
    let (head, changed) = (&event.head, changed(event, alarm));
    let summary = changed.map_or(head.summary.as_str(), |it| it.summary.as_str());
    let title = if summary.is_empty() { "An event" } else { summary };
    let is_invite = alarm.key.kind == AlarmKind::Invite;
    let kind = if is_invite { INVITE_UNANSWERED } else { MEETING_SOON };
    Told {
        org_id: Some(mailbox.org_id),
        url: event.detail.url.clone(),
        within: within(mailbox, head.calendar_id),
        data: data(mailbox, event, alarm).into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        starts_at: (!is_invite).then_some(alarm.starts_at),
        dedup_key: alarm.dedup_key(),
        ..Told::new(kind, ("event", head.id.to_string()), title)
    }
}

fn data(mailbox: &Mailbox, event: &Event, alarm: &Alarm) -> [(&'static str, Value); 9] {
    let (head, timing) = (&event.head, &event.head.timing);
    let recurs = timing.is_recurring() && alarm.key.kind != AlarmKind::Invite;
    let location = changed(event, alarm).map_or(head.location.as_str(), |it| it.location.as_str());
    let attendees: Vec<&str> = event.detail.attendees.iter().map(|it| it.email.as_str()).collect();
    let kind = match alarm.key.kind {
        AlarmKind::Reminder => "reminder",
        AlarmKind::Invite => "invite",
        AlarmKind::CountingBack | AlarmKind::Lead => "meeting",
    };
    [
        ("mailboxId", json!(mailbox.id)),
        ("calendarId", json!(head.calendar_id)),
        ("eventId", json!(head.id)),
        ("recurrenceId", json!(recurs.then(|| timing.local(alarm.key.recurrence)))),
        ("uid", json!(event.uid)),
        ("kind", json!(kind)),
        ("url", json!(event.detail.url)),
        ("location", json!(location)),
        ("attendees", json!(attendees)),
    ]
}
