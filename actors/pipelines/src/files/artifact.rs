//! Artifacts of runs.

use domain::{
    Result, Timestamp,
    id::{ArtifactId, OrgId},
    pipelines::artifacts::{
        ARTIFACT_UPLOAD_LASTS, ARTIFACTS_MAX, ArtifactName, artifact_exists, artifact_not_found, file_missing,
        too_many_artifacts,
    },
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    pipelines::{StoredArtifact, StoredJob},
};

use super::JobFiles;

/// Has a job send an artifact.
#[derive(Clone, Debug)]
pub struct BeginArtifact {
    /// The job.
    pub job: StoredJob,
    /// What the artifact is called.
    pub name: ArtifactName,
    /// The bytes.
    pub size: u64,
    /// How many files are in it.
    pub files: Option<i64>,
    /// When it goes.
    pub expires_at: Timestamp,
}

impl Command for BeginArtifact {
    type Reply = ArtifactId;

    const NAME: &'static str = "begin_artifact";
}

impl Handle<BeginArtifact> for JobFiles {
    async fn handle(&mut self, command: &BeginArtifact, turn: &mut Turn<'_, Self>) -> Result<ArtifactId> {
        let BeginArtifact { job, name, size, files, expires_at } = command;
        turn.services().settings.job_limits.artifact_check(*size)?;
        Self::goes_on(turn, job).await?;
        let (store, now) = (&turn.services().store, turn.now());
        let mut change = Change::new();
        let before = store.artifact_named(job.run_id, job.attempt, name.as_str()).await?;
        match before {
            Some(before) if is_taken(&before, job, now) => return Err(artifact_exists()),
            Some(before) => change.artifact_remove(now, &before),
            None if store.artifacts_count(job.run_id, job.attempt).await? >= ARTIFACTS_MAX => {
                return Err(too_many_artifacts());
            }
            None => {}
        }
        let artifact = StoredArtifact {
            id: ArtifactId::new(now),
            org_id: job.org_id,
            no: job.no,
            run_id: job.run_id,
            attempt: job.attempt,
            job_id: job.id,
            name: name.as_str().to_owned(),
            size: *size,
            files: *files,
            content: None,
            made_at: now,
            committed_at: None,
            expires_at: *expires_at,
        };
        change.artifact_add(&artifact);
        Self::sweep_tomorrow(&mut change, turn, job.org_id);
        turn.commit(change).await?;
        Ok(artifact.id)
    }
}

/// Whether a job can't have the name of this artifact. An upload that it began itself, or that somebody gave up, makes room.
fn is_taken(artifact: &StoredArtifact, job: &StoredJob, now: Timestamp) -> bool {
    artifact.committed_at.is_some()
        || (artifact.job_id != job.id && now < artifact.made_at.after(ARTIFACT_UPLOAD_LASTS))
}

/// Lists an artifact whose bytes a job has sent. Done again, it changes nothing.
#[derive(Clone, Debug)]
pub struct CommitArtifact {
    /// The job.
    pub job: StoredJob,
    /// What the artifact is called.
    pub name: ArtifactName,
    /// The bytes that the job sent, where it says so.
    pub size: Option<i64>,
    /// How many files are in it.
    pub files: Option<i64>,
}

impl Command for CommitArtifact {
    type Reply = ();

    const NAME: &'static str = "commit_artifact";
}

impl Handle<CommitArtifact> for JobFiles {
    async fn handle(&mut self, command: &CommitArtifact, turn: &mut Turn<'_, Self>) -> Result<()> {
        let CommitArtifact { job, name, size, files } = command;
        Self::goes_on(turn, job).await?;
        let found = turn.services().store.artifact_named(job.run_id, job.attempt, name.as_str()).await?;
        let is_sent = |it: &StoredArtifact| {
            it.job_id == job.id && it.content.is_some() && size.is_none_or(|size| u64::try_from(size) == Ok(it.size))
        };
        let artifact = found.filter(is_sent).ok_or_else(file_missing)?;
        if artifact.committed_at.is_some() {
            return Ok(());
        }
        let mut change = Change::new();
        change.artifact_commit(turn.now(), &artifact, files.or(artifact.files));
        turn.commit(change).await
    }
}

/// Deletes an artifact.
#[derive(Clone, Copy, Debug)]
pub struct DeleteArtifact {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which artifact.
    pub id: ArtifactId,
}

impl Command for DeleteArtifact {
    type Reply = ();

    const NAME: &'static str = "delete_artifact";
}

impl Handle<DeleteArtifact> for JobFiles {
    async fn handle(&mut self, command: &DeleteArtifact, turn: &mut Turn<'_, Self>) -> Result<()> {
        let repository = Self::written(turn, command.org_id).await?;
        let found = turn.services().store.artifact_kept(repository.no, command.id).await?;
        let artifact = found.ok_or_else(artifact_not_found)?;
        let about = json!({ "artifactId": artifact.id, "name": artifact.name, "runId": artifact.run_id });
        let mut change = Self::change(turn, "artifact.deleted", &repository, about);
        change.artifact_remove(turn.now(), &artifact);
        turn.commit(change).await
    }
}
