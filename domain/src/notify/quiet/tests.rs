use proptest::prelude::*;

use super::*;
use crate::notify::{Date, TimeOfDay};

fn time(text: &str) -> TimeOfDay {
    TimeOfDay::parse("start", text).unwrap()
}

fn quiet(start: &str, end: &str, days: Option<&[u8]>) -> QuietHours {
    let days = days.map(|days| days.iter().copied().collect());
    QuietHours { start: time(start), end: time(end), days, allow_urgent: false }
}

fn vienna() -> Zone {
    Zone::find("Europe/Vienna").unwrap()
}

/// The instant at which Vienna's clock shows this; of two the first.
fn at(day: &str, text: &str) -> Timestamp {
    vienna().instant(day.parse::<Date>().unwrap(), time(text))
}

fn until(quiet: &QuietHours, day: &str, text: &str) -> Option<Timestamp> {
    quiet.quiet_until(&vienna(), at(day, text))
}

const MINUTE: i64 = 60_000;

#[test]
fn the_start_is_quiet_and_the_end_is_not() {
    let lunch = quiet("12:00", "13:00", None);
    assert_eq!(until(&lunch, "2026-11-21", "11:59"), None);
    assert_eq!(until(&lunch, "2026-11-21", "12:00"), Some(at("2026-11-21", "13:00")));
    assert_eq!(until(&lunch, "2026-11-21", "12:59"), Some(at("2026-11-21", "13:00")));
    assert_eq!(until(&lunch, "2026-11-21", "13:00"), None);
}

#[test]
fn a_night_reaches_across_midnight() {
    let night = quiet("22:00", "07:00", None);
    assert_eq!(until(&night, "2026-11-21", "21:59"), None);
    assert_eq!(until(&night, "2026-11-21", "22:00"), Some(at("2026-11-22", "07:00")));
    assert_eq!(until(&night, "2026-11-22", "06:59"), Some(at("2026-11-22", "07:00")));
    assert_eq!(until(&night, "2026-11-22", "07:00"), None);
}

#[test]
fn a_night_belongs_to_the_day_on_which_it_starts() {
    // 2026-11-20 is a Friday.
    let friday = quiet("22:00", "07:00", Some(&[5]));
    assert_eq!(until(&friday, "2026-11-20", "06:00"), None);
    assert_eq!(until(&friday, "2026-11-20", "23:00"), Some(at("2026-11-21", "07:00")));
    assert_eq!(until(&friday, "2026-11-21", "06:59"), Some(at("2026-11-21", "07:00")));
    assert_eq!(until(&friday, "2026-11-21", "23:00"), None);
}

#[test]
fn the_periods_of_two_weeks_are_one_where_a_zone_skips_the_day_between() {
    let samoa = Zone::find("Pacific/Apia").unwrap();
    let noon = |day: &str| samoa.instant(day.parse::<Date>().unwrap(), time("12:00"));
    // Always but on Fridays, of which one never was.
    let always = quiet("12:00", "12:00", Some(&[0, 1, 2, 3, 4, 6]));
    assert_eq!(always.quiet_until(&samoa, noon("2011-12-24")), Some(noon("2012-01-06")));
}

#[test]
fn no_days_are_never_quiet() {
    assert_eq!(until(&quiet("22:00", "07:00", Some(&[])), "2026-11-20", "23:00"), None);
}

#[test]
fn periods_that_touch_are_one() {
    // Saturday and Sunday, all day: 2026-11-21 is a Saturday.
    let weekend = quiet("00:00", "00:00", Some(&[6, 0]));
    assert_eq!(until(&weekend, "2026-11-20", "23:59"), None);
    assert_eq!(until(&weekend, "2026-11-21", "00:00"), Some(at("2026-11-23", "00:00")));
    assert_eq!(until(&weekend, "2026-11-22", "23:59"), Some(at("2026-11-23", "00:00")));
    assert_eq!(until(&weekend, "2026-11-23", "00:00"), None);
}

#[test]
fn the_night_in_which_clocks_go_forward_is_an_hour_shorter() {
    // At 02:00 on 2026-03-29 Vienna's clocks go to 03:00.
    let night = quiet("22:00", "07:00", None);
    let (start, end) = (at("2026-03-28", "22:00"), at("2026-03-29", "07:00"));
    assert_eq!(end.0 - start.0, 8 * 60 * MINUTE);
    assert_eq!(night.quiet_until(&vienna(), start), Some(end));
    assert_eq!(night.quiet_until(&vienna(), Timestamp(end.0 - 1)), Some(end));
    assert_eq!(night.quiet_until(&vienna(), end), None);
}

