//! A rule, what it begins with, and what may be changed of it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{Parties, RefPattern};
use crate::{
    Error, Result, Timestamp,
    account::text_check,
    app::names,
    git::{CHECK_CONTEXT_LEN, RefKind, RefName},
    id::{BranchRuleId, UserId},
    problems::Problems,
};

/// Rules of one repository.
pub const RULES_MAX: usize = 100;
/// Characters of a rule's name.
pub const RULE_NAME_LEN: RangeInclusive<usize> = 1..=100;
/// Patterns of one rule.
pub const PATTERNS_MAX: usize = 20;
/// Approvals that a rule may ask for.
pub const APPROVALS_MAX: u8 = 6;
/// Checks that a rule may ask for.
pub const CHECKS_MAX: usize = 50;

names! {
    /// Which refs a rule's patterns are of.
    RuleTarget { Branch = "branch", Tag = "tag", }
}

impl RuleTarget {
    /// The rule's part of a ref's name; none where the ref is of another kind.
    pub fn short(self, name: &RefName) -> Option<&[u8]> {
        match (self, name.kind()) {
            (Self::Branch, RefKind::Branch) => name.as_bytes().strip_prefix(b"refs/heads/"),
            (Self::Tag, RefKind::Tag) => name.as_bytes().strip_prefix(b"refs/tags/"),
            _ => None,
        }
    }
}

/// What a rule asks of pull requests, where a branch needs one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequirement {
    /// How many have to approve it: 0 to 6.
    pub approvals: u8,
    /// Whether what was approved before the head moved doesn't count any more.
    pub dismiss_stale: bool,
    /// Whether all threads have to be resolved.
    pub resolve_threads: bool,
    /// Whether those have to approve it who own what it changes.
    pub code_owners: bool,
}

/// What a rule asks of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// What has to come by a pull request, and what that needs.
    pub pull: Option<PullRequirement>,
    /// The checks that have to have succeeded for the commit.
    pub checks: Vec<String>,
    /// Whether no merge commits may be added.
    pub is_linear: bool,
    /// Whether nothing may be left behind.
    pub blocks_force_push: bool,
    /// Whether the ref may not be deleted.
    pub blocks_deletion: bool,
    /// Who alone may change the ref; everybody where nothing is said.
    pub restrict_to: Option<Parties>,
}

impl Default for Requirements {
    /// History stays, and so does the ref.
    fn default() -> Self {
        Self {
            pull: None,
            checks: Vec::new(),
            is_linear: false,
            blocks_force_push: true,
            blocks_deletion: true,
            restrict_to: None,
        }
    }
}

/// A rule, as people write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDraft {
    /// What it is called.
    pub name: String,
    /// Which refs its patterns are of.
    pub target: RuleTarget,
    /// The names that it covers.
    pub patterns: Vec<RefPattern>,
    /// Whether it holds.
    pub enabled: bool,
    /// What it asks for.
    pub requires: Requirements,
    /// Whom it doesn't hold for.
    pub bypass: Parties,
}

impl RuleDraft {
    /// The draft, with each of its lists without doubles, where it keeps to the limits.
    ///
    /// # Errors
    /// 400 `invalid`, which names every field at fault.
    pub fn check(mut self) -> Result<Self> {
        let mut problems = Problems::new();
        if let Some(name) = problems.keep(text_check("name", &self.name, &RULE_NAME_LEN))? {
            self.name = name;
        }
        let mut seen = std::collections::HashSet::new();
        self.patterns.retain(|pattern| seen.insert(pattern.clone()));
        let fits = (1..=PATTERNS_MAX).contains(&self.patterns.len());
        problems.require(fits, "patterns", format!("Use 1 to {PATTERNS_MAX} patterns."));
        self.check_requirements(&mut problems)?;
        if let Some(bypass) = problems.keep(std::mem::take(&mut self.bypass).check("bypass"))? {
            self.bypass = bypass;
        }
        problems.into_result().map(|()| self)
    }

