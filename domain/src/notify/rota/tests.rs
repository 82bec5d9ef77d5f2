use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::notify::TimeOfDay;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn time(text: &str) -> TimeOfDay {
    TimeOfDay::parse("at", text).unwrap()
}

fn people(count: i64) -> Vec<UserId> {
    (0..count).map(|number| UserId::new(Timestamp(number))).collect()
}

fn rota(zone: &str, handover: Handover, start: Timestamp, count: i64) -> Rota {
    let draft = RotaDraft {
        name: "Ops".to_owned(),
        people: people(count),
        handover,
        zone: Zone::parse("timeZone", zone).unwrap(),
    };
    Rota {
        id: RotaId::new(start),
        org_id: OrgId::new(start),
        draft: draft.check().unwrap(),
        start: TurnStart { at: start, place: 0 },
        overrides: Vec::new(),
        created_by: UserId::new(start),
        created_at: start,
        updated_at: start,
    }
}

fn daily(at: &str) -> Handover {
    Handover::Day { at: time(at), interval: 1 }
}

fn on_call(rota: &Rota, at: Timestamp) -> OnCall {
    rota.on_call(at, |_| true).unwrap()
}

/// The place of whoever is on call.
fn who(rota: &Rota, when: &str) -> usize {
    let found = on_call(rota, at(when));
    rota.draft.people.iter().position(|user_id| *user_id == found.user_id).unwrap()
}

/// Handovers at this instant: several where the clocks go forward over the times of some.
fn handovers_at(rota: &Rota, at: Timestamp) -> usize {
    let beat = rota.draft.handover.beat(&rota.draft.zone, rota.start.at);
    let last = beat.turn_at(at);
    (0..21).take_while(|back| beat.handover(last - back) == at).count()
}

fn window(rota: &mut Rota, user_id: UserId, from: &str, until: &str) -> RotaOverride {
    let id = RotaOverrideId::new(Timestamp(i64::try_from(rota.overrides.len()).unwrap()));
    let one = RotaOverride { id, user_id, from: at(from), until: at(until) };
    rota.override_add(one, at(from)).unwrap();
    one
}

#[test]
fn a_daily_rota_hands_over_at_its_hour() {
    let rota = rota("Europe/Vienna", daily("09:00"), at("2026-06-01T10:00:00Z"), 3);
    assert_eq!(who(&rota, "2026-06-01T10:00:00Z"), 0);
    assert_eq!(who(&rota, "2026-06-02T06:59:59Z"), 0);
    assert_eq!(who(&rota, "2026-06-02T07:00:00Z"), 1);
    assert_eq!(who(&rota, "2026-06-03T07:00:00Z"), 2);
    assert_eq!(who(&rota, "2026-06-04T07:00:00Z"), 0);
    assert_eq!(who(&rota, "2026-06-01T06:59:59Z"), 2);
    let found = on_call(&rota, at("2026-06-02T12:00:00Z"));
    assert_eq!((found.since, found.until), (at("2026-06-02T07:00:00Z"), at("2026-06-03T07:00:00Z")));
}

#[test]
fn a_day_on_which_clocks_change_is_a_turn_of_23_or_25_hours() {
    let rota = rota("Europe/Vienna", daily("00:00"), at("2026-01-01T00:00:00Z"), 2);
    for (noon, hours) in [("2026-03-29T12:00:00Z", 23), ("2026-03-30T12:00:00Z", 24), ("2026-10-25T12:00:00Z", 25)] {
        let found = on_call(&rota, at(noon));
        assert_eq!(found.until.0 - found.since.0, hours * HOUR, "{noon}");
    }
}

#[test]
fn a_handover_at_a_time_that_is_skipped_or_shown_twice_happens_once() {
    let rota = rota("Europe/Vienna", daily("02:30"), at("2026-03-27T12:00:00Z"), 3);
    // 29 March has no 02:30; the clock shows 03:30 then.
    assert_eq!(who(&rota, "2026-03-29T01:29:59Z"), 1);
    assert_eq!(who(&rota, "2026-03-29T01:30:00Z"), 2);
    assert_eq!(who(&rota, "2026-03-30T00:30:00Z"), 0);
    // 25 October has two.
    let turn = on_call(&rota, at("2026-10-25T00:30:00Z"));
    assert_eq!((turn.since, turn.until), (at("2026-10-25T00:30:00Z"), at("2026-10-26T01:30:00Z")));
}

