//! Secrets that were found in what a repository was to take, and those that are allowed in it.

use std::{fmt, str::FromStr};

use actors::git::{AllowSecret, WithdrawSecret};
use domain::{
    Error, Timestamp,
    git::{AllowReason, AllowanceDraft, Fingerprint, KnownSecret, SecretFinding, SecretState},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    paging::PageQuery,
    path::Path,
    permission::{GitRead, GitWrite},
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::git::{SecretList, SecretPlace};
use utoipa::{IntoParams, ToSchema};

/// A secret that was found, which nobody can read here.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "fingerprint": "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e", "rule": "stripe_key", "label": "Stripe live key",
    "preview": "sk_l…mnop", "path": "config/prod.env", "line": 7
}))]
pub(crate) struct SecretFindingBody {
    /// What the secret is known by in this repository.
    fingerprint: String,
    /// `aws_access_key`, `aws_secret_key`, `stripe_key`, `private_key`, `service_token` or `github_token`.
    rule: &'static str,
    /// What people call such a secret.
    label: &'static str,
    /// The first characters and the last.
    preview: String,
    /// The file; missing where the change names its bytes without a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The line that it begins in, from 1.
    line: u32,
}

impl From<SecretFinding> for SecretFindingBody {
    fn from(finding: SecretFinding) -> Self {
        let SecretFinding { secret, path, .. } = finding;
        Self {
            fingerprint: secret.fingerprint.to_string(),
            rule: secret.rule.as_str(),
            label: secret.rule.label(),
            preview: secret.preview,
            path,
            line: secret.line,
        }
    }
}

/// A secret that the repository knows of.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KnownSecretBody {
    /// What was found, where it was found last.
    #[serde(flatten)]
    finding: SecretFindingBody,
    /// The first commit that brought it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// `open`, which is refused, or `allowed`.
    state: &'static str,
    /// When it was found first.
    first_seen_at: i64,
    /// When it was found last.
    last_seen_at: i64,
    /// The person who brought it last, or who made the key that did.
    pushed_by: String,
    /// Why it is allowed: `false_positive`, `test` or `accepted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// What was said about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// The person who allowed it, or who made the key that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_at: Option<i64>,
}

impl From<KnownSecret> for KnownSecretBody {
    fn from(secret: KnownSecret) -> Self {
        let state = secret.state().as_str();
        let KnownSecret { finding, first_seen, last_seen, pushed_by, allowance } = secret;
        let allowance = allowance.as_ref();
        Self {
            commit: finding.commit.map(|oid| oid.to_string()),
            finding: finding.into(),
            state,
            first_seen_at: first_seen.as_millis(),
            last_seen_at: last_seen.as_millis(),
            pushed_by: pushed_by.to_string(),
            reason: allowance.map(|it| it.draft.reason.as_str()),
            note: allowance.map(|it| it.draft.note.clone()).filter(|note| !note.is_empty()),
            allowed_by: allowance.map(|it| it.by.to_string()),
            allowed_at: allowance.map(|it| it.at.as_millis()),
        }
    }
}

/// Where a secret stands in the list.
struct Position(SecretPlace);

impl Position {
    fn of(secret: &KnownSecret) -> Self {
        Self(SecretPlace { first_seen: secret.first_seen, fingerprint: secret.finding.secret.fingerprint })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.first_seen.0, self.0.fingerprint)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (first_seen, fingerprint) = text.split_once(' ').ok_or(())?;
        let first_seen = Timestamp(first_seen.parse().map_err(|_| ())?);
        Ok(Self(SecretPlace { first_seen, fingerprint: fingerprint.parse().map_err(|_| ())? }))
    }
}

/// `?state=&cursor=&limit=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SecretFindingsQuery {
    /// `open`, which holds where it isn't said, or `allowed`.
    state: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for SecretFindingsQuery {
    fn check(&self, problems: &mut Problems) {
        let is_known = self.state.as_deref().is_none_or(|state| SecretState::from_name(state).is_some());
        problems.require(is_known, "state", "Use one of: open, allowed.");
        PageQuery { cursor: None, limit: self.limit }.check(problems);
    }
}

