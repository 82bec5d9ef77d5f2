//! Secrets in what is pushed, committed or merged (contract C 2.2, "Secret finding"; `docs/decisions/git.md`).
//!
//! [`SecretScanner`] finds them in the bytes of one file. [`SecretSearch`] goes through the files that are new in a change, and
//! keeps what was found in them: each secret once, apart from those that somebody allowed. What follows from that is a
//! [`SecretRuling`].

mod finding;
mod fingerprint;
mod known;
mod private_key;
mod refusal;
mod rule;
mod scanner;
mod search;
mod token;

pub(super) use self::finding::path_shown;
pub use self::{
    finding::{FoundSecret, SecretFinding},
    fingerprint::{Fingerprint, NotAFingerprint},
    known::{
        ALLOWANCE_NOTE_LEN, ALLOWED_SECRETS_MAX, AllowBy, AllowReason, AllowanceDraft, KnownSecret, OPEN_SECRETS_MAX,
        SECRET_FINDING_NOT_FOUND, SecretAllowance, SecretRuling, SecretState, secret_finding_not_found,
        secret_not_allowed, too_many_allowed_secrets,
    },
    refusal::{FINDINGS_SHOWN_MAX, SecretRefusal},
    rule::SecretRule,
    scanner::SecretScanner,
    search::{FINDINGS_MAX, FoundToken, NewFile, SCANNED_MAX, SecretSearch, SecretsFound},
};
