//! One content of all chunks of a log, once its job is over.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actors_base::work::{
    clearing::Cleared,
    job::{Halt, Handler, Job, Topic},
};
use bytes::Bytes;
use domain::{
    Timestamp,
    id::{JobId, OrgId},
    pipelines::logs::{LogLine, LogRecords},
};
use futures::{Stream, stream};
use store::{
    Change, NewWork, Store, StoreError,
    blobs::contents::{ContentError, ContentSource},
    pipelines::{LogChunk, SealedChunk, StoredLog, log_chunks_sealed},
};

/// The job that seals logs.
pub(crate) const LOG_SEALING: Topic = Topic {
    goes_on_because: Some("What jobs wrote is kept in one place once they are over."),
    ..Topic::new("pipelines.log_sealing")
};
/// How long lines that come behind a job's end are waited for.
pub(super) const LATE_LINES_GATHER: Duration = Duration::from_secs(60);

/// Has the log of a job that is over be sealed, a minute later.
pub fn seal_log(change: &mut Change, org_id: OrgId, job_id: JobId, now: Timestamp) {
    let work = NewWork::new(LOG_SEALING.name, org_id, &job_id);
    change.work_add(now, work.not_before(super::settled(now)));
}

/// Seals logs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSealing;

impl Handler for LogSealing {
    async fn run(&self, job: &Job) -> Result<Change, Halt> {
        let (store, job_id) = (job.store(), job.payload::<JobId>()?);
        let mut cleared = Cleared::of(job)?;
        let Some(log) = store.job_log(job_id).await? else { return Ok(Change::new()) };
        if log.sealed.lines < log.head.lines {
            let change = sealed(store, &log).await?;
            cleared.step(job, change, &[("logs", 1)]).await?;
        }
        if let Some(log) = store.job_log(job_id).await? {
            cleared.clear(job, &[log_chunks_sealed(&log)]).await?;
        }
        Ok(Change::new())
    }
}

/// Writes all lines of a log into a content, which the change names.
async fn sealed(store: &Store, log: &StoredLog) -> Result<Change, Halt> {
    let index: Arc<Mutex<Vec<SealedChunk>>> = Arc::default();
    let source = ContentSource { size: None, limit: u64::MAX };
    let written = store.content_write(log.org_id, source, chunks(store, log, Arc::clone(&index))).await;
    let content = written.map_err(|error| match error {
        ContentError::Source(error) | ContentError::Store(error) => Halt::from(error),
        other => Halt::Later(format!("a log could not be written: {other:?}")),
    })?;
    let mut change = Change::new();
    let index = index.lock().unwrap_or_else(PoisonError::into_inner);
    change.job_log_seal(store.now(), log, &content, &index);
    drop(index);
    Ok(change)
}

/// Lines of a log that are packed anew.
struct Packing<'a> {
    store: &'a Store,
    log: &'a StoredLog,
    /// Lines that are read, and in no chunk yet.
    lines: VecDeque<LogLine>,
    /// The first line that isn't read.
    from: u64,
    /// Bytes of the chunks so far.
    written: u64,
    index: Arc<Mutex<Vec<SealedChunk>>>,
}

/// The chunks of a log's content; `index` holds where each is.
fn chunks<'a>(
    store: &'a Store,
    log: &'a StoredLog,
    index: Arc<Mutex<Vec<SealedChunk>>>,
) -> impl Stream<Item = Result<Bytes, StoreError>> + Send + 'a {
    let packing = Packing { store, log, lines: VecDeque::new(), from: 0, written: 0, index };
    stream::try_unfold(packing, |mut packing| async move { Ok(packing.next().await?.map(|chunk| (chunk, packing))) })
}

impl Packing<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let mut records: Option<LogRecords> = None;
        while let Some(line) = self.line().await? {
            let some = records.get_or_insert_with(|| LogRecords::beginning(line.n));
            if some.is_full_for(&line) {
                self.lines.push_front(line);
                break;
            }
            some.push(&line);
        }
        let Some(records) = records else { return Ok(None) };
        let packed = tokio::task::spawn_blocking(move || LogChunk::pack(&records)).await;
        let chunk = packed.map_err(StoreError::corrupt)??;
        let length = chunk.data.len() as u64;
        self.index.lock().unwrap_or_else(PoisonError::into_inner).push((chunk.first, self.written, length));
        self.written += length;
        Ok(Some(chunk.data))
    }

    /// The next line; none behind the last.
    async fn line(&mut self) -> Result<Option<LogLine>, StoreError> {
        if self.lines.is_empty() && self.from < self.log.head.lines {
            let read = self.store.job_log_lines(self.log, self.from).await?;
            let read = read.ok_or_else(|| StoreError::corrupt("a log was sealed meanwhile"))?;
            self.from = read.last().map_or(self.log.head.lines, |line| line.n + 1);
            self.lines.extend(read);
        }
        Ok(self.lines.pop_front())
    }
}
