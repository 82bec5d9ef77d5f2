//! Secrets in what a change brings: refusing it, noting what was found, and what may be in the repository after all.
//!
//! What is scanned is scanned before the turn ([`GitHost::scan`](crate::host::GitHost::scan)). A turn reads again what is allowed,
//! and has what follows of that be in its own commit, whether it does what it was asked for or not.

use std::collections::HashSet;

use domain::{
    Authority, Error, Result,
    git::{
        ALLOWED_SECRETS_MAX, AccessLevel, AllowBy, AllowanceDraft, Fingerprint, KnownSecret, LargeFiles,
        SecretAllowance, SecretFinding, SecretRefusal, SecretRuling, SecretsFound, repository_deleted,
        secret_finding_not_found, secret_not_allowed, too_many_allowed_secrets,
    },
    id::OrgId,
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use serde_json::{Value, json};
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    git::StoredRepository,
};

use crate::{
    Repository,
    leaks::{LeakedToken, Leaks},
    resource::{found, reaches},
};

/// What was found in what a change brings.
#[derive(Clone, Debug, Default)]
pub struct Scanned {
    /// The secrets.
    pub found: SecretsFound,
    /// Those that whoever makes the change allows with it, where they may.
    pub allows: HashSet<Fingerprint>,
    /// The tokens among the secrets that open something here.
    pub leaked: Vec<LeakedToken>,
    /// Files that are too large to be pushed.
    pub large: LargeFiles,
}

/// Why a change is refused in which there are secrets.
#[derive(Clone, Debug)]
pub struct SecretsRefused {
    /// The secrets that nobody allowed.
    pub findings: Vec<SecretFinding>,
    /// Whether there may be more.
    pub is_cut: bool,
    /// What access it takes to allow them.
    pub allow_by: AllowBy,
}

impl SecretsRefused {
    /// What people are told of it.
    pub fn refusal(&self) -> SecretRefusal<'_> {
        SecretRefusal { findings: &self.findings, is_cut: self.is_cut, allow_by: self.allow_by }
    }
}

/// What a turn makes of the secrets in a change.
pub(crate) struct Decided {
    ruling: SecretRuling,
    allow_by: AllowBy,
    leaks: Leaks,
}

impl Scanned {
    /// Whether the change is refused, whatever is decided: nothing of it is to be kept.
    pub const fn refuses(&self) -> bool {
        !self.found.open.is_empty() || self.found.is_cut
    }

    /// Decides on the secrets of a change of the repository. Nothing is written yet.
    pub(crate) async fn decide(
        &self,
        store: &Store,
        (repository, authority): (&StoredRepository, &Authority),
    ) -> Result<Decided> {
        let allow_by = repository.settings.allow_secrets_by;
        let Self { found, allows, leaked, .. } = self;
        if found.open.is_empty() && found.allowed.is_empty() && !found.is_cut {
            return Ok(Decided { ruling: SecretRuling::default(), allow_by, leaks: Leaks::default() });
        }
        let allowed = store.allowed_secrets(repository.no).await?;
        let nothing = HashSet::new();
        let allows = match reaches(store, authority, repository, allow_by.level()).await {
            Ok(_) => allows,
            Err(Error::Forbidden { .. }) => &nothing,
            Err(error) => return Err(error),
        };
        let ruling = found.ruling(&allowed, allows);
        if !ruling.refuses() && allowed.len() + ruling.allowed.len() > ALLOWED_SECRETS_MAX {
            return Err(too_many_allowed_secrets());
        }
        let leaks = Leaks::of(store, repository, &ruling, leaked).await?;
        Ok(Decided { ruling, allow_by, leaks })
    }
}

impl Decided {
    /// Notes what was found in a change that is refused for it; why it is.
    pub(crate) fn refuse(
        &self,
        change: &mut Change,
        turn: &Turn<'_, Repository>,
        (repository, authority): (&StoredRepository, &Authority),
    ) -> Result<Option<SecretsRefused>> {
        let Self { ruling, allow_by, leaks } = self;
        if !ruling.refuses() {
            return Ok(None);
        }
        change.secrets_found(repository.no, authority.on_behalf_of()?, turn.now(), &ruling.open);
        leaks.tell(change, turn.now(), &ruling.open);
        Ok(Some(SecretsRefused { findings: ruling.open.clone(), is_cut: ruling.is_cut, allow_by: *allow_by }))
    }

    /// Allows what whoever makes the change allows with it, and audits that. For a change that is made.
    pub(crate) fn allow(
        &self,
        change: &mut Change,
        turn: &Turn<'_, Repository>,
        (repository, authority): (&StoredRepository, &Authority),
    ) -> Result<()> {
        let allowed = &self.ruling.allowed;
        if allowed.is_empty() {
            return Ok(());
        }
        let (by, at) = (authority.on_behalf_of()?, turn.now());
        change.secrets_found(repository.no, by, at, allowed);
        self.leaks.tell(change, at, allowed);
        let allowance = SecretAllowance { draft: AllowanceDraft::by_push(), by, at };
        for finding in allowed {
            change.secret_allow(repository.no, finding.secret.fingerprint, &allowance);
            audit(change, turn, repository, Audited::allowed(finding, &allowance.draft));
        }
        Ok(())
    }
}

