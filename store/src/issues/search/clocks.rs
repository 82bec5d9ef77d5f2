//! What a query asks of clocks, as conditions on their rows `c`.
//!
//! What has counted on a running clock is a sum: its `base`, and what has counted by now since a fixed instant, which is one number
//! for all issues of a desk.

use domain::issues::jql::meaning::ValueId;

use super::{
    ClockNow,
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
        let Some(ClockNow { business, always, .. }) = self.clock_now(key) else { return FALSE.to_owned() };
        let (business, always, bound) = (self.bound.add(business), self.bound.add(always), self.bound.add(bound));
        let elapsed = format!(
            "(CASE WHEN c.running_since IS NULL THEN c.elapsed WHEN c.business = 1 THEN c.base + {business} \
             ELSE c.base + {always} END)"
        );
        let time = if part == "remaining" { format!("c.goal - {elapsed}") } else { elapsed };
        self.clock(key, &format!("{time} {sign} {bound}"))
    }
}
