use serde_json::json;

use super::*;
use crate::notify::{Channel, Channels, StepChannels};

fn step(after_minutes: u32) -> Step {
    Step { after_minutes, channels: StepChannels(Channels::of(&[Channel::Push])), rota: None }
}

fn rule() -> Rule {
    Rule { events: vec!["ops.alarm".to_owned()], steps: vec![step(0), step(5)], ..Rule::default() }
}

fn faults(rule: &Rule) -> Vec<String> {
    let mut problems = Problems::new();
    rule.check("rules[0]", &mut problems);
    match problems.into_result() {
        Err(crate::Error::Invalid { problems }) => problems.into_iter().map(|problem| problem.path).collect(),
        _ => Vec::new(),
    }
}

fn matching(key: &str, values: &[&str]) -> Rule {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    Rule { matches: [(key.to_owned(), values)].into(), ..rule() }
}

fn applies(rule: &Rule, data: &Value) -> bool {
    rule.applies("ops.alarm", data.as_object().unwrap())
}

fn minutes(times: &[StepTime]) -> Vec<(usize, i64)> {
    times.iter().map(|time| (time.step, time.at.0 / 60_000)).collect()
}

const fn minute(minute: i64) -> Timestamp {
    Timestamp(minute * 60_000)
}

#[test]
fn a_rule_is_the_contracts_json() {
    let text = json!({
        "events": ["ops.alarm"], "match": { "severity": ["critical"] }, "beforeEvent": true, "roles": ["owner"],
        "steps": [{ "afterMinutes": 5, "channels": { "push": true, "sms": true } }], "overrideQuietHours": true,
    });
    let read: Rule = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), text);
    let least = json!({ "events": ["ops.alarm"], "steps": [{ "afterMinutes": 0, "channels": { "push": true } }] });
    let read: Rule = serde_json::from_value(least.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), least);
}

#[test]
fn a_rule_applies_to_its_events_only() {
    assert!(rule().applies("ops.alarm", &Map::new()));
    assert!(!rule().applies("pipeline.failed", &Map::new()));
}

#[test]
fn a_match_holds_when_the_event_says_one_of_the_values() {
    let rule = matching("severity", &["critical", "3", "true"]);
    for said in [json!("critical"), json!(3), json!(true), json!(["low", "critical"])] {
        assert!(applies(&rule, &json!({ "severity": said })), "{said}");
    }
    for said in [json!("Critical"), json!(30), json!(null), json!({}), json!([]), json!([["critical"]])] {
        assert!(!applies(&rule, &json!({ "severity": said })), "{said}");
    }
    assert!(!applies(&rule, &json!({ "severities": "critical" })));
}

#[test]
fn every_key_must_match() {
    let mut rule = matching("severity", &["critical"]);
    rule.matches.insert("region".to_owned(), vec!["eu".to_owned()]);
    assert!(applies(&rule, &json!({ "severity": "critical", "region": "eu" })));
    assert!(!applies(&rule, &json!({ "severity": "critical", "region": "us" })));
    assert!(!applies(&rule, &json!({ "severity": "critical" })));
}

#[test]
fn steps_follow_the_event() {
    assert_eq!(minutes(&rule().step_times(minute(100), None)), [(0, 100), (1, 105)]);
    assert_eq!(minutes(&rule().step_times(minute(100), Some(minute(50)))), [(0, 100), (1, 105)]);
}

#[test]
fn steps_before_an_event_count_back_from_its_start() {
    let rule = Rule { before_event: true, steps: vec![step(15), step(5), step(0)], ..rule() };
    assert_eq!(minutes(&rule.step_times(minute(0), Some(minute(100)))), [(0, 85), (1, 95), (2, 100)]);
    assert!(rule.step_times(minute(0), None).is_empty());
}

#[test]
fn of_the_steps_that_were_missed_those_nearest_to_the_start_are_done_at_once() {
    let rule = Rule { before_event: true, steps: vec![step(15), step(10), step(10), step(5)], ..rule() };
    assert_eq!(minutes(&rule.step_times(minute(92), Some(minute(100)))), [(1, 92), (2, 92), (3, 95)]);
    assert_eq!(minutes(&rule.step_times(minute(90), Some(minute(100)))), [(1, 90), (2, 90), (3, 95)]);
    assert_eq!(minutes(&rule.step_times(minute(100), Some(minute(100)))), [(3, 100)]);
    assert!(rule.step_times(minute(101), Some(minute(100))).is_empty());
}

#[test]
fn a_rule_needs_events_that_protocols_may_list_and_steps() {
    assert!(faults(&rule()).is_empty());
    assert_eq!(faults(&Rule { events: Vec::new(), ..rule() }), ["rules[0].events"]);
    assert_eq!(faults(&Rule { steps: Vec::new(), ..rule() }), ["rules[0].steps"]);
    let events = ["ops.alarm", "vehicles.moved", "no.such"].map(str::to_owned).to_vec();
    assert_eq!(faults(&Rule { events, ..rule() }), ["rules[0].events[1]", "rules[0].events[2]"]);
    let twice = vec!["ops.alarm".to_owned(); 2];
    assert_eq!(faults(&Rule { events: twice, ..rule() }), ["rules[0].events"]);
}

#[test]
fn a_rule_has_at_most_ten_steps() {
    assert!(faults(&Rule { steps: vec![step(1); 10], ..rule() }).is_empty());
    assert_eq!(faults(&Rule { steps: vec![step(1); 11], ..rule() }), ["rules[0].steps"]);
    assert_eq!(faults(&Rule { steps: vec![step(0), step(10_081)], ..rule() }), ["rules[0].steps[1].afterMinutes"]);
}

#[test]
fn matches_have_their_limits() {
    let long = "k".repeat(64);
    for (rule, fits) in [
        (matching(&long, &["v"]), true),
        (matching(&"k".repeat(65), &["v"]), false),
        (matching("", &["v"]), false),
        (matching("k", &[]), false),
        (matching("k", &["v"; 50]), true),
        (matching("k", &["v"; 51]), false),
        (matching("k", &[&"v".repeat(256)]), true),
        (matching("k", &[&"v".repeat(257)]), false),
        (matching("k", &[""]), false),
    ] {
        assert_eq!(faults(&rule).is_empty(), fits, "{:?}", rule.matches);
    }
    let keys = |count: usize| (0..count).map(|key| (key.to_string(), vec!["v".to_owned()])).collect();
    assert!(faults(&Rule { matches: keys(20), ..rule() }).is_empty());
    assert_eq!(faults(&Rule { matches: keys(21), ..rule() }), ["rules[0].match"]);
}

#[test]
fn a_rule_names_up_to_fifty_people_each_once() {
    let people = |count: i64| (0..count).map(|at| UserId::new(Timestamp(at))).collect::<Vec<_>>();
    assert!(faults(&Rule { user_ids: people(50), ..rule() }).is_empty());
    assert_eq!(faults(&Rule { user_ids: people(51), ..rule() }), ["rules[0].userIds"]);
    let twice = vec![UserId::new(Timestamp(1)); 2];
    assert_eq!(faults(&Rule { user_ids: twice, ..rule() }), ["rules[0].userIds"]);
    assert_eq!(faults(&Rule { roles: vec![Role::Owner, Role::Owner], ..rule() }), ["rules[0].roles"]);
}
