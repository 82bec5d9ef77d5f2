//! Logs of jobs: how far each is written, and its lines, in compressed chunks. While a job runs, these are rows; later they are
//! the log's content, which says where in it each chunk is.

use bytes::{Bytes, BytesMut};
use domain::{
    Timestamp,
    id::{ContentId, JobId, OrgId},
    pipelines::logs::{LogHead, LogLine, LogRecords, log_records_read},
};
use futures::{StreamExt, pin_mut};

use crate::{
    Change, Expect, Purge, Store, StoreError, blobs::contents::NewContent, git::RepositoryNo, json, reader::row,
    sql::Sql,
};

/// As much as a chunk is compressed; lines of logs gain little from more.
const LEVEL: i32 = 3;

row! {
    struct LogRow {
        org_id: String,
        repo_no: i64,
        received: i64,
        lines: i64,
        bytes: i64,
        dropped: i64,
        step: Option<i64>,
        version: i64,
        content_id: Option<String>,
        sealed_lines: i64,
        sealed_index: Option<String>,
    }
}

row! {
    struct ChunkRow {
        first_line: i64,
        data: Vec<u8>,
    }
}

/// Lines that follow one another, compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// The number of the first.
    pub first: u64,
    /// How many they are.
    pub lines: u64,
    /// The bytes.
    pub data: Bytes,
}

/// Where a chunk is in a log's content: its first line, its first byte, its bytes.
pub type SealedChunk = (u64, u64, u64);

/// The lines of a log that are in its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SealedLog {
    /// The content, where there is one.
    pub content: Option<ContentId>,
    /// How many lines it has; those behind them are rows.
    pub lines: u64,
    /// Its chunks.
    pub index: Vec<SealedChunk>,
}

/// A log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLog {
    /// The job.
    pub job_id: JobId,
    /// Whose it is.
    pub org_id: OrgId,
    /// The repository's number.
    pub no: RepositoryNo,
    /// How far the log is written.
    pub head: LogHead,
    /// Counts the commits that write it; 0 where there is none yet.
    pub version: i64,
    /// What is in its content.
    pub sealed: SealedLog,
}

impl StoredLog {
    /// The log of a job that has sent nothing.
    pub fn empty(job_id: JobId, org_id: OrgId, no: RepositoryNo) -> Self {
        Self { job_id, org_id, no, head: LogHead::default(), version: 0, sealed: SealedLog::default() }
    }

    fn read(job_id: JobId, row: LogRow) -> Result<Self, StoreError> {
        let content = row.content_id.map(|id| id.parse().map_err(|_| StoreError::corrupt("job_logs.content_id")));
        let index = row.sealed_index.map(|text| json::read("job_logs.sealed_index", &text)).transpose()?;
        Ok(Self {
            job_id,
            org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("job_logs.org_id"))?,
            no: RepositoryNo(row.repo_no),
            head: LogHead {
                received: unsigned(row.received)?,
                lines: unsigned(row.lines)?,
                bytes: unsigned(row.bytes)?,
                dropped: unsigned(row.dropped)?,
                step: row.step.map(u32::try_from).transpose().map_err(StoreError::corrupt)?,
            },
            version: row.version,
            sealed: SealedLog {
                content: content.transpose()?,
                lines: unsigned(row.sealed_lines)?,
                index: index.unwrap_or_default(),
            },
        })
    }
}

fn unsigned(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(StoreError::corrupt)
}

impl LogChunk {
    /// Compresses these lines.
    pub fn pack(records: &LogRecords) -> Result<Self, StoreError> {
        let data = zstd::encode_all(records.bytes.as_slice(), LEVEL).map_err(StoreError::corrupt)?;
        Ok(Self { first: records.first, lines: records.lines, data: data.into() })
    }
}

/// The lines of a chunk whose first has this number.
fn unpack(first: u64, data: &[u8]) -> Result<Vec<LogLine>, StoreError> {
    let bytes = zstd::decode_all(data).map_err(StoreError::corrupt)?;
    log_records_read(first, &bytes).map_err(StoreError::corrupt)
}

/// The rows of chunks that are in a log's content, too.
pub fn log_chunks_sealed(log: &StoredLog) -> Purge {
    let names = ["job_log_chunks", "job_id, first_line", "job_id = $1 AND first_line < $2"];
    Purge::within("chunks of logs", names, vec![log.job_id.to_string().into(), log.sealed.lines.cast_signed().into()])
}

impl Store {
    /// The log of a job, where it has sent a line.
    pub async fn job_log(&self, job_id: JobId) -> Result<Option<StoredLog>, StoreError> {
        let sql = Sql::new(
            "SELECT org_id, repo_no, received, lines, bytes, dropped, step, version, content_id, sealed_lines, sealed_index \
             FROM job_logs WHERE job_id = $1",
            [job_id.to_string().into()],
        );
        self.reader().row::<LogRow>(&sql).await?.map(|row| StoredLog::read(job_id, row)).transpose()
    }

