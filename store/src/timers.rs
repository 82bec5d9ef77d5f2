//! Timers that survive: each belongs to a resource (`kind`, `key`) and has a `name` there.
//!
//! A timer is set and cancelled in the same commit as the state that it belongs to. The clock task sleeps until the first of
//! [`Store::timers_next_by_kind`], or until [`Store::timers_changed`] says that a commit set one, takes what is due of each
//! kind with [`Store::timers_claim`], in turns by tenant, and has it delivered; whoever handles it adds [`Change::timer_done`] to what it commits. A
//! timer that was claimed and never done is claimed again once its lease has passed: it is delivered at least once, and
//! by one node at a time.

use std::time::Duration;

use domain::{Tenant, time::Timestamp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tokio::sync::Notify;

use crate::{
    Change, Claimed, Expect, Store, StoreError, Turns,
    reader::{self, Reads},
    sql::Sql,
    work::{Claim, Leased},
};

/// How timers are claimed.
const TIMERS: Leased = Leased {
    table: "timers",
    lane: "kind",
    key: "kind, key, name",
    order: "wake_at",
    counts: "attempts = attempts + 1",
};

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
        pub tenant: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

reader::row! {
    struct KindRow {
        kind: String,
        wake_at: i64,
    }
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
    /// In whose turn it is delivered.
    pub tenant: Tenant,
}

impl From<row::Model> for Timer {
    fn from(row: row::Model) -> Self {
        Self {
            kind: row.kind,
            key: row.key,
            name: row.name,
            due: Timestamp(row.due),
            tenant: Tenant::of_key(&row.tenant),
        }
    }
}

impl Change {
    /// Sets the timer `name` of the resource `key` of `kind` to `due`, or moves it there. Where the key is the id of an
    /// organization or a person, the timer is delivered in their turn.
    pub fn timer_set(&mut self, kind: &str, key: &str, name: &str, due: Timestamp) {
        self.timer_set_for(Tenant::of_key(key), kind, key, name, due);
    }

    /// The same in the turn of `tenant`, to whom the resource belongs.
    pub fn timer_set_for(&mut self, tenant: impl Into<Tenant>, kind: &str, key: &str, name: &str, due: Timestamp) {
        self.wakes_timers();
        let tenant = tenant.into().to_string();
        self.run_statement(
            Sql::new(
                "INSERT INTO timers (kind, key, name, due, wake_at, tenant) VALUES ($1, $2, $3, $4, $4, $5) \
                 ON CONFLICT (kind, key, name) DO UPDATE \
                 SET due = excluded.due, wake_at = excluded.wake_at, claimed_by = NULL, tenant = excluded.tenant",
                [kind.into(), key.into(), name.into(), due.0.into(), tenant.into()],
            ),
            Expect::Any,
        );
    }

    /// Sets the timer, too, unless it is set: then it stays where it is.
    pub fn timer_set_once(&mut self, tenant: impl Into<Tenant>, kind: &str, key: &str, name: &str, due: Timestamp) {
        self.wakes_timers();
        let tenant = tenant.into().to_string();
        self.run_statement(
            Sql::new(
                "INSERT INTO timers (kind, key, name, due, wake_at, tenant) VALUES ($1, $2, $3, $4, $4, $5) \
                 ON CONFLICT (kind, key, name) DO NOTHING",
                [kind.into(), key.into(), name.into(), due.0.into(), tenant.into()],
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

    /// When the next timer of each kind is due, or the next lease of a claimed one ends; kinds that have none are left out.
    /// None on a node whose clock is off.
    pub async fn timers_next_by_kind(&self) -> Result<Vec<(String, Timestamp)>, StoreError> {
        if self.clock_is_off() {
            return Ok(Vec::new());
        }
        let sql = Sql::new(
            "WITH RECURSIVE kinds(kind) AS (SELECT (SELECT kind FROM timers ORDER BY kind LIMIT 1) UNION ALL \
             SELECT (SELECT t.kind FROM timers t WHERE t.kind > kinds.kind ORDER BY t.kind LIMIT 1) FROM kinds \
             WHERE kinds.kind IS NOT NULL) \
             SELECT kind, (SELECT MIN(t.wake_at) FROM timers t WHERE t.kind = kinds.kind) AS wake_at FROM kinds \
             WHERE kind IS NOT NULL",
            [],
        );
        let rows = self.reader().rows::<KindRow>(&sql).await?;
        Ok(rows.into_iter().map(|row| (row.kind, Timestamp(row.wake_at))).collect())
    }

    /// Takes timers of `kind` that are due for `lease`, in turns by tenant, as many as `turns` has room for; no other node
    /// gets them meanwhile.
    pub async fn timers_claim(&self, kind: &str, turns: &Turns, lease: Duration) -> Result<Claimed<Timer>, StoreError> {
        let claims = match self.claim_in_turns(&TIMERS, kind, turns, lease).await? {
            Claimed::Taken(claims) => claims,
            Claimed::NothingDue => return Ok(Claimed::NothingDue),
            Claimed::NoRoom => return Ok(Claimed::NoRoom),
        };
        let mut claimed = Vec::new();
        for claim in claims {
            claimed.extend(self.timers_of(kind, &claim).await?);
        }
        Ok(Claimed::Taken(claimed))
    }

    async fn timers_of(&self, kind: &str, claim: &Claim) -> Result<Vec<Timer>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::Kind.eq(kind))
            .filter(row::Column::WakeAt.eq(claim.until.0))
            .filter(row::Column::ClaimedBy.eq(claim.id.as_str()))
            .order_by_asc(row::Column::Due)
            .read_all(self.reader())
            .await?;
        Ok(rows.into_iter().map(Timer::from).collect())
    }

    /// Told after a commit of this process set a timer.
    pub fn timers_changed(&self) -> &Notify {
        &self.signals().timers
    }
}
