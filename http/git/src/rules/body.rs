//! A rule, as it travels.

use std::str::FromStr;

use domain::{
    Error, Role,
    git::rules::{BranchRule, Parties, PullRequirement, RefPattern, Requirements, RuleDraft, RulePatch, RuleTarget},
    problems::Problems,
};
use http_shell::{body::RequestBody, wire::nullable};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The people, teams and keys that a rule names.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(example = json!({"roles": ["admin"], "people": [], "teams": [], "keys": []}))]
pub(crate) struct PartiesBody {
    /// Members with one of these roles, or a higher one: `viewer`, `developer`, `admin` or `owner`.
    roles: Vec<String>,
    /// Ids of people: at most 50. They are meant on the command line and with their machines' keys, too.
    people: Vec<String>,
    /// Ids of teams: at most 50.
    teams: Vec<String>,
    /// Ids of keys: at most 50. A program's key is meant only where it is named here.
    keys: Vec<String>,
}

impl From<&Parties> for PartiesBody {
    fn from(parties: &Parties) -> Self {
        Self {
            roles: parties.roles.iter().map(ToString::to_string).collect(),
            people: parties.people.iter().map(ToString::to_string).collect(),
            teams: parties.teams.iter().map(ToString::to_string).collect(),
            keys: parties.keys.iter().map(ToString::to_string).collect(),
        }
    }
}

impl PartiesBody {
    fn read(&self, path: &str, problems: &mut Problems) -> Parties {
        let known = "Use one of: viewer, developer, admin, owner.";
        Parties {
            roles: read_all(&self.roles, Role::from_name, (path, "roles", known), problems),
            people: read_all(&self.people, parsed, (path, "people", "This is no person's id."), problems),
            teams: read_all(&self.teams, parsed, (path, "teams", "This is no team's id."), problems),
            keys: read_all(&self.keys, parsed, (path, "keys", "This is no key's id."), problems),
        }
    }
}

fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn read_all<T>(
    texts: &[String],
    read: impl Fn(&str) -> Option<T>,
    (path, field, refusal): (&str, &str, &str),
    problems: &mut Problems,
) -> Vec<T> {
    let mut found = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        match read(text) {
            Some(it) => found.push(it),
            None => problems.add(format!("{path}.{field}[{at}]"), refusal),
        }
    }
    found
}

/// What a branch asks of pull requests.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"approvals": 1, "dismissStale": true, "resolveThreads": true, "codeOwners": false}))]
pub(crate) struct PullRequirementBody {
    /// How many have to approve it: 0 to 6.
    #[serde(default)]
    #[schema(maximum = 6)]
    approvals: u8,
    /// Whether what was approved before its head moved counts no more.
    #[serde(default)]
    dismiss_stale: bool,
    /// Whether all of its threads have to be resolved.
    #[serde(default)]
    resolve_threads: bool,
    /// Whether those have to approve it who own what it changes.
    #[serde(default)]
    code_owners: bool,
}

impl From<PullRequirement> for PullRequirementBody {
    fn from(pull: PullRequirement) -> Self {
        let PullRequirement { approvals, dismiss_stale, resolve_threads, code_owners } = pull;
        Self { approvals, dismiss_stale, resolve_threads, code_owners }
    }
}

impl From<PullRequirementBody> for PullRequirement {
    fn from(pull: PullRequirementBody) -> Self {
        let PullRequirementBody { approvals, dismiss_stale, resolve_threads, code_owners } = pull;
        Self { approvals, dismiss_stale, resolve_threads, code_owners }
    }
}

/// A rule.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "ruleId": "rul_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Main", "target": "branch", "patterns": ["main", "release/**"],
    "enabled": true, "requirePull": {"approvals": 1, "dismissStale": true, "resolveThreads": true, "codeOwners": false},
    "requireChecks": ["ci/test"], "linear": false, "blockForcePush": true, "blockDeletion": true, "restrictTo": null,
    "bypass": {"roles": ["admin"], "people": [], "teams": [], "keys": []},
    "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64
}))]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own to clients")]
pub(crate) struct BranchRuleBody {
    /// The rule's id.
    rule_id: String,
    /// What it is called.
    name: String,
    /// `branch` or `tag`.
    target: &'static str,
    /// The names that it covers. `*` stands for anything but a `/`, `**` for any number of segments.
    patterns: Vec<String>,
    /// Whether it holds.
    enabled: bool,
    /// What the branch asks of pull requests; null where it needs none.
    require_pull: Option<PullRequirementBody>,
    /// The checks that have to have succeeded for the commit.
    require_checks: Vec<String>,
    /// Whether no merge commits may be added.
    linear: bool,
    /// Whether no commits may be left behind, and no tag be moved.
    block_force_push: bool,
    /// Whether the branch or the tag may not be deleted.
    block_deletion: bool,
    /// The only ones that may change the branch or the tag; null for everybody.
    restrict_to: Option<PartiesBody>,
    /// The people, teams and keys that the rule doesn't hold for.
    bypass: PartiesBody,
    /// The person who made it, or who made the key that did.
    created_by: String,
    /// Since when there is the rule.
    created_at: i64,
    /// When it last changed.
    updated_at: i64,
}

impl From<BranchRule> for BranchRuleBody {
    fn from(rule: BranchRule) -> Self {
        let RuleDraft { name, target, patterns, enabled, requires, bypass } = rule.draft;
        Self {
            rule_id: rule.id.to_string(),
            name,
            target: target.as_str(),
            patterns: patterns.iter().map(ToString::to_string).collect(),
            enabled,
            require_pull: requires.pull.map(PullRequirementBody::from),
            require_checks: requires.checks,
            linear: requires.is_linear,
            block_force_push: requires.blocks_force_push,
            block_deletion: requires.blocks_deletion,
            restrict_to: requires.restrict_to.as_ref().map(PartiesBody::from),
            bypass: (&bypass).into(),
            created_by: rule.created_by.to_string(),
            created_at: rule.created_at.as_millis(),
            updated_at: rule.updated_at.as_millis(),
        }
    }
}

