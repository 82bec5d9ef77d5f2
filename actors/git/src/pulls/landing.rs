//! Merging a pull request outside of any turn: the commits are made, scanned and kept, and then the repository is asked to land them.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use domain::{
    Context, Error, Result,
    git::{
        Identity, MergeAsked, MergeMethod, ObjectId, OpenPull, Pull, RefMove, RefName, branch_among, head_moved,
        histories_unrelated, merge_conflict, nothing_to_merge,
        rules::{Outcome, Reason, RefAct, RefChange, RuleActor},
        wire::Listing,
    },
    id::UserId,
};
use kernel::Registry;
use store::{
    Store,
    git::{NewPack, StoredRepository},
};

use super::{MergePull, owners_of_pull, pull_facts};
use crate::{
    LandPush, LandedPush, Repository, SecretsRefused,
    host::{GitHost, Merging, NewObjects, Quarantine},
    rules::{Deciding, decide, rule_actor},
};

/// A pull request whose commits are made, and then landed.
#[derive(Clone)]
pub struct Landing<'a> {
    /// The objects of repositories.
    pub git: &'a GitHost,
    /// Where the pull request is.
    pub store: &'a Store,
    /// Whoever lands commits.
    pub owner: &'a Registry<Repository>,
    /// The repository.
    pub repository: &'a StoredRepository,
    /// The pull request.
    pub pull: &'a Pull,
    /// The person in whose name it is done.
    pub by: UserId,
    /// Who asks.
    pub context: Context,
    /// How long landing may take once the commits are made.
    pub timeout: Duration,
}

/// What came of a merge.
#[derive(Clone, Debug)]
pub struct MadeCommit {
    /// The commit that was made.
    pub tip: ObjectId,
    /// The secrets for which no ref names it.
    pub secrets: Option<SecretsRefused>,
}

/// What the rules of the base ask for that the pull request doesn't have, where `who` merges it. Whether a merge commit comes by it
/// is theirs to say.
pub async fn refusals_of_merge(
    git: &GitHost,
    (store, repository): (&Store, &StoredRepository),
    (pull, base): (&Pull, ObjectId),
    (who, adds_merges): (RuleActor, bool),
) -> Result<Vec<Reason>> {
    let owners = owners_of_pull(git, store, repository, (pull, base)).await?;
    let merge = RefAct::Merge(pull_facts(store, repository, (pull, owners.as_ref())).await?);
    let change = RefChange::new(RefName::of_branch(&pull.base), merge).with_commit(pull.head_oid);
    let deciding = Deciding { store, repository };
    let rulings = decide(deciding, who, vec![change.adding_merges(Some(adds_merges))]).await?;
    let rules = rulings.into_iter().flat_map(|ruling| ruling.rules).filter(|rule| rule.outcome == Outcome::Refused);
    Ok(rules.flat_map(|rule| rule.reasons).collect())
}

