//! Rules, series and what is changed of them.

use proptest::prelude::*;

use super::*;
use crate::{
    Error, Timestamp,
    calendar::{
        window::{OCCURRENCES_MAX, TOO_MANY_OCCURRENCES, Window},
        zone_named,
    },
};

fn wall(text: &str) -> Wall {
    LocalTime::parse(text).unwrap().wall()
}

fn rule(text: &str) -> Rule {
    text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn series(start: &str, text: &str) -> Series {
    zoned(start, "UTC", text)
}

fn zoned(start: &str, zone: &str, text: &str) -> Series {
    Series::new(Start::zoned(wall(start), zone_named(zone).unwrap()), Some(rule(text))).unwrap()
}

fn first(series: &Series, count: usize) -> Vec<String> {
    series.walls(Wall::MIN, Wall::MAX).take(count).map(|it| it.to_string()).collect()
}

fn days(series: &Series, count: usize) -> Vec<String> {
    series.walls(Wall::MIN, Wall::MAX).take(count).map(|it| it.day().to_string()).collect()
}

#[test]
fn rules_give_what_the_standard_says() {
    // RFC 5545, 3.8.5.3.
    let cases: [(&str, &str, &[&str]); 10] = [
        (
            "1997-09-02",
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU;COUNT=4",
            &["1997-09-02", "1997-09-16", "1997-09-30", "1997-10-14"],
        ),
        (
            "1997-08-05",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
            &["1997-08-05", "1997-08-10", "1997-08-19", "1997-08-24"],
        ),
        (
            "1997-08-05",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
            &["1997-08-05", "1997-08-17", "1997-08-19", "1997-08-31"],
        ),
        ("1997-09-05", "FREQ=MONTHLY;COUNT=3;BYDAY=1FR", &["1997-09-05", "1997-10-03", "1997-11-07"]),
        ("1997-09-22", "FREQ=MONTHLY;COUNT=3;BYDAY=-2MO", &["1997-09-22", "1997-10-20", "1997-11-17"]),
        ("1997-09-28", "FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=3", &["1997-09-28", "1997-10-29", "1997-11-28"]),
        (
            "1997-01-01",
            "FREQ=YEARLY;INTERVAL=3;COUNT=4;BYYEARDAY=1,100,200",
            &["1997-01-01", "1997-04-10", "1997-07-19", "2000-01-01"],
        ),
        ("1997-05-12", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3", &["1997-05-12", "1998-05-11", "1999-05-17"]),
        (
            "1996-11-05",
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3",
            &["1996-11-05", "2000-11-07", "2004-11-02"],
        ),
        ("1997-09-04", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", &["1997-09-04", "1997-10-07", "1997-11-06"]),
    ];
    for (start, text, expected) in cases {
        assert_eq!(days(&series(start, text), 10)[..expected.len()], *expected, "{text}");
    }
}

#[test]
fn the_start_counts_also_where_the_rule_does_not_give_it() {
    let it = series("2026-11-23T09:00", "FREQ=WEEKLY;BYDAY=TU;COUNT=3");
    assert_eq!(first(&it, 9), ["2026-11-23T09:00:00", "2026-11-24T09:00:00", "2026-12-01T09:00:00"]);
    assert_eq!(it.last(), Some(wall("2026-12-01T09:00")));
}

#[test]
fn what_the_engines_disagree_on_is_decided() {
    let given = |start: &str, text: &str, count: usize| days(&series(start, text), count);
    // Each Monday and the second Tuesday, not what is both.
    assert_eq!(
        given("2026-11-02", "FREQ=MONTHLY;BYDAY=MO,2TU", 4),
        ["2026-11-02", "2026-11-09", "2026-11-10", "2026-11-16"]
    );
    // All days of a week, also of one that ends in the next year.
    assert_eq!(given("2026-12-28", "FREQ=YEARLY;BYWEEKNO=53", 7).last().unwrap(), "2027-01-03");
    // The second of Monday and Wednesday is Wednesday, also in a week that the series begins within.
    assert_eq!(given("2026-11-25", "FREQ=WEEKLY;BYDAY=MO,WE;BYSETPOS=2", 2), ["2026-11-25", "2026-12-02"]);
}

#[test]
fn a_rule_that_never_occurs_ends() {
    for text in [
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=SECONDLY;INTERVAL=2;BYSECOND=1",
        "FREQ=MINUTELY;BYSECOND=1;BYSETPOS=2",
        "FREQ=YEARLY;BYDAY=53MO;BYMONTH=2",
        "FREQ=HOURLY;INTERVAL=1000000;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=WEEKLY;BYMONTHDAY=31;BYMONTH=2",
    ] {
        assert_eq!(first(&series("2026-11-23", text), 5), ["2026-11-23T00:00:00"], "{text}");
    }
}

#[test]
fn a_count_of_what_is_too_hard_to_find_is_refused() {
    let start = Start::zoned(wall("2026-11-23"), zone_named("UTC").unwrap());
    let hard = "FREQ=SECONDLY;INTERVAL=3599;BYMINUTE=0;BYSECOND=0;COUNT=100000";
    assert_eq!(Series::new(start.clone(), Some(rule(hard))).unwrap_err(), SeriesFault::TooHard);
    // Without a count it is looked at where somebody looks, and no further.
    let it = Series::new(start, Some(rule("FREQ=SECONDLY;INTERVAL=3599;BYMINUTE=0;BYSECOND=0"))).unwrap();
    assert_eq!(it.walls(wall("2030-01-01"), wall("2031-02-01")).count(), 3);
}

#[test]
fn a_skipped_time_is_late_and_a_doubled_one_is_the_first() {
    let it = zoned("2026-03-28T02:30", "Europe/Vienna", "FREQ=DAILY;COUNT=3");
    let shown: Vec<_> = it.walls(Wall::MIN, Wall::MAX).map(|wall| it.shown(wall).to_string()).collect();
    assert_eq!(shown, ["2026-03-28T02:30:00", "2026-03-29T03:30:00", "2026-03-30T02:30:00"]);
    let it = zoned("2026-10-24T02:30", "Europe/Vienna", "FREQ=DAILY;COUNT=3");
    let hours: Vec<_> = it.walls(Wall::MIN, Wall::MAX).map(|wall| it.instant(wall).0 / 3_600_000).collect();
    assert_eq!([hours[1] - hours[0], hours[2] - hours[1]], [24, 25]);
}

#[test]
fn until_is_an_instant_a_wall_or_a_day() {
    let ends =
        |until: &str| first(&zoned("2026-11-23T09:00", "Asia/Tokyo", &format!("FREQ=DAILY;UNTIL={until}")), 9).len();
    assert_eq!(ends("20261125"), 3);
    assert_eq!(ends("20261125T090000"), 3);
    assert_eq!(ends("20261125T085959"), 2);
    // Nine in Tokyo is midnight.
    assert_eq!(ends("20261125T000000Z"), 3);
    assert_eq!(ends("20261124T235959Z"), 2);
}

#[test]
fn until_is_written_as_its_start_is() {
    let text = |until: &str, start: Start| {
        Series::new(start, Some(rule(&format!("FREQ=DAILY;UNTIL={until}")))).unwrap().rule_text().unwrap()
    };
    let (vienna, at) = (zone_named("Europe/Vienna").unwrap(), wall("2026-11-23T09:00"));
    let zoned = || Start::zoned(at, vienna.clone());
    assert_eq!(text("20261124", zoned()), "FREQ=DAILY;UNTIL=20261124T225959Z");
    assert_eq!(text("20261124T090000", zoned()), "FREQ=DAILY;UNTIL=20261124T080000Z");
    assert_eq!(text("20261124T080000Z", zoned()), "FREQ=DAILY;UNTIL=20261124T080000Z");
    assert_eq!(text("20261124T080000Z", Start::day(at.day(), vienna.clone())), "FREQ=DAILY;UNTIL=20261124");
    let floating = Start { form: Form::Floating, ..zoned() };
    assert_eq!(text("20261124", floating), "FREQ=DAILY;UNTIL=20261124T235959");
}

#[test]
fn dates_beside_the_rule_and_taken_out_are_read_in_each_form() {
    let it = zoned("2026-11-23T09:00", "Europe/Vienna", "FREQ=DAILY;COUNT=5");
    let removed = [
        Moment::Day(wall("2026-11-24").day()),
        Moment::Wall(wall("2026-11-25T09:00")),
        Moment::Instant(Timestamp(wall("2026-11-26T08:00").0 * 1000)),
        Moment::Wall(wall("2026-11-27T08:00")),
    ];
    let it = it.with_dates(&[Moment::Wall(wall("2026-11-23T12:00"))], &removed).unwrap();
    assert_eq!(first(&it, 9), ["2026-11-23T09:00:00", "2026-11-23T12:00:00", "2026-11-27T09:00:00"]);
    let too_many = vec![Moment::Wall(Wall(0)); DATES_MAX + 1];
    assert!(it.clone().with_dates(&too_many[..DATES_MAX], &[]).is_ok());
    assert_eq!(it.with_dates(&[], &too_many).unwrap_err(), SeriesFault::TooManyDates);
}

#[test]
fn a_cut_loses_nothing_and_keeps_the_periods() {
    let it = series("2026-01-05T09:00", "FREQ=WEEKLY;INTERVAL=2;COUNT=6")
        .with_dates(&[Moment::Wall(wall("2026-03-01"))], &[Moment::Wall(wall("2026-03-02T09:00"))])
        .unwrap();
    let whole = first(&it, 20);
    let Split { before, following } = it.cut(wall("2026-02-02T09:00")).unwrap().unwrap();
    assert_eq!([first(&before, 20), first(&following, 20)].concat(), whole);
    assert_eq!(following.rule().unwrap().limit, Limit::Count(4));
    assert!(it.cut(wall("2026-01-05T09:00")).unwrap().is_none());
}

#[test]
fn a_series_that_moves_takes_along_what_was_changed() {
    let it = series("2026-01-05T09:00", "FREQ=WEEKLY;BYDAY=MO;COUNT=6")
        .with_dates(&[], &[Moment::Wall(wall("2026-01-12T09:00"))])
        .unwrap();
    let start = Start { at: wall("2026-01-06T10:00"), ..it.start().clone() };
    let overridden = [wall("2026-01-19T09:00"), wall("2026-01-26T09:00")];
    let moved = it.moved(start, Some(rule("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;COUNT=3")), &overridden).unwrap();
    assert_eq!(moved.overridden, [wall("2026-01-20T10:00"), wall("2026-01-27T10:00")]);
    // The 27th isn't on the new rule, and stays beside it.
    assert_eq!(days(&moved.series, 9), ["2026-01-06", "2026-01-20", "2026-01-27", "2026-02-03"]);
    assert!(!moved.series.occurs(wall("2026-01-13T10:00")));
}

#[test]
fn a_window_has_what_lies_in_it_at_least_in_part() {
    let it = zoned("2026-11-23T22:00", "Europe/Vienna", "FREQ=DAILY");
    let length = it.length(wall("2026-11-24T02:00"));
    assert_eq!(length, Length::Seconds(4 * 3600));
    let window = Window { from: it.instant(wall("2030-06-01T01:00")), to: it.instant(wall("2030-06-03T22:00")) };
    let ids = |overrides: &[Override]| -> Vec<String> {
        let found = it.occurrences(length, overrides, window, OCCURRENCES_MAX).unwrap();
        found.iter().map(|it| it.recurrence_id(Form::Zoned)).collect()
    };
    assert_eq!(ids(&[]), ["2030-05-31T22:00:00", "2030-06-01T22:00:00", "2030-06-02T22:00:00"]);
    let away = Override { recurrence: wall("2030-06-01T22:00"), start: window.to, end: window.to };
    assert_eq!(ids(&[away]), ["2030-05-31T22:00:00", "2030-06-02T22:00:00"]);
    let into = Override { recurrence: wall("2033-01-01T22:00"), start: window.from, end: window.from };
    assert_eq!(ids(&[into]).len(), 4);
}

#[test]
fn whole_days_are_bounded_by_midnights() {
    let start = Start::day(wall("2026-03-28").day(), zone_named("Europe/Vienna").unwrap());
    let it = Series::new(start, Some(rule("FREQ=DAILY;COUNT=3"))).unwrap();
    let window = Window { from: Timestamp(0), to: Timestamp(i64::MAX) };
    let found = it.occurrences(it.length(wall("2026-03-29")), &[], window, 10).unwrap();
    let hours: Vec<_> = found.iter().map(|it| (it.end.0 - it.start.0) / 3_600_000).collect();
    assert_eq!(hours, [24, 23, 24]);
    assert_eq!(found[0].recurrence_id(Form::Days), "2026-03-28");
}

#[test]
fn an_answer_has_so_many_occurrences_and_no_more() {
    let it = series("2026-11-23", "FREQ=SECONDLY");
    let window = |seconds: i64| Window {
        from: it.instant(wall("2030-01-01")),
        to: Timestamp(it.instant(wall("2030-01-01")).0 + seconds * 1000),
    };
    let count = |seconds| it.occurrences(Length::Seconds(0), &[], window(seconds), OCCURRENCES_MAX).map(|it| it.len());
    assert_eq!(count(19_999).unwrap(), 19_999);
    assert_eq!(count(20_000).unwrap(), 20_000);
    assert_eq!(count(20_001).unwrap_err().to_string(), TOO_MANY_OCCURRENCES);
}

#[test]
fn a_text_that_is_no_rule_says_why() {
    let cases = [
        ("", RuleFault::Frequency),
        ("INTERVAL=2", RuleFault::Frequency),
        ("FREQ=FORTNIGHTLY", RuleFault::Frequency),
        ("FREQ=DAILY;X", RuleFault::Shape),
        ("FREQ=DAILY;COUNT=1;UNTIL=20261123", RuleFault::TwoEnds),
        ("FREQ=DAILY;BYSETPOS=1", RuleFault::PositionsAlone),
        ("FREQ=DAILY;INTERVAL=0", RuleFault::Value("INTERVAL")),
        ("FREQ=DAILY;COUNT=0", RuleFault::Value("COUNT")),
        ("FREQ=DAILY;COUNT=100001", RuleFault::Value("COUNT")),
        ("FREQ=DAILY;BYMONTHDAY=0", RuleFault::Value("BYMONTHDAY")),
        ("FREQ=DAILY;BYMONTHDAY=32", RuleFault::Value("BYMONTHDAY")),
        ("FREQ=DAILY;BYDAY=0MO", RuleFault::Value("BYDAY")),
        ("FREQ=DAILY;BYDAY=ü", RuleFault::Value("BYDAY")),
        ("FREQ=DAILY;BYHOUR=24", RuleFault::Value("BYHOUR")),
        ("FREQ=DAILY;UNTIL=20260229", RuleFault::Value("UNTIL")),
        ("FREQ=DAILY;UNTIL=2026112ü", RuleFault::Value("UNTIL")),
        ("FREQ=DAILY;FREQ=DAILY", RuleFault::Part("FREQ".to_owned())),
        ("FREQ=DAILY;BYEASTER=0", RuleFault::Part("BYEASTER".to_owned())),
    ];
    for (text, fault) in cases {
        assert_eq!(text.parse::<Rule>(), Err(fault), "{text}");
    }
    assert_eq!("x".repeat(RULE_LEN_MAX + 1).parse::<Rule>(), Err(RuleFault::TooLong));
}

fn recurrence(freq: &str) -> Recurrence {
    Recurrence { freq: freq.to_owned(), ..Recurrence::default() }
}

fn paths(it: &Recurrence) -> Vec<String> {
    match it.check("recurrence", wall("2026-11-23T09:00")) {
        Ok(_) => Vec::new(),
        Err(Error::Invalid { problems }) => problems.into_iter().map(|it| it.path).collect(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn what_the_contract_limits_is_limited() {
    let fault = |field: &str, fits: bool| if fits { vec![] } else { vec![format!("recurrence.{field}")] };
    for (interval, fits) in [(0, false), (1, true), (998, true), (999, true), (1000, false)] {
        let it = Recurrence { interval: Some(interval), ..recurrence("daily") };
        assert_eq!(paths(&it), fault("interval", fits), "{interval}");
    }
    for (count, fits) in [(0, false), (1, true), (4999, true), (5000, true), (5001, false), (-1, false)] {
        let it = Recurrence { count: Some(count), ..recurrence("daily") };
        assert_eq!(paths(&it), fault("count", fits), "{count}");
    }
    for (day, fits) in [(-32, false), (-31, true), (0, false), (1, true), (31, true), (32, false)] {
        let it = Recurrence { by_month_day: vec![day], ..recurrence("monthly") };
        assert_eq!(paths(&it), fault("byMonthDay", fits), "{day}");
    }
    for (month, fits) in [(-1, false), (0, false), (1, true), (12, true), (13, false)] {
        let it = Recurrence { by_month: vec![month], ..recurrence("yearly") };
        assert_eq!(paths(&it), fault("byMonth", fits), "{month}");
    }
    for (position, fits) in [(-367, false), (-366, true), (0, false), (366, true), (367, false)] {
        let it = Recurrence { by_set_pos: vec![position], by_month: vec![1], ..recurrence("yearly") };
        assert_eq!(paths(&it), fault("bySetPos", fits), "{position}");
    }
    for (count, fits) in [(30, true), (31, true), (32, false)] {
        let it = Recurrence { by_month_day: vec![1; count], ..recurrence("monthly") };
        assert_eq!(paths(&it), fault("byMonthDay", fits), "{count}");
    }
    for (count, fits) in [(11, true), (12, true), (13, false)] {
        let it = Recurrence { by_month: vec![1; count], ..recurrence("monthly") };
        assert_eq!(paths(&it), fault("byMonth", fits), "{count}");
    }
    for (count, fits) in [(9, true), (10, true), (11, false)] {
        let it = Recurrence { by_set_pos: vec![1; count], by_month: vec![1], ..recurrence("monthly") };
        assert_eq!(paths(&it), fault("bySetPos", fits), "{count}");
    }
    for (count, fits) in [(6, true), (7, true), (8, false)] {
        let it = Recurrence { by_day: vec![("MO".to_owned(), None); count], ..recurrence("weekly") };
        assert_eq!(paths(&it), fault("byDay", fits), "{count}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert_eq!(paths(&recurrence("hourly")), ["recurrence.freq"]);
    let both = Recurrence { count: Some(1), until: Some("2027-01-01".to_owned()), ..recurrence("daily") };
    assert_eq!(paths(&both), ["recurrence.until"]);
    let until = |text: &str| paths(&Recurrence { until: Some(text.to_owned()), ..recurrence("daily") });
    assert!(until("2026-11-23").is_empty() && until("2026-11-23T09:00").is_empty());
    assert_eq!([until("2026-11-22"), until("2026-11-23T08:59:59"), until("soon")].concat(), ["recurrence.until"; 3]);
    let alone = Recurrence { by_set_pos: vec![1], ..recurrence("monthly") };
    assert_eq!(paths(&alone), ["recurrence.bySetPos"]);
    for (freq, expected) in [("daily", 1), ("weekly", 1), ("monthly", 0), ("yearly", 0)] {
        let it = Recurrence { by_day: vec![("MO".to_owned(), Some(-1))], ..recurrence(freq) };
        assert_eq!(paths(&it).len(), expected, "{freq}");
    }
    let lower =
        Recurrence { by_day: vec![("mo".to_owned(), None)], week_start: Some("XX".to_owned()), ..recurrence("weekly") };
    assert_eq!(paths(&lower), ["recurrence.byDay[0].day", "recurrence.weekStart"]);
}

#[test]
fn what_the_contract_can_not_say_stays_a_text() {
    let utc = zone_named("UTC").unwrap();
    for text in [
        "FREQ=HOURLY",
        "FREQ=YEARLY;BYWEEKNO=1",
        "FREQ=YEARLY;BYYEARDAY=1",
        "FREQ=DAILY;BYHOUR=1",
        "FREQ=WEEKLY;BYDAY=1MO",
    ] {
        assert_eq!(Recurrence::of(&rule(text), &utc), None, "{text}");
    }
    let vienna = zone_named("Europe/Vienna").unwrap();
    let shown = Recurrence::of(&rule("FREQ=WEEKLY;UNTIL=20261123T225959Z;BYDAY=MO;WKST=SU"), &vienna).unwrap();
    assert_eq!((shown.until.as_deref(), shown.week_start.as_deref()), (Some("2026-11-23"), Some("SU")));
    assert_eq!(
        shown.check("recurrence", wall("2026-11-23")).unwrap(),
        rule("FREQ=WEEKLY;UNTIL=20261123;BYDAY=MO;WKST=SU")
    );
}

const TEXTS: [&str; 9] = [
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,SU;WKST=SU",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,2",
    "FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=-1,31;BYHOUR=1,2;BYMINUTE=3",
    "FREQ=YEARLY;BYWEEKNO=1,53,-1;BYDAY=MO,SU",
    "FREQ=YEARLY;INTERVAL=3;BYDAY=20MO,-1SU",
    "FREQ=HOURLY;INTERVAL=7;BYDAY=TU;BYMINUTE=5,9;BYSETPOS=2",
    "FREQ=MINUTELY;INTERVAL=90;BYHOUR=9,10,11",
    "FREQ=SECONDLY;INTERVAL=1801;BYMONTHDAY=1,15",
];

#[test]
fn a_rule_that_is_written_reads_the_same() {
    for text in TEXTS {
        assert_eq!(rule(text).to_string(), text);
        assert_eq!(rule(&text.to_lowercase()).to_string(), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_walk_from_anywhere_gives_what_a_walk_from_the_start_gives(
        text in 0..TEXTS.len(), start in 0..86_400_i64 * 365, from in -86_400_i64..86_400 * 900, len in 0..86_400_i64 * 200,
    ) {
        let start = Wall(wall("2024-01-01").0 + start);
        let (from, to) = (start.plus(from), start.plus(from + len));
        let rule = rule(TEXTS[text]);
        let all: Vec<_> = Walls::new(&rule, start, start, to).filter(|&it| it >= from).collect();
        let jumped: Vec<_> = Walls::new(&rule, start, from, to).collect();
        prop_assert!(jumped.is_sorted_by(|one, other| one < other));
        prop_assert_eq!(all, jumped);
    }

    #[test]
    fn both_sides_of_a_cut_are_the_whole(text in 0..TEXTS.len(), at in 1..60_usize, counted in any::<bool>()) {
        let mut rule = rule(TEXTS[text]);
        rule.limit = if counted { Limit::Count(80) } else { Limit::Forever };
        let start = Walls::new(&rule, wall("2024-01-01T09:10:30"), wall("2024-01-01T09:10:30"), Wall::MAX).next().unwrap();
        let it = Series::new(Start::zoned(start, zone_named("UTC").unwrap()), Some(rule)).unwrap();
        let whole: Vec<_> = it.walls(Wall::MIN, Wall::MAX).take(100).collect();
        let Split { before, following } = it.cut(whole[at]).unwrap().unwrap();
        let parts: Vec<_> = before.walls(Wall::MIN, Wall::MAX).chain(following.walls(Wall::MIN, Wall::MAX)).take(100).collect();
        prop_assert_eq!(parts, whole);
    }

    #[test]
    fn no_text_stops_the_reader(text in "(FREQ=(DAILY|YEARLY|SECONDLY))?(;[A-Z]{1,6}=[-+0-9A-Z,ü]{0,6}){0,3}") {
        if let Ok(rule) = text.parse::<Rule>() {
            let start = wall("2026-11-23");
            Walls::new(&rule, start, start, start.plus(86_400)).take(5).for_each(drop);
            prop_assert_eq!(rule.to_string().parse::<Rule>(), Ok(rule));
        }
    }
}
