//! What operators see of what waits: timers, the outbox, deliveries. Counts and the ones that are in trouble; never what a
//! message says.

use std::time::Duration;

use domain::time::Timestamp;

use crate::{Store, StoreError, reader::row, sql::Sql, work::DEAD};

/// How far behind a timer must be to count as late: a clock looks at once, and a turn takes what it takes.
pub const LATE_AFTER: Duration = Duration::from_secs(5);
/// How long back settled deliveries are counted.
pub const SETTLED_COUNTED_FOR: Duration = Duration::from_hours(24);
/// The topics of the work queue that are the outbox.
const OUTBOX: &str = "('live', 'email', 'event', 'revoked')";

/// The timers of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimersOfKind {
    /// The kind of resource that they belong to.
    pub kind: String,
    /// How many are set.
    pub set: u64,
    /// How many of them are late.
    pub late: u64,
    /// When the next one is due; in the past while one is late.
    pub next_due: Timestamp,
}

/// A timer that is late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateTimer {
    /// The kind of resource that it belongs to.
    pub kind: String,
    /// The resource's key.
    pub key: String,
    /// Its name among the resource's timers.
    pub name: String,
    /// When it was due.
    pub due: Timestamp,
    /// When it is tried next.
    pub next_try: Timestamp,
}

/// Entries of the outbox that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxCount {
    /// Their topic.
    pub topic: String,
    /// `waiting`, `claimed` by a node, `delayed` after a failure, or `parked`: given up.
    pub state: String,
    /// How many there are.
    pub entries: u64,
    /// When the oldest was committed.
    pub oldest: Timestamp,
}

/// An entry of the outbox that failed at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingEntry {
    /// Its number.
    pub seq: i64,
    /// Its topic.
    pub topic: String,
    /// How often it was tried.
    pub attempts: u32,
    /// When it was committed.
    pub created_at: Timestamp,
    /// When it is tried next; none for one that was given up.
    pub next_try: Option<Timestamp>,
    /// What the last try met with.
    pub error: String,
}

/// Deliveries that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCount {
    /// Their channel.
    pub channel: String,
    /// Their state.
    pub state: String,
    /// How many there are.
    pub deliveries: u64,
    /// When the oldest was made.
    pub oldest: Timestamp,
}

/// A delivery that failed, or that met with an error and is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingDelivery {
    /// Its id.
    pub id: String,
    /// Its channel.
    pub channel: String,
    /// Its state.
    pub state: String,
    /// How often it was tried.
    pub attempts: u32,
    /// What the last try met with.
    pub error: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its state changed last.
    pub updated_at: Timestamp,
    /// When it is tried next; none for one that is settled.
    pub next_try: Option<Timestamp>,
}

row! {
    struct TimersRow {
        kind: String,
        set_count: i64,
        late_count: i64,
        next_due: i64,
    }
}

row! {
    struct LateRow {
        kind: String,
        key: String,
        name: String,
        due: i64,
        wake_at: i64,
    }
}

row! {
    struct CountRow {
        name: String,
        state: String,
        entries: i64,
        oldest: i64,
    }
}

row! {
    struct EntryRow {
        seq: i64,
        topic: String,
        attempts: i32,
        created_at: i64,
        wake_at: i64,
        last_error: String,
    }
}

