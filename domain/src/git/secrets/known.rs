//! Secrets that a repository knows of: found in what was refused, or allowed.

use std::{collections::HashSet, ops::RangeInclusive};

use super::{Fingerprint, SecretFinding, SecretsFound};
use crate::{Error, Result, Timestamp, account::text_check, app::names, git::AccessLevel, id::UserId};

/// Secrets that are allowed in one repository.
pub const ALLOWED_SECRETS_MAX: usize = 10_000;
/// Secrets that one repository keeps of what was refused: the newest.
pub const OPEN_SECRETS_MAX: u64 = 10_000;
/// Characters of what somebody notes who allows a secret.
pub const ALLOWANCE_NOTE_LEN: RangeInclusive<usize> = 0..=500;
/// The message of the 404 for a secret that the repository doesn't know of.
pub const SECRET_FINDING_NOT_FOUND: &str = "Secret finding not found";

names! {
    /// Whether a secret that was found may be in the repository.
    SecretState { Open = "open", Allowed = "allowed", }
}

names! {
    /// Why a secret may be in the repository.
    AllowReason { FalsePositive = "false_positive", Test = "test", Accepted = "accepted", }
}

names! {
    /// What access to a repository it takes to allow secrets in it.
    AllowBy { Write = "write", Admin = "admin", }
}

impl AllowBy {
    /// The access that it takes.
    pub const fn level(self) -> AccessLevel {
        match self {
            Self::Write => AccessLevel::Write,
            Self::Admin => AccessLevel::Admin,
        }
    }
}

/// Why somebody allows a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowanceDraft {
    /// What kind of reason it is.
    pub reason: AllowReason,
    /// What they say about it; may be empty.
    pub note: String,
}

impl AllowanceDraft {
    /// What is noted where the secret is allowed by an option of the push.
    pub const fn by_push() -> Self {
        Self { reason: AllowReason::Accepted, note: String::new() }
    }

    /// The draft without the blanks around its note, where that keeps to its limit.
    pub fn check(self) -> Result<Self> {
        let note = text_check("note", &self.note, &ALLOWANCE_NOTE_LEN)?;
        Ok(Self { note, ..self })
    }
}

/// That a secret may be in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretAllowance {
    /// Why.
    pub draft: AllowanceDraft,
    /// Who allowed it, or made the key that did.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
}

/// A secret that a repository knows of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSecret {
    /// What was found, where it was found last.
    pub finding: SecretFinding,
    /// When it was found first.
    pub first_seen: Timestamp,
    /// When it was found last.
    pub last_seen: Timestamp,
    /// Who brought it last, or made the key that did.
    pub pushed_by: UserId,
    /// That it is allowed.
    pub allowance: Option<SecretAllowance>,
}

impl KnownSecret {
    /// Whether it may be in the repository.
    pub const fn state(&self) -> SecretState {
        match self.allowance {
            Some(_) => SecretState::Allowed,
            None => SecretState::Open,
        }
    }
}

/// What follows from the secrets that were found in a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretRuling {
    /// Those that nobody allows.
    pub open: Vec<SecretFinding>,
    /// Whether there may be more of them.
    pub is_cut: bool,
    /// Those that are allowed from now on, by whoever makes the change.
    pub allowed: Vec<SecretFinding>,
}

impl SecretRuling {
    /// Whether the change is refused.
    pub const fn refuses(&self) -> bool {
        !self.open.is_empty() || self.is_cut
    }
}

impl SecretsFound {
    /// What follows, where these secrets are `allowed` in the repository, and whoever makes the change `allows` those. What was
    /// found open stays so for this change, of which nothing was kept then.
    pub fn ruling(&self, allowed: &HashSet<Fingerprint>, allows: &HashSet<Fingerprint>) -> SecretRuling {
        let mut ruling = SecretRuling { open: self.open.clone(), is_cut: self.is_cut, allowed: Vec::new() };
        for finding in &self.allowed {
            let fingerprint = &finding.secret.fingerprint;
            if allowed.contains(fingerprint) {
                continue;
            }
            let list = if allows.contains(fingerprint) { &mut ruling.allowed } else { &mut ruling.open };
            list.push(finding.clone());
        }
        ruling
    }
}

/// 404: the repository doesn't know of such a secret.
pub fn secret_finding_not_found() -> Error {
    Error::not_found(SECRET_FINDING_NOT_FOUND)
}

/// 409: only what is allowed is withdrawn.
pub fn secret_not_allowed() -> Error {
    Error::conflict("secret_not_allowed", "This secret isn't allowed.")
}

/// 400: as many secrets are allowed in the repository as may be.
pub fn too_many_allowed_secrets() -> Error {
    Error::bad_request("limit_reached", format!("A repository has at most {ALLOWED_SECRETS_MAX} allowed secrets."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::{FoundSecret, ObjectId, SecretRule};

    fn fingerprint(byte: u8) -> Fingerprint {
        Fingerprint::of_bytes([byte; 16])
    }

    fn finding(byte: u8) -> SecretFinding {
        let (rule, preview) = (SecretRule::StripeKey, String::new());
        let secret = FoundSecret { rule, line: 1, fingerprint: fingerprint(byte), preview };
        SecretFinding { secret, path: None, blob: ObjectId::of_bytes([byte; 20]), commit: None }
    }

    #[test]
    fn a_change_is_refused_for_what_nobody_allows_when_it_is_decided() {
        let found = SecretsFound { allowed: vec![finding(1), finding(2)], ..SecretsFound::default() };
        let open = SecretsFound { open: vec![finding(3)], ..found.clone() };
        let set = |bytes: &[u8]| bytes.iter().copied().map(fingerprint).collect();
        let of = |found: &SecretsFound, allowed: &[u8], allows: &[u8]| {
            let ruling = found.ruling(&set(allowed), &set(allows));
            let names = |list: &[SecretFinding]| list.iter().map(|it| it.blob.as_bytes()[0]).collect::<Vec<_>>();
            (names(&ruling.open), names(&ruling.allowed), ruling.refuses())
        };
        assert_eq!(of(&found, &[1, 2], &[]), (vec![], vec![], false));
        assert_eq!(of(&found, &[1], &[1, 2]), (vec![], vec![2], false));
        // Somebody withdrew what was allowed when it was found, or allowed what wasn't.
        assert_eq!(of(&found, &[1], &[]), (vec![2], vec![], true));
        assert_eq!(of(&open, &[1, 2, 3], &[3]), (vec![3], vec![], true));
        assert_eq!(of(&SecretsFound::default(), &[], &[1]), (vec![], vec![], false));
        // What wasn't looked at isn't allowed.
        assert_eq!(of(&SecretsFound { is_cut: true, ..found.clone() }, &[1, 2], &[]), (vec![], vec![], true));
    }

    #[test]
    fn a_note_has_up_to_500_characters() {
        let draft = |len: usize| AllowanceDraft { reason: AllowReason::Test, note: "é".repeat(len) }.check();
        assert!(draft(0).is_ok() && draft(499).is_ok() && draft(500).is_ok() && draft(501).is_err());
    }
}
