//! The bytes of messages as they came, once however many mailboxes a message went to. Up to [`RAW_BYTES_MAX`] they are in their
//! row (a file with its own fsync costs more than the whole commit), above in a blob that is on the disk before the commit.
//!
//! Each arrival, each message, and what the server sends for a mailbox counts them once. Since when nothing does is noted, and a
//! day later they are swept, but for those of a message that recipients still wait for: deleting what was sent takes it back from
//! nobody.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use bytes::Bytes;
use domain::{Timestamp, id::OrgId, mail::RawId};
use futures::{StreamExt, TryStreamExt, stream, stream::BoxStream};

use crate::{
    Change, Expect, PurgeBatch, Store, StoreError,
    blobs::{
        BlobKey,
        contents::{ContentError, ContentSource, NewContent},
    },
    change::{Form, RowStatement},
    reader::row,
    sql::Sql,
};

/// The bytes of a message that are in its row.
pub const RAW_BYTES_MAX: usize = 128 * 1024;
/// That no recipient waits for a message of these bytes.
const NOBODY_WAITS: &str = "NOT EXISTS (SELECT 1 FROM mail_outgoing AS o WHERE o.raw_id = mail_raw.raw_id \
                            AND o.state IN ('held', 'queued', 'deferred'))";
/// How long bytes that nothing names are kept.
const LOOSE_FOR: Duration = Duration::from_hours(24);

/// Name, size, bytes, time; how many name it.
static KEEP: RowStatement = RowStatement {
    tables: &["mail_raw"],
    text: "INSERT INTO mail_raw (raw_id, size, bytes, created_at, refs) \
           SELECT column1, column2, column3, column4, column5 FROM (/*rows*/) AS new WHERE true \
           ON CONFLICT (raw_id) DO UPDATE SET refs = mail_raw.refs + excluded.refs, loose_at = NULL",
    form: Form::Summed(4),
    key: 1,
    expect: Expect::Rows(1),
};
/// Name, time; how many name it no more.
static RELEASE: RowStatement = RowStatement {
    tables: &["mail_raw"],
    text: "UPDATE mail_raw SET refs = mail_raw.refs - new.column3, \
           loose_at = CASE WHEN mail_raw.refs = new.column3 THEN new.column2 END FROM (/*rows*/) AS new \
           WHERE mail_raw.raw_id = new.column1 AND mail_raw.refs >= new.column3",
    form: Form::Listed,
    key: 1,
    expect: Expect::Rows(1),
};

row! {
    struct RawRow {
        size: i64,
        bytes: Option<Vec<u8>>,
        blob_key: Option<String>,
    }
}

row! {
    struct LooseRow {
        raw_id: String,
        blob_key: Option<String>,
    }
}

/// The bytes of a message that no commit has named yet.
#[derive(Clone, Debug)]
pub struct NewRaw {
    id: RawId,
    size: u64,
    place: RawPlace,
}

#[derive(Clone, Debug)]
enum RawPlace {
    Row(Bytes),
    Blob(NewContent),
}

impl NewRaw {
    /// Their name.
    pub const fn id(&self) -> RawId {
        self.id
    }
}

/// The bytes of a message as they are read.
pub struct RawMail {
    /// How many there are.
    pub size: u64,
    /// The bytes.
    pub bytes: BoxStream<'static, Result<Bytes, StoreError>>,
}

impl Store {
    /// Makes bytes ready to be named by a commit: more than [`RAW_BYTES_MAX`] are in a blob when this returns, which is swept a
    /// day later where no commit names it. `org_id` is any of those whom they are for.
    pub async fn mail_raw_write(&self, org_id: OrgId, bytes: Bytes) -> Result<NewRaw, StoreError> {
        let (id, size) = (RawId::of(&bytes), bytes.len() as u64);
        if bytes.len() <= RAW_BYTES_MAX {
            return Ok(NewRaw { id, size, place: RawPlace::Row(bytes) });
        }
        let source = ContentSource { size: Some(size), limit: size };
        let written = self.content_write(org_id, source, stream::iter([Ok::<_, StoreError>(bytes)])).await;
        let content = written.map_err(|error| match error {
            ContentError::Store(error) | ContentError::Source(error) => error,
            other => StoreError::Failed(other.to_string()),
        })?;
        Ok(NewRaw { id, size, place: RawPlace::Blob(content) })
    }

    /// Clears away bytes that won't be named. May follow a commit whose outcome is unknown.
    pub async fn mail_raw_abandon(&self, raw: &NewRaw) -> Result<(), StoreError> {
        match &raw.place {
            RawPlace::Row(_) => Ok(()),
            RawPlace::Blob(content) => self.content_abandon(content).await,
        }
    }

    /// The bytes of a message, without the lines that stand before them; none where nothing has named them for a day.
    pub async fn mail_raw(&self, id: RawId) -> Result<Option<RawMail>, StoreError> {
        self.mail_raw_range(id, 0..u64::MAX).await
    }

