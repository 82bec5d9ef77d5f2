//! The clocks of service desks over histories, for `.ci/issues/sla.py`.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use troupe_domain::{
    Timestamp,
    issues::sla::{Calendar, Goal, Hours, HoursSettings, Sla, Step, replay},
};

/// A history, and the goal that counts since each of its steps.
#[derive(Deserialize)]
struct History {
    hours: HoursSettings,
    sla: Sla,
    steps: Vec<Step>,
    goals: Vec<AskedGoal>,
    now: Timestamp,
}

#[derive(Deserialize)]
struct AskedGoal {
    millis: Option<i64>,
    business: bool,
}

/// The cycles of a clock.
pub fn cycles(line: &str) -> Json {
    let History { hours, sla, steps, goals, now } = serde_json::from_str(line).expect("a history");
    let hours = Hours::read(&hours).expect("hours");
    let goal = |step: &Step| {
        let at = steps.iter().position(|it| std::ptr::eq(it, step)).expect("a step of the history");
        let calendar = if goals[at].business { Calendar::Business(&hours) } else { Calendar::Always };
        Goal { millis: goals[at].millis, calendar }
    };
    let cycles = replay(&sla, &steps, now, goal);
    cycles
        .iter()
        .map(|cycle| {
            json!({
                "startedAt": cycle.started_at,
                "stoppedAt": cycle.stopped_at,
                "elapsed": cycle.elapsed_by(now),
                "paused": cycle.is_paused(),
                "breachedAt": cycle.breached_at,
                "breachesAt": cycle.breaches_at(),
            })
        })
        .collect()
}

#[derive(Deserialize)]
struct Between {
    hours: HoursSettings,
    from: Timestamp,
    to: Timestamp,
}

/// The business time between two instants.
pub fn elapsed(line: &str) -> Json {
    let Between { hours, from, to } = serde_json::from_str(line).expect("hours and two instants");
    Calendar::Business(&Hours::read(&hours).expect("hours")).elapsed(from, to).into()
}
