//! Merging pull requests, and whether that can be done.

use std::{collections::HashSet, time::Instant};

use actors::git::{
    LandPush, LandedPush, MergePull, SecretsRefused,
    host::{Merging, NewObjects, Quarantine},
    owners_of_pull, pull_facts,
    rules::{Deciding, decide, rule_actor},
};
use domain::{
    Context, Error,
    git::{
        FINDINGS_SHOWN_MAX, Identity, MergeMethod, ObjectId, Pull, PullState, RefMove, RefName, branch_among,
        default_branch_kept, head_moved, histories_unrelated, nothing_to_merge, pull_closed, pull_draft, pull_merged,
        rules::{Outcome, RefAct, RefChange},
        wire::Listing,
    },
};
use http_shell::{
    answer::Json,
    body::Body,
    error::Result,
    owned::Owned,
    permission::{GitRead, GitWrite},
    repository::Repository,
    state::State,
};
use serde::Serialize;
use serde_json::Value;
use store::git::NewPack;
use utoipa::ToSchema;

use super::{MergeAsked, PullMerge, PullUpdate, others};
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
    let (store, stored) = (&state.store, &repository.stored);
    let owners = owners_of_pull(&state.git, store, stored, (pull, base)).await?;
    let merge = RefAct::Merge(pull_facts(store, stored, (pull, owners.as_ref())).await?);
    let change = RefChange::new(RefName::of_branch(&pull.base), merge).with_commit(pull.head_oid);
    let who = rule_actor(&repository.context().caller, *repository.org().authority());
    let deciding = Deciding { store, repository: stored };
    // There is a way to merge without a merge commit.
    let rulings = decide(deciding, who, vec![change.adding_merges(Some(false))]).await?;
    let rules = rulings.iter().flat_map(|ruling| &ruling.rules).filter(|rule| rule.outcome == Outcome::Refused);
    Ok(rules.flat_map(|rule| &rule.reasons).map(ToString::to_string).collect())
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
/// nothing.
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
) -> Result<Json<PullMerged>> {
    let asked = body.read()?;
    pull.admit_merge()?;
    if asked.deletes_branch && pull.head == repository.stored.settings.default_branch {
        return Err(default_branch_kept().into());
    }
    let commit = Landing { state: &state, repository: &repository, pull: &pull }.merge(asked).await?;
    Ok(Json(PullMerged { commit_id: commit.to_string() }))
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
    let commit = Landing { state: &state, repository: &repository, pull: &pull }.update(head).await?;
    Ok(Json(PullMerged { commit_id: commit.to_string() }))
}

/// A pull request whose commits are made, and then landed.
struct Landing<'a> {
    state: &'a State,
    repository: &'a Repository<GitWrite>,
    pull: &'a Pull,
}

