//! Merging pull requests, and whether that can be done.

use actors::git::{
    Landing, MadeCommit, SecretsRefused, StopWaiting, WaitForMerge, refusals_of_merge, rules::rule_actor,
};
use domain::{
    Error,
    git::{
        FINDINGS_SHOWN_MAX, ObjectId, Pull, PullNumber, PullState, branch_among, default_branch_kept,
        histories_unrelated, nothing_to_merge, pull_closed, pull_draft, pull_merged,
    },
};
use http_shell::{
    answer::{Accepted, Either, Json},
    body::Body,
    error::Result,
    owned::Owned,
    path::Path,
    permission::{GitRead, GitWrite},
    repository::Repository,
    state::State,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{PullAnswer, PullMerge, PullUpdate};
use crate::secret_findings::SecretFindingBody;

/// Whether a pull request can be merged.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"state": "blocked", "reasons": ["This pull request needs one more approval."], "conflicts": []}))]
pub(crate) struct MergeabilityAnswer {
    /// `clean`; `behind`, where it can be merged and the base has commits that the head hasn't; `conflict`, where both changed the
    /// same; or `blocked`.
    state: &'static str,
    /// What stands in the way, whichever way you would merge it.
    reasons: Vec<String>,
    /// The files that both changed: the first 100.
    conflicts: Vec<String>,
}

/// Whether a pull request can be merged
///
/// Decided for you, as the branches and the rules are now.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/mergeability")]
pub(crate) async fn pull_mergeability_get(
    repository: Repository<GitRead>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<MergeabilityAnswer>> {
    let refs = state.git.refs(repository.stored.no).await?;
    let base = branch_among(&refs, &pull.base).filter(|_| pull.state == PullState::Open);
    let Some(base) = base else {
        let reason = if pull.state == PullState::Merged { pull_merged() } else { pull_closed() };
        return Ok(Json(MergeabilityAnswer {
            state: "blocked",
            reasons: vec![reason.to_string()],
            conflicts: Vec::new(),
        }));
    };
    let found = state.git.mergeability(&repository.stored, base.oid, pull.head_oid).await?;
    let mut reasons = Vec::new();
    if pull.is_draft {
        reasons.push(pull_draft().to_string());
    }
    if !found.is_ahead {
        reasons.push(nothing_to_merge().to_string());
    } else if !found.is_related {
        reasons.push(histories_unrelated().to_string());
    }
    reasons.extend(refused_by_rules(&state, &repository, (&pull, base.oid)).await?);
    let stands = match (found.conflicts.is_empty(), reasons.is_empty(), found.is_behind) {
        (false, ..) => "conflict",
        (true, false, _) => "blocked",
        (true, true, true) => "behind",
        (true, true, false) => "clean",
    };
    Ok(Json(MergeabilityAnswer { state: stands, reasons, conflicts: found.conflicts.clone() }))
}

/// What the rules ask for that the pull request doesn't have.
async fn refused_by_rules(
    state: &State,
    repository: &Repository<GitRead>,
    (pull, base): (&Pull, ObjectId),
) -> Result<Vec<String>> {
    let who = rule_actor(&repository.context().caller, *repository.org().authority());
    let at = (&state.store, &repository.stored);
    // There is a way to merge without a merge commit.
    let reasons = refusals_of_merge(&state.git, at, (pull, base), (who, false)).await?;
    Ok(reasons.iter().map(ToString::to_string).collect())
}

/// A commit that was made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"commitId": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"}))]
pub(crate) struct PullMerged {
    /// The commit that the branch names now.
    commit_id: String,
}

/// Merge a pull request
///
/// The commits are made of the base as it is now and of the head as you saw it, and everything that follows from it is done at once, or
/// nothing. With `when` it may be done later: as soon as checks have succeeded, reviews approve it, threads are resolved and it is no
/// draft any more, by your rights then. That ends where the head moves, the base is changed, both have changed the same, or it is closed.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/merge", responses(
    (status = 400, description = "The default branch can't be deleted."),
    (status = 403, description = "A rule of this repository doesn't allow it."),
    (status = 422, description = "There are secrets in what the branch gains."),
    (status = 409, description = "The pull request changed since you opened it.\n\nThe branches have changes that can't be merged \
     by themselves.\n\nThe base has all commits of the head already.\n\nThe branches have no commit in common.\n\nAt most 100 commits \
     of 16 MB can be rebased here. Merge or squash them.\n\nThis pull request is merged.\n\nThis pull request is closed.\n\nThis pull \
     request is a draft.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_merge(
    repository: Repository<GitWrite>,
    body: Body<PullMerge>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Either<Json<PullMerged>, Accepted<PullAnswer>>> {
    let (asked, may_wait) = body.read()?;
    if may_wait {
        pull.admit_change()?;
    } else {
        pull.admit_merge()?;
    }
    if asked.deletes_branch && pull.head == repository.stored.settings.default_branch {
        return Err(default_branch_kept().into());
    }
    let landing = landing(&state, &repository, &pull)?;
    if may_wait && landing.has_to_wait(&asked).await? {
        let command = WaitForMerge { org_id: repository.org_id(), number: pull.number, version: pull.version, asked };
        let waiting = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
        return Ok(Either::Right(Accepted(PullAnswer { pull: waiting.into() })));
    }
    Ok(Either::Left(Json(PullMerged::of(landing.merge(&asked).await?)?)))
}

/// Wait no longer for a merge
///
/// The pull request stays open.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/merge", responses(
    (status = 409, description = "Nobody asked for this pull request to be merged.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_merge_stop(
    repository: Repository<GitWrite>,
    Path(number): Path<PullNumber>,
    state: State,
) -> Result<Json<PullAnswer>> {
    let command = StopWaiting { org_id: repository.org_id(), number };
    let changed = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(PullAnswer { pull: changed.into() }))
}

/// Merge the base into the head
///
/// So that the head is no longer behind.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/update", responses(
    (status = 403, description = "A rule of this repository doesn't allow it."),
    (status = 422, description = "There are secrets in what the branch gains."),
    (status = 409, description = "The pull request changed since you opened it.\n\nThe branches have changes that can't be merged \
     by themselves.\n\nThe head has all commits of the base already.\n\nThe branches have no commit in common.\n\nThis pull request is \
     merged.\n\nThis pull request is closed.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn pull_update(
    repository: Repository<GitWrite>,
    body: Body<PullUpdate>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<PullMerged>> {
    let head = body.read()?;
    pull.admit_change()?;
    let made = landing(&state, &repository, &pull)?.update(head).await?;
    Ok(Json(PullMerged::of(made)?))
}

impl PullMerged {
    /// 422 for secrets that nobody allowed.
    fn of(made: MadeCommit) -> domain::Result<Self> {
        match made.secrets {
            Some(secrets) => Err(detected(&secrets)),
            None => Ok(Self { commit_id: made.tip.to_string() }),
        }
    }
}

/// What merges a pull request in the caller's name.
fn landing<'a>(state: &'a State, repository: &'a Repository<GitWrite>, pull: &'a Pull) -> domain::Result<Landing<'a>> {
    Ok(Landing {
        git: &state.git,
        store: &state.store,
        owner: &state.actors.repository,
        repository: &repository.stored,
        pull,
        by: repository.org().authority().on_behalf_of()?,
        context: repository.context(),
        timeout: state.options.request_timeout,
    })
}

/// 422 for secrets that nobody allowed (contract C 4.3).
fn detected(secrets: &SecretsRefused) -> Error {
    let shown = secrets.findings.iter().take(FINDINGS_SHOWN_MAX).cloned().map(SecretFindingBody::from);
    let findings: Vec<Value> = shown.filter_map(|finding| serde_json::to_value(finding).ok()).collect();
    Error::unprocessable("secret_detected", secrets.refusal().reason()).adding("findings", findings)
}