impl Landing<'_> {
    /// Whether the merge has to wait: nothing stands against it but what may pass. 409 where its commits can't be made.
    pub async fn has_to_wait(&self, asked: &MergeAsked) -> Result<bool> {
        let base = self.base(asked.head).await?;
        let found = self.git.mergeability(self.repository, base, asked.head).await?;
        if !found.is_ahead {
            return Err(nothing_to_merge());
        }
        if !found.is_related {
            return Err(histories_unrelated());
        }
        if !found.conflicts.is_empty() {
            return Err(merge_conflict(&found.conflicts));
        }
        if self.pull.is_draft {
            return Ok(true);
        }
        let authority = self.store.authority(self.repository.resource.org_id, &self.context.caller).await?;
        let who = rule_actor(&self.context.caller, authority);
        let adds_merges = asked.method == MergeMethod::Merge;
        let at = (self.store, self.repository);
        let reasons = refusals_of_merge(self.git, at, (self.pull, base), (who, adds_merges)).await?;
        Ok(!reasons.is_empty() && reasons.iter().all(Reason::may_pass))
    }

    /// Merges the pull request; 409, 403 or found secrets where that can't be done.
    pub async fn merge(&self, asked: &MergeAsked) -> Result<MadeCommit> {
        let MergeAsked { method, head, message, deletes_branch } = asked;
        let (method, head) = (*method, *head);
        let (base, by) = (self.base(head).await?, self.identity().await?);
        let owners = owners_of_pull(self.git, self.store, self.repository, (self.pull, base)).await?;
        let mut quarantine = self.git.quarantine(self.repository).await?;
        let merging = Merging { pull: self.pull, base, head, by: &by, at: self.store.now() };
        let tip = quarantine.merge(merging, method, message.as_deref()).await?;
        let name = RefName::of_branch(&self.pull.base);
        let adds_merges = Some(method == MergeMethod::Merge);
        let mut moves = vec![RefMove { old: Some(base), new: Some(tip), adds_merges, ..RefMove::nothing(name) }];
        if *deletes_branch {
            let name = RefName::of_branch(&self.pull.head);
            moves.push(RefMove { old: Some(head), ..RefMove::nothing(name) });
        }
        let gained = [Listing { name: RefName::of_branch(&self.pull.base), oid: base, peeled: None }];
        let push = self.push(&mut quarantine, moves, (&[base, head], &gained)).await?;
        let command = MergePull {
            org_id: self.repository.resource.org_id,
            number: self.pull.number,
            version: self.pull.version,
            head,
            method,
            owners,
            push: push.clone(),
        };
        let landed = self.owner.ask(&self.repository.id(), command, self.asking()).await;
        self.settle(tip, push.pack.as_ref(), landed).await
    }

    /// Merges the base into the head.
    pub async fn update(&self, head: ObjectId) -> Result<MadeCommit> {
        let (base, by) = (self.base(head).await?, self.identity().await?);
        let mut quarantine = self.git.quarantine(self.repository).await?;
        let merging = Merging { pull: self.pull, base, head, by: &by, at: self.store.now() };
        let tip = quarantine.update(merging).await?;
        let name = RefName::of_branch(&self.pull.head);
        let moved = RefMove { old: Some(head), new: Some(tip), adds_merges: Some(true), ..RefMove::nothing(name) };
        let refs = self.git.refs_in_view(self.repository).await?;
        let push = self.push(&mut quarantine, vec![moved], (&[base, head], &refs)).await?;
        let pack = push.pack.clone();
        let landed = self.owner.ask(&self.repository.id(), push, self.asking()).await;
        self.settle(tip, pack.as_ref(), landed).await
    }

    /// What the base names, where the head is what was seen.
    async fn base(&self, head: ObjectId) -> Result<ObjectId> {
        let refs = self.git.refs(self.repository.no).await?;
        let named = |branch| branch_among(&refs, branch).map(|it| it.oid);
        if head != self.pull.head_oid || named(&self.pull.head) != Some(head) {
            return Err(head_moved());
        }
        named(&self.pull.base).ok_or_else(head_moved)
    }

    /// Whoever merges, as commits name them.
    async fn identity(&self) -> Result<Identity> {
        let person = self.store.person(self.by).await?.ok_or(Error::Unauthenticated)?;
        Ok(Identity::new(&person.name, person.email.as_str()))
    }

    /// The open pull requests of the repository, but for this one.
    async fn others(&self) -> Result<Vec<OpenPull>> {
        let mut open = self.store.open_pulls(self.repository.no).await?;
        open.retain(|it| it.number != self.pull.number);
        Ok(open)
    }

    /// What lands the commits that were made: the first move is the one that has them. Their objects are packed without those of the
    /// known commits, and scanned without those of the scanned refs.
    async fn push(
        &self,
        quarantine: &mut Quarantine,
        mut moves: Vec<RefMove>,
        (known, scanned): (&[ObjectId], &[Listing]),
    ) -> Result<LandPush> {
        let (stored, git) = (self.repository, self.git);
        let refs = git.refs_in_view(stored).await?;
        quarantine.look_for_heads(&mut moves, &refs, &self.others().await?).await?;
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
            org_id: stored.resource.org_id,
            moves,
            refused: Vec::new(),
            refuses_more: false,
            is_atomic: true,
            pack,
            secrets,
        })
    }

    /// The context to ask with once the commits are made.
    fn asking(&self) -> Context {
        Context { deadline: Instant::now() + self.timeout, ..self.context.clone() }
    }

    /// An error where it didn't land; a pack that didn't is let go of.
    async fn settle(&self, tip: ObjectId, pack: Option<&NewPack>, landed: Result<LandedPush>) -> Result<MadeCommit> {
        if let Some(pack) = pack
            && !landed.as_ref().is_ok_and(|landed| landed.took_pack)
            && let Err(error) = self.store.repository_pack_abandon(pack).await
        {
            tracing::warn!(%error, "a pack that was refused could not be deleted yet");
        }
        let landed = landed?;
        if landed.secrets.is_none() {
            landed.admit()?;
        }
        Ok(MadeCommit { tip, secrets: landed.secrets })
    }
}
