//! Making a vault.

use actors::vault::CreateVault;
use domain::{
    Result as DomainResult,
    problems::all,
    vault::{AccountId, CREATE_BODY_BYTES_MAX, DeviceDraft, DeviceId, NewVault, Sealed, SigningKey, VaultId, kdf_salt},
};
use http_shell::{
    answer::Created,
    body::{Body, RequestBody},
    error::Result,
    state::State,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    VaultPerson,
    account::KdfBody,
    overview::{VaultOverview, overview},
    proof::VaultProof,
    sealed::AnyJson,
};

/// A vault that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "accountId": "YWNjb3VudGFjY291bnRhYw", "kdf": {"alg": "argon2id", "m": 65536, "t": 3, "p": 4},
    "kdfSalt": "q83vASNFZ4mrze8BI0VniQ==", "keyset": "c2VhbGVk",
    "encryptionPublicKey": "jNXHt1yrCrtvL5Hd/WY0Tn0O5lM0hGPrVqvOwMOMGz0=",
    "signingPublicKey": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "vault": {"vaultId": "Zm9vYmFyYmF6cXV4cXV1eA", "envelope": "c2VhbGVk", "attrs": "c2VhbGVk"},
    "device": {"deviceId": "ZGV2aWNlZGV2aWNlZGV2aQ", "name": "Ada's phone", "platform": "ios"}
}))]
pub(crate) struct VaultCreate {
    /// The id that the device gives the account.
    account_id: String,
    /// How a device derives its key.
    kdf: KdfBody,
    /// The salt of it, base64.
    kdf_salt: String,
    /// The account's keys, sealed.
    keyset: AnyJson,
    /// What others would encrypt to, base64.
    encryption_public_key: String,
    /// What every change of the vault will be signed with: an Ed25519 public key, base64.
    signing_public_key: String,
    /// The vault.
    vault: VaultCreateRecord,
    /// The device that makes it.
    device: VaultCreateDevice,
}

/// The vault itself.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VaultCreateRecord {
    /// The id that the device made: 22 base64url characters.
    vault_id: String,
    /// The vault's key, sealed for its owner.
    envelope: AnyJson,
    /// What describes the vault, sealed.
    attrs: AnyJson,
}

/// The first device.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VaultCreateDevice {
    /// The id that the device made: 22 base64url characters.
    device_id: String,
    /// The device's name: 1 to 80 characters after trimming.
    name: String,
    /// `ios`, `android` or `web`
    platform: String,
}

impl RequestBody for VaultCreate {
    const LIMIT: usize = CREATE_BODY_BYTES_MAX;
}

impl VaultCreate {
    pub(crate) fn draft(self) -> DomainResult<NewVault> {
        let sealed = |path: &str, json: AnyJson| Sealed::from(json).within(path, Sealed::KEY_BYTES_MAX);
        let account = all((
            AccountId::parse(self.account_id),
            self.kdf.check(),
            kdf_salt(self.kdf_salt),
            sealed("keyset", self.keyset),
        ));
        let public_keys = all((
            NewVault::encryption_public_key(self.encryption_public_key),
            SigningKey::parse("signingPublicKey", &self.signing_public_key),
        ));
        let vault = all((
            VaultId::check("vault.vaultId", &self.vault.vault_id),
            sealed("vault.envelope", self.vault.envelope),
            sealed("vault.attrs", self.vault.attrs),
        ));
        let VaultCreateDevice { device_id, name, platform } = self.device;
        let device_id = DeviceId::check("device.deviceId", &device_id);
        let device = DeviceDraft::check("device.", device_id, &name, &platform);

        let (account, public_keys, vault, device) = all((account, public_keys, vault, device))?;
        let (account_id, kdf, kdf_salt, keyset) = account;
        let (encryption_public_key, signing_key) = public_keys;
        let (vault_id, envelope, attrs) = vault;
        Ok(NewVault {
            account_id,
            kdf,
            kdf_salt,
            keyset,
            encryption_public_key,
            signing_key,
            vault_id,
            envelope,
            attrs,
            device,
        })
    }
}

/// Make a vault
///
/// Account, personal vault and first device are made together; signed with the new vault's own key, by the device in
/// the body. Takes the place of a vault whose reset is due.
#[utoipa::path(post, path = "/v1/me/vault", responses((status = 409, description = "You already have a vault.")))]
pub(crate) async fn vault_create(
    person: VaultPerson,
    body: Body<VaultCreate>,
    VaultProof(proof): VaultProof,
    state: State,
) -> Result<Created<VaultOverview>> {
    let create = CreateVault { vault: body.into_inner().draft()?, proof };
    let user_id = person.user_id();
    state.actors.vault.ask(&user_id, create, person.context()).await?;
    let devices = state.store.vault_devices(user_id).await?;
    Ok(Created(overview(&state, user_id, devices).await?))
}
