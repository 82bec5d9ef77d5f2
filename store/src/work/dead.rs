//! Dead letters: work that was given up, until operators repeat or drop it.

use domain::time::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{DEAD, NewWork, Work, row, settle::shortened};
use crate::{Change, Expect, Purge, Store, StoreError, reader::Reads, sql::Sql};

impl Change {
    /// Adds work that was given up already, for operators to see and repeat; `error` says why. As for all work, a key keeps a
    /// second entry out.
    pub fn work_add_given_up(&mut self, now: Timestamp, work: NewWork, error: &str) {
        let values = [
            work.topic.into(),
            work.tenant.to_string().into(),
            work.key.into(),
            work.payload.into(),
            DEAD.0.into(),
            now.0.into(),
            shortened(error).into(),
        ];
        let statement = "INSERT INTO work (topic, tenant, key, payload, wake_at, created_at, last_error) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Has the dead letter `seq` tried again, from its first attempt; stale when it is none any more.
    pub fn work_repeat(&mut self, seq: i64) {
        self.run_statement(
            Sql::new("UPDATE work SET wake_at = 0, attempts = 0 WHERE seq = $1 AND wake_at = $2", dead(seq)),
            Expect::Rows(1),
        );
    }

    /// Forgets the dead letter `seq`; stale when it is none any more.
    pub fn work_drop(&mut self, seq: i64) {
        self.run_statement(Sql::new("DELETE FROM work WHERE seq = $1 AND wake_at = $2", dead(seq)), Expect::Rows(1));
    }
}

impl Purge {
    /// The dead letters of work that was added before `before` ([`DEAD`]).
    pub fn dead_letters(before: Timestamp) -> Self {
        const IS_OVER: &str = "wake_at = 9223372036854775807 AND created_at < $1";
        Self::new("dead letters", ["work", "seq", IS_OVER], before.0)
    }
}

fn dead(seq: i64) -> [sea_orm::Value; 2] {
    [seq.into(), DEAD.0.into()]
}

impl Store {
    /// The dead letters, newest first, at most `limit`.
    pub async fn work_dead(&self, limit: u32) -> Result<Vec<Work>, StoreError> {
        let select = row::Entity::find().filter(row::Column::WakeAt.eq(DEAD.0)).order_by_desc(row::Column::Seq);
        let rows = select.limit(u64::from(limit)).read_all(self.reader()).await?;
        Ok(rows.into_iter().map(Work::from).collect())
    }

    /// How many dead letters there are.
    pub async fn work_dead_len(&self) -> Result<u64, StoreError> {
        row::Entity::find().filter(row::Column::WakeAt.eq(DEAD.0)).read_count(self.reader()).await
    }
}