#[test]
fn a_weekly_rota_hands_over_on_its_day() {
    let handover = Handover::Week { day: 1, at: time("09:00"), interval: 1 };
    let rota = rota("UTC", handover, at("2026-06-03T00:00:00Z"), 2);
    assert_eq!(who(&rota, "2026-06-08T08:59:59Z"), 0);
    assert_eq!(who(&rota, "2026-06-08T09:00:00Z"), 1);
    assert_eq!(who(&rota, "2026-06-15T09:00:00Z"), 0);
    let found = on_call(&rota, at("2026-06-03T00:00:00Z"));
    assert_eq!(found.since, at("2026-06-01T09:00:00Z"));
}

#[test]
fn turns_may_last_several_days_or_weeks() {
    let two_weeks = Handover::Week { day: 1, at: time("09:00"), interval: 2 };
    let weeks = rota("UTC", two_weeks, at("2026-06-03T00:00:00Z"), 2);
    let found = on_call(&weeks, at("2026-06-03T00:00:00Z"));
    assert_eq!((found.since, found.until), (at("2026-06-01T09:00:00Z"), at("2026-06-15T09:00:00Z")));
    let three_days = Handover::Day { at: time("00:00"), interval: 3 };
    let days = rota("UTC", three_days, at("2026-06-03T00:00:00Z"), 2);
    assert_eq!(on_call(&days, at("2026-06-05T23:59:59Z")).until, at("2026-06-06T00:00:00Z"));
    assert_eq!(who(&days, "2026-06-06T00:00:00Z"), 1);
}

#[test]
fn a_custom_rota_hands_over_at_each_of_its_moments() {
    let moment = |day, at| HandoverMoment { day, at: time(at) };
    let handover = Handover::Custom { moments: vec![moment(5, "17:00"), moment(1, "09:00")] };
    let rota = rota("UTC", handover, at("2026-06-03T00:00:00Z"), 3);
    assert_eq!(who(&rota, "2026-06-05T16:59:59Z"), 0);
    assert_eq!(who(&rota, "2026-06-05T17:00:00Z"), 1);
    assert_eq!(who(&rota, "2026-06-08T09:00:00Z"), 2);
    assert_eq!(who(&rota, "2026-06-12T17:00:00Z"), 0);
    assert_eq!(who(&rota, "2026-06-01T08:59:59Z"), 2);
}

#[test]
fn a_day_that_a_zone_skipped_is_nobodys() {
    // Samoa went from 29 to 31 December 2011.
    let rota = rota("Pacific/Apia", daily("09:00"), at("2011-12-28T20:00:00Z"), 3);
    assert_eq!(who(&rota, "2011-12-29T20:00:00Z"), 1);
    assert_eq!(who(&rota, "2011-12-30T20:00:00Z"), 0);
}

#[test]
fn an_override_counts_in_its_window_and_cuts_the_turn() {
    let mut rota = rota("UTC", daily("00:00"), at("2026-06-01T00:00:00Z"), 2);
    let eve = UserId::new(Timestamp(99));
    let one = window(&mut rota, eve, "2026-06-01T10:00:00Z", "2026-06-03T12:00:00Z");
    let found = on_call(&rota, at("2026-06-02T00:00:00Z"));
    assert_eq!(found, OnCall { user_id: eve, since: one.from, until: one.until, by_override: Some(one) });
    let before = on_call(&rota, at("2026-06-01T09:59:59Z"));
    assert_eq!((before.since, before.until), (at("2026-06-01T00:00:00Z"), one.from));
    let after = on_call(&rota, at("2026-06-03T12:00:00Z"));
    assert_eq!((after.since, after.until), (one.until, at("2026-06-04T00:00:00Z")));
    assert_eq!(after.by_override, None);
}

#[test]
fn of_two_overrides_the_one_made_later_counts() {
    let mut rota = rota("UTC", daily("00:00"), at("2026-06-01T00:00:00Z"), 2);
    let (eve, mallory) = (UserId::new(Timestamp(98)), UserId::new(Timestamp(99)));
    window(&mut rota, eve, "2026-06-01T10:00:00Z", "2026-06-01T20:00:00Z");
    window(&mut rota, mallory, "2026-06-01T12:00:00Z", "2026-06-01T14:00:00Z");
    let found = on_call(&rota, at("2026-06-01T11:00:00Z"));
    assert_eq!((found.user_id, found.until), (eve, at("2026-06-01T12:00:00Z")));
    assert_eq!(on_call(&rota, at("2026-06-01T13:00:00Z")).user_id, mallory);
    let found = on_call(&rota, at("2026-06-01T15:00:00Z"));
    assert_eq!((found.user_id, found.since), (eve, at("2026-06-01T14:00:00Z")));
    let left = rota.on_call(at("2026-06-01T13:00:00Z"), |user_id| user_id != mallory).unwrap();
    assert_eq!((left.user_id, left.since), (eve, at("2026-06-01T10:00:00Z")));
}

