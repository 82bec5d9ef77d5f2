//! Changing the key set.

use actors::vault::PutKeyset;
use domain::{
    Error, Result as DomainResult,
    problems::all,
    vault::{KEYSET_BODY_BYTES_MAX, KeysetDraft, Sealed, kdf_salt},
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    VaultPerson,
    account::{AccountBody, KdfBody},
    proof::VaultProof,
    sealed::AnyJson,
};

/// A key set that is to take the place of the current one.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "kdf": {"alg": "argon2id", "m": 131_072, "t": 4, "p": 4}, "kdfSalt": "q83vASNFZ4mrze8BI0VniQ==",
    "keyset": "c2VhbGVk", "keysetRevision": 1
}))]
pub(crate) struct VaultKeysetPut {
    /// How a device derives its key.
    kdf: KdfBody,
    /// The salt of it, base64.
    kdf_salt: String,
    /// The account's keys, sealed.
    keyset: AnyJson,
    /// The revision that the device last saw.
    #[schema(minimum = 1)]
    keyset_revision: u64,
}

impl RequestBody for VaultKeysetPut {
    const LIMIT: usize = KEYSET_BODY_BYTES_MAX;
}

impl VaultKeysetPut {
    pub(crate) fn draft(self) -> DomainResult<KeysetDraft> {
        let revision = i64::try_from(self.keyset_revision).ok().filter(|revision| *revision >= 1);
        let (kdf, kdf_salt, keyset, seen_revision) = all((
            self.kdf.check(),
            kdf_salt(self.kdf_salt),
            Sealed::from(self.keyset).within("keyset", Sealed::KEY_BYTES_MAX),
            revision.ok_or_else(|| Error::invalid("keysetRevision", "Must be 1 or more.")),
        ))?;
        Ok(KeysetDraft { kdf, kdf_salt, keyset, seen_revision })
    }
}

/// The account after its key set was changed.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultKeysetAnswer {
    /// The account.
    account: AccountBody,
}

/// Change the key set
///
/// Applies only if `keysetRevision` is current. E-mails the person.
#[utoipa::path(put, path = "/v1/me/vault/keyset", responses(
    (status = 404, description = "There's no vault for this account."),
    (status = 409, description = "The vault changed on another device."),
))]
pub(crate) async fn vault_keyset_put(
    person: VaultPerson,
    body: Body<VaultKeysetPut>,
    VaultProof(proof): VaultProof,
    state: State,
) -> Result<Json<VaultKeysetAnswer>> {
    let put = PutKeyset { draft: body.into_inner().draft()?, proof };
    let account = state.actors.vault.ask(&person.user_id(), put, person.context()).await?;
    Ok(Json(VaultKeysetAnswer { account: account.try_into()? }))
}
