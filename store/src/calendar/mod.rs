//! Calendars and their events (contract B 2.8).
//!
//! An event is one row with all that lists show, so that a window is one range of an index, and a text with what only the
//! event itself shows. What was changed alone of a series stands in rows of its own.

mod alarms;
mod calendars;
mod events;
mod inbox;
mod posts;
mod removal;
mod row;
mod transfers;
mod windows;

pub use self::{
    calendars::CalendarBook,
    inbox::{CALENDAR_ARRIVALS, CalendarArrival, InboxMessage},
    posts::{CALENDAR_POSTING, CalendarPost},
    windows::{WindowEvent, WindowQuery},
};