#[test]
fn whoever_left_is_passed_over() {
    let rota = rota("UTC", daily("00:00"), at("2026-06-01T00:00:00Z"), 3);
    let gone = rota.draft.people[0];
    let found = rota.on_call(at("2026-06-01T12:00:00Z"), |user_id| user_id != gone).unwrap();
    assert_eq!(found.user_id, rota.draft.people[1]);
    assert_eq!(rota.on_call(at("2026-06-01T12:00:00Z"), |_| false), None);
}

#[test]
fn a_change_leaves_whoever_is_on_call_until_the_next_handover() {
    let rota = rota("UTC", daily("00:00"), at("2026-06-01T00:00:00Z"), 3);
    let now = at("2026-06-02T12:00:00Z");
    let [first, second, third] = rota.draft.people[..] else { panic!("three people") };
    let of_people = |people: &[UserId]| {
        rota.changed(RotaChange { people: Some(people.to_vec()), ..RotaChange::default() }, now).unwrap()
    };
    let new = UserId::new(Timestamp(99));
    let added = of_people(&[new, first, second, third]);
    assert_eq!(on_call(&added, now).user_id, second);
    assert_eq!(on_call(&added, Timestamp(now.0 + DAY)).user_id, third);
    let without = of_people(&[first, third]);
    assert_eq!(on_call(&without, now).user_id, third);
    let renamed = rota.changed(RotaChange { name: Some("Nights".into()), ..RotaChange::default() }, now).unwrap();
    assert_eq!(renamed.start, rota.start);
}

#[test]
fn a_rota_has_one_to_fifty_people_each_once() {
    let draft = rota("UTC", daily("09:00"), Timestamp(0), 1).draft;
    for (count, fits) in [(0, false), (1, true), (50, true), (51, false)] {
        assert_eq!(RotaDraft { people: people(count), ..draft.clone() }.check().is_ok(), fits, "{count}");
    }
    let twice = vec![draft.people[0]; 2];
    assert!(RotaDraft { people: twice, ..draft }.check().is_err());
}

#[test]
fn handovers_have_their_limits() {
    let moment = |minute: u16| HandoverMoment { day: 1, at: TimeOfDay::new(9, minute).unwrap() };
    let custom = |count| Handover::Custom { moments: (0..count).map(moment).collect() };
    let day = |interval| Handover::Day { at: time("09:00"), interval };
    let week = |day| Handover::Week { day, at: time("09:00"), interval: 1 };
    for (handover, fits) in [
        (custom(0), false),
        (custom(1), true),
        (custom(21), true),
        (custom(22), false),
        (Handover::Custom { moments: vec![moment(1), moment(1)] }, false),
        (Handover::Custom { moments: vec![HandoverMoment { day: 7, at: time("09:00") }] }, false),
        (day(0), false),
        (day(1), true),
        (day(12), true),
        (day(13), false),
        (week(6), true),
        (week(7), false),
    ] {
        assert_eq!(handover.check("handover").is_ok(), fits, "{handover:?}");
    }
}

#[test]
fn overrides_have_their_limits() {
    let mut rota = rota("UTC", daily("09:00"), Timestamp(0), 1);
    let user_id = rota.draft.people[0];
    let id = RotaOverrideId::new(Timestamp(0));
    let year = 366 * DAY;
    for (from, until, fits) in
        [(10, 11, true), (10, 10, false), (0, 5, false), (0, 6, true), (6, 6 + year, true), (6, 7 + year, false)]
    {
        let one = RotaOverride { id, user_id, from: Timestamp(from), until: Timestamp(until) };
        assert_eq!(rota.clone().override_add(one, Timestamp(5)).is_ok(), fits, "{from} {until}");
    }
    let one = RotaOverride { id, user_id, from: Timestamp(0), until: Timestamp(10) };
    for _ in 0..100 {
        rota.override_add(one, Timestamp(5)).unwrap();
    }
    assert!(rota.override_add(one, Timestamp(5)).is_err());
    let later = Timestamp(11 + 90 * DAY);
    rota.override_add(RotaOverride { from: later, until: Timestamp(later.0 + 1), ..one }, later).unwrap();
    assert_eq!(rota.overrides.len(), 1, "those long over are forgotten");
}

#[test]
fn the_ends_of_time_do_no_harm() {
    let rota = rota("Europe/Vienna", daily("09:00"), Timestamp(0), 2);
    for end in [Timestamp(i64::MIN), Timestamp(i64::MAX)] {
        assert!(rota.on_call(end, |_| true).is_some());
    }
    assert_eq!(rota.draft.zone.local(*ASKABLE.end()).0, date(9000, 1, 1));
}

