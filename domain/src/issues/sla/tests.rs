//! Hours and clocks, by cases that known products got wrong.

use proptest::prelude::*;

use super::*;
use crate::Timestamp;

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().expect("an instant").as_millisecond())
}

fn hours(zone: &str, days: &[(u8, &str, &str)], holidays: &[(&str, bool)]) -> Hours {
    let days = days.iter().map(|(day, from, to)| DaySpan { day: *day, from: (*from).into(), to: (*to).into() });
    let holidays =
        holidays.iter().map(|(date, yearly)| Holiday { date: (*date).into(), name: String::new(), yearly: *yearly });
    let time_zone = crate::notify::Zone::find(zone).expect("a zone");
    let settings = HoursSettings { time_zone, days: days.collect(), holidays: holidays.collect() };
    Hours::read(&settings).expect("hours")
}

const HOUR: i64 = 3_600_000;
const WEEK: [(u8, &str, &str); 5] =
    [(1, "09:00", "17:00"), (2, "09:00", "17:00"), (3, "09:00", "17:00"), (4, "09:00", "17:00"), (5, "09:00", "17:00")];

#[test]
fn only_business_time_counts() {
    let vienna = hours("Europe/Vienna", &WEEK, &[("2026-12-25", true), ("2026-01-07", false)]);
    let calendar = Calendar::Business(&vienna);
    for (from, to, expected) in [
        ("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z", 8 * HOUR),
        ("2026-01-05T15:30:00Z", "2026-01-06T08:30:00Z", HOUR),
        ("2026-01-09T15:00:00Z", "2026-01-12T09:00:00Z", 2 * HOUR),
        ("2026-01-07T00:00:00Z", "2026-01-08T00:00:00Z", 0),
        ("2025-12-25T00:00:00Z", "2025-12-26T00:00:00Z", 0),
        ("2026-01-05T12:00:00Z", "2026-01-05T10:00:00Z", 0),
    ] {
        assert_eq!(calendar.elapsed(at(from), at(to)), expected, "{from} {to}");
    }
    assert_eq!(calendar.reached(at("2026-01-09T15:00:00Z"), HOUR), Some(at("2026-01-09T16:00:00Z")));
    assert_eq!(calendar.reached(at("2026-01-09T15:00:00Z"), HOUR + 1), Some(at("2026-01-12T08:00:00.001Z")));
    assert_eq!(calendar.reached(at("2026-01-10T15:00:00Z"), 0), Some(at("2026-01-10T15:00:00Z")));
}

#[test]
fn an_hour_that_the_clock_skips_is_none_and_one_that_it_shows_twice_counts_twice() {
    let night = hours("Europe/Vienna", &[(0, "00:00", "24:00")], &[]);
    let calendar = Calendar::Business(&night);
    assert_eq!(calendar.elapsed(at("2026-03-28T00:00:00Z"), at("2026-03-31T00:00:00Z")), 23 * HOUR);
    assert_eq!(calendar.elapsed(at("2026-10-24T00:00:00Z"), at("2026-10-27T00:00:00Z")), 25 * HOUR);
    let early = hours("Europe/Vienna", &[(0, "02:00", "03:00")], &[]);
    let calendar = Calendar::Business(&early);
    assert_eq!(calendar.elapsed(at("2026-03-28T00:00:00Z"), at("2026-03-31T00:00:00Z")), 0);
    assert_eq!(calendar.elapsed(at("2026-10-24T00:00:00Z"), at("2026-10-27T00:00:00Z")), 2 * HOUR);
}

#[test]
fn hours_without_a_span_and_spans_without_an_end_are_refused() {
    let time_zone = crate::notify::Zone::UTC;
    let read =
        |days: Vec<DaySpan>| Hours::read(&HoursSettings { time_zone: time_zone.clone(), days, holidays: vec![] });
    let span = |day, from: &str, to: &str| DaySpan { day, from: from.into(), to: to.into() };
    assert!(read(vec![]).is_err());
    for wrong in [
        span(7, "09:00", "10:00"),
        span(1, "24:00", "24:00"),
        span(1, "10:00", "10:00"),
        span(1, "9:00", "10:00"),
        span(1, "09:00", "24:01"),
    ] {
        assert!(read(vec![wrong.clone()]).is_err(), "{wrong:?}");
    }
    let lunch =
        read(vec![span(1, "13:00", "24:00"), span(1, "08:00", "12:00"), span(1, "11:00", "12:30")]).expect("hours");
    let calendar = Calendar::Business(&lunch);
    assert_eq!(
        calendar.elapsed(at("2026-01-05T00:00:00Z"), at("2026-01-06T00:00:00Z")),
        4 * HOUR + HOUR / 2 + 11 * HOUR
    );
}

