//! Calendars of mailboxes (contract B 2.8, 4.9).

mod argument;
mod availability;
mod body;
mod calendars;
mod changes;
mod create;
mod events;
mod invitation;
mod propose;
mod routes;
mod transfers;
mod windows;

pub use self::{body::CalendarEventBody, routes::page};