    /// The lines of a log from this one on to the end of its chunk; none behind the last. Where the log was sealed meanwhile,
    /// it has to be read again: nothing is found.
    pub async fn job_log_lines(&self, log: &StoredLog, from: u64) -> Result<Option<Vec<LogLine>>, StoreError> {
        if from >= log.head.lines {
            return Ok(Some(Vec::new()));
        }
        let lines = if from < log.sealed.lines {
            self.sealed_lines(log, from).await?
        } else {
            self.chunk_lines(log.job_id, from).await?
        };
        Ok(lines.map(|lines| lines.into_iter().skip_while(|line| line.n < from).collect()))
    }

    /// The lines of a log's last row; none where all are in its content.
    pub async fn job_log_last_chunk(&self, log: &StoredLog) -> Result<Option<Vec<LogLine>>, StoreError> {
        match log.head.lines.checked_sub(1) {
            Some(last) if last >= log.sealed.lines => self.chunk_lines(log.job_id, last).await,
            _ => Ok(None),
        }
    }

    async fn chunk_lines(&self, job_id: JobId, from: u64) -> Result<Option<Vec<LogLine>>, StoreError> {
        let sql = Sql::new(
            "SELECT first_line, data FROM job_log_chunks WHERE job_id = $1 AND first_line <= $2 \
             ORDER BY first_line DESC LIMIT 1",
            [job_id.to_string().into(), from.cast_signed().into()],
        );
        let Some(row) = self.reader().row::<ChunkRow>(&sql).await? else { return Ok(None) };
        let lines = unpack(unsigned(row.first_line)?, &row.data)?;
        Ok(lines.last().is_some_and(|last| last.n >= from).then_some(lines))
    }

    async fn sealed_lines(&self, log: &StoredLog, from: u64) -> Result<Option<Vec<LogLine>>, StoreError> {
        let at = log.sealed.index.partition_point(|(first, ..)| *first <= from);
        let (Some(content), Some((first, start, length))) =
            (log.sealed.content, at.checked_sub(1).and_then(|at| log.sealed.index.get(at)))
        else {
            return Err(StoreError::corrupt("job_logs.sealed_index"));
        };
        let Some(read) = self.content_read(log.org_id, content, Some(*start..start + length)).await? else {
            return Ok(None);
        };
        let (pieces, mut data) = (read.bytes, BytesMut::new());
        pin_mut!(pieces);
        while let Some(piece) = pieces.next().await {
            data.extend_from_slice(&piece?);
        }
        unpack(*first, &data).map(Some)
    }
}

impl Change {
    /// Writes how far a log is written, and its new chunks; one of the same first line takes the place of the one before. Stale
    /// where the log isn't in the version that was read.
    pub fn job_log_put(&mut self, log: &StoredLog, chunks: &[LogChunk]) {
        let LogHead { received, lines, bytes, dropped, step } = log.head;
        let values = [
            log.job_id.to_string().into(),
            log.org_id.to_string().into(),
            log.no.0.into(),
            received.cast_signed().into(),
            lines.cast_signed().into(),
            bytes.cast_signed().into(),
            dropped.cast_signed().into(),
            step.map(i64::from).into(),
            log.version.into(),
        ];
        let statement = "INSERT INTO job_logs (job_id, org_id, repo_no, received, lines, bytes, dropped, step, version, \
                         sealed_lines) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, 0) ON CONFLICT (job_id) DO UPDATE SET \
                         received = excluded.received, lines = excluded.lines, bytes = excluded.bytes, \
                         dropped = excluded.dropped, step = excluded.step, version = job_logs.version + 1 \
                         WHERE job_logs.version = $9";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        for chunk in chunks {
            let statement = "INSERT INTO job_log_chunks (job_id, first_line, lines, data) VALUES ($1, $2, $3, $4) \
                             ON CONFLICT (job_id, first_line) DO UPDATE SET lines = excluded.lines, data = excluded.data";
            let values = [
                log.job_id.to_string().into(),
                chunk.first.cast_signed().into(),
                chunk.lines.cast_signed().into(),
                chunk.data.to_vec().into(),
            ];
            self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        }
    }

    /// Has this content hold the lines of a log so far; stale where the log isn't in the version that was read.
    pub fn job_log_seal(&mut self, now: Timestamp, log: &StoredLog, content: &NewContent, index: &[SealedChunk]) {
        self.content_put(now, content);
        let statement = "UPDATE job_logs SET content_id = $3, sealed_lines = $4, sealed_index = $5, version = version + 1 \
                         WHERE job_id = $1 AND version = $2";
        let values = [
            log.job_id.to_string().into(),
            log.version.into(),
            content.id().to_string().into(),
            log.head.lines.cast_signed().into(),
            json::text(&index).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.contents_unref(now, log.org_id, log.sealed.content);
    }
}
