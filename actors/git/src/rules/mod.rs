//! Rules of a repository's branches and tags: making and changing them, and asking them.
//!
//! The rules are read in the turn that decides on them. A command that changes a rule names the version of the repository that it
//! read, as a push does, so that none of them is overtaken by the other.

mod decide;
mod status;

use domain::{
    Result, Scope,
    git::{
        AccessLevel, repository_deleted,
        rules::{BranchRule, Parties, RULES_MAX, RuleDraft, RulePatch, RuleSet, rule_not_found, too_many_rules},
    },
    id::{BranchRuleId, OrgId},
    problems::Problems,
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    git::{StoredRepository, Waiting},
};

pub(crate) use self::decide::{audit_bypass, rule_on};
pub use self::{
    decide::{Deciding, decide, rule_actor},
    status::SetCommitStatus,
};
use crate::{
    Repository,
    pulls::wake,
    resource::{found, reaches},
};

/// Makes a rule.
#[derive(Clone, Debug)]
pub struct MakeRule {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// What it says.
    pub draft: RuleDraft,
}

/// Changes a rule.
#[derive(Clone, Debug)]
pub struct ChangeRule {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which rule.
    pub id: BranchRuleId,
    /// What is to be changed.
    pub patch: RulePatch,
}

/// Takes a rule away.
#[derive(Clone, Copy, Debug)]
pub struct DeleteRule {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which rule.
    pub id: BranchRuleId,
}

/// A change of a repository's rules that is being decided.
struct Ruling {
    repository: StoredRepository,
    rules: RuleSet,
}

impl Ruling {
    async fn read(turn: &Turn<'_, Repository>, org_id: OrgId) -> Result<Self> {
        let store = &turn.services().store;
        let authority = turn.authority(org_id).await?;
        authority.require(Scope::GitAdmin)?;
        let repository = found(store, org_id, *turn.key()).await?;
        reaches(store, &authority, &repository, AccessLevel::Admin).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let rules = store.branch_rules(repository.no).await?;
        Ok(Self { repository, rules })
    }

    fn rule(&self, id: BranchRuleId) -> Result<&BranchRule> {
        self.rules.0.iter().find(|rule| rule.id == id).ok_or_else(rule_not_found)
    }

    /// What is written whatever changes, but for the rule itself.
    fn change(&self, turn: &Turn<'_, Repository>, act: &'static str, rule: &BranchRule) -> Change {
        let resource = &self.repository.resource;
        let mut change = Change::new();
        change.repository_set(&self.repository);
        wake(&mut change, &self.repository, Waiting::All, turn.now());
        let target = AuditTarget::new("branch_rule", rule.id).labelled(&rule.draft.name);
        let entry = AuditEntry::new(turn.context(), act, target).in_org(resource.org_id);
        let RuleDraft { target, patterns, enabled, requires, bypass, .. } = &rule.draft;
        let about = json!({
            "repository": { "resourceId": resource.id, "name": resource.name },
            "target": target, "patterns": patterns, "enabled": enabled, "requires": requires, "bypass": bypass,
        });
        change.audit_add(turn.now(), entry.with_metadata(about));
        change
    }
}

impl Command for MakeRule {
    type Reply = BranchRule;

    const NAME: &'static str = "make_rule";
}

impl Handle<MakeRule> for Repository {
    async fn handle(&mut self, command: &MakeRule, turn: &mut Turn<'_, Self>) -> Result<BranchRule> {
        let ruling = Ruling::read(turn, command.org_id).await?;
        are_there(&turn.services().store, command.org_id, &command.draft, None).await?;
        if ruling.rules.0.len() >= RULES_MAX {
            return Err(too_many_rules());
        }
        let now = turn.now();
        let rule = BranchRule {
            id: BranchRuleId::new(now),
            draft: command.draft.clone(),
            created_by: turn.authority(command.org_id).await?.on_behalf_of()?,
            created_at: now,
            updated_at: now,
        };
        let mut change = ruling.change(turn, "branch_rule.created", &rule);
        change.branch_rule_add(ruling.repository.no, &rule);
        turn.commit(change).await?;
        Ok(rule)
    }
}

impl Command for ChangeRule {
    type Reply = BranchRule;

    const NAME: &'static str = "change_rule";
}

impl Handle<ChangeRule> for Repository {
    async fn handle(&mut self, command: &ChangeRule, turn: &mut Turn<'_, Self>) -> Result<BranchRule> {
        let ruling = Ruling::read(turn, command.org_id).await?;
        let before = ruling.rule(command.id)?;
        let draft = command.patch.clone().apply(&before.draft)?;
        if draft == before.draft {
            return Ok(before.clone());
        }
        are_there(&turn.services().store, command.org_id, &draft, Some(&before.draft)).await?;
        let rule = BranchRule { draft, updated_at: turn.now(), ..before.clone() };
        let mut change = ruling.change(turn, "branch_rule.changed", &rule);
        change.branch_rule_set(ruling.repository.no, &rule);
        turn.commit(change).await?;
        Ok(rule)
    }
}

impl Command for DeleteRule {
    type Reply = ();

    const NAME: &'static str = "delete_rule";
}

impl Handle<DeleteRule> for Repository {
    async fn handle(&mut self, command: &DeleteRule, turn: &mut Turn<'_, Self>) -> Result<()> {
        let ruling = Ruling::read(turn, command.org_id).await?;
        let rule = ruling.rule(command.id)?;
        let mut change = ruling.change(turn, "branch_rule.deleted", rule);
        change.branch_rule_remove(ruling.repository.no, rule.id);
        turn.commit(change).await
    }
}

/// 400 for parties who aren't in the organization, unless the rule named them before.
async fn are_there(store: &Store, org_id: OrgId, draft: &RuleDraft, before: Option<&RuleDraft>) -> Result<()> {
    let mut problems = Problems::new();
    let nobody = Parties::default();
    let known = before.map_or(&nobody, |before| &before.bypass);
    missing(store, org_id, ("bypass", &draft.bypass, known), &mut problems).await?;
    if let Some(parties) = &draft.requires.restrict_to {
        let known = before.and_then(|before| before.requires.restrict_to.as_ref()).unwrap_or(&nobody);
        missing(store, org_id, ("restrictTo", parties, known), &mut problems).await?;
    }
    problems.into_result()
}

async fn missing(
    store: &Store,
    org_id: OrgId,
    (path, named, known): (&str, &Parties, &Parties),
    problems: &mut Problems,
) -> Result<()> {
    for id in named.people.iter().filter(|id| !known.people.contains(id)) {
        let is_there = store.membership(org_id, *id).await?.is_some();
        problems.require(is_there, format!("{path}.people"), format!("{id} isn't a member of the organization."));
    }
    for id in named.teams.iter().filter(|id| !known.teams.contains(id)) {
        let is_there = store.team(org_id, *id).await?.is_some();
        problems.require(is_there, format!("{path}.teams"), format!("{id} isn't a team of the organization."));
    }
    for id in named.keys.iter().filter(|id| !known.keys.contains(id)) {
        let is_there = store.key(org_id, *id).await?.is_some();
        problems.require(is_there, format!("{path}.keys"), format!("{id} isn't a key of the organization."));
    }
    Ok(())
}
