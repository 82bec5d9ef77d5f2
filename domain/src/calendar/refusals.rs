//! What calendars refuse (contract B 4.9).

use crate::Error;

/// Events of a mailbox.
pub const EVENTS_MAX: u64 = 200_000;
/// Occurrences of a series that were changed alone.
pub const EXCEPTIONS_MAX: usize = 1_000;
/// The message of the 404 for a calendar.
pub const CALENDAR_NOT_FOUND: &str = "Calendar not found";
/// The message of the 404 for an event.
pub const EVENT_NOT_FOUND: &str = "Event not found";
/// The message of the 404 for a message, and for one without an invitation.
pub const MESSAGE_NOT_FOUND: &str = "Message not found";
/// Past [`EVENTS_MAX`].
pub const TOO_MANY_EVENTS: &str = "A mailbox has at most 200,000 events.";
/// Past [`EXCEPTIONS_MAX`].
pub const TOO_MANY_EXCEPTIONS: &str = "A series has at most 1,000 occurrences that were changed alone.";
/// Contract B 4.9.
pub const PROPOSAL_UNANSWERED: &str = "Say whether to accept the proposal.";
/// Somebody else changed the event since the version that was named.
pub const EVENT_CHANGED: &str = "This event was changed elsewhere.";
/// A change of what another asks to.
pub const NOT_ORGANIZER: &str = "Only the organizer can change this event.";

/// 404 for a calendar.
pub fn no_calendar() -> Error {
    Error::not_found(CALENDAR_NOT_FOUND)
}

/// 404 for an event.
pub fn no_event() -> Error {
    Error::not_found(EVENT_NOT_FOUND)
}

/// 404 for a message.
pub fn no_message() -> Error {
    Error::not_found(MESSAGE_NOT_FOUND)
}

/// 400 for a mailbox that is full.
pub fn too_many_events() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_EVENTS)
}

/// 400 for a series of which too much was changed alone.
pub fn too_many_exceptions() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_EXCEPTIONS)
}

/// 409 for an event that has another version.
pub fn event_changed() -> Error {
    Error::conflict("stale_revision", EVENT_CHANGED)
}

/// 403 for a change of what another asks to.
pub fn not_organizer() -> Error {
    Error::forbidden("organizer_only", NOT_ORGANIZER)
}
