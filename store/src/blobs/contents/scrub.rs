//! Reading all blobs again and again, to find what was lost or changed before somebody misses it.

use std::time::{Duration, Instant};

use domain::Timestamp;
use futures::StreamExt;
use sha2::{Digest, Sha256};

use super::{digest, unsigned};
use crate::{Change, CommitError, Expect, Store, StoreError, blobs::BlobKey, reader::row, sql::Sql};

/// How often a blob is read again.
pub const EVERY: Duration = Duration::from_hours(30 * 24);
/// How often one that was lost or changed is looked at again: an operator may have brought it back.
pub const EVERY_FAULT: Duration = Duration::from_hours(24);
/// How long another node leaves one alone that a node reads.
const LEASE: Duration = Duration::from_hours(6);

/// What a scrub found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scrubbed {
    /// The blob is as it was written.
    Sound,
    /// There is no such blob.
    Lost,
    /// It has another size or another hash.
    Changed,
    /// It went meanwhile, as it may.
    Gone,
}

impl Scrubbed {
    /// Its name, in rows and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Lost => "lost",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }
}

/// A blob whose turn it is, and that this node reads.
#[derive(Debug)]
pub struct ScrubClaim {
    content_id: String,
    start: i64,
    blob: BlobKey,
    size: u64,
    sha256: [u8; 32],
    until: Timestamp,
    /// Whether it wasn't as it was written when it was read last.
    had_fault: bool,
}

row! {
    struct DueRow {
        content_id: String,
        start: i64,
        size: i64,
        blob: Option<String>,
        sha256: Vec<u8>,
        scrub_due: Option<i64>,
        fault: Option<String>,
        refs: i64,
    }
}

row! {
    struct NextRow {
        next: Option<i64>,
    }
}

impl Store {
    /// When the next blob's turn is.
    pub async fn scrub_next(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = Sql::new("SELECT MIN(scrub_due) AS next FROM content_segments WHERE scrub_due IS NOT NULL", []);
        Ok(self.reader().row::<NextRow>(&sql).await?.and_then(|row| row.next).map(Timestamp))
    }

    /// Takes the blob whose turn it is; none when it is nobody's, or another node was faster.
    pub async fn scrub_claim(&self) -> Result<Option<ScrubClaim>, StoreError> {
        let sql = Sql::new(
            "SELECT s.content_id, s.start, s.size, s.blob, s.sha256, s.scrub_due, s.fault, c.refs FROM content_segments s \
             JOIN contents c ON c.id = s.content_id WHERE s.scrub_due <= $1 ORDER BY s.scrub_due LIMIT 1",
            [self.now().0.into()],
        );
        let Some(row) = self.reader().row::<DueRow>(&sql).await? else { return Ok(None) };
        let until = self.now().after(LEASE);
        // What is doomed is not read again.
        let due = (row.refs > 0 && row.blob.is_some()).then_some(until.0);
        let mut change = Change::new();
        change.run_statement(
            Sql::new(
                "UPDATE content_segments SET scrub_due = $4 WHERE content_id = $1 AND start = $2 AND scrub_due = $3",
                [row.content_id.as_str().into(), row.start.into(), row.scrub_due.into(), due.into()],
            ),
            Expect::Rows(1),
        );
        match self.commit(change).await {
            Ok(()) if due.is_some() => row.into_claim(until),
            Ok(()) | Err(CommitError::Stale) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the blob, remembers when that was, and tells what is wrong in the log and as a metric. Takes a processor half of the
    /// time at most.
    pub async fn scrub(&self, claim: &ScrubClaim) -> Result<Scrubbed, StoreError> {
        let found = self.scrub_read(claim).await?;
        let found = if self.scrub_done(claim, found).await? { found } else { Scrubbed::Gone };
        metrics::counter!("troupe_blobs_scrubbed_total", "outcome" => found.as_str()).increment(1);
        if matches!(found, Scrubbed::Lost | Scrubbed::Changed) {
            let (content, blob) = (&claim.content_id, &claim.blob);
            tracing::error!(%content, %blob, fault = found.as_str(), "a blob is not as it was written");
        }
        Ok(found)
    }

    async fn scrub_read(&self, claim: &ScrubClaim) -> Result<Scrubbed, StoreError> {
        let Some(found) = self.blobs().get_stream(&claim.blob, None).await? else { return Ok(Scrubbed::Lost) };
        if found.size != claim.size {
            return Ok(Scrubbed::Changed);
        }
        let (mut sha256, mut pieces) = (Sha256::new(), found.bytes);
        loop {
            let began = Instant::now();
            sha256 = match pieces.next().await.transpose()? {
                Some(piece) => self.blobs().hashing.update_sha256(sha256, piece).await?,
                None => break,
            };
            tokio::time::sleep(began.elapsed()).await;
        }
        let read: [u8; 32] = sha256.finalize().into();
        Ok(if read == claim.sha256 { Scrubbed::Sound } else { Scrubbed::Changed })
    }

    /// Remembers what was found; whether the blob is one that should be there.
    async fn scrub_done(&self, claim: &ScrubClaim, found: Scrubbed) -> Result<bool, StoreError> {
        let now = self.now();
        let (scrubbed_at, fault, due) = match found {
            Scrubbed::Sound => (Some(now.0), None, now.after(EVERY)),
            fault => (None, Some(fault.as_str()), now.after(EVERY_FAULT)),
        };
        let mut change = Change::new();
        if (fault.is_some() || claim.had_fault)
            && let Some(repository) = self.repository_of_pack(&claim.content_id).await?
        {
            change.packs_look(now, repository, now);
        }
        change.run_statement(
            Sql::new(
                "UPDATE content_segments SET scrubbed_at = $4, fault = $5, scrub_due = $6 \
                 WHERE blob = $1 AND content_id = $2 AND start = $3 AND scrub_due = $7 \
                 AND EXISTS (SELECT 1 FROM contents WHERE contents.id = $2 AND contents.refs > 0)",
                [
                    claim.blob.as_str().into(),
                    claim.content_id.as_str().into(),
                    claim.start.into(),
                    scrubbed_at.into(),
                    fault.into(),
                    due.0.into(),
                    claim.until.0.into(),
                ],
            ),
            Expect::Rows(1),
        );
        match self.commit(change).await {
            Ok(()) => Ok(true),
            Err(CommitError::Stale) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl DueRow {
    fn into_claim(self, until: Timestamp) -> Result<Option<ScrubClaim>, StoreError> {
        let Some(blob) = self.blob else { return Ok(None) };
        Ok(Some(ScrubClaim {
            content_id: self.content_id,
            start: self.start,
            blob: blob.parse().map_err(StoreError::corrupt)?,
            size: unsigned(self.size)?,
            sha256: digest(self.sha256)?,
            until,
            had_fault: self.fault.is_some(),
        }))
    }
}
