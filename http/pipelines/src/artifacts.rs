//! Artifacts: as jobs send and fetch them (contract C 4.1), and as people do.

use std::time::Duration;

use actors::pipelines::files::{BeginArtifact, CommitArtifact, DeleteArtifact};
use domain::{
    id::ArtifactId,
    pipelines::artifacts::{
        ARTIFACT_DAYS, ARTIFACT_DAYS_UNLESS_SAID, ARTIFACT_LINK_LASTS, ARTIFACTS_MAX, ArtifactName, artifact_not_found,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Json, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    path::Path,
    permission::{GitRead, GitWrite},
    repository::Repository,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::pipelines::{JobFile, JobFileAct, StoredArtifact};
use utoipa::ToSchema;

use super::{
    argument::OfJob,
    files::{BaseUrl, count_check, text_problems},
    reading::RunOf,
};

/// An artifact that a job will send.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "web app", "size": 2_048, "files": 3, "retentionDays": 30}))]
pub(crate) struct ArtifactUpload {
    /// 1 to 100 characters, without `\ / : * ? " < > |` and line breaks.
    name: String,
    /// The bytes.
    #[schema(minimum = 1)]
    size: i64,
    /// How many files are in it.
    #[schema(minimum = 0)]
    files: Option<i64>,
    /// Days for which it is kept: 1 to 400; 90 by default.
    #[schema(minimum = 1, maximum = 400)]
    retention_days: Option<i64>,
}

impl RequestBody for ArtifactUpload {
    fn check(&self, problems: &mut Problems) {
        text_problems(ArtifactName::parse("name", &self.name), problems);
        problems.require(self.size >= 1, "size", "Must be at least 1.");
        count_check(self.files, "files", problems);
        let fits = self.retention_days.is_none_or(|days| ARTIFACT_DAYS.contains(&days));
        let message = format!("Must be from {} to {}.", ARTIFACT_DAYS.start(), ARTIFACT_DAYS.end());
        problems.require(fits, "retentionDays", message);
    }
}

/// Where bytes are sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "artifactId": "art_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "url": "https://troupe.example.com/v1/runner/files/art_01jd7rt4m5e9fv2w8x3c6k0hqz?size=2048&expires=1767229200000\
            &signature=Zm9v"
}))]
pub(crate) struct ArtifactUploadUrl {
    /// The artifact's id, once it is committed.
    artifact_id: String,
    /// The address to PUT exactly so many bytes to, for an hour and without a credential.
    url: String,
}

/// Ask where to send an artifact
///
/// PUT the bytes to the address, then commit. A name is there once in an attempt of a run; a job may ask again for one that it
/// hasn't committed.
#[utoipa::path(post, path = "/v1/runner/artifacts/upload", responses(
    (status = 400, description = "An attempt of a run has at most 1000 artifacts."),
    (status = 409, description = "This run has an artifact with this name already."),
    (status = 413, description = "An artifact has at most 10 GiB, unless the server is configured otherwise.")))]
pub(crate) async fn runner_artifact_upload(
    of: OfJob,
    base: BaseUrl,
    body: Body<ArtifactUpload>,
    state: State,
) -> Result<Json<ArtifactUploadUrl>> {
    let ArtifactUpload { name, size, files, retention_days } = body.into_inner();
    let days = u64::try_from(retention_days.unwrap_or(ARTIFACT_DAYS_UNLESS_SAID)).unwrap_or_default();
    let size = u64::try_from(size).unwrap_or_default();
    let expires_at = state.store.now().after(Duration::from_hours(24 * days));
    let name = ArtifactName::parse("name", &name)?;
    let command = BeginArtifact { job: of.job.clone(), name, size, files, expires_at };
    let id = state.actors.job_files.ask(&of.job.repository_id, command, of.context()).await?;
    let url = base.address(&state, JobFile::Artifact(id), JobFileAct::Upload(size), ARTIFACT_LINK_LASTS);
    Ok(Json(ArtifactUploadUrl { artifact_id: id.to_string(), url }))
}

/// An artifact that a job has sent.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "web app", "size": 2_048, "files": 3}))]
pub(crate) struct ArtifactCommit {
    /// The artifact's name.
    name: String,
    /// The bytes that were sent.
    size: Option<i64>,
    /// How many files are in it.
    #[schema(minimum = 0)]
    files: Option<i64>,
}

impl RequestBody for ArtifactCommit {
    fn check(&self, problems: &mut Problems) {
        text_problems(ArtifactName::parse("name", &self.name), problems);
        count_check(self.files, "files", problems);
    }
}

/// List an artifact that was sent
///
/// From then on it is listed with the run, until its days are over.
#[utoipa::path(post, path = "/v1/runner/artifacts/commit", responses(
    (status = 409, description = "Upload the file first.")))]
pub(crate) async fn runner_artifact_commit(of: OfJob, body: Body<ArtifactCommit>, state: State) -> Result<Json<Done>> {
    let ArtifactCommit { name, size, files } = body.into_inner();
    let name = ArtifactName::parse("name", &name)?;
    let command = CommitArtifact { job: of.job.clone(), name, size, files };
    state.actors.job_files.ask(&of.job.repository_id, command, of.context()).await?;
    Ok(Json(Done::new()))
}