    fn check_requirements(&mut self, problems: &mut Problems) -> Result<()> {
        let requires = &mut self.requires;
        if let Some(pull) = &requires.pull {
            let fits = pull.approvals <= APPROVALS_MAX;
            problems.require(fits, "requirePull.approvals", format!("Ask for 0 to {APPROVALS_MAX} approvals."));
        }
        if self.target == RuleTarget::Tag {
            problems.require(requires.pull.is_none(), "requirePull", "Only branches have pull requests.");
            problems.require(!requires.is_linear, "linear", "Only branches have a history of their own.");
        }
        for (at, check) in requires.checks.iter_mut().enumerate() {
            let path = format!("requireChecks[{at}]");
            if let Some(text) = problems.keep(text_check(&path, check, &CHECK_CONTEXT_LEN))? {
                *check = text;
            }
        }
        requires.checks.sort_unstable();
        requires.checks.dedup();
        let fits = requires.checks.len() <= CHECKS_MAX;
        problems.require(fits, "requireChecks", format!("Ask for at most {CHECKS_MAX} checks."));
        if let Some(parties) = requires.restrict_to.take() {
            requires.restrict_to = problems.keep(parties.check("restrictTo"))?;
        }
        Ok(())
    }
}

/// What is to be changed of a rule; what isn't named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulePatch {
    /// What it is called.
    pub name: Option<String>,
    /// Which refs its patterns are of.
    pub target: Option<RuleTarget>,
    /// The names that it covers.
    pub patterns: Option<Vec<RefPattern>>,
    /// Whether it holds.
    pub enabled: Option<bool>,
    /// What has to come by a pull request, or that nothing has.
    pub pull: Option<Option<PullRequirement>>,
    /// The checks that have to have succeeded.
    pub checks: Option<Vec<String>>,
    /// Whether no merge commits may be added.
    pub is_linear: Option<bool>,
    /// Whether nothing may be left behind.
    pub blocks_force_push: Option<bool>,
    /// Whether the ref may not be deleted.
    pub blocks_deletion: Option<bool>,
    /// Who alone may change the ref, or that everybody may.
    pub restrict_to: Option<Option<Parties>>,
    /// Whom it doesn't hold for.
    pub bypass: Option<Parties>,
}

impl RulePatch {
    /// The rule with what this changes.
    ///
    /// # Errors
    /// As [`RuleDraft::check`] says.
    pub fn apply(self, before: &RuleDraft) -> Result<RuleDraft> {
        let RuleDraft { name, target, patterns, enabled, requires, bypass } = before.clone();
        let requires = Requirements {
            pull: self.pull.unwrap_or(requires.pull),
            checks: self.checks.unwrap_or(requires.checks),
            is_linear: self.is_linear.unwrap_or(requires.is_linear),
            blocks_force_push: self.blocks_force_push.unwrap_or(requires.blocks_force_push),
            blocks_deletion: self.blocks_deletion.unwrap_or(requires.blocks_deletion),
            restrict_to: self.restrict_to.unwrap_or(requires.restrict_to),
        };
        let draft = RuleDraft {
            name: self.name.unwrap_or(name),
            target: self.target.unwrap_or(target),
            patterns: self.patterns.unwrap_or(patterns),
            enabled: self.enabled.unwrap_or(enabled),
            requires,
            bypass: self.bypass.unwrap_or(bypass),
        };
        draft.check()
    }
}

/// A rule of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRule {
    /// Its id.
    pub id: BranchRuleId,
    /// What it says.
    pub draft: RuleDraft,
    /// Who made it.
    pub created_by: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl BranchRule {
    /// Whether its patterns cover the ref.
    pub fn covers(&self, name: &RefName) -> bool {
        let short = self.draft.target.short(name);
        short.is_some_and(|short| self.draft.patterns.iter().any(|pattern| pattern.covers(short)))
    }
}