fn step(at_: &str, events: &[Event], status: &str) -> Step {
    let after =
        Standing { status_id: status.into(), is_assigned: true, is_resolved: status == "done", awaits_customer: false };
    Step { at: at(at_), events: events.to_vec(), after, facts: Facts::default() }
}

fn resolution() -> Sla {
    Sla {
        start: vec![Event::Created, Event::Reopened],
        stop: vec![Event::Resolved],
        pause: vec![Condition::InStatus { status_ids: vec!["waiting".into()] }],
        warn_before: Some(HOUR),
    }
}

const ALWAYS: Goal<'static> = Goal { millis: Some(4 * HOUR), calendar: Calendar::Always };

#[test]
fn pauses_are_left_out_and_a_stop_ends_the_cycle() {
    let steps = [
        step("2026-01-05T10:00:00Z", &[Event::Created], "open"),
        step("2026-01-05T11:00:00Z", &[], "waiting"),
        step("2026-01-05T20:00:00Z", &[], "open"),
        step("2026-01-05T21:00:00Z", &[Event::Resolved], "done"),
        step("2026-01-06T10:00:00Z", &[Event::Reopened], "open"),
    ];
    let by = |count: usize, now: &str| replay(&resolution(), &steps[..count], at(now), |_| ALWAYS);
    let paused = by(2, "2026-01-05T19:00:00Z");
    assert!(paused[0].is_paused() && paused[0].breaches_at().is_none());
    let running = by(3, "2026-01-05T20:30:00Z");
    assert_eq!(running[0].breaches_at(), Some(at("2026-01-05T23:00:00Z")));
    assert_eq!(running[0].elapsed_by(at("2026-01-05T20:30:00Z")), HOUR + HOUR / 2);
    let all = by(5, "2026-01-06T15:00:00Z");
    assert_eq!(
        (all.len(), all[0].elapsed, all[0].breached_at),
        (2, 2 * HOUR, None),
        "an answered request doesn't breach"
    );
    assert_eq!(all[1].breached_at, Some(at("2026-01-06T14:00:00Z")), "reopening opens a new cycle");
}

#[test]
fn a_clock_warns_once_of_a_goal_that_is_near() {
    let steps = [
        step("2026-01-05T10:00:00Z", &[Event::Created], "open"),
        step("2026-01-05T12:30:00Z", &[], "waiting"),
        step("2026-01-05T20:00:00Z", &[], "open"),
    ];
    let by = |count: usize, now: &str| replay(&resolution(), &steps[..count], at(now), |_| ALWAYS).remove(0);
    assert_eq!(by(1, "2026-01-05T10:00:00Z").warns_at(), Some(at("2026-01-05T13:00:00Z")));
    assert_eq!(by(2, "2026-01-05T15:00:00Z").warns_at(), None, "a clock that is held warns of nothing");
    let near = by(3, "2026-01-05T20:29:59Z");
    assert_eq!((near.warned_at, near.warns_at()), (None, Some(at("2026-01-05T20:30:00Z"))));
    let warned = by(3, "2026-01-05T20:30:00Z");
    assert_eq!((warned.warned_at, warned.warns_at()), (Some(at("2026-01-05T20:30:00Z")), None));
    let short = Goal { millis: Some(HOUR), ..ALWAYS };
    let tight = replay(&resolution(), &steps[..1], at("2026-01-05T10:30:00Z"), |_| short).remove(0);
    assert_eq!((tight.warned_at, tight.warns_at()), (None, None), "a goal of no more time than that has no warning");
}

