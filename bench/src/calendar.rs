//! Recurrence: rules are read, and expanded where somebody looks, beside the crate `rrule` in the same process.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use chrono::TimeZone;
use domain::calendar::{
    Window,
    recurrence::{Length, Rule, Series, Start, Wall},
    zone_named,
};
use jiff::civil::date;

use crate::report::{Report, Result, median};

/// Rules as calendars have them.
const RULES: [&str; 8] = [
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=WEEKLY;BYDAY=MO,WE,FR",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
    "FREQ=MONTHLY;BYDAY=2TU",
    "FREQ=MONTHLY;BYMONTHDAY=-1",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=YEARLY;BYMONTH=3,9;BYDAY=-1SU",
];
const ZONE: &str = "Europe/Vienna";
/// A month is looked at.
const WINDOW_DAYS: i64 = 31;
const ROUNDS: usize = 5;
/// How long each measurement goes on.
const LASTS: Duration = Duration::from_millis(400);
/// What a busy mailbox has, and how far it is looked at at most.
const SERIES: usize = 1_000;
const EVENTS_DAYS: i64 = 400;
const DAY_MS: i64 = 86_400_000;

/// Rules a second of ours and of the crate's, for a window 8 years from the start and for one at the start; then a mailbox.
pub fn run() -> Result<Report> {
    let mut report = Report::new("calendar");
    for (name, years) in [("8_years_on", 8), ("from_start", 0)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        check(years)?;
        for _ in 0..ROUNDS {
            ours.push(rate(|rule| expand(rule, years).map(|found| found.len()))?);
            theirs.push(rate(|rule| expand_by_crate(rule, years).map(|found| found.len()))?);
        }
        let (ours, theirs) = (median(ours), median(theirs));
        println!("{name}: {ours:.0} rules/s, the crate {theirs:.0}");
        report.figure(format!("rules_{name}_per_s"), ours);
        report.figure(format!("crate_{name}_per_s"), theirs);
        report.ratio(format!("rules_{name}_to_crate"), ours / theirs);
    }
    let mailbox = median((0..ROUNDS).map(|_| mailbox()).collect::<Result<Vec<_>>>()?);
    println!("{SERIES} series over {EVENTS_DAYS} days: {mailbox:.1} ms");
    report.figure("mailbox_ms", mailbox);
    Ok(report)
}

/// Rules a second, over all of them in turns.
fn rate(expand: impl Fn(&str) -> Result<usize>) -> Result<f64> {
    let began = Instant::now();
    let mut done = 0_u32;
    while began.elapsed() < LASTS {
        for rule in RULES {
            black_box(expand(rule)?);
            done += 1;
        }
    }
    Ok(f64::from(done) / began.elapsed().as_secs_f64())
}

/// The first of January 2018, at nine on the wall.
fn start() -> Result<Wall> {
    let at = date(2018, 1, 1).at(9, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC)?;
    Ok(Wall(at.timestamp().as_second()))
}

fn window(years: i64, days: i64) -> Result<Window> {
    let from = (start()?.0 + years * 365 * 86_400) * 1000;
    Ok(Window::events(from, from + days * DAY_MS)?)
}

fn expand(rule: &str, years: i64) -> Result<Vec<i64>> {
    let rule: Rule = rule.parse()?;
    let series = Series::new(Start::zoned(start()?, zone_named(ZONE).ok_or("a zone")?), Some(rule))?;
    let found = series.occurrences(Length::Seconds(0), &[], window(years, WINDOW_DAYS)?, usize::MAX)?;
    Ok(found.iter().map(|it| it.start.0).collect())
}

fn expand_by_crate(rule: &str, years: i64) -> Result<Vec<i64>> {
    let set: rrule::RRuleSet = format!("DTSTART;TZID={ZONE}:20180101T090000\nRRULE:{rule}").parse()?;
    let window = window(years, WINDOW_DAYS)?;
    let at = |millis: i64| {
        rrule::Tz::UTC.timestamp_millis_opt(millis).single().ok_or("an instant that the crate's calendar has")
    };
    let found = set.after(at(window.from.0)?).before(at(window.to.0 - 1)?).all(u16::MAX);
    Ok(found.dates.iter().map(chrono::DateTime::timestamp_millis).collect())
}

/// That both find the same, lest something else be measured.
fn check(years: i64) -> Result<()> {
    for rule in RULES {
        let (ours, theirs) = (expand(rule, years)?, expand_by_crate(rule, years)?);
        // The start counts with us, also where the rule doesn't give it.
        let ours: Vec<_> = ours.into_iter().filter(|at| theirs.contains(at) || years > 0).collect();
        if ours != theirs {
            return Err(format!("{rule}: {ours:?} is {theirs:?} with the crate").into());
        }
    }
    Ok(())
}

/// Milliseconds for what a mailbox of many series shows in the longest window.
fn mailbox() -> Result<f64> {
    let zone = zone_named(ZONE).ok_or("a zone")?;
    let mut all = Vec::new();
    for rule in RULES.iter().cycle().take(SERIES) {
        all.push(Series::new(Start::zoned(start()?, zone.clone()), Some(rule.parse()?))?);
    }
    let window = window(8, EVENTS_DAYS)?;
    let began = Instant::now();
    for series in &all {
        black_box(series.occurrences(Length::Seconds(3600), &[], window, usize::MAX)?);
    }
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}
