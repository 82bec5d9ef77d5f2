//! The authenticator backup (contract A 2.1, 4.1): one encrypted account list per person.
//!
//! The phone encrypts and decrypts; the server keeps the text and counts its revisions, so that two phones cannot
//! overwrite each other unseen.

use std::ops::RangeInclusive;

use crate::{
    base64_text::base64_field,
    error::{Error, Result},
    problems::all,
    time::Timestamp,
};

/// Bytes of a request that saves a backup (contract A 8: 260 KB).
pub const BODY_BYTES_MAX: usize = 260 * 1024;
/// The only format version (contract A 2.1, 9).
pub const VERSION: u64 = 1;
/// Characters of a salt (contract A 4.1).
pub const SALT_LEN: RangeInclusive<usize> = 24..=88;
/// Characters of a ciphertext (contract A 4.1).
pub const CIPHERTEXT_LEN: RangeInclusive<usize> = 40..=262_144;

/// A backup as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// What the phone encrypted with, base64.
    pub salt: String,
    /// Nonce, ciphertext and tag, base64.
    pub ciphertext: String,
    /// Rises by one with every save; the first is 1.
    pub revision: i64,
    /// When the first revision was saved.
    pub created_at: Timestamp,
    /// When this revision was saved.
    pub updated_at: Timestamp,
}

/// What a phone asks to save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupDraft {
    /// What the phone encrypted with, base64.
    pub salt: String,
    /// Nonce, ciphertext and tag, base64.
    pub ciphertext: String,
    /// The revision that the phone last saw; 0 for none.
    pub seen_revision: i64,
}

impl BackupDraft {
    /// Checks what a phone sent against the contract's limits (contract A 4.1).
    pub fn check(version: u64, salt: String, ciphertext: String, revision: u64) -> Result<Self> {
        let is_known = if version == VERSION { Ok(()) } else { Err(Error::invalid("version", "Must be 1.")) };
        let seen_revision =
            i64::try_from(revision).map_err(|_| Error::invalid("revision", "Is larger than any revision."));
        let salt = base64_field("salt", salt, SALT_LEN);
        let ciphertext = base64_field("ciphertext", ciphertext, CIPHERTEXT_LEN);
        let ((), salt, ciphertext, seen_revision) = all((is_known, salt, ciphertext, seen_revision))?;
        Ok(Self { salt, ciphertext, seen_revision })
    }
}

/// What is known of the backup without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupHead {
    /// The revision now.
    pub revision: i64,
    /// When the first revision was saved.
    pub created_at: Timestamp,
}

/// The head after a save, where the phone has seen the current revision (contract A 3: "backup at revision N").
///
/// Nothing when the backup changed since. After a deletion the count starts at 0 again.
pub fn saved_head(current: Option<BackupHead>, seen_revision: i64, now: Timestamp) -> Option<BackupHead> {
    let revision = current.map_or(0, |head| head.revision);
    (revision == seen_revision)
        .then(|| BackupHead { revision: revision + 1, created_at: current.map_or(now, |head| head.created_at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn problem_paths(result: Result<BackupDraft>) -> Vec<String> {
        match result {
            Ok(_) => Vec::new(),
            Err(Error::Invalid { problems }) => problems.into_iter().map(|problem| problem.path).collect(),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn check(version: u64, salt_len: usize, ciphertext_len: usize, revision: u64) -> Vec<String> {
        problem_paths(BackupDraft::check(version, "A".repeat(salt_len), "A".repeat(ciphertext_len), revision))
    }

    #[test]
    fn each_limit_holds_on_both_of_its_sides() {
        assert!(check(1, 24, 40, 0).is_empty());
        assert!(check(1, 88, 262_144, i64::MAX.unsigned_abs()).is_empty());
        assert_eq!(check(1, 23, 40, 0), ["salt"]);
        assert_eq!(check(1, 89, 40, 0), ["salt"]);
        assert_eq!(check(1, 24, 39, 0), ["ciphertext"]);
        assert_eq!(check(1, 24, 262_145, 0), ["ciphertext"]);
        assert_eq!(check(0, 24, 40, 0), ["version"]);
        assert_eq!(check(2, 24, 40, 0), ["version"]);
        assert_eq!(check(1, 24, 40, i64::MAX.unsigned_abs() + 1), ["revision"]);
        assert_eq!(check(2, 0, 0, 0), ["version", "salt", "ciphertext"]);
    }

    #[test]
    fn text_that_is_not_base64_is_refused() {
        let salt = "A".repeat(23) + "-";
        assert_eq!(problem_paths(BackupDraft::check(1, salt, "A".repeat(40), 0)), ["salt"]);
    }

    #[test]
    fn the_first_backup_is_saved_over_revision_0_only() {
        assert_eq!(saved_head(None, 0, NOW), Some(BackupHead { revision: 1, created_at: NOW }));
        assert_eq!(saved_head(None, 1, NOW), None);
    }

    #[test]
    fn a_save_over_the_current_revision_keeps_when_the_first_was_made() {
        let current = Some(BackupHead { revision: 4, created_at: NOW });
        let later = Timestamp(NOW.0 + 1);
        assert_eq!(saved_head(current, 4, later), Some(BackupHead { revision: 5, created_at: NOW }));
        for seen in [0, 3, 5] {
            assert_eq!(saved_head(current, seen, later), None);
        }
    }
}
