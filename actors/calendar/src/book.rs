//! A mailbox's calendars.
//!
//! Nothing but the book is kept in memory: a command reads the few rows that it decides on, and the book was read before them.
//! Each commit counts the book's revision up, so that no two nodes both decide on one state, and the revision is what clients
//! know the change by.

use actors_base::Services;
use domain::{
    Result, Timestamp,
    calendar::{Calendar, Organizer, no_calendar},
    id::{CalendarId, EventId, MailboxId, OrgId},
    mail::{MEMBERS_ONLY, Mailbox, no_mailbox},
};
use kernel::{Resource, Turn};
use serde_json::json;
use store::{
    Change, OutboxEntry,
    audit::{AuditEntry, AuditTarget},
    calendar::CalendarBook,
};

/// The calendars of a mailbox.
#[derive(Debug)]
pub struct Calendars {
    pub(crate) book: CalendarBook,
}

impl Resource for Calendars {
    type Key = MailboxId;
    type Services = Services;

    const KIND: &'static str = "calendars";

    async fn load(mailbox_id: &MailboxId, services: &Services) -> Result<Self> {
        Ok(Self { book: services.store.calendar_book(*mailbox_id).await? })
    }
}

/// What every command of a person begins with.
pub(crate) struct WriteContext {
    pub mailbox: Mailbox,
}

impl WriteContext {
    /// Who asks, and the mailbox: 403 for who is no person, 404 for who is no member of it.
    pub async fn open(turn: &Turn<'_, Calendars>, org_id: OrgId) -> Result<Self> {
        let user_id = turn.authority(org_id).await?.person(MEMBERS_ONLY)?;
        let mailbox = turn.services().store.mailbox_of(org_id, *turn.key(), user_id).await?.ok_or_else(no_mailbox)?;
        Ok(Self { mailbox })
    }

    /// The mailbox as it asks others to events.
    pub fn organizer(&self) -> Organizer {
        organizer(&self.mailbox)
    }

    /// The addresses that are the mailbox's.
    pub fn addresses(&self) -> Vec<String> {
        addresses(&self.mailbox)
    }

    /// Adds what was done to a calendar to the audit trail.
    pub fn audit(&self, change: &mut Change, turn: &Turn<'_, Calendars>, action: &str, calendar: &Calendar) {
        let target = AuditTarget::new("calendar", calendar.id).labelled(&calendar.name);
        let entry = AuditEntry::new(turn.context(), action, target).in_org(self.mailbox.org_id);
        change.audit_add(turn.now(), entry.with_metadata(json!({ "mailboxId": self.mailbox.id })));
    }
}

/// The addresses that are a mailbox's.
pub(crate) fn addresses(mailbox: &Mailbox) -> Vec<String> {
    mailbox.addresses().map(ToString::to_string).collect()
}

/// The mailbox as it asks others to events.
pub(crate) fn organizer(mailbox: &Mailbox) -> Organizer {
    let name = Some(mailbox.display_name.clone()).filter(|name| !name.is_empty());
    Organizer { email: mailbox.address.to_string(), name, told: None }
}

impl Calendars {
    /// A change that leaves the book as `next` says, and is stale where the mailbox is out of sight by then.
    pub(crate) fn change(&self, next: CalendarBook) -> Change {
        let mut change = Change::new();
        change.mailbox_confirm(self.book.mailbox_id);
        change.calendar_book_turn(self.book, next);
        change
    }

    pub(crate) async fn commit(&mut self, turn: &mut Turn<'_, Self>, change: Change, next: CalendarBook) -> Result<()> {
        turn.commit(change).await?;
        self.book = next;
        Ok(())
    }

    /// The mailbox's calendar with this id.
    pub(crate) async fn calendar(turn: &Turn<'_, Self>, id: CalendarId) -> Result<Calendar> {
        let calendars = turn.services().store.calendars(*turn.key()).await?;
        calendars.into_iter().find(|calendar| calendar.id == id).ok_or_else(no_calendar)
    }
}

/// Tells the mailbox's members that events of a calendar changed; none for the calendar itself.
pub(crate) fn tell(
    change: &mut Change,
    now: Timestamp,
    mailbox: &Mailbox,
    calendar: CalendarId,
    events: &[EventId],
    modseq: i64,
) {
    let message = json!({
        "type": "calendar.changed", "mailboxId": mailbox.id, "calendarId": calendar, "eventIds": events, "modseq": modseq,
    });
    for &user_id in &mailbox.members {
        change.outbox_add(now, &OutboxEntry::Live { user_id, message: message.clone() });
    }
}