impl SecretFindingsQuery {
    fn state(&self) -> SecretState {
        self.state.as_deref().and_then(SecretState::from_name).unwrap_or(SecretState::Open)
    }

    /// The name of the list in its cursors: each state has its own.
    fn list(&self) -> &'static str {
        match self.state() {
            SecretState::Open => "open-secrets",
            SecretState::Allowed => "allowed-secrets",
        }
    }
}

/// A page of the secrets.
#[derive(Serialize, ToSchema)]
pub(crate) struct SecretFindingsAnswer {
    /// The latest finds first, by when each was found for the first time.
    findings: Vec<KnownSecretBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// One secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct SecretFindingAnswer {
    /// The secret.
    finding: KnownSecretBody,
}

/// Secrets that were found
///
/// `open` are those for which something was refused, as long as nobody allowed them; `allowed` are those that may be in the
/// repository.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/secret-findings", responses(
    (status = 400, description = "Invalid cursor"),
))]
pub(crate) async fn secret_findings_list(
    repository: Repository<GitRead>,
    query: Query<SecretFindingsQuery>,
    state: State,
) -> Result<Json<SecretFindingsAnswer>> {
    let page = PageQuery { cursor: query.cursor.clone(), limit: query.limit }.page::<Position>(query.list())?;
    let after = page.after.as_ref().map(|position| position.0);
    let list = SecretList { state: query.state(), after, limit: page.read_limit() };
    let found = state.store.secret_findings(repository.stored.no, list).await?;
    let (found, cursor) = page.cut(found, Position::of);
    Ok(Json(SecretFindingsAnswer { findings: found.into_iter().map(KnownSecretBody::from).collect(), cursor }))
}

/// Why a secret is allowed.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"reason": "test", "note": "A key of the sandbox"}))]
pub(crate) struct SecretAllow {
    /// `false_positive`, `test` or `accepted`.
    reason: String,
    /// What is to be said about it: up to 500 characters.
    note: Option<String>,
}

impl RequestBody for SecretAllow {}

impl SecretAllow {
    fn draft(self) -> domain::Result<AllowanceDraft> {
        let known = || Error::invalid("reason", "Use one of: false_positive, test, accepted.");
        let reason = AllowReason::from_name(&self.reason).ok_or_else(known);
        let note = AllowanceDraft { reason: AllowReason::Test, note: self.note.unwrap_or_default() }.check();
        let (reason, checked) = all((reason, note))?;
        Ok(AllowanceDraft { reason, ..checked })
    }
}

/// Allow a secret
///
/// What has it in is taken from then on, until that is withdrawn. Where the repository's `secretScan.allowBy` says so, this needs
/// `admin` access.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow", responses(
    (status = 400, description = "A repository has at most 10000 allowed secrets."),
    (status = 403, description = "This needs admin access to the repository."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn secret_finding_allow(
    repository: Repository<GitWrite>,
    body: Body<SecretAllow>,
    Path(fingerprint): Path<Fingerprint>,
    state: State,
) -> Result<Json<SecretFindingAnswer>> {
    let command = AllowSecret { org_id: repository.org_id(), fingerprint, draft: body.into_inner().draft()? };
    let allowed = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(SecretFindingAnswer { finding: allowed.into() }))
}

/// Allow a secret no longer
///
/// What brings it again is refused; where it is in the repository already, it stays.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow", responses(
    (status = 403, description = "This needs admin access to the repository."),
    (status = 409, description =
        "This secret isn't allowed.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn secret_finding_withdraw(
    repository: Repository<GitWrite>,
    Path(fingerprint): Path<Fingerprint>,
    state: State,
) -> Result<NoContent> {
    let command = WithdrawSecret { org_id: repository.org_id(), fingerprint };
    state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(NoContent)
}
