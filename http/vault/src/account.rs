//! Account and vault on the wire.

use domain::{
    Result as DomainResult,
    vault::{Account, Kdf, VaultRecord},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sealed::AnyJson;

/// How a device derives its key from the passphrase.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"alg": "argon2id", "m": 65536, "t": 3, "p": 4}))]
pub(crate) struct KdfBody {
    /// `argon2id`
    alg: String,
    /// Memory in KiB.
    #[schema(minimum = 8_192, maximum = 4_194_304)]
    m: u64,
    /// Passes.
    #[schema(minimum = 1, maximum = 64)]
    t: u64,
    /// Lanes.
    #[schema(minimum = 1, maximum = 16)]
    p: u64,
}

impl KdfBody {
    pub(super) fn check(&self) -> DomainResult<Kdf> {
        Kdf { m: self.m, t: self.t, p: self.p }.check(&self.alg)
    }
}

/// What describes the account and its keys.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountBody {
    /// The id that a device gave it.
    account_id: String,
    /// How a device derives its key.
    kdf: KdfBody,
    /// The salt of it, base64.
    kdf_salt: String,
    /// The account's keys, sealed.
    keyset: AnyJson,
    /// Rises by one with every change of the key set.
    keyset_revision: i64,
    /// What others would encrypt to, base64.
    encryption_public_key: String,
    /// What every change of the vault is signed with: an Ed25519 public key, base64.
    signing_public_key: String,
    /// When the account was made.
    created_at: i64,
    /// When the key set was last changed.
    updated_at: i64,
}

impl TryFrom<Account> for AccountBody {
    type Error = domain::Error;

    fn try_from(account: Account) -> DomainResult<Self> {
        let Kdf { m, t, p } = account.kdf;
        Ok(Self {
            account_id: account.account_id.as_str().to_owned(),
            kdf: KdfBody { alg: Kdf::ALG.to_owned(), m, t, p },
            kdf_salt: account.kdf_salt,
            keyset: account.keyset.try_into()?,
            keyset_revision: account.keyset_revision,
            encryption_public_key: account.encryption_public_key,
            signing_public_key: account.signing_key.to_string(),
            created_at: account.created_at.as_millis(),
            updated_at: account.updated_at.as_millis(),
        })
    }
}

/// A vault.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VaultRecordBody {
    /// The id that a device made.
    #[schema(example = "Zm9vYmFyYmF6cXV4cXV1eA")]
    vault_id: String,
    /// `personal`
    kind: &'static str,
    /// `owner`
    role: &'static str,
    /// The vault's key, sealed for its owner.
    envelope: AnyJson,
    /// What describes the vault, sealed.
    attrs: AnyJson,
    /// Counts the changes of `attrs`.
    attrs_revision: i64,
    /// Rises by one with every request that changed an item.
    revision: i64,
    /// Live items.
    item_count: u64,
    /// When the vault was made.
    created_at: i64,
    /// When an item was last changed.
    updated_at: i64,
}

impl TryFrom<VaultRecord> for VaultRecordBody {
    type Error = domain::Error;

    fn try_from(record: VaultRecord) -> DomainResult<Self> {
        Ok(Self {
            vault_id: record.vault_id.to_string(),
            kind: "personal",
            role: "owner",
            envelope: record.envelope.try_into()?,
            attrs: record.attrs.try_into()?,
            attrs_revision: record.attrs_revision,
            revision: record.revision,
            item_count: record.item_count,
            created_at: record.created_at.as_millis(),
            updated_at: record.updated_at.as_millis(),
        })
    }
}