    /// Some of the bytes of a message, without the lines that stand before them; fewer where it ends before.
    pub async fn mail_raw_range(&self, id: RawId, range: Range<u64>) -> Result<Option<RawMail>, StoreError> {
        let statement = "SELECT size, bytes, blob_key FROM mail_raw WHERE raw_id = $1";
        let row: Option<RawRow> = self.reader().row(&Sql::new(statement, [id.to_string().into()])).await?;
        let Some(row) = row else { return Ok(None) };
        let size = u64::try_from(row.size).map_err(StoreError::corrupt)?;
        let (start, end) = (range.start.min(size), range.end.min(size));
        if start >= end {
            return Ok(Some(RawMail { size: 0, bytes: stream::empty().boxed() }));
        }
        let bytes = match (row.bytes, row.blob_key) {
            (Some(bytes), _) => {
                let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                let part = place(start)..place(end);
                stream::iter([Ok(Bytes::from(bytes).slice(part))]).boxed()
            }
            (None, Some(blob)) => {
                let key: BlobKey = blob.parse().map_err(StoreError::corrupt)?;
                let Some(blob) = self.blobs().get_stream(&key, Some(start..end)).await? else { return Ok(None) };
                blob.bytes
            }
            (None, None) => return Err(StoreError::corrupt(format_args!("mail_raw {id}"))),
        };
        Ok(Some(RawMail { size: end - start, bytes }))
    }

    /// All of them in memory; a message has at most [`domain::mail::MESSAGE_BYTES_MAX`].
    pub async fn mail_raw_bytes(&self, id: RawId) -> Result<Option<Bytes>, StoreError> {
        let Some(mut raw) = self.mail_raw(id).await? else { return Ok(None) };
        let mut all = Vec::with_capacity(usize::try_from(raw.size).unwrap_or_default());
        while let Some(bytes) = raw.bytes.try_next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(Some(all.into()))
    }

    /// The next bytes that nothing has named for a day, at most `limit`; answers the change that takes them away. It is stale where
    /// one is named again by then, and comes again without it.
    pub async fn mail_raw_sweep_next(&self, limit: u32) -> Result<PurgeBatch, StoreError> {
        let (mut batch, now) = (PurgeBatch::default(), self.now());
        let statement = format!(
            "SELECT raw_id, blob_key FROM mail_raw WHERE loose_at <= $1 AND {NOBODY_WAITS} ORDER BY loose_at LIMIT $2"
        );
        let sql = Sql::new(statement, [now.before(LOOSE_FOR).0.into(), i64::from(limit).into()]);
        let rows: Vec<LooseRow> = self.reader().rows(&sql).await?;
        for row in &rows {
            let statement = format!("DELETE FROM mail_raw WHERE raw_id = $1 AND refs = 0 AND {NOBODY_WAITS}");
            let values = [row.raw_id.as_str().into()];
            batch.change.run_statement(Sql::new(statement, values), Expect::Rows(1));
            if let Some(blob) = &row.blob_key {
                batch.change.blob_doom(&blob.parse().map_err(StoreError::corrupt)?, now);
            }
        }
        if !rows.is_empty() {
            batch.rows.push(("bytes of messages", u32::try_from(rows.len()).unwrap_or(limit)));
        }
        Ok(batch)
    }
}

impl Change {
    /// Keeps bytes that `times` arrivals name. Stale where they were swept before they were named.
    pub(super) fn mail_raw_keep(&mut self, now: Timestamp, raw: &NewRaw, times: usize) {
        let times = i64::try_from(times).unwrap_or(i64::MAX);
        let (id, size) = (raw.id.to_string(), i64::try_from(raw.size).unwrap_or(i64::MAX));
        let content = match &raw.place {
            RawPlace::Row(bytes) => {
                let values = [id.into(), size.into(), bytes.to_vec().into(), now.0.into(), times.into()];
                return self.row(&KEEP, values);
            }
            RawPlace::Blob(content) => content,
        };
        let Some(blob) = content.blob().map(|blob| blob.to_string()) else { return };
        let statement = "UPDATE blob_pending SET since = $2 WHERE blob = $1";
        self.run_statement(Sql::new(statement, [blob.clone().into(), now.0.into()]), Expect::Rows(1));
        let statement = "INSERT INTO mail_raw (raw_id, size, blob_key, created_at, refs) VALUES ($1, $2, $3, $4, $5) \
                         ON CONFLICT (raw_id) DO UPDATE SET refs = mail_raw.refs + excluded.refs, loose_at = NULL";
        let values = [id.clone().into(), size.into(), blob.clone().into(), now.0.into(), times.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        // Where the same bytes are there already, the blob stays pending, and is swept.
        let statement = "DELETE FROM blob_pending WHERE blob = $1 AND EXISTS \
                         (SELECT 1 FROM mail_raw WHERE raw_id = $2 AND blob_key = $1)";
        self.run_statement(Sql::new(statement, [blob.into(), id.into()]), Expect::Any);
    }

    /// Lets bytes go: each is named once less for each time that it stands in `ids`.
    pub fn mail_raw_release(&mut self, now: Timestamp, ids: impl IntoIterator<Item = RawId>) {
        let mut counted = BTreeMap::new();
        for id in ids {
            *counted.entry(id).or_insert(0_i64) += 1;
        }
        for (id, times) in counted {
            self.row(&RELEASE, [id.to_string().into(), now.0.into(), times.into()]);
        }
    }
}
