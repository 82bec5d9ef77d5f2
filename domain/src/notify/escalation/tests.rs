use proptest::prelude::*;

use super::*;
use crate::id::UserId;

const MINUTE: i64 = 60_000;
const START: Timestamp = Timestamp(1_800_000_000_000);

fn at(minutes: i64) -> Timestamp {
    Timestamp(START.0 + minutes * MINUTE)
}

fn step(rule: usize, step: usize, minutes: i64) -> PlannedStep {
    PlannedStep { rule, step, at: at(minutes), due: at(minutes), before_event: false }
}

fn progress(minutes: &[i64]) -> Progress {
    Progress::new(Plan::new(minutes.iter().enumerate().map(|(place, minutes)| step(0, place, *minutes))))
}

fn due(progress: &Progress) -> Option<Timestamp> {
    match progress.next()? {
        Next::Step { due, .. } => Some(due),
        Next::End { .. } => None,
    }
}

#[test]
fn steps_come_by_time_and_then_as_the_protocol_lists_them() {
    let plan = Plan::new([step(1, 0, 5), step(0, 1, 10), step(0, 0, 5), step(2, 0, 0)]);
    let order: Vec<_> = plan.steps().iter().map(|step| (step.rule, step.step)).collect();
    assert_eq!(order, [(2, 0), (0, 0), (1, 0), (0, 1)]);
}

#[test]
fn after_the_last_step_it_waits_a_day_for_an_answer() {
    let mut progress = progress(&[0]);
    assert_eq!(progress.next(), Some(Next::Step { place: 0, due: at(0) }));
    progress.step_done(at(1));
    assert_eq!(progress.next(), Some(Next::End { at: at(1 + 24 * 60) }));
    assert_eq!(Progress::new(Plan::default()).next(), None);
}

#[test]
fn a_snooze_is_a_pause() {
    let mut progress = progress(&[0, 10, 25]);
    progress.step_done(at(0));
    progress.snooze(at(4), at(34)).unwrap();
    assert_eq!(due(&progress), Some(at(40)));
    progress.step_done(at(40));
    assert_eq!(due(&progress), Some(at(55)));
}

#[test]
fn a_second_snooze_replaces_the_first() {
    let mut twice = progress(&[10]);
    twice.snooze(at(4), at(34)).unwrap();
    twice.snooze(at(9), at(19)).unwrap();
    assert_eq!(due(&twice), Some(at(25)));
    twice.snooze(at(30), at(60)).unwrap();
    assert_eq!(due(&twice), Some(at(60)));
}

#[test]
fn a_snooze_lasts_from_a_moment_to_a_day() {
    let one = |millis: i64| progress(&[60]).snooze(START, Timestamp(START.0 + millis));
    let day = 24 * 60 * MINUTE;
    assert!(one(0).is_err() && one(day + 1).is_err());
    assert!(one(1).is_ok() && one(day).is_ok());
}

#[test]
fn a_step_before_an_event_stays_where_it_is_but_not_within_a_snooze() {
    let steps =
        [(0, 10), (1, 50)].map(|(place, minutes)| PlannedStep { before_event: true, ..step(0, place, minutes) });
    let mut progress = Progress::new(Plan::new(steps));
    progress.snooze(at(0), at(30)).unwrap();
    assert_eq!(due(&progress), Some(at(30)));
    progress.step_done(at(30));
    assert_eq!(due(&progress), Some(at(50)));
}

#[test]
fn a_step_that_a_snooze_leaves_where_it_is_comes_before_one_that_it_moves() {
    let before = PlannedStep { before_event: true, ..step(1, 0, 20) };
    let mut progress = Progress::new(Plan::new([step(0, 0, 10), before]));
    progress.snooze(at(0), at(15)).unwrap();
    assert_eq!(due(&progress), Some(at(20)));
    progress.step_done(at(20));
    assert_eq!(due(&progress), Some(at(25)));
}

#[test]
fn the_same_alarm_is_taken_in_until_it_must_be_heard_again() {
    let mut progress = progress(&[0, 600]);
    progress.step_done(at(0));
    assert!(progress.takes_in(at(599), None));
    progress.step_done(at(600));
    assert!(progress.takes_in(at(659), None));
    assert!(!progress.takes_in(at(660), None));
    assert!(progress.takes_in(at(660), Some(at(0))));
    assert!(progress.takes_in(at(24 * 60 - 1), Some(at(0))));
    assert!(!progress.takes_in(at(24 * 60), Some(at(0))));
}

fn people(count: usize) -> Vec<UserId> {
    (0..count).map(|_| UserId::new(START)).collect()
}

#[test]
fn a_step_goes_to_whom_the_rule_names_or_else_to_whom_the_event_concerns() {
    let [ada, bob, eve] = people(3).try_into().unwrap();
    let members = [ada, bob, eve].into();
    let audience =
        Audience { named: vec![ada, ada], names_anybody: true, concerned: vec![bob], members, ..Audience::default() };
    assert_eq!(pick(&audience).told, [ada]);
    let nobody_left = Audience { named: vec![], ..audience.clone() };
    assert_eq!(pick(&nobody_left), Pick { told: vec![], passed: vec![(None, Passed::Nobody)] });
    assert_eq!(pick(&Audience { names_anybody: false, ..audience.clone() }).told, [bob]);
    let rota = Audience { is_rota: true, on_call: Some(eve), ..audience.clone() };
    assert_eq!(pick(&rota).told, [eve]);
    let nobody = Audience { on_call: None, ..rota.clone() };
    assert_eq!(pick(&nobody).passed, [(None, Passed::NobodyOnCall)]);
    assert_eq!(pick(&Audience { handed_to: Some(bob), ..rota }).told, [bob]);
}

#[test]
fn who_has_left_or_acknowledged_is_passed_over() {
    let [ada, bob, eve] = people(3).try_into().unwrap();
    let audience = Audience {
        concerned: vec![ada, bob, eve],
        members: [ada, bob].into(),
        acknowledged: [ada].into(),
        ..Audience::default()
    };
    let pick = pick(&audience);
    assert_eq!(pick.told, [bob]);
    assert_eq!(pick.passed, [(Some(ada), Passed::Acknowledged), (Some(eve), Passed::NotAMember)]);
}

proptest! {
    /// Whatever is snoozed when: each step comes once, in order, never before its time and never within a snooze, and
    /// the pauses between steps are those of the plan plus those of the snoozes.
    #[test]
    fn steps_come_once_in_order_and_never_early(
        minutes in prop::collection::vec(0_i64..10_080, 1..10),
        snoozes in prop::collection::vec((0_i64..10_080, 1_i64..1_440), 0..6),
    ) {
        let mut sorted = minutes.clone();
        sorted.sort_unstable();
        let mut progress = progress(&minutes);
        let mut snoozes = snoozes;
        snoozes.sort_unstable();
        let mut done = Vec::new();
        while let Some(Next::Step { place, due }) = progress.next() {
            let last = done.last().copied().unwrap_or(START);
            match snoozes.first().copied() {
                Some((when, long)) if at(when) < due => {
                    snoozes.remove(0);
                    let now = at(when).max(last);
                    progress.snooze(now, Timestamp(now.0 + long * MINUTE)).unwrap();
                    prop_assert!(progress.next().unwrap().at().0 >= now.0 + long * MINUTE);
                }
                _ => {
                    prop_assert_eq!(place, done.len());
                    prop_assert!(due >= last && due >= at(sorted[place]));
                    done.push(due);
                    progress.step_done(due);
                }
            }
        }
        prop_assert_eq!(done.len(), minutes.len());
    }
}
