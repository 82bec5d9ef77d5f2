//! The vault as a whole: reading it, and making it.

use actors::vault::{CreateVault, DeviceSeen};
use domain::{
    Result as DomainResult,
    id::UserId,
    problems::Problems,
    vault::{
        Account, AccountId, CREATE_BODY_BYTES_MAX, DEVICES_MAX, DeviceDraft, DeviceId, Kdf, NewVault, Reset, Sealed,
        SigningKey, VaultId, VaultRecord, device_removed, kdf_salt,
    },
};
use serde::{Deserialize, Serialize};
use store::vault::{StoredDevice, StoredVault};
use utoipa::ToSchema;

use super::{AnyJson, DeviceBody, VaultPerson, VaultProof};
use crate::{
    answer::{Created, Object},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    state::State,
};

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

/// A reset that was asked for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"requestedAt": 1_767_225_600_000_i64, "at": 1_767_830_400_000_i64}))]
pub(crate) struct ResetBody {
    /// When it was asked for.
    requested_at: i64,
    /// From when a new vault may replace the old one.
    at: i64,
}

impl From<Reset> for ResetBody {
    fn from(reset: Reset) -> Self {
        Self { requested_at: reset.requested_at.as_millis(), at: reset.at().as_millis() }
    }
}

/// What bounds a vault.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"maxItems": 10_000, "maxDevices": 20}))]
pub(crate) struct VaultLimits {
    /// Live items.
    max_items: u64,
    /// Devices.
    max_devices: usize,
}

/// A person's vault, or the place where it will be.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultOverview {
    /// The account; null where there is no vault.
    account: Option<AccountBody>,
    /// The vaults that the account opens.
    vaults: Vec<VaultRecordBody>,
    /// The devices that they are on, the oldest first.
    devices: Vec<DeviceBody>,
    /// A reset that was asked for.
    reset: Option<ResetBody>,
    /// What bounds them.
    limits: VaultLimits,
}

/// The device that asks, where it says so.
pub(crate) struct CallingDevice(Option<DeviceId>);

impl CallingDevice {
    const HEADER: &'static str = "X-Vault-Device";
}

impl Argument for CallingDevice {
    fn describe(facts: &mut Facts) {
        facts.header(Self::HEADER, "The id of the device that asks: notes that it was seen.", false);
        facts.error(400, "The request has fields that can't be used as they are.");
        facts.error(403, "This device was removed from your vault.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        if !call.request.headers().contains_key(Self::HEADER) {
            return Ok(Self(None));
        }
        let text = call.header(Self::HEADER).unwrap_or_default();
        Ok(Self(Some(DeviceId::check(Self::HEADER, text)?)))
    }
}

/// The vault
///
/// Everything that describes what is in it is encrypted on the devices. A device that names itself in `X-Vault-Device`
/// learns here that it was removed, and wipes its copy.
#[utoipa::path(get, path = "/v1/me/vault")]
pub(crate) async fn vault_get(
    person: VaultPerson,
    CallingDevice(calling): CallingDevice,
    state: State,
) -> Result<Object<VaultOverview>> {
    let user_id = person.user_id();
    let mut devices = state.store.vault_devices(user_id).await?;
    let caller = devices.iter_mut().find(|stored| Some(stored.device.device_id) == calling);
    if let Some(StoredDevice { device, removed }) = caller {
        let now = state.store.now();
        if *removed {
            return Err(device_removed().into());
        }
        if device.seen_is_due(now) {
            let seen = DeviceSeen { device_id: device.device_id };
            state.actors.vault.ask(&user_id, seen, person.context()).await?;
            device.last_seen_at = now;
        }
    }
    Ok(Object(overview(&state, user_id, devices).await?))
}

async fn overview(state: &State, user_id: UserId, devices: Vec<StoredDevice>) -> Result<VaultOverview> {
    let max_items = state.settings.vault_items_max;
    let mut overview = VaultOverview {
        account: None,
        vaults: Vec::new(),
        devices: Vec::new(),
        reset: None,
        limits: VaultLimits { max_items, max_devices: DEVICES_MAX },
    };
    if let Some(StoredVault { account, record, reset, .. }) = state.store.vault(user_id).await? {
        overview.account = Some(account.try_into()?);
        overview.vaults.push(record.try_into()?);
        overview.reset = reset.map(ResetBody::from);
        let registered = devices.into_iter().filter(|stored| !stored.removed);
        overview.devices = registered.map(|stored| stored.device.into()).collect();
    }
    Ok(overview)
}

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
    /// Its name: 1 to 80 characters after trimming.
    name: String,
    /// `ios`, `android` or `web`
    platform: String,
}

impl RequestBody for VaultCreate {
    const LIMIT: usize = CREATE_BODY_BYTES_MAX;
}

impl VaultCreate {
    fn draft(self) -> DomainResult<NewVault> {
        let mut problems = Problems::new();
        let sealed = |path: &str, json: AnyJson| Sealed::from(json).within(path, Sealed::KEY_BYTES_MAX);
        let account_id = problems.keep(AccountId::parse(self.account_id))?;
        let kdf = problems.keep(self.kdf.check())?;
        let kdf_salt = problems.keep(kdf_salt(self.kdf_salt))?;
        let keyset = problems.keep(sealed("keyset", self.keyset))?;
        let encryption_public_key = problems.keep(NewVault::encryption_public_key(self.encryption_public_key))?;
        let signing_key = problems.keep(SigningKey::parse("signingPublicKey", &self.signing_public_key))?;
        let vault_id = problems.keep(VaultId::check("vault.vaultId", &self.vault.vault_id))?;
        let envelope = problems.keep(sealed("vault.envelope", self.vault.envelope))?;
        let attrs = problems.keep(sealed("vault.attrs", self.vault.attrs))?;
        let VaultCreateDevice { device_id, name, platform } = self.device;
        let device_id = DeviceId::check("device.deviceId", &device_id);
        let device = problems.keep(DeviceDraft::check("device.", device_id, &name, &platform))?;
        let draft = (|| {
            Some(NewVault {
                account_id: account_id?,
                kdf: kdf?,
                kdf_salt: kdf_salt?,
                keyset: keyset?,
                encryption_public_key: encryption_public_key?,
                signing_key: signing_key?,
                vault_id: vault_id?,
                envelope: envelope?,
                attrs: attrs?,
                device: device?,
            })
        })();
        draft.ok_or_else(|| problems.into_error())
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
