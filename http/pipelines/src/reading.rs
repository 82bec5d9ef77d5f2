//! The run and the job that a path names, as arguments.

use domain::{
    id::{JobId, RunId},
    pipelines::{job_not_found, run_not_found},
};
use http_shell::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    path::Path,
    repository::{Repository, RepositoryPermission},
};
use store::pipelines::{StoredJob, StoredRun};

/// The run that the path names, of a repository in which the caller has the permission `P`.
pub(crate) struct RunOf<P: RepositoryPermission> {
    /// The repository.
    pub repository: Repository<P>,
    /// The run.
    pub run: StoredRun,
}

impl<P: RepositoryPermission> Argument for RunOf<P> {
    fn describe(facts: &mut Facts) {
        Repository::<P>::describe(facts);
        Path::<RunId>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let repository = Repository::<P>::take(call).await?;
        let Path(id) = Path::<RunId>::take(call).await?;
        let run = call.state.store.run(repository.stored.no, id).await?.ok_or_else(run_not_found)?;
        Ok(Self { repository, run })
    }
}

/// The job that the path names, of a run of such a repository.
pub(crate) struct JobOf<P: RepositoryPermission> {
    /// The job.
    pub job: StoredJob,
    /// The repository.
    pub repository: Repository<P>,
}

impl<P: RepositoryPermission> Argument for JobOf<P> {
    fn describe(facts: &mut Facts) {
        RunOf::<P>::describe(facts);
        Path::<JobId>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let RunOf { repository, run } = RunOf::<P>::take(call).await?;
        let Path(id) = Path::<JobId>::take(call).await?;
        let found = call.state.store.job(run.no, id).await?.filter(|job| job.run_id == run.id);
        Ok(Self { repository, job: found.ok_or_else(job_not_found)? })
    }
}