/// 404: the repository has no such rule.
pub fn rule_not_found() -> Error {
    Error::not_found("Rule not found")
}

/// 400: the repository has as many rules as it may.
pub fn too_many_rules() -> Error {
    Error::bad_request("limit_reached", format!("A repository has at most {RULES_MAX} rules."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> RuleDraft {
        RuleDraft {
            name: "Main".to_owned(),
            target: RuleTarget::Branch,
            patterns: vec![RefPattern::parse("patterns[0]", "main").unwrap()],
            enabled: true,
            requires: Requirements::default(),
            bypass: Parties::default(),
        }
    }

    fn faults(draft: RuleDraft) -> Vec<String> {
        match draft.check() {
            Err(Error::Invalid { problems }) => problems.into_iter().map(|problem| problem.path).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn asking(requires: Requirements) -> RuleDraft {
        RuleDraft { requires, ..draft() }
    }

    #[test]
    fn a_rule_keeps_to_its_limits() {
        assert_eq!(draft().check().unwrap(), draft());
        let pattern = |at: usize| RefPattern::parse("p", &format!("p{at}")).unwrap();
        let patterns = |count: usize| RuleDraft { patterns: (0..count).map(pattern).collect(), ..draft() };
        assert_eq!(patterns(PATTERNS_MAX).check().unwrap().patterns.len(), PATTERNS_MAX);
        assert_eq!(faults(patterns(PATTERNS_MAX + 1)), ["patterns"]);
        assert_eq!(faults(patterns(0)), ["patterns"]);
        let named = |len: usize| RuleDraft { name: "é".repeat(len), ..draft() };
        assert!(named(100).check().is_ok());
        assert_eq!(faults(named(101)), ["name"]);
        assert_eq!(faults(named(0)), ["name"]);
        let pull = |approvals| Some(PullRequirement { approvals, ..PullRequirement::default() });
        assert!(asking(Requirements { pull: pull(6), ..Requirements::default() }).check().is_ok());
        let more = asking(Requirements { pull: pull(7), ..Requirements::default() });
        assert_eq!(faults(more), ["requirePull.approvals"]);
        let checks = |count: usize| Requirements {
            checks: (0..count).map(|at| format!("check {at}")).collect(),
            ..Requirements::default()
        };
        assert!(asking(checks(CHECKS_MAX)).check().is_ok());
        assert_eq!(faults(asking(checks(CHECKS_MAX + 1))), ["requireChecks"]);
        let empty = Requirements { checks: vec!["ok".to_owned(), " ".to_owned()], ..Requirements::default() };
        assert_eq!(faults(asking(empty)), ["requireChecks[1]"]);
    }

    #[test]
    fn tags_have_no_pull_requests_and_no_merges() {
        let requires =
            Requirements { pull: Some(PullRequirement::default()), is_linear: true, ..Requirements::default() };
        let of_tags = RuleDraft { target: RuleTarget::Tag, ..asking(requires) };
        assert_eq!(faults(of_tags), ["requirePull", "linear"]);
        assert!(RuleDraft { target: RuleTarget::Tag, ..draft() }.check().is_ok());
    }

    #[test]
    fn a_patch_changes_what_it_names_and_is_checked_whole() {
        let pull = PullRequirement { approvals: 2, ..PullRequirement::default() };
        let patch = RulePatch { pull: Some(Some(pull)), enabled: Some(false), ..RulePatch::default() };
        let changed = patch.apply(&draft()).unwrap();
        assert_eq!(changed.requires.pull, Some(pull));
        assert!(!changed.enabled && changed.requires.blocks_deletion && changed.name == "Main");
        let back = RulePatch { pull: Some(None), enabled: Some(true), ..RulePatch::default() };
        assert_eq!(back.apply(&changed).unwrap(), draft());
        let to_tags = RulePatch { target: Some(RuleTarget::Tag), ..RulePatch::default() };
        assert!(to_tags.apply(&changed).is_err());
    }
}
