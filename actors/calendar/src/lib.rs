//! Calendars (contract B 2.8, 4.9): who owns what.
//!
//! All of a mailbox's calendars belong to its [`Calendars`], apart from its mail, so that a flood of mail delays no meeting.
//! What goes between an organizer and guests on this server is an entry of the work queue, which the guests' calendars look at
//! in a turn of their own; others are sent an e-mail. What rings before events begin are rows of the commit that writes the event.

mod alarms;
mod answering;
mod arrivals;
mod book;
mod calendars;
mod events;
mod guests;
mod invitations;
mod removal;
mod scheduling;
mod tell_of;
mod transfers;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

use self::removal::{CALENDAR_REMOVAL, CalendarRemoval};
pub use self::{
    answering::{EventPropose, EventRespond},
    arrivals::{CALENDAR_ARRIVALS_JOB, CalendarMail},
    book::Calendars,
    calendars::{CalendarCreate, CalendarDelete, CalendarUpdate, CalendarsOpen},
    events::{Changed, EventChange, EventCreate, EventDelete, NewEvent, Occurrences},
    guests::Notified,
    invitations::{InvitationAct, InvitationAction, Invited},
    scheduling::{CALENDAR_SCHEDULING, EventSync, GuestAnswer, SchedulingLane},
    transfers::{CalendarFeedSet, EventsImport, EventsImported},
};

/// What goes over all areas knows of calendars.
pub const AREA: Area =
    Area { jobs: &[CALENDAR_ARRIVALS_JOB, CALENDAR_REMOVAL, CALENDAR_SCHEDULING], lanes, ..Area::named("calendar") };

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), CALENDAR_REMOVAL, CalendarRemoval)]
}
