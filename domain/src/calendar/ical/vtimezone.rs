//! A zone's clock changes as a file has them (`VTIMEZONE`).

use std::collections::BTreeMap;

use jiff::{Timestamp as Instant, tz::TimeZone};

use super::{
    super::recurrence::{Wall, Weekday, month_len},
    lines::{Lines, basic_wall},
};
use crate::{Timestamp, notify::Zone};

/// How long before the first occurrence the clocks are told of: more than a year, so that a change of each kind is there.
const BEFORE_SECONDS: i64 = 400 * 86_400;
/// How many years are looked at to see whether clocks change by one rule.
const YEARS_AHEAD: i64 = 16;
/// Years that a rule holds for: the days of a week fall on the same ones of a month for up to eleven years by chance.
const STEADY_YEARS: usize = 12;
/// From here on the database has rules: 2040.
const STEADY_FROM: i64 = 2_208_988_800;
/// Years that are listed of a zone whose clocks change by no rule.
const YEARS_LISTED: i64 = 60;
const YEAR_SECONDS: i64 = 31_556_952;

/// Changes from one offset to another under one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    from: i64,
    to: i64,
    is_daylight: bool,
    name: String,
}

/// The day of the year on which clocks change, each year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Yearly {
    month: u32,
    weekday: Weekday,
    /// Which weekday of the month; -1 is the last.
    nth: i64,
}

/// Adds the zone's clocks as they are around `from` and from then on.
pub(super) fn zone(text: &mut Lines, zone: &Zone, from: Timestamp) {
    let rules = zone.rules();
    let begins = from.0.div_euclid(1000) - BEFORE_SECONDS;
    text.add("BEGIN", "VTIMEZONE");
    text.add("TZID", zone.name());
    let Ok(at) = Instant::from_second(begins) else {
        text.add("END", "VTIMEZONE");
        return;
    };
    let first = rules.to_offset_info(at);
    let offset = i64::from(first.offset().seconds());
    let kind =
        Kind { from: offset, to: offset, is_daylight: first.dst().is_dst(), name: first.abbreviation().to_owned() };
    observance(text, &kind, Wall(begins + offset), &[], None);
    let (kinds, until) = changes(rules, begins, offset);
    for (kind, walls) in kinds {
        let steady = steady_from(&walls, until);
        let (single, yearly_ones) = walls.split_at(steady.unwrap_or(walls.len()));
        if let Some(first) = single.first() {
            observance(text, &kind, *first, &single[1..], None);
        }
        if let Some(first) = yearly_ones.first() {
            observance(text, &kind, *first, &[], yearly(yearly_ones));
        }
    }
    text.add("END", "VTIMEZONE");
}

/// What the clocks show at the changes of each kind, and up to when: those that come to follow a rule for some years, others for many.
fn changes(rules: &TimeZone, begins: i64, mut offset: i64) -> (BTreeMap<Kind, Vec<Wall>>, i64) {
    let mut kinds: BTreeMap<Kind, Vec<Wall>> = BTreeMap::new();
    let ahead = (begins + YEARS_AHEAD * YEAR_SECONDS).max(STEADY_FROM);
    let listed = begins + YEARS_LISTED * YEAR_SECONDS;
    let Ok(at) = Instant::from_second(begins) else { return (kinds, ahead) };
    let mut until = ahead;
    for change in rules.following(at) {
        let second = change.timestamp().as_second();
        let is_steady = |walls: &Vec<Wall>| steady_from(walls, second).is_some() || has_ended(walls, second);
        if second > ahead && (second > listed || kinds.values().all(is_steady)) {
            break;
        }
        until = until.max(second);
        let to = i64::from(change.offset().seconds());
        let name = change.abbreviation().to_string();
        let kind = Kind { from: offset, to, is_daylight: change.dst().is_dst(), name };
        kinds.entry(kind).or_default().push(Wall(second + offset));
        offset = to;
    }
    (kinds, until)
}

/// Whether clocks don't change so any more.
fn has_ended(walls: &[Wall], until: i64) -> bool {
    walls.last().is_none_or(|last| last.0 < until - BEFORE_SECONDS)
}

/// From which of these on they follow a rule, and go on doing so; none where they don't.
fn steady_from(walls: &[Wall], until: i64) -> Option<usize> {
    if has_ended(walls, until) {
        return None;
    }
    (0..walls.len()).find(|&from| yearly(&walls[from..]).is_some())
}

