//! Calendars and their events (contract B 2.8).
//!
//! An event is one row with all that lists show, so that a window is one range of an index, and a text with what only the
//! event itself shows. What was changed alone of a series stands in rows of its own.

mod calendars;
mod events;
mod inbox;
mod removal;
mod row;
mod windows;

pub use self::{
    calendars::CalendarBook,
    inbox::InboxMessage,
    windows::{WindowEvent, WindowQuery},
};
