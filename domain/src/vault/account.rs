//! The account that opens a vault, and the vault itself, as they are kept (contract A 2.2).

use std::ops::RangeInclusive;

use super::{Device, DeviceDraft, Sealed, SigningKey, VaultId};
use crate::{
    base64_text::base64_field,
    error::{Error, Result},
    id::SignInId,
    problems::Problems,
    time::Timestamp,
};

/// Characters of an account id.
const ACCOUNT_ID_LEN: RangeInclusive<usize> = 1..=128;
/// Characters of the salt of the key derivation.
const KDF_SALT_LEN: RangeInclusive<usize> = 4..=128;
/// Characters of the public key that others would encrypt to.
const ENCRYPTION_KEY_LEN: RangeInclusive<usize> = 4..=1_024;

/// The id that a device gave the account: 1 to 128 characters, none of them a control character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountId(String);

impl AccountId {
    /// Reads an account id.
    pub fn parse(text: String) -> Result<Self> {
        if !ACCOUNT_ID_LEN.contains(&text.chars().count()) || text.chars().any(char::is_control) {
            return Err(Error::invalid(
                "accountId",
                "Must have 1 to 128 characters, none of them a control character.",
            ));
        }
        Ok(Self(text))
    }

    /// An id that was checked when it was stored.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How the device derives its key from the passphrase; the algorithm is always argon2id (contract A 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kdf {
    /// Memory in KiB.
    pub m: u64,
    /// Passes.
    pub t: u64,
    /// Lanes.
    pub p: u64,
}

impl Kdf {
    /// The only algorithm (contract A 9).
    pub const ALG: &'static str = "argon2id";
    /// KiB: from what a phone spares to 4 GiB.
    const M: RangeInclusive<u64> = 8_192..=4_194_304;
    const T: RangeInclusive<u64> = 1..=64;
    const P: RangeInclusive<u64> = 1..=16;

    /// The parameters, where they are within bounds.
    pub fn check(self, alg: &str) -> Result<Self> {
        let mut problems = Problems::new();
        if alg != Self::ALG {
            problems.add("kdf.alg", "Must be argon2id.");
        }
        for (path, value, range) in [("kdf.m", self.m, Self::M), ("kdf.t", self.t, Self::T), ("kdf.p", self.p, Self::P)]
        {
            if !range.contains(&value) {
                problems.add(path, format!("Must be from {} to {}.", range.start(), range.end()));
            }
        }
        problems.into_result().map(|()| self)
    }
}

/// The salt of the key derivation, as base64 text.
pub fn kdf_salt(text: String) -> Result<String> {
    base64_field("kdfSalt", text, KDF_SALT_LEN)
}

/// What describes the account and its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The id that a device gave it.
    pub account_id: AccountId,
    /// How a device derives its key.
    pub kdf: Kdf,
    /// The salt of it, base64.
    pub kdf_salt: String,
    /// The account's keys, sealed.
    pub keyset: Sealed,
    /// Rises by one with every change of the key set; the first is 1.
    pub keyset_revision: i64,
    /// What others would encrypt to, base64.
    pub encryption_public_key: String,
    /// What every change of the vault is signed with.
    pub signing_key: SigningKey,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When the key set was last changed.
    pub updated_at: Timestamp,
}

/// A vault as it is kept, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultRecord {
    /// The id that a device made.
    pub vault_id: VaultId,
    /// The vault's key, sealed for its owner.
    pub envelope: Sealed,
    /// What describes the vault, sealed.
    pub attrs: Sealed,
    /// Counts the changes of `attrs`; the first is 1.
    pub attrs_revision: i64,
    /// Rises by one with every request that changed an item; 0 for a vault that never had one.
    pub revision: i64,
    /// Live items.
    pub item_count: u64,
    /// When the vault was made.
    pub created_at: Timestamp,
    /// When an item was last changed.
    pub updated_at: Timestamp,
}

