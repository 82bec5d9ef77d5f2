//! The clocks of service desks: how long something has taken, of the time that counts, and when its goal is reached.
//!
//! Everything is a function of an issue's history, the configuration and now, so that what is shown, what rings and what would
//! have been with other hours are one computation. Nothing is kept beside the history but what this computes.

mod cycle;
mod hours;
mod kept;
mod settings;

#[cfg(test)]
mod tests;

pub use self::{
    cycle::{Condition, Cycle, Event, Facts, Goal, Sla, Standing, Step, replay},
    hours::{Calendar, DaySpan, Holiday, Hours, HoursSettings},
    kept::{Course, KeptCycle, Said, counted_by, step_of, steps_so_far},
    settings::{CalendarKind, GoalSettings, SlaSettings},
};
