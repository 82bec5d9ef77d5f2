//! Deleting blobs that nothing names: first the blob, then its row, so that one that is left has a row still.

use std::time::Duration;

use domain::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};

use super::{doomed_row, pending_row};
use crate::{
    Change, CommitError, Expect, Purge, PurgeBatch, Store, StoreError,
    blobs::BlobKey,
    reader::{Reads, row},
    sql::Sql,
};

/// How long what was written waits for the commit that names it.
pub const PENDING_FOR: Duration = Duration::from_hours(24);
/// How long a content that nothing refers to any more stays for those who began to read it before; those who take longer hold
/// it.
pub const DOOMED_FOR: Duration = Duration::from_mins(15);

row! {
    struct SegmentRow {
        content_id: String,
        start: i64,
        blob: Option<String>,
    }
}

row! {
    struct HoldRow {
        until: Option<i64>,
    }
}

impl Store {
    /// Deletes the next blobs that nothing names, at most `limit` of them; answers the change that takes their rows away, which
    /// has no rows when there are none. What is left over from a change that isn't committed comes again.
    pub async fn contents_sweep_next(&self, limit: u32) -> Result<PurgeBatch, StoreError> {
        let batch = self.sweep_pending(limit).await?;
        if !batch.rows.is_empty() || self.blobs_are_held().await? {
            return Ok(batch);
        }
        // What this node reads it knows at once, however late its rows are.
        self.contents_hold_read().await?;
        let batch = self.sweep_segments(limit).await?;
        if !batch.rows.is_empty() {
            return Ok(batch);
        }
        let batch = self.purge_next(&[Purge::contents(self.now().before(DOOMED_FOR))], limit).await?;
        if batch.rows.is_empty() { self.sweep_doomed(limit).await } else { Ok(batch) }
    }

    /// All of it, in as many commits as it takes; how many rows went.
    pub async fn contents_sweep_all(&self, limit: u32) -> Result<u64, StoreError> {
        let mut swept = 0;
        loop {
            let PurgeBatch { change, rows } = self.contents_sweep_next(limit).await?;
            if rows.is_empty() {
                return Ok(swept);
            }
            self.commit(change).await?;
            swept += rows.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        }
    }

    /// Whether somebody copies all blobs.
    async fn blobs_are_held(&self) -> Result<bool, StoreError> {
        let last: Option<HoldRow> = self
            .reader()
            .row(&Sql::new("SELECT MAX(until) AS until FROM blob_holds WHERE content_id IS NULL", []))
            .await?;
        Ok(last.and_then(|row| row.until).is_some_and(|until| until > self.now().0))
    }

    /// What waits for its commit for too long is doomed: a commit that would still name it fails, since its row is gone.
    async fn sweep_pending(&self, limit: u32) -> Result<PurgeBatch, StoreError> {
        let rows = pending_row::Entity::find()
            .filter(pending_row::Column::Since.lte(self.now().before(PENDING_FOR).0))
            .order_by_asc(pending_row::Column::Since)
            .limit(u64::from(limit))
            .read_all(self.reader())
            .await?;
        let (mut batch, now) = (PurgeBatch::default(), self.now());
        if !rows.is_empty() {
            batch.rows.push(("contents that were never named", count(rows.len())));
            batch.change.doom(rows.into_iter().map(|row| row.blob).collect(), now);
        }
        Ok(batch)
    }

    async fn sweep_segments(&self, limit: u32) -> Result<PurgeBatch, StoreError> {
        let sql = Sql::new(
            "SELECT s.content_id, s.start, s.blob FROM content_segments s \
             JOIN (SELECT id FROM contents WHERE doomed_at <= $1 AND NOT EXISTS \
             (SELECT 1 FROM blob_holds WHERE blob_holds.content_id = contents.id AND blob_holds.until > $3) \
             ORDER BY doomed_at LIMIT $2) c ON c.id = s.content_id LIMIT $2",
            [self.now().before(DOOMED_FOR).0.into(), i64::from(limit).into(), self.now().0.into()],
        );
        let rows: Vec<SegmentRow> = self.reader().rows(&sql).await?;
        let mut batch = PurgeBatch::default();
        if rows.is_empty() {
            return Ok(batch);
        }
        self.delete_blobs(rows.iter().filter_map(|row| row.blob.as_deref())).await?;
        batch.rows.push(("segments of contents", count(rows.len())));
        batch.change.segments_delete(&rows);
        Ok(batch)
    }

