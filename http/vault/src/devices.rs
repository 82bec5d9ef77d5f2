//! The devices that the vault is on.

use actors::vault::{PutDevice, RemoveDevice};
use domain::vault::{DEVICE_BODY_BYTES_MAX, Device, DeviceDraft, DeviceId};
use http_shell::{
    answer::Json,
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    path::{Path, PathParameter},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::RevocationKind;
use utoipa::ToSchema;

use super::{VaultPerson, proof::VaultProof};

/// A device that the vault is on.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "deviceId": "ZGV2aWNlZGV2aWNlZGV2aQ", "name": "Ada's phone", "platform": "ios",
    "createdAt": 1_767_225_600_000_i64, "lastSeenAt": 1_767_312_000_000_i64
}))]
pub(crate) struct DeviceBody {
    /// The id that the device made.
    device_id: String,
    /// The device's name.
    name: String,
    /// `ios`, `android` or `web`
    platform: &'static str,
    /// When it was registered.
    created_at: i64,
    /// When it last asked for the vault, to the minute.
    last_seen_at: i64,
}

impl From<Device> for DeviceBody {
    fn from(device: Device) -> Self {
        Self {
            device_id: device.device_id.to_string(),
            name: device.name.to_string(),
            platform: device.platform.as_str(),
            created_at: device.created_at.as_millis(),
            last_seen_at: device.last_seen_at.as_millis(),
        }
    }
}

/// The id that a device registers under. What can't be one is a 400: it is not looked up but made.
pub(crate) struct NewDeviceId(DeviceId);

impl Argument for NewDeviceId {
    fn describe(facts: &mut Facts) {
        facts.path_parameter(
            DeviceId::NAME,
            "The id that the device made: 22 base64url characters.",
            DeviceId::EXAMPLE,
        );
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(DeviceId::check(DeviceId::NAME, call.path_value(DeviceId::NAME)?)?))
    }
}

/// What a device says of itself.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "Ada's phone", "platform": "ios"}))]
pub(crate) struct VaultDevicePut {
    /// The device's name: 1 to 80 characters after trimming.
    name: String,
    /// `ios`, `android` or `web`
    platform: String,
}

impl RequestBody for VaultDevicePut {
    const LIMIT: usize = DEVICE_BODY_BYTES_MAX;
}

/// A device.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultDeviceAnswer {
    /// The device.
    device: DeviceBody,
}

/// The device is gone.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"deleted": true}))]
pub(crate) struct VaultDeviceDeleted {
    /// Always true.
    deleted: bool,
}

/// Register or rename a device
///
/// Signed by the vault with the device's own id. E-mails the person about a new device.
#[utoipa::path(put, path = "/v1/me/vault/devices/{deviceId}", responses(
    (status = 403, description = "This device was removed from your vault."),
    (status = 404, description = "There's no vault for this account."),
    (status = 409, description = "Your vault is on 20 devices already. Remove one first."),
))]
pub(crate) async fn vault_device_put(
    person: VaultPerson,
    NewDeviceId(device_id): NewDeviceId,
    body: Body<VaultDevicePut>,
    VaultProof(proof): VaultProof,
    state: State,
) -> Result<Json<VaultDeviceAnswer>> {
    let draft = DeviceDraft::check("", Ok(device_id), &body.name, &body.platform)?;
    let device = state.actors.vault.ask(&person.user_id(), PutDevice { draft, proof }, person.context()).await?;
    Ok(Json(VaultDeviceAnswer { device: device.into() }))
}

/// Remove a device
///
/// Signed by the vault on a registered device, which may remove itself. The sign-in that the removed device syncs over ends,
/// unless it is the one that asks: whatever it asks for next is 401 with the code `device_removed`, and it wipes its copy.
/// The device can never be registered again.
#[utoipa::path(delete, path = "/v1/me/vault/devices/{deviceId}", responses(
    (status = 404, description = "There's no vault for this account.\n\nThat device isn't in your vault."),
))]
pub(crate) async fn vault_device_delete(
    person: VaultPerson,
    Path(device_id): Path<DeviceId>,
    VaultProof(proof): VaultProof,
    state: State,
) -> Result<Json<VaultDeviceDeleted>> {
    let command = RemoveDevice { device_id, proof };
    let ended = state.actors.vault.ask(&person.user_id(), command, person.context()).await?;
    if let Some(sign_in_id) = ended {
        state.credentials.refresh(RevocationKind::SignIn, sign_in_id);
    }
    Ok(Json(VaultDeviceDeleted { deleted: true }))
}
