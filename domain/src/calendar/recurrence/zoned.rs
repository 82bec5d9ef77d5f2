//! What a clock on the wall shows, as instants, and back.

use std::cell::Cell;

use jiff::{
    Timestamp as Instant,
    civil::{DateTime, Time},
    tz::TimeZone,
};

use super::wall::{Civil, DAY_SECONDS, Wall};
use crate::{Timestamp, notify::Zone};

/// A zone that remembers the span without clock changes that was looked at last, because occurrences lie side by side.
#[derive(Clone, Debug)]
pub(super) struct ZonedClock {
    pub zone: Zone,
    steady: Cell<Steady>,
}

/// Between these two the wall is this many seconds ahead of universal time.
#[derive(Clone, Copy, Debug)]
struct Steady {
    from: Wall,
    to: Wall,
    ahead: i64,
}

impl ZonedClock {
    pub const fn new(zone: Zone) -> Self {
        Self { zone, steady: Cell::new(Steady { from: Wall(1), to: Wall(0), ahead: 0 }) }
    }

    /// The instant at which the clock shows `wall`: a time that is skipped is late by what was skipped, one that is
    /// shown twice means the first.
    pub fn instant(&self, wall: Wall) -> Timestamp {
        let steady = self.steady.get();
        if steady.from <= wall && wall <= steady.to {
            return millis(wall.0 - steady.ahead);
        }
        let zone = self.zone.rules();
        let resolved = zone.to_ambiguous_zoned(civil(wall)).compatible();
        // Only the last hours of the year 9999 have no instant in jiff; they are counted as if they were universal
        // time's.
        let Ok(resolved) = resolved else { return millis(wall.0) };
        let at = resolved.timestamp();
        let ahead = i64::from(resolved.offset().seconds());
        let (from, to) = steady_around(zone, at, ahead);
        if from <= wall && wall <= to {
            self.steady.set(Steady { from, to, ahead });
        }
        millis(at.as_second())
    }

    /// What the clock shows at `at`.
    pub fn wall(&self, at: Timestamp) -> Wall {
        let second = at.0.div_euclid(1000);
        let Ok(instant) = Instant::from_second(second) else { return Wall(second) };
        Wall(second + i64::from(self.zone.rules().to_offset(instant).seconds()))
    }
}

const fn millis(seconds: i64) -> Timestamp {
    Timestamp(seconds.saturating_mul(1000))
}

/// The walls around `at` that are a day and more away from each clock change.
fn steady_around(zone: &TimeZone, at: Instant, ahead: i64) -> (Wall, Wall) {
    // A skipped time is the very moment of a change, which is behind it then.
    let before = zone.preceding(Instant::from_second(at.as_second() + 1).unwrap_or(at)).next();
    let after = zone.following(at).next();
    let apart = DAY_SECONDS;
    (
        before.map_or(Wall::MIN, |change| Wall(change.timestamp().as_second() + ahead + apart)),
        after.map_or(Wall::MAX, |change| Wall(change.timestamp().as_second() + ahead - apart)),
    )
}

fn civil(wall: Wall) -> DateTime {
    let Civil { year, month, day } = wall.day().civil();
    let second = wall.second_of_day();
    let small = |part: u32| i8::try_from(part).unwrap_or(0);
    let date = i16::try_from(year).ok().and_then(|year| jiff::civil::Date::new(year, small(month), small(day)).ok());
    let time = Time::new(small(second / 3600), small(second / 60 % 60), small(second % 60), 0);
    match (date, time) {
        (Some(date), Ok(time)) => DateTime::from_parts(date, time),
        // Walls lie within the years that are read, whose days jiff has all.
        _ => DateTime::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::wall::Day, *};

    #[test]
    fn a_skipped_time_says_nothing_of_the_winter_before_it() {
        let clock = ZonedClock::new(Zone::find("Europe/Vienna").unwrap());
        let at = |month, day, hour: i64| Day::of(2026, month, day).midnight().plus(hour * 3600);
        assert_eq!(clock.instant(at(3, 29, 2)), millis(at(3, 29, 1).0));
        assert_eq!(clock.instant(at(3, 1, 12)), millis(at(3, 1, 11).0));
        assert_eq!(clock.instant(at(7, 1, 12)), millis(at(7, 1, 10).0));
    }
}
