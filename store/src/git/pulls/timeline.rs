//! What happened to pull requests.

use domain::{
    Timestamp,
    git::{PullEvent, PullNumber, TimelineEntry},
    id::UserId,
};

use crate::{Change, Expect, Store, StoreError, git::RepositoryNo, json, reader::row, sql::Sql};

row! {
    struct EventRow {
        seq: i64,
        actor: String,
        happened_at: i64,
        event: String,
    }
}

impl TryFrom<EventRow> for TimelineEntry {
    type Error = StoreError;

    fn try_from(row: EventRow) -> Result<Self, StoreError> {
        Ok(Self {
            number: row.seq,
            by: row.actor.parse().map_err(|_| StoreError::corrupt("pull_events.actor"))?,
            at: Timestamp(row.happened_at),
            event: json::read("pull_events.event", &row.event)?,
        })
    }
}

impl Store {
    /// What happened to a pull request, in its order, after the entry with the number `after`.
    pub async fn pull_timeline(
        &self,
        no: RepositoryNo,
        number: PullNumber,
        after: i64,
        limit: u64,
    ) -> Result<Vec<TimelineEntry>, StoreError> {
        let sql = Sql::new(
            "SELECT seq, actor, happened_at, event FROM pull_events WHERE repo_no = $1 AND number = $2 AND seq > $3 \
             ORDER BY seq LIMIT $4",
            [
                no.0.into(),
                i64::from(number.get()).into(),
                after.into(),
                i64::try_from(limit).unwrap_or(i64::MAX).into(),
            ],
        );
        let rows: Vec<EventRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(TimelineEntry::try_from).collect()
    }
}

impl Change {
    /// Notes what happened to a pull request, behind all that was noted of it. Whoever adds it names the version of the repository
    /// or of the pull request in the same change.
    pub fn pull_event_add(
        &mut self,
        (no, number): (RepositoryNo, PullNumber),
        (by, now): (UserId, Timestamp),
        event: &PullEvent,
    ) {
        let statement = "INSERT INTO pull_events (repo_no, number, seq, actor, happened_at, event) \
                         SELECT $1, $2, COALESCE(MAX(seq), 0) + 1, $3, $4, $5 FROM pull_events \
                         WHERE repo_no = $1 AND number = $2";
        let values = [
            no.0.into(),
            i64::from(number.get()).into(),
            by.to_string().into(),
            now.0.into(),
            json::text(event).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
