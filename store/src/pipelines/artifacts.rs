//! Artifacts of runs.

use domain::{
    Timestamp,
    id::{ArtifactId, ContentId, JobId, OrgId, RunId},
};

use crate::{Change, Expect, Store, StoreError, blobs::contents::NewContent, git::RepositoryNo, reader::row, sql::Sql};

const COLUMNS: &str = "SELECT id, org_id, repo_no, run_id, attempt, job_id, name, size, files, content_id, made_at, \
                       committed_at, expires_at FROM artifacts";

row! {
    struct ArtifactRow {
        id: String,
        org_id: String,
        repo_no: i64,
        run_id: String,
        attempt: i64,
        job_id: String,
        name: String,
        size: i64,
        files: Option<i64>,
        content_id: Option<String>,
        made_at: i64,
        committed_at: Option<i64>,
        expires_at: i64,
    }
}

/// An artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredArtifact {
    /// The artifact's id.
    pub id: ArtifactId,
    /// Whose it is.
    pub org_id: OrgId,
    /// The repository's number.
    pub no: RepositoryNo,
    /// The run.
    pub run_id: RunId,
    /// The attempt of the run that made it.
    pub attempt: u32,
    /// The job that made it.
    pub job_id: JobId,
    /// What it is called; no other of the attempt is called so.
    pub name: String,
    /// The bytes.
    pub size: u64,
    /// How many files are in it, as the job says.
    pub files: Option<i64>,
    /// The bytes, once they were sent.
    pub content: Option<ContentId>,
    /// When the job asked where to send it.
    pub made_at: Timestamp,
    /// Since when it is listed.
    pub committed_at: Option<Timestamp>,
    /// When it goes.
    pub expires_at: Timestamp,
}

impl TryFrom<ArtifactRow> for StoredArtifact {
    type Error = StoreError;

    fn try_from(row: ArtifactRow) -> Result<Self, StoreError> {
        let content = row.content_id.map(|id| id.parse().map_err(|_| StoreError::corrupt("artifacts.content_id")));
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("artifacts.id"))?,
            org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("artifacts.org_id"))?,
            no: RepositoryNo(row.repo_no),
            run_id: row.run_id.parse().map_err(|_| StoreError::corrupt("artifacts.run_id"))?,
            attempt: u32::try_from(row.attempt).map_err(StoreError::corrupt)?,
            job_id: row.job_id.parse().map_err(|_| StoreError::corrupt("artifacts.job_id"))?,
            name: row.name,
            size: u64::try_from(row.size).map_err(StoreError::corrupt)?,
            files: row.files,
            content: content.transpose()?,
            made_at: Timestamp(row.made_at),
            committed_at: row.committed_at.map(Timestamp),
            expires_at: Timestamp(row.expires_at),
        })
    }
}

impl Store {
    async fn artifact_rows(&self, sql: Sql) -> Result<Vec<StoredArtifact>, StoreError> {
        let rows: Vec<ArtifactRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(StoredArtifact::try_from).collect()
    }

    /// An artifact, whether it was committed or not.
    pub async fn artifact(&self, id: ArtifactId) -> Result<Option<StoredArtifact>, StoreError> {
        let sql = Sql::new(format!("{COLUMNS} WHERE id = $1"), [id.to_string().into()]);
        Ok(self.artifact_rows(sql).await?.pop())
    }

    /// The repository's artifact with this id, while it is kept.
    pub async fn artifact_kept(&self, no: RepositoryNo, id: ArtifactId) -> Result<Option<StoredArtifact>, StoreError> {
        let found = self.artifact(id).await?;
        let now = self.now();
        Ok(found.filter(|found| found.no == no && found.committed_at.is_some() && now < found.expires_at))
    }

    /// The attempt's artifact of this name, whether it was committed or not.
    pub async fn artifact_named(
        &self,
        run_id: RunId,
        attempt: u32,
        name: &str,
    ) -> Result<Option<StoredArtifact>, StoreError> {
        let statement = format!("{COLUMNS} WHERE run_id = $1 AND attempt = $2 AND name = $3");
        let sql = Sql::new(statement, [run_id.to_string().into(), i64::from(attempt).into(), name.into()]);
        Ok(self.artifact_rows(sql).await?.pop())
    }

    /// The artifacts of a run that are kept, by name; of one name those of later attempts first. Where they are more than `limit`,
    /// those are left out first in whose place there is a later one.
    pub async fn run_artifacts(&self, run_id: RunId, limit: u64) -> Result<Vec<StoredArtifact>, StoreError> {
        let statement = format!(
            "{COLUMNS} WHERE run_id = $1 AND committed_at IS NOT NULL AND expires_at > $2 ORDER BY CASE WHEN EXISTS \
             (SELECT 1 FROM artifacts later WHERE later.run_id = artifacts.run_id AND later.name = artifacts.name \
             AND later.attempt > artifacts.attempt AND later.committed_at IS NOT NULL AND later.expires_at > $2) \
             THEN 1 ELSE 0 END, name, attempt DESC LIMIT $3"
        );
        let values = [run_id.to_string().into(), self.now().0.into(), limit.cast_signed().into()];
        let mut found = self.artifact_rows(Sql::new(statement, values)).await?;
        found.sort_by(|one, other| one.name.cmp(&other.name).then(other.attempt.cmp(&one.attempt)));
        Ok(found)
    }

