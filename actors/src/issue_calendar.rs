//! Time that people book for issues, in the calendars of their mailboxes.

use actors_calendar::{Calendars, CalendarsOpen, EventCreate, NewEvent};
use domain::{
    Context, Result,
    calendar::{BusyStatus, Event, EventDraft, EventStatus, Sensitivity, no_calendar},
    id::{CalendarId, MailboxId, OrgId},
};
use kernel::Registry;

/// Where time is to be booked.
#[derive(Clone, Copy, Debug)]
pub struct BookingPlace {
    /// The organization.
    pub org_id: OrgId,
    /// A mailbox of the caller's.
    pub mailbox_id: MailboxId,
    /// One of its calendars; the default one where none is named.
    pub calendar_id: Option<CalendarId>,
}

/// Books time in calendars.
#[derive(Clone)]
pub struct IssueCalendar(pub(crate) Registry<Calendars>);

impl IssueCalendar {
    /// Makes the event. Nobody is sent anything.
    ///
    /// # Errors
    /// 404 for a mailbox that isn't the caller's, and for a calendar that it hasn't.
    pub async fn book(&self, place: BookingPlace, draft: EventDraft, context: Context) -> Result<Event> {
        let BookingPlace { org_id, mailbox_id, calendar_id } = place;
        let calendar_id = match calendar_id {
            Some(id) => id,
            None => self.default_calendar(org_id, mailbox_id, &context).await?,
        };
        let event = NewEvent {
            draft,
            status: EventStatus::Confirmed,
            busy_status: BusyStatus::Busy,
            sensitivity: Sensitivity::Normal,
        };
        self.0.ask(&mailbox_id, EventCreate { org_id, calendar_id, event, notify: false }, context).await
    }

    /// The mailbox's default calendar, which is made where it has none yet.
    async fn default_calendar(&self, org_id: OrgId, mailbox_id: MailboxId, context: &Context) -> Result<CalendarId> {
        // What a repeated request must not make twice is the event, not the calendar.
        let context = Context { idempotency: None, ..context.clone() };
        let calendars = self.0.ask(&mailbox_id, CalendarsOpen { org_id }, context).await?;
        calendars.iter().find(|calendar| calendar.is_default).map(|calendar| calendar.id).ok_or_else(no_calendar)
    }
}
