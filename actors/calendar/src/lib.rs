//! Calendars (contract B 2.8, 4.9): who owns what.
//!
//! All of a mailbox's calendars belong to its [`Calendars`], apart from its mail, so that a flood of mail delays no meeting.
//! What goes between an organizer and guests on this server is an entry of the work queue, which the guests' calendars look at
//! in a turn of their own; others are sent an e-mail.

mod book;
mod calendars;
mod events;
mod guests;
mod removal;
mod scheduling;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

use self::removal::{CALENDAR_REMOVAL, CalendarRemoval};
pub use self::{
    book::Calendars,
    calendars::{CalendarCreate, CalendarDelete, CalendarUpdate, CalendarsOpen},
    events::{Changed, EventChange, EventCreate, EventDelete, NewEvent, Occurrences},
    guests::Notified,
    scheduling::{
        CALENDAR_SCHEDULING, EventRespond, EventSync, GuestAnswer, InvitationAct, InvitationAction, Invited,
        SchedulingLane,
    },
};

/// What goes over all areas knows of calendars.
pub const AREA: Area = Area { jobs: &[CALENDAR_REMOVAL, CALENDAR_SCHEDULING], lanes, ..Area::named("calendar") };

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), CALENDAR_REMOVAL, CalendarRemoval)]
}
