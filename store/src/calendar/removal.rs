//! What is left of calendars that are out of sight.

use domain::id::{CalendarId, MailboxId};

use crate::Purge;

impl Purge {
    /// What is left of a calendar that is out of sight; the calendar itself goes last.
    pub fn calendar_remains(id: CalendarId) -> Vec<Self> {
        let of = |what: &'static str, names: [&'static str; 3]| Self::new(what, names, id.to_string());
        vec![
            of(
                "changed occurrences",
                [
                    "calendar_exceptions",
                    "event_id, recurrence",
                    "event_id IN (SELECT id FROM calendar_events WHERE calendar_id = $1)",
                ],
            ),
            of(
                "alarms",
                [
                    "calendar_alarms",
                    "event_id, recurrence, kind, minutes",
                    "event_id IN (SELECT id FROM calendar_events WHERE calendar_id = $1)",
                ],
            ),
            of("events", ["calendar_events", "id", "calendar_id = $1"]),
            of("feeds of calendars", ["calendar_feeds", "calendar_id", "calendar_id = $1"]),
            of("events that were gone", ["calendar_gone", "calendar_id, href", "calendar_id = $1"]),
            of("calendars", ["calendars", "id", "id = $1 AND deleted_at IS NOT NULL"]),
        ]
    }

    /// What is left of the calendars of a mailbox that is out of sight.
    pub fn mailbox_calendars(id: MailboxId) -> Vec<Self> {
        let of = |what: &'static str, names: [&'static str; 3]| Self::new(what, names, id.to_string());
        vec![
            of(
                "changed occurrences",
                [
                    "calendar_exceptions",
                    "event_id, recurrence",
                    "event_id IN (SELECT id FROM calendar_events WHERE mailbox_id = $1)",
                ],
            ),
            of("alarms", ["calendar_alarms", "event_id, recurrence, kind, minutes", "mailbox_id = $1"]),
            of("events", ["calendar_events", "id", "mailbox_id = $1"]),
            of(
                "events that were gone",
                [
                    "calendar_gone",
                    "calendar_id, href",
                    "calendar_id IN (SELECT id FROM calendars WHERE mailbox_id = $1)",
                ],
            ),
            of("feeds of calendars", ["calendar_feeds", "calendar_id", "mailbox_id = $1"]),
            of("messages about events", ["calendar_inbox", "message_id", "mailbox_id = $1"]),
            of("calendars", ["calendars", "id", "mailbox_id = $1"]),
            of("books of calendars", ["calendar_books", "mailbox_id", "mailbox_id = $1"]),
        ]
    }
}