/// What the audit trail says of a secret.
struct Audited<'f> {
    act: &'static str,
    finding: &'f SecretFinding,
    about: Value,
}

impl<'f> Audited<'f> {
    fn allowed(finding: &'f SecretFinding, draft: &AllowanceDraft) -> Self {
        let about = json!({ "reason": draft.reason, "note": draft.note });
        Self { act: "secret_finding.allowed", finding, about }
    }

    fn withdrawn(finding: &'f SecretFinding) -> Self {
        Self { act: "secret_finding.withdrawn", finding, about: json!({}) }
    }
}

fn audit(change: &mut Change, turn: &Turn<'_, Repository>, repository: &StoredRepository, audited: Audited<'_>) {
    let Audited { act, finding, mut about } = audited;
    let (resource, secret) = (&repository.resource, &finding.secret);
    let target = AuditTarget::new("secret_finding", secret.fingerprint).labelled(finding.place());
    let entry = AuditEntry::new(turn.context(), act, target).in_org(resource.org_id);
    about["repository"] = json!({ "resourceId": resource.id, "name": resource.name });
    about["rule"] = json!(secret.rule);
    change.audit_add(turn.now(), entry.with_metadata(about));
}

/// Allows a secret that the repository knows of.
#[derive(Clone, Debug)]
pub struct AllowSecret {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which secret.
    pub fingerprint: Fingerprint,
    /// Why.
    pub draft: AllowanceDraft,
}

/// Has a secret be allowed no longer.
#[derive(Clone, Copy, Debug)]
pub struct WithdrawSecret {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which secret.
    pub fingerprint: Fingerprint,
}

/// A secret on which somebody decides who may.
struct Deciding {
    repository: StoredRepository,
    authority: Authority,
    secret: KnownSecret,
}

impl Deciding {
    async fn read(turn: &Turn<'_, Repository>, org_id: OrgId, fingerprint: Fingerprint) -> Result<Self> {
        let store = &turn.services().store;
        let authority = turn.authority(org_id).await?;
        let repository = found(store, org_id, *turn.key()).await?;
        reaches(store, &authority, &repository, AccessLevel::Write).await?;
        reaches(store, &authority, &repository, repository.settings.allow_secrets_by.level()).await?;
        if repository.resource.status == ResourceStatus::Deleting {
            return Err(repository_deleted());
        }
        let secret = store.secret_finding(repository.no, fingerprint).await?.ok_or_else(secret_finding_not_found)?;
        Ok(Self { repository, authority, secret })
    }

    /// What is written whatever is decided.
    fn change(&self, turn: &Turn<'_, Repository>, audited: Audited<'_>) -> Change {
        let mut change = Change::new();
        change.repository_set(&self.repository);
        audit(&mut change, turn, &self.repository, audited);
        change
    }
}

impl Command for AllowSecret {
    type Reply = KnownSecret;

    const NAME: &'static str = "allow_secret";
}

impl Handle<AllowSecret> for Repository {
    async fn handle(&mut self, command: &AllowSecret, turn: &mut Turn<'_, Self>) -> Result<KnownSecret> {
        let AllowSecret { org_id, fingerprint, draft } = command;
        let deciding = Deciding::read(turn, *org_id, *fingerprint).await?;
        let (no, secret) = (deciding.repository.no, &deciding.secret);
        if secret.allowance.as_ref().is_some_and(|before| before.draft == *draft) {
            return Ok(secret.clone());
        }
        let is_new = secret.allowance.is_none();
        if is_new && turn.services().store.allowed_secrets(no).await?.len() >= ALLOWED_SECRETS_MAX {
            return Err(too_many_allowed_secrets());
        }
        let by = deciding.authority.on_behalf_of()?;
        let allowance = SecretAllowance { draft: draft.clone(), by, at: turn.now() };
        let mut change = deciding.change(turn, Audited::allowed(&secret.finding, draft));
        change.secret_allow(no, *fingerprint, &allowance);
        turn.commit(change).await?;
        Ok(KnownSecret { allowance: Some(allowance), ..deciding.secret })
    }
}

impl Command for WithdrawSecret {
    type Reply = ();

    const NAME: &'static str = "withdraw_secret";
}

impl Handle<WithdrawSecret> for Repository {
    async fn handle(&mut self, command: &WithdrawSecret, turn: &mut Turn<'_, Self>) -> Result<()> {
        let deciding = Deciding::read(turn, command.org_id, command.fingerprint).await?;
        if deciding.secret.allowance.is_none() {
            return Err(secret_not_allowed());
        }
        let mut change = deciding.change(turn, Audited::withdrawn(&deciding.secret.finding));
        change.secret_withdraw(deciding.repository.no, command.fingerprint);
        turn.commit(change).await
    }
}