fn patterns(texts: &[String], problems: &mut Problems) -> domain::Result<Vec<RefPattern>> {
    let mut patterns = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        patterns.extend(problems.keep(RefPattern::parse(format!("patterns[{at}]"), text))?);
    }
    Ok(patterns)
}

fn target(text: &str) -> domain::Result<RuleTarget> {
    RuleTarget::from_name(text).ok_or_else(|| Error::invalid("target", "Use one of: branch, tag."))
}

/// A new rule.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Main", "patterns": ["main"], "requirePull": {"approvals": 1}}))]
pub(crate) struct RuleCreate {
    /// What it is called: 1 to 100 characters.
    name: String,
    /// `branch`, which holds where it isn't said, or `tag`.
    target: Option<String>,
    /// The names that it covers: 1 to 20 patterns of 1 to 256 characters. `*` stands for anything but a `/`, `**` for any number of
    /// segments.
    patterns: Vec<String>,
    /// Whether it holds; true where it isn't said.
    enabled: Option<bool>,
    /// What the branch asks of pull requests, where it needs one.
    require_pull: Option<PullRequirementBody>,
    /// The contexts of checks that have to have succeeded for the commit: at most 50.
    require_checks: Option<Vec<String>>,
    /// Whether no merge commits may be added; false where it isn't said.
    linear: Option<bool>,
    /// Whether no commits may be left behind, and no tag be moved; true where it isn't said.
    block_force_push: Option<bool>,
    /// Whether the branch or the tag may not be deleted; true where it isn't said.
    block_deletion: Option<bool>,
    /// The only ones that may change the branch or the tag; everybody with write access where it isn't said.
    restrict_to: Option<PartiesBody>,
    /// The people, teams and keys that the rule doesn't hold for.
    bypass: Option<PartiesBody>,
}

impl RequestBody for RuleCreate {}

impl RuleCreate {
    pub(super) fn draft(self) -> domain::Result<RuleDraft> {
        let (mut problems, usual) = (Problems::new(), Requirements::default());
        let target = problems.keep(self.target.as_deref().map(target).transpose())?.flatten();
        let patterns = patterns(&self.patterns, &mut problems)?;
        let restrict_to = self.restrict_to.map(|parties| parties.read("restrictTo", &mut problems));
        let bypass = self.bypass.map(|parties| parties.read("bypass", &mut problems)).unwrap_or_default();
        problems.into_result()?;
        let requires = Requirements {
            pull: self.require_pull.map(PullRequirement::from),
            checks: self.require_checks.unwrap_or_default(),
            is_linear: self.linear.unwrap_or(usual.is_linear),
            blocks_force_push: self.block_force_push.unwrap_or(usual.blocks_force_push),
            blocks_deletion: self.block_deletion.unwrap_or(usual.blocks_deletion),
            restrict_to,
        };
        let (target, enabled) = (target.unwrap_or(RuleTarget::Branch), self.enabled.unwrap_or(true));
        RuleDraft { name: self.name, target, patterns, enabled, requires, bypass }.check()
    }
}

/// What is to be changed of a rule; what isn't named stays.
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"enabled": false, "requirePull": null}))]
pub(crate) struct RulePatchBody {
    /// What it is called: 1 to 100 characters.
    name: Option<String>,
    /// `branch` or `tag`.
    target: Option<String>,
    /// The names that it covers: 1 to 20 patterns.
    patterns: Option<Vec<String>>,
    /// Whether it holds.
    enabled: Option<bool>,
    /// What the branch asks of pull requests; null where it is to need none.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<PullRequirementBody>)]
    require_pull: Option<Option<PullRequirementBody>>,
    /// The contexts of checks that have to have succeeded: at most 50.
    require_checks: Option<Vec<String>>,
    /// Whether no merge commits may be added.
    linear: Option<bool>,
    /// Whether no commits may be left behind, and no tag be moved.
    block_force_push: Option<bool>,
    /// Whether the branch or the tag may not be deleted.
    block_deletion: Option<bool>,
    /// The only ones that may change the branch or the tag; null for everybody.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<PartiesBody>)]
    restrict_to: Option<Option<PartiesBody>>,
    /// The people, teams and keys that the rule doesn't hold for.
    bypass: Option<PartiesBody>,
}

impl RequestBody for RulePatchBody {}

impl RulePatchBody {
    pub(super) fn read(self) -> domain::Result<RulePatch> {
        let mut problems = Problems::new();
        let target = problems.keep(self.target.as_deref().map(target).transpose())?.flatten();
        let patterns = self.patterns.map(|texts| patterns(&texts, &mut problems)).transpose()?;
        let restrict_to =
            self.restrict_to.map(|parties| parties.map(|parties| parties.read("restrictTo", &mut problems)));
        let bypass = self.bypass.map(|parties| parties.read("bypass", &mut problems));
        problems.into_result()?;
        Ok(RulePatch {
            name: self.name,
            target,
            patterns,
            enabled: self.enabled,
            pull: self.require_pull.map(|pull| pull.map(PullRequirement::from)),
            checks: self.require_checks,
            is_linear: self.linear,
            blocks_force_push: self.block_force_push,
            blocks_deletion: self.block_deletion,
            restrict_to,
            bypass,
        })
    }
}
