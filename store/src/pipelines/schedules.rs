//! The schedules of the default branch's workflow files, each with its next time.

use domain::{
    Timestamp,
    git::{ObjectId, RefName},
    pipelines::workflow::Schedule,
};

use crate::{Change, Expect, Store, StoreError, git::RepositoryNo, reader::row, sql::Sql};

row! {
    struct ScheduleRow {
        file: String,
        place: i32,
        cron: String,
        timezone: Option<String>,
        next_at: i64,
        set_by: Option<String>,
        file_hash: Option<String>,
    }
}

const COLUMNS: &str = "file, place, cron, timezone, next_at, set_by, file_hash";

/// A schedule of a workflow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSchedule {
    /// The file's name.
    pub file: String,
    /// The place among the file's schedules, from 0.
    pub place: u32,
    /// What the file says.
    pub schedule: Schedule,
    /// When the next run starts.
    pub next_at: Timestamp,
    /// The person who brought the file, as it is, to the default branch.
    pub set_by: Option<String>,
    /// Which text of the file it was planned of; unknown of schedules that were planned before that was kept.
    pub file_hash: Option<String>,
}

impl TryFrom<ScheduleRow> for StoredSchedule {
    type Error = StoreError;

    fn try_from(row: ScheduleRow) -> Result<Self, StoreError> {
        let ScheduleRow { file, place, cron, timezone, next_at, set_by, file_hash } = row;
        Ok(Self {
            file,
            place: u32::try_from(place).map_err(StoreError::corrupt)?,
            schedule: Schedule { cron, timezone },
            next_at: Timestamp(next_at),
            set_by,
            file_hash,
        })
    }
}

impl Store {
    /// The schedules of a repository, by their files.
    pub async fn schedules(&self, no: RepositoryNo) -> Result<Vec<StoredSchedule>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM workflow_schedules WHERE repo_no = $1 ORDER BY file, place");
        let rows: Vec<ScheduleRow> = self.reader().rows(&Sql::new(statement, [no.0.into()])).await?;
        rows.into_iter().map(StoredSchedule::try_from).collect()
    }

    /// The schedules of a file, in its order.
    pub async fn schedules_of(&self, no: RepositoryNo, file: &str) -> Result<Vec<StoredSchedule>, StoreError> {
        let statement =
            format!("SELECT {COLUMNS} FROM workflow_schedules WHERE repo_no = $1 AND file = $2 ORDER BY place");
        let rows: Vec<ScheduleRow> = self.reader().rows(&Sql::new(statement, [no.0.into(), file.into()])).await?;
        rows.into_iter().map(StoredSchedule::try_from).collect()
    }
}

impl Change {
    /// Writes a schedule and when it comes next.
    pub fn schedule_put(&mut self, no: RepositoryNo, it: &StoredSchedule) {
        let statement = "INSERT INTO workflow_schedules (repo_no, file, place, cron, timezone, next_at, set_by, \
                         file_hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                         ON CONFLICT (repo_no, file, place) DO UPDATE SET \
                         cron = excluded.cron, timezone = excluded.timezone, next_at = excluded.next_at, \
                         set_by = excluded.set_by, file_hash = excluded.file_hash";
        let values = [
            no.0.into(),
            it.file.as_str().into(),
            i32::try_from(it.place).unwrap_or(i32::MAX).into(),
            it.schedule.cron.as_str().into(),
            it.schedule.timezone.clone().into(),
            it.next_at.0.into(),
            it.set_by.clone().into(),
            it.file_hash.clone().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes a schedule away that is there.
    pub fn schedule_remove(&mut self, no: RepositoryNo, it: &StoredSchedule) {
        let statement = "DELETE FROM workflow_schedules WHERE repo_no = $1 AND file = $2 AND place = $3";
        let values = [no.0.into(), it.file.as_str().into(), i32::try_from(it.place).unwrap_or(i32::MAX).into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Holds a change to a ref that still names this commit or tag; stale where it was moved.
    pub fn ref_hold(&mut self, no: RepositoryNo, name: &RefName, oid: ObjectId) {
        let statement = "UPDATE git_refs SET oid = $3 WHERE repo_no = $1 AND name = $2 AND oid = $3";
        let values = [no.0.into(), name.as_bytes().to_vec().into(), oid.as_bytes().to_vec().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