/// The rule that all of these follow, a year apart each; none where there is none.
fn yearly(walls: &[Wall]) -> Option<Yearly> {
    let first = walls.first()?;
    if walls.len() < STEADY_YEARS {
        return None;
    }
    let steady = |nth: i64| {
        let civil = first.day().civil();
        let rule = Yearly { month: civil.month, weekday: first.day().weekday(), nth };
        let follows = |(at, wall): (usize, &Wall)| {
            let civil = wall.day().civil();
            let expected = if nth > 0 { i64::from((civil.day - 1) / 7 + 1) } else { last_of_month(*wall) };
            civil.year == first.day().civil().year + i32::try_from(at).unwrap_or(0)
                && civil.month == rule.month
                && wall.day().weekday() == rule.weekday
                && wall.second_of_day() == first.second_of_day()
                && expected == nth
        };
        walls.iter().enumerate().all(follows).then_some(rule)
    };
    steady(-1).or_else(|| steady(i64::from((first.day().civil().day - 1) / 7 + 1)))
}

/// -1 for a day that is the last of its weekday in its month.
fn last_of_month(wall: Wall) -> i64 {
    let civil = wall.day().civil();
    if civil.day + 7 > month_len(civil.year, civil.month) { -1 } else { 0 }
}

fn observance(text: &mut Lines, kind: &Kind, first: Wall, others: &[Wall], rule: Option<Yearly>) {
    let name = if kind.is_daylight { "DAYLIGHT" } else { "STANDARD" };
    text.add("BEGIN", name);
    text.add("DTSTART", &basic_wall(first));
    text.add("TZOFFSETFROM", &offset_text(kind.from));
    text.add("TZOFFSETTO", &offset_text(kind.to));
    text.some("TZNAME", &kind.name);
    if let Some(Yearly { month, weekday, nth }) = rule {
        text.add("RRULE", &format!("FREQ=YEARLY;BYMONTH={month};BYDAY={nth}{}", weekday.code()));
    }
    for wall in others {
        text.add("RDATE", &basic_wall(*wall));
    }
    text.add("END", name);
}

/// `+0100`, with seconds where there are some.
fn offset_text(seconds: i64) -> String {
    let (sign, size) = (if seconds < 0 { '-' } else { '+' }, seconds.abs());
    let (hours, minutes, rest) = (size / 3600, size / 60 % 60, size % 60);
    if rest == 0 { format!("{sign}{hours:02}{minutes:02}") } else { format!("{sign}{hours:02}{minutes:02}{rest:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, year: i64) -> String {
        let mut lines = Lines::default();
        zone(&mut lines, &Zone::find(name).unwrap(), Timestamp((year - 1970) * YEAR_SECONDS * 1000));
        lines.into_text()
    }

    #[test]
    fn clocks_that_change_by_a_rule_are_told_of_by_it() {
        let vienna = written("Europe/Vienna", 2026);
        assert!(vienna.contains("RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"), "{vienna}");
        assert!(vienna.contains("RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU"), "{vienna}");
        assert!(vienna.contains("TZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST"), "{vienna}");
        let new_york = written("America/New_York", 2026);
        assert!(new_york.contains("BYMONTH=3;BYDAY=2SU") && new_york.contains("BYMONTH=11;BYDAY=1SU"), "{new_york}");
    }

    #[test]
    fn a_rule_that_was_another_once_holds_from_when_it_does() {
        let new_york = written("America/New_York", 2000);
        assert!(new_york.contains("DTSTART:20070311T020000\r\n"), "{new_york}");
        assert_eq!(new_york.matches("RRULE").count(), 2, "{new_york}");
        assert!(new_york.contains("RDATE:20060402T020000"), "{new_york}");
    }

    #[test]
    fn a_day_that_is_none_of_a_month_is_listed() {
        // The first Sunday from the second of the month on.
        let santiago = written("America/Santiago", 2026);
        assert!(!santiago.contains("RRULE") && santiago.contains("RDATE:20500403T000000"), "{santiago}");
    }

    #[test]
    fn clocks_that_changed_once_and_never_again_have_no_rule() {
        let moscow = written("Europe/Moscow", 2000);
        assert!(!moscow.contains("RRULE"), "{moscow}");
    }

    #[test]
    fn clocks_that_never_change_are_told_of_once() {
        let tokyo = written("Asia/Tokyo", 2026);
        assert_eq!(tokyo.matches("BEGIN:STANDARD").count(), 1, "{tokyo}");
        assert!(tokyo.contains("TZOFFSETTO:+0900"), "{tokyo}");
    }

    #[test]
    fn clocks_that_change_by_no_rule_are_listed() {
        let casablanca = written("Africa/Casablanca", 2026);
        assert!(casablanca.contains("RDATE:20260322T020000") && !casablanca.contains("RRULE"), "{casablanca}");
    }
}