impl Landing<'_> {
    async fn merge(&self, asked: MergeAsked) -> domain::Result<ObjectId> {
        let MergeAsked { method, head, message, deletes_branch } = asked;
        let (base, by) = (self.base(head).await?, self.identity().await?);
        let (state, stored) = (self.state, &self.repository.stored);
        let owners = owners_of_pull(&state.git, &state.store, stored, (self.pull, base)).await?;
        let mut quarantine = state.git.quarantine(stored).await?;
        let merging = Merging { pull: self.pull, base, head, by: &by, at: state.store.now() };
        let tip = quarantine.merge(merging, method, message.as_deref()).await?;
        let name = RefName::of_branch(&self.pull.base);
        let adds_merges = Some(method == MergeMethod::Merge);
        let mut moves = vec![RefMove { old: Some(base), new: Some(tip), adds_merges, ..RefMove::nothing(name) }];
        if deletes_branch {
            let name = RefName::of_branch(&self.pull.head);
            moves.push(RefMove { old: Some(head), ..RefMove::nothing(name) });
        }
        let gained = [Listing { name: RefName::of_branch(&self.pull.base), oid: base, peeled: None }];
        let push = self.push(&mut quarantine, moves, (&[base, head], &gained)).await?;
        let command = MergePull {
            org_id: self.repository.org_id(),
            number: self.pull.number,
            version: self.pull.version,
            head,
            method,
            owners,
            push: push.clone(),
        };
        let landed = self.state.actors.repository.ask(&self.repository.stored.id(), command, self.context()).await;
        self.settle(push.pack.as_ref(), landed).await?;
        Ok(tip)
    }

    async fn update(&self, head: ObjectId) -> domain::Result<ObjectId> {
        let (base, by) = (self.base(head).await?, self.identity().await?);
        let mut quarantine = self.state.git.quarantine(&self.repository.stored).await?;
        let merging = Merging { pull: self.pull, base, head, by: &by, at: self.state.store.now() };
        let tip = quarantine.update(merging).await?;
        let name = RefName::of_branch(&self.pull.head);
        let moved = RefMove { old: Some(head), new: Some(tip), adds_merges: Some(true), ..RefMove::nothing(name) };
        let refs = self.state.git.refs_in_view(&self.repository.stored).await?;
        let push = self.push(&mut quarantine, vec![moved], (&[base, head], &refs)).await?;
        let pack = push.pack.clone();
        let landed = self.state.actors.repository.ask(&self.repository.stored.id(), push, self.context()).await;
        self.settle(pack.as_ref(), landed).await?;
        Ok(tip)
    }

    /// What the base names, where the head is what the caller saw.
    async fn base(&self, head: ObjectId) -> domain::Result<ObjectId> {
        let refs = self.state.git.refs(self.repository.stored.no).await?;
        let named = |branch| branch_among(&refs, branch).map(|it| it.oid);
        if head != self.pull.head_oid || named(&self.pull.head) != Some(head) {
            return Err(head_moved());
        }
        named(&self.pull.base).ok_or_else(head_moved)
    }

    /// Whoever merges, as commits name them.
    async fn identity(&self) -> domain::Result<Identity> {
        let user_id = self.repository.org().authority().on_behalf_of()?;
        let person = self.state.store.person(user_id).await?.ok_or(Error::Unauthenticated)?;
        Ok(Identity::new(&person.name, person.email.as_str()))
    }

    /// What lands the commits that were made: the first move is the one that has them. Their objects are packed without those of the
    /// known commits, and scanned without those of the scanned refs.
    async fn push(
        &self,
        quarantine: &mut Quarantine,
        mut moves: Vec<RefMove>,
        (known, scanned): (&[ObjectId], &[Listing]),
    ) -> domain::Result<LandPush> {
        let (stored, git) = (&self.repository.stored, &self.state.git);
        let refs = git.refs_in_view(stored).await?;
        let pulls = others(self.state, self.repository, self.pull).await?;
        quarantine.look_for_heads(&mut moves, &refs, &pulls).await?;
        let tips: Vec<ObjectId> = moves.iter().filter_map(|asked| asked.new).collect();
        let new = NewObjects { folder: quarantine.folder(), tips: &tips, known: scanned };
        let secrets = git.scan(stored, (new, None), HashSet::new()).await?;
        let mut pack = None;
        if !secrets.refuses() {
            for tip in tips {
                quarantine.pack(tip, known).await?;
            }
            pack = quarantine.keep(stored).await?;
        }
        Ok(LandPush {
            org_id: self.repository.org_id(),
            moves,
            refused: Vec::new(),
            refuses_more: false,
            is_atomic: true,
            pack,
            secrets,
        })
    }

    /// The context to ask with once the commits are made.
    fn context(&self) -> Context {
        let deadline = Instant::now() + self.state.options.request_timeout;
        Context { deadline, ..self.repository.context() }
    }

    /// An error where it didn't land; a pack that didn't is let go of.
    async fn settle(&self, pack: Option<&NewPack>, landed: domain::Result<LandedPush>) -> domain::Result<()> {
        if let Some(pack) = pack
            && !landed.as_ref().is_ok_and(|landed| landed.took_pack)
            && let Err(error) = self.state.store.repository_pack_abandon(pack).await
        {
            tracing::warn!(%error, "a pack that was refused could not be deleted yet");
        }
        let landed = landed?;
        match &landed.secrets {
            Some(secrets) => Err(detected(secrets)),
            None => landed.admit(),
        }
    }
}

/// 422 for secrets that nobody allowed (contract C 4.3).
fn detected(secrets: &SecretsRefused) -> Error {
    let shown = secrets.findings.iter().take(FINDINGS_SHOWN_MAX).cloned().map(SecretFindingBody::from);
    let findings: Vec<Value> = shown.filter_map(|finding| serde_json::to_value(finding).ok()).collect();
    Error::unprocessable("secret_detected", secrets.refusal().reason()).adding("findings", findings)
}