#[test]
fn a_start_or_end_that_is_skipped_is_late_by_what_was_skipped() {
    let from_skipped = quiet("02:30", "06:00", None);
    assert_eq!(until(&from_skipped, "2026-03-29", "03:29"), None);
    assert_eq!(until(&from_skipped, "2026-03-29", "03:30"), Some(at("2026-03-29", "06:00")));
    let to_skipped = quiet("22:00", "02:30", None);
    assert_eq!(until(&to_skipped, "2026-03-29", "03:29"), Some(at("2026-03-29", "03:30")));
    assert_eq!(until(&to_skipped, "2026-03-29", "03:30"), None);
}

#[test]
fn the_night_in_which_clocks_go_back_is_an_hour_longer() {
    // At 03:00 on 2026-10-25 Vienna's clocks go back to 02:00.
    let night = quiet("22:00", "07:00", None);
    let (start, end) = (at("2026-10-24", "22:00"), at("2026-10-25", "07:00"));
    assert_eq!(end.0 - start.0, 10 * 60 * MINUTE);
    for minute in 0..600 {
        assert_eq!(night.quiet_until(&vienna(), Timestamp(start.0 + minute * MINUTE)), Some(end));
    }
    assert_eq!(night.quiet_until(&vienna(), end), None);
}

#[test]
fn an_end_that_is_shown_twice_is_the_first() {
    let night = quiet("22:00", "02:30", None);
    let end = at("2026-10-25", "02:30");
    assert_eq!(night.quiet_until(&vienna(), Timestamp(end.0 - MINUTE)), Some(end));
    assert_eq!(night.quiet_until(&vienna(), end), None);
    assert_eq!(night.quiet_until(&vienna(), Timestamp(end.0 + 60 * MINUTE)), None);
}

#[test]
fn a_day_that_a_zone_skips_does_no_harm() {
    // Samoa went from 29 to 31 December 2011.
    let zone = Zone::find("Pacific/Apia").unwrap();
    let night = quiet("22:00", "07:00", None);
    let late = zone.instant("2011-12-29".parse().unwrap(), time("23:00"));
    let end = zone.instant("2011-12-31".parse().unwrap(), time("07:00"));
    assert_eq!(end.0 - late.0, 8 * 60 * MINUTE);
    assert_eq!(night.quiet_until(&zone, late), Some(end));
}

#[test]
fn hours_that_never_end_are_refused() {
    let refused = |quiet: QuietHours| {
        let mut problems = Problems::new();
        quiet.check("quietHours", &mut problems);
        !problems.is_empty()
    };
    assert!(refused(quiet("08:00", "08:00", None)));
    assert!(refused(quiet("08:00", "08:00", Some(&[0, 1, 2, 3, 4, 5, 6]))));
    assert!(!refused(quiet("08:00", "08:00", Some(&[1, 2, 3, 4, 5, 6]))));
    assert!(!refused(quiet("08:00", "07:59", None)));
    assert!(refused(quiet("22:00", "07:00", Some(&[7]))));
}

#[test]
fn they_are_written_as_the_contract_writes_them() {
    let text = r#"{"start":"22:00","end":"07:00","days":[0,6],"allowUrgent":true}"#;
    let read: QuietHours = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    let text = r#"{"start":"22:00","end":"07:00","allowUrgent":false}"#;
    assert_eq!(serde_json::to_string(&serde_json::from_str::<QuietHours>(text).unwrap()).unwrap(), text);
}

fn any_quiet_hours() -> impl Strategy<Value = QuietHours> {
    let days = prop::option::of(prop::collection::btree_set(0_u8..=6, 0..=7));
    (0_u16..1440, 0_u16..1440, days).prop_map(|(start, end, days)| QuietHours {
        start: TimeOfDay::new(start / 60, start % 60).unwrap(),
        end: TimeOfDay::new(end / 60, end % 60).unwrap(),
        days,
        allow_urgent: false,
    })
}

fn any_zone() -> impl Strategy<Value = Zone> {
    let names = ["UTC", "Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"];
    prop::sample::select(names.to_vec()).prop_map(|name| Zone::find(name).unwrap())
}

proptest! {
    #[test]
    fn the_end_is_after_now_and_is_not_quiet(
        quiet in any_quiet_hours(),
        zone in any_zone(),
        at in 1_300_000_000_000_i64..1_900_000_000_000,
    ) {
        let mut problems = Problems::new();
        quiet.check("quietHours", &mut problems);
        prop_assume!(problems.is_empty());
        let at = Timestamp(at);
        if let Some(end) = quiet.quiet_until(&zone, at) {
            prop_assert!(end > at);
            prop_assert_eq!(quiet.quiet_until(&zone, end), None);
            prop_assert_eq!(quiet.quiet_until(&zone, Timestamp(end.0 - 1)), Some(end));
        }
    }
}
