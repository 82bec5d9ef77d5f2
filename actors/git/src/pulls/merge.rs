//! Merging a pull request: its commits were made before, and the refs move together with it.

use domain::{
    Error, Result,
    git::{
        ATOMIC_FAILED, MergeMethod, ObjectId, OwnerSets, PullNumber, RefName, RefVerdict, STALE_INFO,
        default_branch_kept, head_moved, rules::PullFacts,
    },
    id::OrgId,
};
use kernel::{Command, Handle, Turn};

use super::{pull_facts, pull_of};
use crate::{LandPush, LandedPush, Repository, push::Beside};

/// Merges a pull request, where it and its branches are still what was merged.
#[derive(Clone, Debug)]
pub struct MergePull {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// The version of it that was read.
    pub version: i64,
    /// The head that was merged.
    pub head: ObjectId,
    /// How.
    pub method: MergeMethod,
    /// Who owns what it changes, where a rule asks for their approval.
    pub owners: Option<OwnerSets>,
    /// What is to happen to refs: the base moves first; the head may be deleted.
    pub push: LandPush,
}

/// A pull request whose merge is landing.
#[derive(Clone, Debug)]
pub(crate) struct Merge {
    /// Which one.
    pub number: PullNumber,
    /// The ref that it is merged into.
    pub base: RefName,
    /// Its head, whose checks count.
    pub head: ObjectId,
    /// How it is merged.
    pub method: MergeMethod,
    /// What rules ask of it.
    pub facts: PullFacts,
}

impl Command for MergePull {
    type Reply = LandedPush;

    const NAME: &'static str = "merge_pull";
}

impl Handle<MergePull> for Repository {
    async fn handle(&mut self, command: &MergePull, turn: &mut Turn<'_, Self>) -> Result<LandedPush> {
        let repository = self.written(command.org_id, turn).await?;
        let store = &turn.services().store;
        let pull = pull_of(store, repository.no, command.number).await?;
        pull.admit_merge()?;
        let moves = &command.push.moves;
        let names: Vec<RefName> = moves.iter().map(|asked| asked.name.clone()).collect();
        let places = store.repository_ref_places(repository.no, &names).await?;
        let is_there = moves.iter().zip(&places).all(|(asked, place)| asked.old == place.oid);
        if !is_there || pull.version != command.version || pull.head_oid != command.head {
            return Err(head_moved());
        }
        if moves.len() > 1 && pull.head == repository.settings.default_branch {
            return Err(default_branch_kept());
        }
        let merge = Merge {
            number: pull.number,
            base: RefName::of_branch(&pull.base),
            head: pull.head_oid,
            method: command.method,
            facts: pull_facts(store, &repository, (&pull, command.owners.as_ref())).await?,
        };
        Ok(self.land(&command.push, Beside { merge: Some(&merge), ..Beside::default() }, turn).await?.0)
    }
}

impl LandedPush {
    /// 409 where a ref wasn't moved that was elsewhere, 403 where a rule refused it.
    pub fn admit(&self) -> Result<()> {
        let refused = self.refs.iter().filter(|it| it.verdict == RefVerdict::Refused);
        let mut reasons = refused.map(|it| it.reason.clone().unwrap_or_default()).filter(|it| it != ATOMIC_FAILED);
        match (reasons.next(), self.rule) {
            (None, _) => Ok(()),
            (Some(reason), _) if reason == STALE_INFO => Err(head_moved()),
            (Some(reason), Some(rule)) => Err(Error::forbidden("branch_rule", reason).adding("rule", rule.to_string())),
            (Some(reason), None) => Err(Error::forbidden("branch_rule", reason)),
        }
    }
}
