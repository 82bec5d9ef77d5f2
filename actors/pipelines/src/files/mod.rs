//! What the jobs of a repository keep for others: artifacts of runs, and caches.
//!
//! Each is asked for, sent to a signed address, and committed; only then is it found. What is over goes once a day.

mod artifact;
mod cache;
mod retention;

use actors_base::Services;
use domain::{
    Error, Result, Scope,
    git::{AccessLevel, level_of, repository_deleted, repository_not_found},
    id::{OrgId, ResourceId},
    pipelines::{artifacts::file_not_expected, job_over, job_unknown},
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Resource, Turn};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    blobs::contents::NewContent,
    git::StoredRepository,
    pipelines::{JobFile, StoredJob},
};

pub use self::{
    artifact::{BeginArtifact, CommitArtifact, DeleteArtifact},
    cache::{BeginCache, CommitCache, DeleteCaches, JobCache, UseCache},
};

/// The artifacts and caches of a repository.
#[derive(Debug)]
pub struct JobFiles;

impl Resource for JobFiles {
    type Key = ResourceId;
    type Services = Services;

    const KIND: &'static str = "job_files";

    async fn load(_: &ResourceId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

impl JobFiles {
    /// 409 for a job that is over by now.
    async fn goes_on(turn: &Turn<'_, Self>, job: &StoredJob) -> Result<()> {
        let found = turn.services().store.job(job.no, job.id).await?.ok_or_else(job_unknown)?;
        found.conclusion.map_or(Ok(()), |conclusion| Err(job_over(conclusion)))
    }

    /// The repository, which the caller may write to.
    async fn written(turn: &Turn<'_, Self>, org_id: OrgId) -> Result<StoredRepository> {
        let store = &turn.services().store;
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::GitWrite)?;
        let found = store.repository(org_id, *turn.key()).await?.filter(|found| !found.is_gone());
        let repository = found.ok_or_else(repository_not_found)?;
        let granted = store.repository_granted(repository.no, org_id, authority.on_behalf_of()?).await?;
        let level = level_of(&authority, repository.settings.visibility, granted).ok_or_else(repository_not_found)?;
        level.require(AccessLevel::Write)?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        Ok(repository)
    }

    /// Begins a change that people make.
    fn change(
        turn: &Turn<'_, Self>,
        action: &'static str,
        repository: &StoredRepository,
        about: serde_json::Value,
    ) -> Change {
        let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
        let entry = AuditEntry::new(turn.context(), action, target).in_org(repository.resource.org_id);
        let mut change = Change::new();
        change.audit_add(turn.now(), entry.with_metadata(about));
        change
    }
}

/// Takes the bytes of an artifact or of a cache, in the place of what was sent before. A signed address permits it.
#[derive(Clone, Debug)]
pub struct PutJobFile {
    /// Of which.
    pub file: JobFile,
    /// The bytes.
    pub content: NewContent,
}

impl Command for PutJobFile {
    type Reply = ();

    const NAME: &'static str = "put_job_file";
}

impl Handle<PutJobFile> for JobFiles {
    async fn handle(&mut self, command: &PutJobFile, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, content, now) = (&turn.services().store, &command.content, turn.now());
        let mut change = Change::new();
        match command.file {
            JobFile::Artifact(id) => {
                let found = store.artifact(id).await?.filter(|it| it.committed_at.is_none());
                let artifact = found.ok_or_else(file_not_expected)?;
                has_size(artifact.size, content)?;
                change.artifact_sent(now, &artifact, content);
            }
            JobFile::Cache(id) => {
                let found = store.cache(id).await?.filter(|it| it.committed_at.is_none());
                let cache = found.ok_or_else(file_not_expected)?;
                has_size(cache.size, content)?;
                change.cache_sent(now, &cache, content);
            }
        }
        turn.commit(change).await
    }
}

/// The address was signed for as many bytes as the row says.
fn has_size(size: u64, content: &NewContent) -> Result<()> {
    if content.size() == size { Ok(()) } else { Err(Error::internal("an address was signed for another size")) }
}
