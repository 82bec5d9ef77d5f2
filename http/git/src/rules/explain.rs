//! What the rules of a repository would say.

use actors::git::rules::{Deciding, decide, rule_actor};
use domain::{
    Authority, Caller, Error, KeyCaller,
    git::{
        ObjectId, RefName,
        rules::{PullFacts, RefAct, RefChange, RuleActor, RuleOutcome},
    },
    id::{KeyId, OrgId, UserId},
    problems::{Problems, all},
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    permission::GitRead,
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::Store;
use utoipa::ToSchema;

/// What is to be supposed of a pull request.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schema(example = json!({"approvals": 1, "freshApprovals": 1, "ownersApprove": true}))]
pub(crate) struct SupposedPull {
    /// How many approve it.
    approvals: u32,
    /// How many of these saw what its head is now.
    fresh_approvals: u32,
    /// How many ask for changes.
    changes_requested: u32,
    /// How many threads aren't resolved.
    open_threads: u32,
    /// Whether everything that it changes was approved by who owns it.
    owners_approve: bool,
}

impl From<SupposedPull> for PullFacts {
    fn from(pull: SupposedPull) -> Self {
        let SupposedPull { approvals, fresh_approvals, changes_requested, open_threads, owners_approve } = pull;
        Self { approvals, fresh_approvals, changes_requested, open_threads, owners_approve }
    }
}

/// A change of a ref that is to be judged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ref": "refs/heads/main", "change": "update"}))]
pub(crate) struct RulesExplain {
    /// The whole name of the branch or tag, as `refs/heads/main`.
    r#ref: String,
    /// The id of the person, or of the key, who would make the change; you where it isn't said.
    who: Option<String>,
    /// What would happen: `create`, `update`, `force`, `delete`, or `merge` for a pull request.
    change: String,
    /// The commit whose checks count: 40 hexadecimal digits. Without it no check has run.
    commit: Option<String>,
    /// Whether merge commits would be added; false where it isn't said.
    adds_merges: Option<bool>,
    /// What is to be supposed of the pull request for a `merge`; nobody approves it where it isn't said.
    pull: Option<SupposedPull>,
}

impl RequestBody for RulesExplain {}

impl RulesExplain {
    fn read(&self) -> domain::Result<RefChange> {
        let name =
            RefName::parse(self.r#ref.as_bytes()).ok_or_else(|| Error::invalid("ref", "This isn't the name of a ref."));
        let commit =
            |text: &str| text.parse::<ObjectId>().map_err(|_| Error::invalid("commit", "Use 40 hexadecimal digits."));
        let (name, act, commit) = all((name, self.act(), self.commit.as_deref().map(commit).transpose()))?;
        let change = RefChange::new(name, act).adding_merges(Some(self.adds_merges.unwrap_or(false)));
        Ok(RefChange { commit, ..change })
    }

    fn act(&self) -> domain::Result<RefAct> {
        match self.change.as_str() {
            "create" => Ok(RefAct::Create),
            "update" => Ok(RefAct::Update),
            "force" => Ok(RefAct::Force),
            "delete" => Ok(RefAct::Delete),
            "merge" => Ok(RefAct::Merge(self.pull.unwrap_or_default().into())),
            _ => Err(Error::invalid("change", "Use one of: create, update, force, delete, merge.")),
        }
    }
}

/// What a rule comes to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "ruleId": "rul_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Main", "verdict": "refused",
    "reasons": ["This branch needs a pull request."]
}))]
pub(crate) struct ExplainedRule {
    /// The rule's id.
    rule_id: String,
    /// What it is called.
    name: String,
    /// `allowed`, `refused`, `bypassed` (it doesn't hold for who makes the change), `disabled`, or `other_refs` where it doesn't cover
    /// this one.
    verdict: &'static str,
    /// What it asks for that the change doesn't have.
    reasons: Vec<String>,
}

impl From<&RuleOutcome> for ExplainedRule {
    fn from(rule: &RuleOutcome) -> Self {
        Self {
            rule_id: rule.rule_id.to_string(),
            name: rule.name.clone(),
            verdict: rule.outcome.as_str(),
            reasons: rule.reasons.iter().map(ToString::to_string).collect(),
        }
    }
}

/// What the rules come to.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExplainAnswer {
    /// `allowed`, `bypassed` or `refused`.
    verdict: &'static str,
    /// Every rule of the repository, the oldest first.
    rules: Vec<ExplainedRule>,
}

/// What the rules would say
///
/// Nothing is done. What is answered is what a push, a commit, a deletion or a merge would be told now.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/rules/explain")]
pub(crate) async fn rules_explain(
    repository: Repository<GitRead>,
    body: Body<RulesExplain>,
    state: State,
) -> Result<Json<ExplainAnswer>> {
    let change = body.read()?;
    let who = match body.who.as_deref() {
        Some(named) => actor(&state.store, repository.org_id(), named).await?,
        None => rule_actor(&repository.context().caller, *repository.org().authority()),
    };
    let deciding = Deciding { store: &state.store, repository: &repository.stored };
    let rulings = decide(deciding, who, vec![change]).await?;
    let ruling = rulings.first().ok_or_else(|| Error::internal("a change was not decided on"))?;
    let rules = ruling.rules.iter().map(ExplainedRule::from).collect();
    Ok(Json(ExplainAnswer { verdict: ruling.outcome().as_str(), rules }))
}

/// The person or the key of this id, as rules see them.
async fn actor(store: &Store, org_id: OrgId, named: &str) -> domain::Result<RuleActor> {
    if let Ok(user_id) = named.parse::<UserId>() {
        return Ok(RuleActor::person(part(store.authority_of_person(org_id, user_id).await)?));
    }
    let key_id: KeyId = named.parse().map_err(|_| nobody())?;
    let key = store.key(org_id, key_id).await?.ok_or_else(nobody)?;
    let caller = Caller::Key(KeyCaller {
        key_id,
        org_id,
        maker: key.maker,
        kind: key.kind,
        scopes: key.scopes,
        is_machine: key.machine_id.is_some(),
    });
    let authority = part(store.authority(org_id, &caller).await)?;
    Ok(rule_actor(&caller, authority))
}

fn part(found: domain::Result<Authority>) -> domain::Result<Authority> {
    match found {
        Err(Error::NotFound { .. }) => Err(nobody()),
        other => other,
    }
}

fn nobody() -> Error {
    let mut problems = Problems::new();
    problems.add("who", "No member and no key of the organization has this id.");
    problems.into_error()
}
