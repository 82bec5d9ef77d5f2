//! Renaming a branch: a push that deletes the old name and makes the new one, which open pull requests and the default branch follow.

use actors_base::RepositoryChange;
use domain::{
    Error, Result,
    git::{
        AccessLevel, BranchName, ObjectId, Pull, PullEvent, PullNumber, RefMove, RefName, branch_not_found,
        rules::Ruling,
    },
    id::{OrgId, UserId},
    scope::Scope,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    git::StoredRepository,
};

use crate::{
    LandPush, Repository, Scanned, branches::name_is_free, live::pull_changed, push::Beside, resource::reaches,
};

/// Renames a branch; the commit that it names.
#[derive(Clone, Debug)]
pub struct RenameBranch {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The names.
    pub rename: Rename,
}

/// The two names of a branch.
#[derive(Clone, Debug)]
pub struct Rename {
    /// What it is called.
    pub from: BranchName,
    /// What it is to be called.
    pub to: BranchName,
}

impl Command for RenameBranch {
    type Reply = ObjectId;

    const NAME: &'static str = "rename_branch";
}

impl Handle<RenameBranch> for Repository {
    async fn handle(&mut self, command: &RenameBranch, turn: &mut Turn<'_, Self>) -> Result<ObjectId> {
        let RenameBranch { org_id, rename } = command;
        let repository = self.written(*org_id, turn).await?;
        let store = turn.services().store.clone();
        let (from, to) = (RefName::of_branch(&rename.from), RefName::of_branch(&rename.to));
        let places = store.repository_ref_places(repository.no, std::slice::from_ref(&from)).await?;
        let oid = places.first().and_then(|place| place.oid).ok_or_else(branch_not_found)?;
        if rename.from == rename.to {
            return Ok(oid);
        }
        if rename.from == repository.settings.default_branch {
            // Which branch is the default one is a setting.
            let authority = turn.authority(*org_id).await?;
            authority.require(Scope::GitAdmin)?;
            reaches(&store, &authority, &repository, AccessLevel::Admin).await?;
        }
        name_is_free(&store, &repository, &rename.to).await?;
        // Nothing comes that wasn't there.
        let made = RefMove { new: Some(oid), adds_merges: Some(false), ..RefMove::nothing(to) };
        let push = LandPush {
            org_id: *org_id,
            moves: vec![RefMove { old: Some(oid), ..RefMove::nothing(from) }, made],
            refused: Vec::new(),
            refuses_more: false,
            is_atomic: true,
            pack: None,
            secrets: Scanned::default(),
        };
        let (landed, rulings) = self.land(&push, Beside { rename: Some(rename), ..Beside::default() }, turn).await?;
        rulings.iter().flatten().try_for_each(Ruling::admit)?;
        landed.admit()?;
        Ok(oid)
    }
}

impl Rename {
    /// The branch that a clone begins with, afterwards.
    pub(crate) fn settle_default(&self, repository: &mut StoredRepository) {
        if repository.settings.default_branch == self.from {
            repository.settings.default_branch = self.to.clone();
        }
    }

    /// Has the open pull requests of the branch, and those into it, go by the new name; what changed of them.
    pub(crate) async fn follow(
        &self,
        change: &mut Change,
        turn: &Turn<'_, Repository>,
        (repository, by): (&StoredRepository, UserId),
    ) -> Result<Vec<RepositoryChange>> {
        let (store, now) = (&turn.services().store, turn.now());
        let mut told = Vec::new();
        let open = store.open_pulls(repository.no).await?;
        for it in open.iter().filter(|it| it.head == self.from || it.base == self.from) {
            let pull = store.pull(repository.no, it.number).await?.ok_or_else(|| gone(it.number))?;
            let (head, base) = (self.named(&pull.head), self.named(&pull.base));
            let (from, to) = (self.from.as_str().to_owned(), self.to.as_str().to_owned());
            let event = PullEvent::BranchRenamed { from, to };
            change.pull_event_add((repository.no, it.number), (by, now), &event);
            told.push(pull_changed(&pull));
            change.pull_set(repository.no, &Pull { head, base, updated_at: now, ..pull });
        }
        Ok(told)
    }

    fn named(&self, branch: &BranchName) -> BranchName {
        if *branch == self.from { self.to.clone() } else { branch.clone() }
    }

    pub(crate) fn audit(&self, change: &mut Change, turn: &Turn<'_, Repository>, repository: &StoredRepository) {
        let target = AuditTarget::new("repository", repository.id()).labelled(&repository.resource.name);
        let entry = AuditEntry::new(turn.context(), "branch.renamed", target).in_org(repository.resource.org_id);
        let about = json!({ "from": self.from.as_str(), "to": self.to.as_str() });
        change.audit_add(turn.now(), entry.with_metadata(about));
    }
}

fn gone(number: PullNumber) -> Error {
    Error::internal(format_args!("the open pull request {number} is gone"))
}