row! {
    struct DeliveryRow {
        id: String,
        channel: String,
        state: String,
        lane: Option<String>,
        wake_at: i64,
        attempts: i32,
        error: String,
        created_at: i64,
        updated_at: i64,
    }
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

impl Store {
    /// How many timers are set, by kind.
    pub async fn timers_by_kind(&self) -> Result<Vec<TimersOfKind>, StoreError> {
        let late = self.now().before(LATE_AFTER);
        let sql = Sql::new(
            "SELECT kind, COUNT(*) AS set_count, COUNT(CASE WHEN due < $1 THEN 1 END) AS late_count, \
             MIN(due) AS next_due FROM timers GROUP BY kind ORDER BY kind",
            [late.0.into()],
        );
        let read = |row: TimersRow| TimersOfKind {
            kind: row.kind,
            set: count(row.set_count),
            late: count(row.late_count),
            next_due: Timestamp(row.next_due),
        };
        Ok(self.reader().rows::<TimersRow>(&sql).await?.into_iter().map(read).collect())
    }

    /// The timers that are late, the latest first, at most `limit`.
    pub async fn timers_late(&self, limit: u32) -> Result<Vec<LateTimer>, StoreError> {
        let late = self.now().before(LATE_AFTER);
        let sql = Sql::new(
            "SELECT kind, key, name, due, wake_at FROM timers WHERE due < $1 ORDER BY due, kind, key, name LIMIT $2",
            [late.0.into(), i64::from(limit).into()],
        );
        let read = |row: LateRow| LateTimer {
            kind: row.kind,
            key: row.key,
            name: row.name,
            due: Timestamp(row.due),
            next_try: Timestamp(row.wake_at),
        };
        Ok(self.reader().rows::<LateRow>(&sql).await?.into_iter().map(read).collect())
    }

    /// How many entries of the outbox there are, by topic and state.
    pub async fn outbox_by_state(&self) -> Result<Vec<OutboxCount>, StoreError> {
        let sql = Sql::new(
            format!(
                "SELECT topic AS name, CASE WHEN wake_at = $1 THEN 'parked' WHEN wake_at <= $2 THEN 'waiting' \
                 WHEN claimed_by IS NOT NULL THEN 'claimed' ELSE 'delayed' END AS state, \
                 COUNT(*) AS entries, MIN(created_at) AS oldest FROM work WHERE topic IN {OUTBOX} \
                 GROUP BY 1, 2 ORDER BY 1, 2"
            ),
            [DEAD.0.into(), self.now().0.into()],
        );
        let read = |row: CountRow| OutboxCount {
            topic: row.name,
            state: row.state,
            entries: count(row.entries),
            oldest: Timestamp(row.oldest),
        };
        Ok(self.reader().rows::<CountRow>(&sql).await?.into_iter().map(read).collect())
    }

    /// The entries of the outbox that failed at least once, oldest first, at most `limit`.
    pub async fn outbox_failing(&self, limit: u32) -> Result<Vec<FailingEntry>, StoreError> {
        let sql = Sql::new(
            format!(
                "SELECT seq, topic, attempts, created_at, wake_at, last_error FROM work \
                 WHERE topic IN {OUTBOX} AND last_error IS NOT NULL ORDER BY seq LIMIT $1"
            ),
            [i64::from(limit).into()],
        );
        let read = |row: EntryRow| FailingEntry {
            seq: row.seq,
            topic: row.topic,
            attempts: u32::try_from(row.attempts).unwrap_or_default(),
            created_at: Timestamp(row.created_at),
            next_try: (row.wake_at != DEAD.0).then_some(Timestamp(row.wake_at)),
            error: row.last_error,
        };
        Ok(self.reader().rows::<EntryRow>(&sql).await?.into_iter().map(read).collect())
    }

    /// How many deliveries there are, by channel and state: all that are not settled, and the settled ones of the last
    /// [`SETTLED_COUNTED_FOR`].
    pub async fn deliveries_by_state(&self) -> Result<Vec<DeliveryCount>, StoreError> {
        let since = self.now().before(SETTLED_COUNTED_FOR);
        let sql = Sql::new(
            "SELECT channel AS name, state, COUNT(*) AS entries, MIN(created_at) AS oldest FROM deliveries \
             WHERE lane IS NOT NULL OR created_at >= $1 GROUP BY channel, state ORDER BY channel, state",
            [since.0.into()],
        );
        let read = |row: CountRow| DeliveryCount {
            channel: row.name,
            state: row.state,
            deliveries: count(row.entries),
            oldest: Timestamp(row.oldest),
        };
        Ok(self.reader().rows::<CountRow>(&sql).await?.into_iter().map(read).collect())
    }

    /// The deliveries of the last [`SETTLED_COUNTED_FOR`] that failed, or that met with an error and are tried again,
    /// newest first, at most `limit`.
    pub async fn deliveries_failing(&self, limit: u32) -> Result<Vec<FailingDelivery>, StoreError> {
        let since = self.now().before(SETTLED_COUNTED_FOR);
        let sql = Sql::new(
            "SELECT id, channel, state, lane, wake_at, attempts, error, created_at, updated_at FROM deliveries \
             WHERE created_at >= $1 AND error IS NOT NULL AND state IN ('failed', 'queued') ORDER BY created_at DESC, id DESC LIMIT $2",
            [since.0.into(), i64::from(limit).into()],
        );
        let read = |row: DeliveryRow| FailingDelivery {
            id: row.id,
            channel: row.channel,
            state: row.state,
            attempts: u32::try_from(row.attempts).unwrap_or_default(),
            error: row.error,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
            next_try: row.lane.is_some().then_some(Timestamp(row.wake_at)),
        };
        Ok(self.reader().rows::<DeliveryRow>(&sql).await?.into_iter().map(read).collect())
    }
}
