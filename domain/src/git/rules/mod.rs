//! Rules of branches and tags: what may be done to the refs whose names their patterns cover, and by whom.
//!
//! A rule that is enabled and covers a ref asks something of each change of it. Whoever the rule lets by needs not comply, and it is
//! said that they didn't. What all rules come to is decided by [`RuleSet::ruling`]: for pushes, for what is committed or deleted
//! here, for merges, and for who asks what would be.

mod change;
mod draft;
mod party;
mod pattern;
mod reason;
mod ruling;

pub(super) use self::pattern::matches;
pub use self::{
    change::{PullFacts, RefAct, RefChange},
    draft::{
        APPROVALS_MAX, BranchRule, CHECKS_MAX, PATTERNS_MAX, PullRequirement, RULE_NAME_LEN, RULES_MAX, Requirements,
        RuleDraft, RulePatch, RuleTarget, rule_not_found, too_many_rules,
    },
    party::{PARTIES_MAX, Parties, RuleActor},
    pattern::{PATTERN_LEN, RefPattern},
    reason::Reason,
    ruling::{Outcome, RuleOutcome, RuleSet, Ruling},
};