#[test]
fn a_pause_survives_a_change_of_priority_and_a_breach_a_better_goal() {
    let steps = [
        step("2026-01-05T10:00:00Z", &[Event::Created], "open"),
        step("2026-01-05T12:00:00Z", &[], "waiting"),
        step("2026-01-05T13:00:00Z", &[], "waiting"),
        step("2026-01-05T14:00:00Z", &[], "open"),
        step("2026-01-05T15:00:00Z", &[], "open"),
    ];
    let short =
        |step: &Step| Goal { millis: Some(if step.at >= at("2026-01-05T13:00:00Z") { 3 } else { 4 } * HOUR), ..ALWAYS };
    let held = replay(&resolution(), &steps[..3], at("2026-01-05T13:30:00Z"), short);
    assert!(held[0].is_paused() && held[0].elapsed == 2 * HOUR);
    let long_again =
        |step: &Step| Goal { millis: Some(if step.at >= at("2026-01-05T15:00:00Z") { 9 } else { 3 } * HOUR), ..ALWAYS };
    let breached = replay(&resolution(), &steps, at("2026-01-05T16:00:00Z"), long_again);
    assert_eq!(breached[0].breached_at, Some(at("2026-01-05T15:00:00Z")), "a breach stays with its cycle");
    let sudden = |step: &Step| Goal { millis: (step.at >= at("2026-01-05T13:00:00Z")).then_some(HOUR), ..ALWAYS };
    let breached = replay(&resolution(), &steps, at("2026-01-05T16:00:00Z"), sudden);
    assert_eq!(breached[0].breached_at, Some(at("2026-01-05T13:00:00Z")), "a goal that has passed is reached at once");
}

#[test]
fn a_stop_goes_before_a_start_in_one_commit() {
    let sla =
        Sla { start: vec![Event::CustomerReply], stop: vec![Event::PublicReply], pause: vec![], warn_before: None };
    let both = [Event::CustomerReply, Event::PublicReply];
    let steps = [step("2026-01-05T10:00:00Z", &both, "open"), step("2026-01-05T11:00:00Z", &both, "open")];
    let cycles = replay(&sla, &steps, at("2026-01-05T12:00:00Z"), |_| ALWAYS);
    assert_eq!((cycles.len(), cycles[0].stopped_at, cycles[1].stopped_at), (2, Some(at("2026-01-05T11:00:00Z")), None));
}

/// A history in which any event comes at any time, often several in one millisecond.
fn histories() -> impl Strategy<Value = Vec<Step>> {
    let moment = (0..3_i64, 0..5_usize, any::<bool>(), any::<bool>());
    proptest::collection::vec(moment, 1..40).prop_map(|moments| {
        let mut at = self::at("2026-01-05T10:00:00Z");
        let steps = moments.into_iter().map(|(hours, event, is_held, is_high)| {
            at = Timestamp(at.0 + hours * HOUR);
            let all = [Event::Created, Event::Resolved, Event::Reopened, Event::PublicReply, Event::Assigned];
            let held = if is_held { "waiting_for_customer" } else { "open" };
            let priority = if is_high { "high" } else { "medium" };
            let facts = Facts { priority_id: Some(priority.to_owned()), ..Facts::default() };
            Step { at, events: vec![all[event].clone()], facts, ..step("2026-01-05T10:00:00Z", &[], held) }
        });
        steps.collect()
    })
}

proptest! {
    #[test]
    fn what_is_kept_step_by_step_is_what_the_whole_history_gives(steps in histories()) {
        let vienna = hours("Europe/Vienna", &WEEK, &[]);
        for sla in &SlaSettings::defaults() {
            let mut kept = Vec::new();
            for count in 1..=steps.len() {
                let course = Course { sla, hours: Some(&vienna), before: &kept, steps: &steps[..count] };
                kept = course.cycles(steps[count - 1].at);
            }
            let whole = Course { sla, hours: Some(&vienna), before: &[], steps: &steps };
            prop_assert_eq!(&kept, &whole.cycles(steps[steps.len() - 1].at));
            // Whatever the goals become, what has ended stays.
            let none = SlaSettings { goals: Vec::new(), ..sla.clone() };
            let after = Course { sla: &none, before: &kept, ..whole }.cycles(steps[steps.len() - 1].at);
            let ended = kept.iter().take_while(|cycle| cycle.stopped_at.is_some()).count();
            prop_assert_eq!(&kept[..ended], &after[..ended]);
            prop_assert_eq!(kept.len(), after.len());
        }
    }
}
