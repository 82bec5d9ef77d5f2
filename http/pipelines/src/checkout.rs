//! What a job fetches its repository with (contract C 4.1).

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    git::{REVISION_LEN, repository_not_found},
    pipelines::{checkout::CHECKOUT_LASTS, run_not_found},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::{
    Store,
    git::StoredRepository,
    pipelines::{StoredJob, StoredRun},
};
use utoipa::ToSchema;

use super::{argument::OfJob, files::BaseUrl, workflows::named};

/// What a job wants to fetch.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"ref": "refs/heads/main"}))]
pub(crate) struct CheckoutWanted {
    /// A branch, a tag or a commit: up to 255 characters. Without it, or empty: the commit of the run.
    #[serde(default)]
    r#ref: Option<String>,
}

impl RequestBody for CheckoutWanted {
    fn check(&self, problems: &mut Problems) {
        let fits = self.r#ref.as_ref().is_none_or(|named| named.chars().count() < *REVISION_LEN.end());
        problems.require(fits, "ref", "Use at most 255 characters.");
    }
}

/// Where a job fetches its repository.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "url": "https://troupe.example.com/git/acme/web-app.git", "authorization": "Authorization: Basic am9iOnRycF9jX…",
    "sha": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "ref": "main", "fullRef": "refs/heads/main"
}))]
pub(crate) struct CheckoutAnswer {
    /// What `git fetch` takes.
    url: String,
    /// The value for git's `http.extraHeader`, with which a request may begin for 15 minutes.
    authorization: String,
    /// The commit.
    sha: String,
    /// What was asked for; the ref of the run where nothing was.
    r#ref: String,
    /// The ref, whole. Missing where a commit was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_ref: Option<String>,
}

/// What a job fetches, and for which run.
async fn fetched_by(store: &Store, job: &StoredJob) -> domain::Result<(StoredRepository, StoredRun)> {
    let repository = store.repository(job.org_id, job.repository_id).await?.filter(|it| it.purge_at.is_none());
    let run = store.run(job.no, job.run_id).await?;
    Ok((repository.ok_or_else(repository_not_found)?, run.ok_or_else(run_not_found)?))
}

/// Ask for a credential to fetch the repository
///
/// The credential opens the run's repository, and nothing else, for 15 minutes and not beyond the job's end: for reading, and for
/// pushes where the workflow gives the job `contents: write`. A request that has begun goes on.
#[utoipa::path(post, path = "/v1/runner/checkout", responses(
    (status = 404, description = "Branch or tag not found\n\nRepository not found\n\nRun not found")))]
pub(crate) async fn runner_checkout(
    of: OfJob,
    base: BaseUrl,
    body: Body<CheckoutWanted>,
    state: State,
) -> Result<Json<CheckoutAnswer>> {
    let (job, store) = (&of.job, &state.store);
    let (repository, run) = fetched_by(store, job).await?;
    let wanted = body.into_inner().r#ref.filter(|wanted| !wanted.is_empty());
    let (sha, r#ref, full_ref) = match wanted {
        None => (run.commit().to_string(), run.full_ref.clone(), Some(run.full_ref)),
        Some(wanted) => {
            let (full_ref, commit) = named(&state, &repository, &wanted).await?;
            (commit.to_string(), wanted, Some(full_ref).filter(|name| name.starts_with("refs/")))
        }
    };
    let expires_at = store.now().after(CHECKOUT_LASTS);
    let credential = store.checkout_credential(repository.id(), job.id, expires_at);
    let basic = STANDARD.encode(format!("job:{credential}"));
    Ok(Json(CheckoutAnswer {
        url: format!("{}/git/{}/{}.git", base.0, job.org_id, repository.resource.name),
        authorization: format!("Authorization: Basic {basic}"),
        sha,
        r#ref,
        full_ref,
    }))
}
