//! Secrets in what is pushed, committed or merged (contract C 2.2, "Secret finding"; `docs/decisions/git.md`).
//!
//! [`SecretScanner`] finds them in the bytes of one file. [`SecretSearch`] goes through the files that are new in a change, and
//! keeps what was found in them: each secret once, apart from those that somebody allowed.

mod finding;
mod fingerprint;
mod private_key;
mod refusal;
mod rule;
mod scanner;
mod search;
mod token;

pub use self::{
    finding::{FoundSecret, SecretFinding},
    fingerprint::{Fingerprint, NotAFingerprint},
    refusal::{FINDINGS_SHOWN_MAX, SecretRefusal},
    rule::SecretRule,
    scanner::SecretScanner,
    search::{FINDINGS_MAX, NewFile, SCANNED_MAX, SecretSearch, SecretsFound},
};
