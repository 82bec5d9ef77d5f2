//! Calendars (contract B 2.8 and 4.9): when events occur, what may be written, and who is free.

pub mod recurrence;
mod windows_zones;
mod zone;

pub use zone::zone_named;