/// Artifacts that a job wants.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "web app"}))]
pub(crate) struct ArtifactDownload {
    /// The one of this name; without it, all.
    name: Option<String>,
}

impl RequestBody for ArtifactDownload {
    fn check(&self, problems: &mut Problems) {
        if let Some(name) = &self.name {
            text_problems(ArtifactName::parse("name", name), problems);
        }
    }
}

/// An artifact, and where its bytes are.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArtifactLink {
    /// The artifact's name.
    name: String,
    /// The bytes.
    size: u64,
    /// Where they are downloaded, for an hour and without a credential.
    url: String,
}

/// Artifacts, and where their bytes are.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArtifactLinks {
    /// The artifacts, by name.
    artifacts: Vec<ArtifactLink>,
}

/// Ask where artifacts of the run are
///
/// Of each name that of this attempt, else that of the attempt before. There may be none.
#[utoipa::path(post, path = "/v1/runner/artifacts/download")]
pub(crate) async fn runner_artifact_download(
    of: OfJob,
    base: BaseUrl,
    body: Body<ArtifactDownload>,
    state: State,
) -> Result<Json<ArtifactLinks>> {
    let (run_id, attempt, act) = (of.job.run_id, of.job.attempt, JobFileAct::Download(Some(of.job.id)));
    let found = state.store.attempt_artifacts(run_id, attempt, body.name.as_deref(), ARTIFACTS_MAX).await?;
    let link = |it: StoredArtifact| ArtifactLink {
        url: base.address(&state, JobFile::Artifact(it.id), act, ARTIFACT_LINK_LASTS),
        name: it.name,
        size: it.size,
    };
    Ok(Json(ArtifactLinks { artifacts: found.into_iter().map(link).collect() }))
}

/// An artifact of a run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "artifactId": "art_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "web app", "attempt": 1,
    "jobId": "job_01jd7rt4m5e9fv2w8x3c6k0hqz", "size": 2_048, "files": 3, "createdAt": 1_767_225_600_000_i64,
    "expiresAt": 1_775_001_600_000_i64
}))]
pub(crate) struct ArtifactBody {
    /// The artifact's id.
    artifact_id: String,
    /// What it is called.
    name: String,
    /// The attempt of the run that made it.
    attempt: u32,
    /// The job that made it.
    job_id: String,
    /// The bytes.
    size: u64,
    /// How many files are in it, where the job said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<i64>,
    /// When it was listed.
    created_at: i64,
    /// When it goes.
    expires_at: i64,
}

impl From<StoredArtifact> for ArtifactBody {
    fn from(it: StoredArtifact) -> Self {
        Self {
            artifact_id: it.id.to_string(),
            name: it.name,
            attempt: it.attempt,
            job_id: it.job_id.to_string(),
            size: it.size,
            files: it.files,
            created_at: it.committed_at.unwrap_or(it.made_at).as_millis(),
            expires_at: it.expires_at.as_millis(),
        }
    }
}

/// The artifacts of a run.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArtifactsAnswer {
    /// By name; of one name those of later attempts first. At most 1,000.
    artifacts: Vec<ArtifactBody>,
}

/// The artifacts of a run
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/artifacts")]
pub(crate) async fn run_artifacts_list(of: RunOf<GitRead>, state: State) -> Result<Json<ArtifactsAnswer>> {
    let found = state.store.run_artifacts(of.run.id, ARTIFACTS_MAX).await?;
    Ok(Json(ArtifactsAnswer { artifacts: found.into_iter().map(ArtifactBody::from).collect() }))
}

/// An artifact of the repository that the path names.
pub(crate) struct ArtifactOf(StoredArtifact);

impl Argument for ArtifactOf {
    fn describe(facts: &mut Facts) {
        Repository::<GitRead>::describe(facts);
        Path::<ArtifactId>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let repository = Repository::<GitRead>::take(call).await?;
        let Path(id) = Path::<ArtifactId>::take(call).await?;
        let found = call.state.store.artifact_kept(repository.stored.no, id).await?;
        Ok(Self(found.ok_or_else(artifact_not_found)?))
    }
}

/// An artifact, and where its bytes are.
#[derive(Serialize, ToSchema)]
pub(crate) struct ArtifactAnswer {
    /// The artifact.
    artifact: ArtifactBody,
    /// Where its bytes are downloaded, for an hour and without a credential.
    url: String,
}

/// Ask where an artifact is downloaded
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}")]
pub(crate) async fn artifact_get(of: ArtifactOf, base: BaseUrl, state: State) -> Result<Json<ArtifactAnswer>> {
    let artifact = of.0;
    let url = base.address(&state, JobFile::Artifact(artifact.id), JobFileAct::Download(None), ARTIFACT_LINK_LASTS);
    Ok(Json(ArtifactAnswer { artifact: artifact.into(), url }))
}

/// Delete an artifact
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}", responses(
    (status = 409, description = "This repository is deleted. Restore it first.")))]
pub(crate) async fn artifact_delete(
    repository: Repository<GitWrite>,
    Path(id): Path<ArtifactId>,
    state: State,
) -> Result<NoContent> {
    let command = DeleteArtifact { org_id: repository.org_id(), id };
    state.actors.job_files.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(NoContent)
}
