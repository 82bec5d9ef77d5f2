//! Reading the vault as a whole.

use actors::vault::DeviceSeen;
use domain::{
    id::UserId,
    vault::{DEVICES_MAX, DeviceId, Reset, device_removed},
};
use http_shell::{answer::Object, argument::Argument, call::Call, error::Result, facts::Facts, state::State};
use serde::Serialize;
use store::vault::{StoredDevice, StoredVault};
use utoipa::ToSchema;

use super::{
    VaultPerson,
    account::{AccountBody, VaultRecordBody},
    devices::DeviceBody,
};

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
/// Everything that describes what is in it is encrypted on the devices. A device that was removed reads 401 with the code
/// `device_removed` here as everywhere, and wipes its copy; one that signed in anew since and names itself in
/// `X-Vault-Device` learns it here.
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

pub(super) async fn overview(state: &State, user_id: UserId, devices: Vec<StoredDevice>) -> Result<VaultOverview> {
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
