//! What the rules of a repository say to a change of a ref.

use super::{BranchRule, PullFacts, PullRequirement, Reason, RefAct, RefChange, RuleActor, RuleTarget};
use crate::{
    Error, Result,
    app::names,
    git::{CommitState, RefName},
    id::BranchRuleId,
};

/// The rules of a repository, by when they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet(pub Vec<BranchRule>);

names! {
    /// What a rule comes to.
    Outcome {
        OtherRefs = "other_refs",
        Disabled = "disabled",
        Allowed = "allowed",
        Bypassed = "bypassed",
        Refused = "refused",
    }
}

/// What one rule comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The rule.
    pub rule_id: BranchRuleId,
    /// What it is called.
    pub name: String,
    /// What it comes to.
    pub outcome: Outcome,
    /// What it asks for that the change doesn't have; also where who makes the change needs not comply.
    pub reasons: Vec<Reason>,
}

/// What all rules come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Each of them, in their order.
    pub rules: Vec<RuleOutcome>,
}

impl RuleSet {
    /// Whether an enabled rule covers the ref.
    pub fn protects(&self, name: &RefName) -> bool {
        self.holding(name).next().is_some()
    }

    /// The enabled rules that cover the ref.
    pub fn holding(&self, name: &RefName) -> impl Iterator<Item = &BranchRule> {
        self.0.iter().filter(move |rule| rule.draft.enabled && rule.covers(name))
    }

    /// Whether an enabled rule that covers the ref asks for a history without merges.
    pub fn asks_for_merges(&self, name: &RefName) -> bool {
        self.holding(name).any(|rule| rule.draft.requires.is_linear)
    }

    /// Whether an enabled rule that covers the ref asks for checks.
    pub fn asks_for_checks(&self, name: &RefName) -> bool {
        self.holding(name).any(|rule| !rule.draft.requires.checks.is_empty())
    }

    /// Whether an enabled rule that covers the ref lets approvals count only for the head that they saw.
    pub fn dismisses_stale(&self, name: &RefName) -> bool {
        self.holding(name).any(|rule| rule.draft.requires.pull.is_some_and(|pull| pull.dismiss_stale))
    }

    /// Whether an enabled rule that covers the ref asks for reviews of whoever owns what changes.
    pub fn asks_for_owners(&self, name: &RefName) -> bool {
        self.holding(name).any(|rule| rule.draft.requires.pull.is_some_and(|pull| pull.code_owners))
    }

    /// Whether an enabled rule that covers the ref names teams.
    pub fn asks_for_teams(&self, name: &RefName) -> bool {
        self.holding(name).any(|rule| {
            let restricted = rule.draft.requires.restrict_to.as_ref();
            restricted.into_iter().chain([&rule.draft.bypass]).any(|parties| !parties.teams.is_empty())
        })
    }

    /// What the rules say where `who` makes the change.
    pub fn ruling(&self, who: &RuleActor, change: &RefChange) -> Ruling {
        let outcome = |rule: &BranchRule| {
            let (outcome, reasons) = outcome_of(rule, who, change);
            RuleOutcome { rule_id: rule.id, name: rule.draft.name.clone(), outcome, reasons }
        };
        Ruling { rules: self.0.iter().map(outcome).collect() }
    }
}

fn outcome_of(rule: &BranchRule, who: &RuleActor, change: &RefChange) -> (Outcome, Vec<Reason>) {
    if !rule.covers(&change.name) {
        return (Outcome::OtherRefs, Vec::new());
    }
    if !rule.draft.enabled {
        return (Outcome::Disabled, Vec::new());
    }
    let reasons = reasons(rule, who, change);
    let outcome = if reasons.is_empty() {
        Outcome::Allowed
    } else if rule.draft.bypass.include(who) {
        Outcome::Bypassed
    } else {
        Outcome::Refused
    };
    (outcome, reasons)
}

/// What a rule asks for that the change doesn't have.
///
/// A branch that is made needs no pull request and no checks, since there is nothing yet that it could be merged into; a tag that
/// is made needs its checks.
fn reasons(rule: &BranchRule, who: &RuleActor, change: &RefChange) -> Vec<Reason> {
    let (requires, target) = (&rule.draft.requires, rule.draft.target);
    let mut reasons = Vec::new();
    if requires.blocks_deletion && change.act == RefAct::Delete {
        reasons.push(Reason::Deletion(target));
    }
    if requires.restrict_to.as_ref().is_some_and(|parties| !parties.include(who)) {
        reasons.push(Reason::Restricted(target));
    }
    if requires.blocks_force_push && change.act == RefAct::Force {
        reasons.push(Reason::Force(target));
    }
    if let Some(pull) = &requires.pull {
        match &change.act {
            RefAct::Update | RefAct::Force => reasons.push(Reason::NeedsPull),
            RefAct::Merge(facts) => lacking(*pull, facts, &mut reasons),
            RefAct::Create | RefAct::Delete => {}
        }
    }
    if requires.is_linear && change.act != RefAct::Delete {
        match change.adds_merges {
            Some(false) => {}
            Some(true) => reasons.push(Reason::Merges),
            None => reasons.push(Reason::Unlooked),
        }
    }
    let is_checked = match change.act {
        RefAct::Create => target == RuleTarget::Tag,
        RefAct::Update | RefAct::Force | RefAct::Merge(_) => true,
        RefAct::Delete => false,
    };
    if is_checked {
        let failed = |context: &&String| change.checks.get(*context) != Some(&CommitState::Success);
        let reason = |context: &String| Reason::Check(context.clone(), change.checks.get(context).copied());
        reasons.extend(requires.checks.iter().filter(failed).map(reason));
    }
    reasons
}

/// What a pull request lacks.
fn lacking(pull: PullRequirement, facts: &PullFacts, reasons: &mut Vec<Reason>) {
    let approvals = if pull.dismiss_stale { facts.fresh_approvals } else { facts.approvals };
    let missing = u32::from(pull.approvals).saturating_sub(approvals);
    let counted = [
        (missing, Reason::Approvals as fn(u32) -> Reason),
        (facts.changes_requested, Reason::ChangesRequested),
        (if pull.resolve_threads { facts.open_threads } else { 0 }, Reason::OpenThreads),
    ];
    reasons.extend(counted.into_iter().filter(|(count, _)| *count > 0).map(|(count, reason)| reason(count)));
    if pull.code_owners && !facts.owners_approve {
        reasons.push(Reason::CodeOwners);
    }
}

impl Ruling {
    /// The first rule that refuses the change, and why.
    pub fn refusal(&self) -> Option<(&RuleOutcome, &Reason)> {
        let refused = self.rules.iter().find(|rule| rule.outcome == Outcome::Refused)?;
        refused.reasons.first().map(|reason| (refused, reason))
    }

    /// 403 `branch_rule` where a rule refuses the change, with the rule's id (contract C 4.3).
    pub fn admit(&self) -> Result<()> {
        let Some((rule, reason)) = self.refusal() else { return Ok(()) };
        Err(Error::forbidden("branch_rule", reason.to_string()).adding("rule", rule.rule_id.to_string()))
    }

    /// The rules that would refuse the change, if they held for who makes it.
    pub fn bypassed(&self) -> impl Iterator<Item = &RuleOutcome> {
        self.rules.iter().filter(|rule| rule.outcome == Outcome::Bypassed)
    }

    /// What all of them come to together.
    pub fn outcome(&self) -> Outcome {
        let worst = self.rules.iter().map(|rule| rule.outcome).max();
        worst.unwrap_or(Outcome::Allowed).max(Outcome::Allowed)
    }
}

#[cfg(test)]
mod tests;
