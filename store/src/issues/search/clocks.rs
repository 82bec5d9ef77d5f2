//! What a query asks of clocks, as conditions on their rows `c`.
//!
//! What has counted on a running clock is a sum: its `base`, and what has counted by now since a fixed instant, which is one number
//! for all issues of a desk.

use domain::issues::jql::meaning::{FieldKey, ValueId};

use super::{
    Bound, ClockNow, IssueSearch,
    condition::{Conditions, FALSE, TRUE, any},
};

impl Conditions<'_> {
    /// That the issue has this clock, and that its newest cycle fulfils a condition.
    pub(super) fn clock(&mut self, key: &str, condition: &str) -> String {
        let key = self.bound.add(key.to_owned());
        format!("EXISTS (SELECT 1 FROM issue_clocks c WHERE c.seq = i.seq AND c.sla_key = {key} AND ({condition}))")
    }

    fn clock_now(&self, key: &str) -> Option<ClockNow> {
        self.search.clocks.iter().find(|clock| clock.key == key).cloned()
    }

    /// That a clock bears one of these marks.
    pub(super) fn clock_marks(&mut self, key: &str, marks: &[ValueId]) -> String {
        let is_open = self.clock_now(key).is_some_and(|clock| clock.is_open);
        let breached = if marks.iter().any(|mark| matches!(&*mark.0, "breached" | "everBreached")) {
            let now = self.bound.add(self.search.now.0);
            format!("(c.breached_at IS NOT NULL OR c.breaches_at <= {now})")
        } else {
            FALSE.to_owned()
        };
        let way = |mark: &ValueId| match &*mark.0 {
            "breached" => breached.clone(),
            "everBreached" => format!("(c.ever_breached = 1 OR {breached})"),
            "completed" => "c.stopped_at IS NOT NULL".to_owned(),
            "paused" => "(c.stopped_at IS NULL AND c.running_since IS NULL)".to_owned(),
            "running" => "c.running_since IS NOT NULL".to_owned(),
            "withinCalendarHours" if is_open => TRUE.to_owned(),
            "withinCalendarHours" => "c.business = 0".to_owned(),
            _ => FALSE.to_owned(),
        };
        let ways: Vec<String> = marks.iter().map(way).collect();
        self.clock(key, &any(&ways))
    }

    /// That the time of a clock compares so.
    pub(super) fn clock_time(&mut self, key: &str, part: &str, (sign, bound): (&str, i64)) -> String {
        let Some(clock) = self.clock_now(key) else { return FALSE.to_owned() };
        let elapsed = elapsed(self.bound, &clock);
        let bound = self.bound.add(bound);
        let time = if part == "remaining" { format!("c.goal - {elapsed}") } else { elapsed };
        self.clock(key, &format!("{time} {sign} {bound}"))
    }
}

/// What has counted by now on a clock `c`.
fn elapsed(bound: &mut Bound, clock: &ClockNow) -> String {
    let (business, always) = (bound.add(clock.business), bound.add(clock.always));
    format!(
        "(CASE WHEN c.running_since IS NULL THEN c.elapsed WHEN c.business = 1 THEN c.base + {business} \
         ELSE c.base + {always} END)"
    )
}

/// What issues are sorted by that have one of these clocks: the milliseconds that are left until its goal, below zero behind it. An
/// issue whose clock has no goal has no value.
pub(super) fn remaining(search: &IssueSearch<'_>, bound: &mut Bound, keys: &[FieldKey]) -> Option<String> {
    let mut each = Vec::new();
    for clock in search.clocks.iter().filter(|clock| keys.iter().any(|key| *key.0 == *clock.key)) {
        let key = bound.add(clock.key.clone());
        let elapsed = elapsed(bound, clock);
        each.push(format!("(SELECT c.goal - {elapsed} FROM issue_clocks c WHERE c.seq = i.seq AND c.sla_key = {key})"));
    }
    match each.len() {
        0 => None,
        1 => each.pop(),
        _ => Some(format!("COALESCE({})", each.join(", "))),
    }
}
