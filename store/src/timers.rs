//! Timers that survive: each belongs to a resource (`kind`, `key`) and has a `name` there.
//!
//! A timer is set and cancelled in the same commit as the state that it belongs to. The clock actor sleeps until
//! [`Store::timers_next`], or until [`Store::timers_changed`] says that a commit set one, takes what is due with
//! [`Store::timers_claim`] and has it delivered; whoever handles it adds [`Change::timer_done`] to what it commits. A
//! timer that was claimed and never done is claimed again once its lease has passed: it is delivered at least once, and
//! by one node at a time.

use std::time::Duration;

use domain::time::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tokio::sync::Notify;

use crate::{Change, Expect, Store, StoreError, claim::Claim, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "timers")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub kind: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub key: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub due: i64,
        pub wake_at: i64,
        pub claimed_by: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A timer as it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The kind of resource that it belongs to.
    pub kind: String,
    /// The resource's key.
    pub key: String,
    /// Its name among the resource's timers.
    pub name: String,
    /// When it is due.
    pub due: Timestamp,
}

impl From<row::Model> for Timer {
    fn from(row: row::Model) -> Self {
        Self { kind: row.kind, key: row.key, name: row.name, due: Timestamp(row.due) }
    }
}

impl Change {
    /// Sets the timer `name` of the resource `key` of `kind` to `due`, or moves it there.
    pub fn timer_set(&mut self, kind: &str, key: &str, name: &str, due: Timestamp) {
        self.wakes_timers();
        self.run_statement(
            Sql::new(
                "INSERT INTO timers (kind, key, name, due, wake_at) VALUES ($1, $2, $3, $4, $4) \
                 ON CONFLICT (kind, key, name) DO UPDATE \
                 SET due = excluded.due, wake_at = excluded.wake_at, claimed_by = NULL",
                [kind.into(), key.into(), name.into(), due.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Cancels the timer `name` of the resource `key` of `kind`, if it is set.
    pub fn timer_cancel(&mut self, kind: &str, key: &str, name: &str) {
        self.run_statement(
            Sql::new(
                "DELETE FROM timers WHERE kind = $1 AND key = $2 AND name = $3",
                [kind.into(), key.into(), name.into()],
            ),
            Expect::Any,
        );
    }

    /// Settles a timer that fired. The commit is [`Stale`](crate::CommitError::Stale) when it has been cancelled, moved
    /// or settled since: what it would have caused must not happen then. Add it before what may set the timer again.
    pub fn timer_done(&mut self, timer: &Timer) {
        self.run_statement(
            Sql::new(
                "DELETE FROM timers WHERE kind = $1 AND key = $2 AND name = $3 AND due = $4",
                [timer.kind.as_str().into(), timer.key.as_str().into(), timer.name.as_str().into(), timer.due.0.into()],
            ),
            Expect::Rows(1),
        );
    }
}

impl Store {
    /// The timer `name` of the resource `key` of `kind`, if it is set.
    pub async fn timer_get(&self, kind: &str, key: &str, name: &str) -> Result<Option<Timer>, StoreError> {
        let id = (kind.to_owned(), key.to_owned(), name.to_owned());
        Ok(row::Entity::find_by_id(id).read_one(self.reader()).await?.map(Timer::from))
    }

    /// When the next timer is due, or the next lease of a claimed one ends. None on a node whose clock is off.
    pub async fn timers_next(&self) -> Result<Option<Timestamp>, StoreError> {
        if self.clock_is_off() {
            return Ok(None);
        }
        let next = row::Entity::find()
            .select_only()
            .column(row::Column::WakeAt)
            .order_by_asc(row::Column::WakeAt)
            .read_columns(self.reader())
            .await?;
        Ok(next.map(|(next,): (i64,)| Timestamp(next)))
    }

    /// Takes up to `limit` timers that are due, for `lease`, earliest first; no other node gets them meanwhile.
    pub async fn timers_claim(&self, limit: u32, lease: Duration) -> Result<Vec<Timer>, StoreError> {
        let next = self.timers_next().await?;
        let taking = |now: Timestamp, claim: &Claim| {
            Sql::new(
                // Materialized: PostgreSQL may otherwise run the selection several times, and take more than `limit`.
                "WITH soonest AS MATERIALIZED (SELECT kind, key, name FROM timers WHERE wake_at <= $3 \
                 ORDER BY wake_at LIMIT $4 /*skip locked*/) \
                 UPDATE timers SET claimed_by = $1, wake_at = $2 \
                 WHERE wake_at <= $3 AND (kind, key, name) IN (SELECT kind, key, name FROM soonest)",
                [claim.id.as_str().into(), claim.until.0.into(), now.0.into(), i64::from(limit).into()],
            )
        };
        let Some(claim) = self.claim(next, lease, taking).await? else { return Ok(Vec::new()) };
        let claimed = row::Entity::find()
            .filter(row::Column::WakeAt.eq(claim.until.0))
            .filter(row::Column::ClaimedBy.eq(claim.id))
            .order_by_asc(row::Column::Due)
            .read_all(self.reader())
            .await?;
        Ok(claimed.into_iter().map(Timer::from).collect())
    }

    /// Told after a commit of this process set a timer.
    pub fn timers_changed(&self) -> &Notify {
        &self.signals().timers
    }
}
