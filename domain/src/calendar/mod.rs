//! Calendars (contract B 2.8 and 4.9): when events occur, what may be written, and who is free.

mod alarms;
mod availability;
mod edit;
mod event;
pub mod ical;
mod invitation;
pub mod itip;
mod record;
pub mod recurrence;
mod refusals;
mod settings;
mod timing;
mod transfer;
mod window;
mod windows_zones;
mod zone;

pub use alarms::{
    ALARM_OCCURRENCES_MAX, Alarm, AlarmFacts, AlarmKey, AlarmKind, AlarmsChange, FIRST_LOOK_MINUTES, alarms_of_gone,
};
pub use availability::{
    AVAILABILITY_ADDRESSES_MAX, AVAILABILITY_EMAILS_LEN_MAX, Busy, BusyTime, NO_ADDRESS, TOO_MANY_ADDRESSES, addresses,
    merged,
};
pub use edit::{EditScope, EventPatch, EventSplit, asked};
pub use event::{
    ATTENDEE_NAME_LEN_MAX, ATTENDEES_MAX, AttendeeKind, AttendeeRole, AttendeeStatus, BusyStatus, CATEGORIES_MAX,
    CATEGORY_LEN, DESCRIPTION_LEN_MAX, EVENT_CANCELLED, EventDraft, EventFields, EventStatus, Invited, InvitedFields,
    LOCATION_LEN_MAX, REMINDER_MINUTES, REMINDERS_MAX, SUMMARY_LEN_MAX, Sensitivity, URL_LEN_MAX,
};
pub use invitation::{InvitationState, Itip, Method};
pub use record::{Attendee, Calendar, Event, EventDetail, EventHead, EventOccurrence, Exception, Organizer, Told};
pub use refusals::{
    CALENDAR_NOT_FOUND, EVENT_CHANGED, EVENT_NOT_FOUND, EVENTS_MAX, EXCEPTIONS_MAX, MESSAGE_NOT_FOUND, NOT_ORGANIZER,
    PROPOSAL_UNANSWERED, TOO_MANY_EVENTS, TOO_MANY_EXCEPTIONS, event_changed, no_calendar, no_event, no_message,
    not_organizer, too_many_events, too_many_exceptions,
};
pub use settings::{
    CALENDAR_DESCRIPTION_LEN, CALENDAR_NAME_LEN, CALENDARS_MAX, CalendarColor, DEFAULT_CALENDAR_KEPT,
    DEFAULT_CALENDAR_NAME, TOO_MANY_CALENDARS, calendar_count_check, calendar_description_check, calendar_name_check,
};
pub use timing::{Span, SpanKind, Timing, series_fault};
pub use transfer::{
    CALENDAR_AT_ONCE, CALENDAR_FAULTS_MAX, CALENDAR_FILE_MAX, CALENDAR_FILE_TOO_LARGE, FEED_NOT_FOUND, no_feed,
};
pub use window::{
    EVENTS_DAYS_MAX, EVENTS_TOO_LONG, MINE_DAYS_MAX, MINE_TOO_LONG, OCCURRENCES_MAX, TOO_MANY_OCCURRENCES, Window,
    too_many_occurrences,
};
pub use zone::zone_named;