/// A vault that is to be made, with its account and its first device.
#[derive(Clone, Debug)]
pub struct NewVault {
    /// The id that the device gave the account.
    pub account_id: AccountId,
    /// How a device derives its key.
    pub kdf: Kdf,
    /// The salt of it, base64.
    pub kdf_salt: String,
    /// The account's keys, sealed.
    pub keyset: Sealed,
    /// What others would encrypt to, base64.
    pub encryption_public_key: String,
    /// What every change of the vault will be signed with, this creation included.
    pub signing_key: SigningKey,
    /// The id that the device made.
    pub vault_id: VaultId,
    /// The vault's key, sealed for its owner.
    pub envelope: Sealed,
    /// What describes the vault, sealed.
    pub attrs: Sealed,
    /// The device that makes it.
    pub device: DeviceDraft,
}

impl NewVault {
    /// The public key that others would encrypt to, as base64 text.
    pub fn encryption_public_key(text: String) -> Result<String> {
        base64_field("encryptionPublicKey", text, ENCRYPTION_KEY_LEN)
    }

    /// The account that it starts with.
    pub fn account(&self, now: Timestamp) -> Account {
        Account {
            account_id: self.account_id.clone(),
            kdf: self.kdf,
            kdf_salt: self.kdf_salt.clone(),
            keyset: self.keyset.clone(),
            keyset_revision: 1,
            encryption_public_key: self.encryption_public_key.clone(),
            signing_key: self.signing_key,
            created_at: now,
            updated_at: now,
        }
    }

    /// The vault that it starts with.
    pub fn record(&self, now: Timestamp) -> VaultRecord {
        VaultRecord {
            vault_id: self.vault_id,
            envelope: self.envelope.clone(),
            attrs: self.attrs.clone(),
            attrs_revision: 1,
            revision: 0,
            item_count: 0,
            created_at: now,
            updated_at: now,
        }
    }

    /// The device that it starts with.
    pub fn first_device(&self, sign_in_id: Option<SignInId>, now: Timestamp) -> Device {
        Device::registered(&self.device, sign_in_id, now)
    }
}

/// A key set that is to take the place of the current one (contract A 4.2, `PUT /v1/me/vault/keyset`).
#[derive(Clone, Debug)]
pub struct KeysetDraft {
    /// How a device derives its key.
    pub kdf: Kdf,
    /// The salt of it, base64.
    pub kdf_salt: String,
    /// The account's keys, sealed.
    pub keyset: Sealed,
    /// The revision that the device last saw.
    pub seen_revision: i64,
}

impl Account {
    /// The account with the new key set, where the device has seen the current one.
    pub fn with_keyset(&self, draft: &KeysetDraft, now: Timestamp) -> Option<Self> {
        (draft.seen_revision == self.keyset_revision).then(|| Self {
            kdf: draft.kdf,
            kdf_salt: draft.kdf_salt.clone(),
            keyset: draft.keyset.clone(),
            keyset_revision: self.keyset_revision + 1,
            updated_at: now,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kdf(m: u64, t: u64, p: u64) -> bool {
        Kdf { m, t, p }.check("argon2id").is_ok()
    }

    #[test]
    fn each_kdf_bound_holds_on_both_of_its_sides() {
        assert!(kdf(8_192, 1, 1));
        assert!(kdf(4_194_304, 64, 16));
        assert!(!kdf(8_191, 1, 1));
        assert!(!kdf(4_194_305, 1, 1));
        assert!(!kdf(8_192, 0, 1));
        assert!(!kdf(8_192, 65, 1));
        assert!(!kdf(8_192, 1, 0));
        assert!(!kdf(8_192, 1, 17));
    }

    #[test]
    fn every_kdf_field_at_fault_is_named() {
        let Err(Error::Invalid { problems }) = Kdf { m: 0, t: 0, p: 0 }.check("scrypt") else { panic!() };
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["kdf.alg", "kdf.m", "kdf.t", "kdf.p"]);
    }

    #[test]
    fn an_account_id_is_short_printable_text() {
        assert!(AccountId::parse("a".repeat(128)).is_ok());
        for text in [String::new(), "a".repeat(129), "a\0".into()] {
            assert!(AccountId::parse(text).is_err());
        }
    }
}