    /// The artifacts of a run that are kept, by name: of each name that of the latest attempt up to this one.
    pub async fn attempt_artifacts(
        &self,
        run_id: RunId,
        attempt: u32,
        name: Option<&str>,
        limit: u64,
    ) -> Result<Vec<StoredArtifact>, StoreError> {
        let statement = format!(
            "{COLUMNS} WHERE run_id = $1 AND committed_at IS NOT NULL AND expires_at > $2 AND ($3 IS NULL OR name = $3) \
             AND attempt = (SELECT MAX(later.attempt) FROM artifacts later WHERE later.run_id = artifacts.run_id \
             AND later.name = artifacts.name AND later.attempt <= CAST($5 AS INTEGER) \
             AND later.committed_at IS NOT NULL AND later.expires_at > $2) ORDER BY name LIMIT $4"
        );
        let values = [
            run_id.to_string().into(),
            self.now().0.into(),
            name.map(str::to_owned).into(),
            limit.cast_signed().into(),
            i64::from(attempt).into(),
        ];
        self.artifact_rows(Sql::new(statement, values)).await
    }

    /// How many artifacts an attempt has, uploads included.
    pub async fn artifacts_count(&self, run_id: RunId, attempt: u32) -> Result<u64, StoreError> {
        row! {
            struct CountRow {
                count: i64,
            }
        }
        let sql = Sql::new(
            "SELECT COUNT(*) AS count FROM artifacts WHERE run_id = $1 AND attempt = $2",
            [run_id.to_string().into(), i64::from(attempt).into()],
        );
        let counted: Option<CountRow> = self.reader().row(&sql).await?;
        counted.map_or(Ok(0), |row| u64::try_from(row.count).map_err(StoreError::corrupt))
    }

    /// The repository's artifacts whose time is over, and the uploads that began before a moment and weren't committed.
    pub async fn artifacts_over(
        &self,
        no: RepositoryNo,
        begun_before: Timestamp,
        limit: u64,
    ) -> Result<Vec<StoredArtifact>, StoreError> {
        let statement = format!(
            "{COLUMNS} WHERE repo_no = $1 AND (expires_at <= $2 OR (committed_at IS NULL AND made_at <= $3)) LIMIT $4"
        );
        let values = [no.0.into(), self.now().0.into(), begun_before.0.into(), limit.cast_signed().into()];
        self.artifact_rows(Sql::new(statement, values)).await
    }
}

impl Change {
    /// Adds an artifact that is to be sent; stale where the attempt has one of that name.
    pub fn artifact_add(&mut self, artifact: &StoredArtifact) {
        let statement = "INSERT INTO artifacts (id, org_id, repo_no, run_id, attempt, job_id, name, size, files, made_at, \
                         expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING";
        let values = [
            artifact.id.to_string().into(),
            artifact.org_id.to_string().into(),
            artifact.no.0.into(),
            artifact.run_id.to_string().into(),
            i64::from(artifact.attempt).into(),
            artifact.job_id.to_string().into(),
            artifact.name.as_str().into(),
            artifact.size.cast_signed().into(),
            artifact.files.into(),
            artifact.made_at.0.into(),
            artifact.expires_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes the bytes of an artifact, in the place of what was sent before; stale where it was committed or sent meanwhile.
    pub fn artifact_sent(&mut self, now: Timestamp, artifact: &StoredArtifact, content: &NewContent) {
        self.content_put(now, content);
        let statement = "UPDATE artifacts SET content_id = $2 WHERE id = $1 AND committed_at IS NULL \
                         AND COALESCE(content_id, '') = $3";
        let before = artifact.content.map(|id| id.to_string()).unwrap_or_default();
        let values = [artifact.id.to_string().into(), content.id().to_string().into(), before.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        self.contents_unref(now, artifact.org_id, artifact.content);
    }

    /// Lists an artifact from now on; stale where that was done meanwhile.
    pub fn artifact_commit(&mut self, now: Timestamp, artifact: &StoredArtifact, files: Option<i64>) {
        let statement = "UPDATE artifacts SET committed_at = $2, files = $3 WHERE id = $1 AND committed_at IS NULL \
                         AND content_id IS NOT NULL";
        let values = [artifact.id.to_string().into(), now.0.into(), files.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes an artifact away; stale where it isn't as it was read.
    pub fn artifact_remove(&mut self, now: Timestamp, artifact: &StoredArtifact) {
        let statement = "DELETE FROM artifacts WHERE id = $1 AND COALESCE(content_id, '') = $2";
        let content = artifact.content.map(|id| id.to_string()).unwrap_or_default();
        self.run_statement(Sql::new(statement, [artifact.id.to_string().into(), content.into()]), Expect::Rows(1));
        self.contents_unref(now, artifact.org_id, artifact.content);
    }
}
