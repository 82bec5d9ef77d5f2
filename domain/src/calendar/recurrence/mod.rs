//! Recurrence (RFC 5545): what a rule gives, between two moments, without a walk from its beginning.
//!
//! A rule is expanded on the wall, in days and seconds without a zone; zones come last, and only to what is looked at.
//! The periods of a rule are reached by arithmetic, the days of a period are bits, and no occurrence allocates. Work is
//! bounded: [`STEPS_MAX`] is what a walk looks at in vain before it gives up.
//!
//! What isn't a rule's alone stands in [`Series`]: its first occurrence, which counts always, dates beside the rule,
//! dates taken out, and the zone.

mod blocks;
mod clock;
mod day_set;
mod days;
mod leaps;
mod occurrences;
mod plan;
mod rule;
mod series;
mod split;
#[cfg(test)]
mod tests;
mod text;
mod wall;
mod walls;
mod wire;
mod zoned;

pub use occurrences::{Length, Occurrence, Override};
pub use rule::{ByDay, Frequency, Limit, Rule, Until};
pub use series::{DATES_MAX, Form, Moment, Series, SeriesFault, SeriesWalls, Start};
pub use split::{Moved, Split};
pub use text::{COUNT_MAX, INTERVAL_MAX, RULE_LEN_MAX, RuleFault};
pub use wall::{Civil, DAY_SECONDS, Day, Wall, Weekday, YEARS, is_leap, month_len, year_len};
pub use walls::{STEPS_MAX, Walls};
pub use wire::{
    BY_DAY_MAX, BY_MONTH_DAY_MAX, BY_MONTH_MAX, BY_SET_POS_MAX, LocalTime, Recurrence, WIRE_COUNT, WIRE_INTERVAL,
};