fn handovers() -> impl Strategy<Value = Handover> {
    let times = || (0_u16..24, 0_u16..60).prop_map(|(hour, minute)| TimeOfDay::new(hour, minute).unwrap());
    let moment = (0_u8..7, times()).prop_map(|(day, at)| HandoverMoment { day, at });
    prop_oneof![
        (times(), 1_u8..=12).prop_map(|(at, interval)| Handover::Day { at, interval }),
        (0_u8..7, times(), 1_u8..=12).prop_map(|(day, at, interval)| Handover::Week { day, at, interval }),
        proptest::collection::btree_set(moment, 1..8)
            .prop_map(|moments| Handover::Custom { moments: moments.into_iter().collect() }),
    ]
}

fn zones() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "UTC",
        "Europe/Vienna",
        "America/New_York",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Asia/Kathmandu",
    ])
}

#[test]
fn a_turn_that_the_clocks_leave_out_is_skipped() {
    let moment = |at| HandoverMoment { day: 0, at: time(at) };
    let handover = Handover::Custom { moments: vec![moment("02:00"), moment("03:00")] };
    let rota = rota("Europe/Vienna", handover, at("2017-01-01T00:00:00Z"), 2);
    // On 26 March there is no time from 02:00 to 03:00: both handovers are at 01:00 UTC, and the turn between them is none.
    let before = who(&rota, "2017-03-26T00:59:59Z");
    assert_eq!(handovers_at(&rota, at("2017-03-26T01:00:00Z")), 2);
    assert_eq!(who(&rota, "2017-03-26T01:00:00Z"), before);
    assert_eq!(handovers_at(&rota, at("2017-04-02T00:00:00Z")), 1);
    assert_ne!(who(&rota, "2017-04-02T00:30:00Z"), before);
}

proptest! {
    #[test]
    fn at_each_instant_exactly_one_person_is_on_call(
        zone in zones(),
        handover in handovers(),
        start in 1_330_000_000_000_i64..1_900_000_000_000,
        count in 1_i64..6,
        asked in 1_330_000_000_000_i64..1_900_000_000_000,
    ) {
        let rota = rota(zone, handover, Timestamp(start), count);
        let place = |user_id| rota.draft.people.iter().position(|one| *one == user_id).unwrap();
        let mut turn = on_call(&rota, Timestamp(asked));
        prop_assert!(turn.since.0 <= asked && asked < turn.until.0);
        for _ in 0..20 {
            prop_assert_eq!(on_call(&rota, Timestamp(turn.until.0 - 1)), turn);
            let next = on_call(&rota, turn.until);
            prop_assert_eq!(next.since, turn.until);
            prop_assert_eq!(place(next.user_id), (place(turn.user_id) + handovers_at(&rota, turn.until)) % rota.draft.people.len());
            turn = next;
        }
        prop_assert_eq!(on_call(&rota, Timestamp(start)).user_id, rota.draft.people[0]);
    }

    #[test]
    fn overrides_win(
        zone in zones(),
        handover in handovers(),
        windows in proptest::collection::vec((0_i64..100, 1_i64..50), 0..8),
        asked in proptest::collection::vec(0_i64..200, 1..20),
    ) {
        let start = 1_790_000_000_000;
        let mut rota = rota(zone, handover, Timestamp(start), 3);
        for (place, (from, hours)) in windows.iter().enumerate() {
            let id = RotaOverrideId::new(Timestamp(i64::try_from(place).unwrap()));
            let (from, until) = (Timestamp(start + from * HOUR), Timestamp(start + (from + hours) * HOUR));
            rota.overrides.push(RotaOverride { id, user_id: UserId::new(Timestamp(1_000)), from, until });
        }
        let plain = Rota { overrides: Vec::new(), ..rota.clone() };
        for asked in asked.into_iter().map(|hour| Timestamp(start + hour * HOUR)) {
            let found = on_call(&rota, asked);
            let winner = rota.overrides.iter().rev().find(|one| one.from <= asked && asked < one.until).copied();
            prop_assert_eq!(found.by_override, winner);
            let user_id = winner.map_or_else(|| on_call(&plain, asked).user_id, |one| one.user_id);
            prop_assert_eq!(found.user_id, user_id);
            prop_assert!(found.since <= asked && asked < found.until);
            prop_assert_eq!(on_call(&rota, found.since), found);
            prop_assert_eq!(on_call(&rota, Timestamp(found.until.0 - 1)), found);
        }
    }
}
