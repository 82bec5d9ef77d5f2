//! Clocks of desks, and what they were told.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{IssueId, OrgId, SpaceId},
    issues::{
        issue::Issue,
        sla::{CalendarKind, Hours, KeptCycle, Step, counted_by},
    },
};

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct StepRow {
        step: String,
    }
}

row! {
    struct ClockRow {
        sla_key: String,
        cycles: String,
    }
}

row! {
    struct OrgRow {
        org_id: String,
    }
}

/// What a clock of a space goes by in queries and rows.
pub fn clock_key(space_id: SpaceId, sla_id: &str) -> String {
    format!("sla:{space_id}:{sla_id}")
}

row! {
    struct NumberRow {
        number: i64,
    }
}

/// That an issue `i` is of the organization `$1` and its space `$2`, and has a clock that runs or may: it is open, or its clock is.
const AWAITED: &str = "i.space_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'space' AND value = $2) \
                       AND i.deleted_at IS NULL AND (i.category < 2 \
                       OR EXISTS (SELECT 1 FROM issue_clocks c WHERE c.seq = i.seq AND c.stopped_at IS NULL))";

impl Store {
    /// The number of the last of the next issues of a space whose clocks run or may, behind a number; nothing behind the last of all.
    pub async fn issue_clocks_next(
        &self,
        (org_id, space_id): (OrgId, SpaceId),
        above: i64,
        count: u64,
    ) -> Result<Option<i64>, StoreError> {
        let statement = format!(
            "SELECT i.number AS number FROM issues i WHERE {AWAITED} AND i.number > $3 ORDER BY i.number LIMIT $4"
        );
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let values = [org_id.to_string().into(), space_id.to_string().into(), above.into(), count.into()];
        let rows: Vec<NumberRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        Ok(rows.last().map(|row| row.number))
    }

    /// The organization of an issue.
    pub async fn issue_org(&self, id: IssueId) -> Result<Option<OrgId>, StoreError> {
        let sql = Sql::new("SELECT org_id FROM issue_docs WHERE id = $1", [id.to_string().into()]);
        let row: Option<OrgRow> = self.reader().row(&sql).await?;
        row.map(|row| row.org_id.parse().map_err(|_| StoreError::corrupt("issue_docs.org_id"))).transpose()
    }

    /// What an issue's clocks were told, the first first.
    pub async fn issue_steps(&self, id: IssueId) -> Result<Vec<Step>, StoreError> {
        let statement = "SELECT s.step AS step FROM issue_steps s WHERE s.seq = (SELECT seq FROM issues WHERE id = $1) \
                         ORDER BY s.n";
        let rows: Vec<StepRow> = self.reader().rows(&Sql::new(statement, [id.to_string().into()])).await?;
        rows.iter().map(|row| json::read("issue_steps.step", &row.step)).collect()
    }

    /// The cycles of an issue's clocks, by [`clock_key`].
    pub async fn issue_clocks(&self, id: IssueId) -> Result<BTreeMap<String, Vec<KeptCycle>>, StoreError> {
        let statement = "SELECT c.sla_key AS sla_key, c.cycles AS cycles FROM issue_clocks c \
                         WHERE c.seq = (SELECT seq FROM issues WHERE id = $1) ORDER BY c.sla_key";
        let rows: Vec<ClockRow> = self.reader().rows(&Sql::new(statement, [id.to_string().into()])).await?;
        rows.into_iter().map(|row| Ok((row.sla_key, json::read("issue_clocks.cycles", &row.cycles)?))).collect()
    }
}

impl Change {
    /// Keeps what an issue's clocks are told, as the `n`-th of all.
    pub fn issue_step_add(&mut self, issue: &Issue, n: usize, step: &Step) {
        let statement = "INSERT INTO issue_steps (seq, n, step) SELECT i.seq, $2, $3 FROM issues i WHERE i.id = $1";
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        self.on_issue(statement, issue.issue_id, [n.into(), json::text(step).into()]);
    }

    /// Keeps the cycles of a clock of an issue, of which there is at least one.
    pub fn issue_clock_set(&mut self, issue: &Issue, sla_id: &str, (cycles, hours): (&[KeptCycle], Option<&Hours>)) {
        let Some(newest) = cycles.last() else { return };
        let statement = "INSERT INTO issue_clocks (seq, sla_key, cycles, running_since, elapsed, base, business, goal, \
                         stopped_at, breached_at, breaches_at, ever_breached) \
                         SELECT i.seq, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM issues i WHERE i.id = $1 \
                         ON CONFLICT (seq, sla_key) DO UPDATE SET cycles = excluded.cycles, \
                         running_since = excluded.running_since, elapsed = excluded.elapsed, base = excluded.base, \
                         business = excluded.business, goal = excluded.goal, stopped_at = excluded.stopped_at, \
                         breached_at = excluded.breached_at, breaches_at = excluded.breaches_at, \
                         ever_breached = excluded.ever_breached";
        let moment = |at: Option<Timestamp>| -> sea_orm::Value { at.map(|at| at.0).into() };
        let counted = newest.running_since.map_or(0, |since| counted_by(newest.calendar, hours, since));
        let is_business = newest.calendar == CalendarKind::Business && hours.is_some();
        let values = [
            clock_key(issue.space_id, sla_id).into(),
            json::text(&cycles).into(),
            moment(newest.running_since),
            newest.elapsed.into(),
            (newest.elapsed - counted).into(),
            i64::from(is_business).into(),
            newest.goal.into(),
            moment(newest.stopped_at),
            moment(newest.breached_at),
            moment(newest.breaches_at),
            i64::from(cycles.iter().any(|cycle| cycle.breached_at.is_some())).into(),
        ];
        self.on_issue(statement, issue.issue_id, values);
    }

    /// Forgets a clock of an issue.
    pub fn issue_clock_remove(&mut self, issue: &Issue, key: &str) {
        let statement = "DELETE FROM issue_clocks WHERE seq = (SELECT seq FROM issues WHERE id = $1) AND sla_key = $2";
        self.on_issue(statement, issue.issue_id, [key.to_owned().into()]);
    }

    /// Has the clocks of some of a space's open issues, and those that run, be looked at anew: the timer `name` of each issue is due.
    /// They are those whose number is above the first of two and at most the second.
    pub fn issue_clocks_wake(
        &mut self,
        (org_id, space_id): (OrgId, SpaceId),
        (above, last): (i64, i64),
        (kind, name, now): (&'static str, &'static str, Timestamp),
    ) {
        self.wakes_timers();
        let statement = format!(
            "INSERT INTO timers (kind, key, name, due, wake_at, tenant) \
             SELECT $3, i.id, $4, $5, $5, $1 FROM issues i WHERE {AWAITED} AND i.number > $6 AND i.number <= $7 \
             ON CONFLICT (kind, key, name) DO UPDATE SET due = excluded.due, wake_at = excluded.wake_at, \
             claimed_by = NULL, tenant = excluded.tenant"
        );
        let values = [
            org_id.to_string().into(),
            space_id.to_string().into(),
            kind.into(),
            name.into(),
            now.0.into(),
            above.into(),
            last.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }
}