    async fn sweep_doomed(&self, limit: u32) -> Result<PurgeBatch, StoreError> {
        let rows = doomed_row::Entity::find()
            .filter(doomed_row::Column::Due.lte(self.now().0))
            .order_by_asc(doomed_row::Column::Due)
            .limit(u64::from(limit))
            .read_all(self.reader())
            .await?;
        let mut batch = PurgeBatch::default();
        if rows.is_empty() {
            return Ok(batch);
        }
        self.delete_blobs(rows.iter().map(|row| row.blob.as_str())).await?;
        batch.rows.push(("blobs", count(rows.len())));
        batch.change.doomed_delete(rows.into_iter().map(|row| row.blob).collect());
        Ok(batch)
    }

    async fn delete_blobs(&self, blobs: impl Iterator<Item = &str>) -> Result<(), StoreError> {
        let keys = blobs.map(|blob| blob.parse().map_err(StoreError::corrupt)).collect::<Result<Vec<BlobKey>, _>>()?;
        let deleted = keys.len() as u64;
        self.blobs().delete_all(keys).await?;
        metrics::counter!("troupe_blobs_swept_total").increment(deleted);
        Ok(())
    }

    /// Deletes blobs that no commit has named, now; leaves those that one has named.
    pub(super) async fn pending_dooms(&self, keys: Vec<BlobKey>) -> Result<(), StoreError> {
        let blobs: Vec<_> = keys.iter().map(ToString::to_string).collect();
        let mut change = Change::new();
        change.doom(blobs.clone(), self.now());
        match self.commit(change).await {
            Ok(()) => {}
            Err(CommitError::Stale) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        self.blobs().delete_all(keys).await?;
        let mut change = Change::new();
        change.doomed_delete(blobs);
        Ok(self.commit(change).await?)
    }
}

impl Purge {
    /// Contents that were doomed up to `until`, and have no segments any more.
    fn contents(until: Timestamp) -> Self {
        let is_over = "doomed_at <= $1 AND NOT EXISTS \
                       (SELECT 1 FROM content_segments WHERE content_segments.content_id = contents.id)";
        Self::new("contents", ["contents", "id", is_over], until.0)
    }

    /// Holds that nobody renewed.
    pub fn blob_holds(now: Timestamp) -> Self {
        Self::new("holds of blobs", ["blob_holds", "id", "until <= $1"], now.0)
    }
}

impl Change {
    /// Has pending blobs deleted from now on. Stale where one has been named meanwhile.
    fn doom(&mut self, blobs: Vec<String>, now: Timestamp) {
        let pending = pending_row::Entity::delete_many().filter(pending_row::Column::Blob.is_in(blobs.iter()));
        self.run(pending, Expect::Rows(blobs.len() as u64));
        for blob in blobs {
            self.insert(doomed_row::Model { blob, due: now.0 }.into_active_model());
        }
    }

    fn doomed_delete(&mut self, blobs: Vec<String>) {
        self.run(doomed_row::Entity::delete_many().filter(doomed_row::Column::Blob.is_in(blobs)), Expect::Any);
    }

    fn segments_delete(&mut self, rows: &[SegmentRow]) {
        let places = (0..rows.len()).map(|row| format!("(${}, ${})", 2 * row + 1, 2 * row + 2));
        let text = format!(
            "DELETE FROM content_segments WHERE (content_id, start) IN (VALUES {})",
            places.collect::<Vec<_>>().join(", ")
        );
        let values = rows.iter().flat_map(|row| [row.content_id.as_str().into(), row.start.into()]);
        self.run_statement(Sql::new(text, values), Expect::Any);
    }
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
