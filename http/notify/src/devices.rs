//! Devices for push messages.

use actors::notify::inbox::{PutPushDevice, RemovePushDevice};
use domain::{
    App, Platform,
    notify::{
        DEVICE_ATTR_BYTES_MAX, PushPlatform, TOKEN_LEN, WebSubscription, app_check, not_the_mobile_app, platform_check,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Json, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    caller::Person,
    error::Result,
    facts::Facts,
    query::{Query, RequestQuery},
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{PushDevice, notify::DeviceAttrs};
use utoipa::{IntoParams, ToSchema};

use super::{
    NotifyPerson,
    door::{NewDeviceId, NotifyDoor},
};

/// A device that is registered for push messages. Its token is never shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "deviceId": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "appId": "assistant", "platform": "ios", "name": "Ada's phone",
    "model": "iPhone17,1", "osVersion": "26.1", "appVersion": "4.2.0", "createdAt": 1_767_225_600_000_i64,
    "updatedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct NotificationDevice {
    /// The install id of the phone or browser.
    device_id: String,
    /// The app there.
    app_id: &'static str,
    /// `ios`, `android` or `web`
    platform: &'static str,
    /// What its owner calls it.
    #[serde(skip_serializing_if = "Value::is_null")]
    name: Value,
    /// What its maker calls it.
    #[serde(skip_serializing_if = "Value::is_null")]
    model: Value,
    /// The version of what it runs on.
    #[serde(skip_serializing_if = "Value::is_null")]
    os_version: Value,
    /// The version of the app.
    #[serde(skip_serializing_if = "Value::is_null")]
    app_version: Value,
    /// Since when it is registered.
    created_at: i64,
    /// When it last registered.
    updated_at: i64,
}

impl From<PushDevice> for NotificationDevice {
    fn from(device: PushDevice) -> Self {
        Self {
            device_id: device.key.device_id,
            app_id: device.key.app.as_str(),
            platform: device.platform.as_str(),
            name: device.attrs.name,
            model: device.attrs.model,
            os_version: device.attrs.os_version,
            app_version: device.attrs.app_version,
            created_at: device.created_at.as_millis(),
            updated_at: device.updated_at.as_millis(),
        }
    }
}

/// The devices.
#[derive(Serialize, ToSchema)]
pub(crate) struct DevicesAnswer {
    /// The one that registered last first.
    devices: Vec<NotificationDevice>,
}

/// Your devices for push messages
#[utoipa::path(get, path = "/v1/me/notifications/devices")]
pub(crate) async fn notify_devices_list(person: NotifyPerson, state: State) -> Result<Json<DevicesAnswer>> {
    let mut devices = state.store.push_devices(person.user_id()).await?;
    devices.reverse();
    Ok(Json(DevicesAnswer { devices: devices.into_iter().map(NotificationDevice::from).collect() }))
}

const fn default_app() -> App {
    App::Assistant
}

/// A device that wants push messages.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "token": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "platform": "ios", "appId": "assistant",
    "name": "Ada's phone", "model": "iPhone17,1", "osVersion": "26.1", "appVersion": "4.2.0"
}))]
pub(crate) struct DevicePut {
    /// What the carrier knows the app on the device by: 1 to 4,096 characters. For `web` the JSON text of the push
    /// subscription's `{endpoint, p256dh, auth}`.
    token: String,
    /// `ios` or `android` from the mobile app, `web` from a browser.
    #[schema(value_type = String, example = "ios")]
    platform: PushPlatform,
    /// The app that is signed in.
    #[serde(default = "default_app")]
    #[schema(value_type = String, default = "assistant")]
    app_id: App,
    /// What its owner calls it; any JSON.
    #[serde(default)]
    name: Value,
    /// What its maker calls it; any JSON.
    #[serde(default)]
    model: Value,
    /// The version of what it runs on; any JSON.
    #[serde(default)]
    os_version: Value,
    /// The version of the app; any JSON.
    #[serde(default)]
    app_version: Value,
}

impl RequestBody for DevicePut {
    fn check(&self, problems: &mut Problems) {
        let is_plain = self.token.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let fits = TOKEN_LEN.contains(&self.token.len()) && is_plain;
        problems.require(fits, "token", "Use 1 to 4096 characters of ASCII.");
        let attrs = [
            ("name", &self.name),
            ("model", &self.model),
            ("osVersion", &self.os_version),
            ("appVersion", &self.app_version),
        ];
        for (path, value) in attrs {
            problems.require(value.to_string().len() <= DEVICE_ATTR_BYTES_MAX, path, "Use at most 1024 bytes of JSON.");
        }
    }
}

/// The body of a registration. A sign-in that may register nothing reads so whatever it sends, and so does one in a browser
/// that sends anything but a browser's registration.
pub(crate) struct DeviceBody(DevicePut);

impl Argument for DeviceBody {
    fn describe(facts: &mut Facts) {
        Body::<DevicePut>::describe(facts);
        facts.door("the mobile app, or a browser for itself", &not_the_mobile_app().to_string());
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let platform = Person::<NotifyDoor>::take(call).await?.caller().platform;
        if !platform.is_mobile() {
            let raw = call.read_body(DevicePut::LIMIT, DevicePut::TOO_LARGE).await?;
            let sent = serde_json::from_slice::<Value>(&raw).unwrap_or_default();
            if platform != Platform::Web || sent["platform"] != PushPlatform::Web.as_str() {
                return Err(not_the_mobile_app().into());
            }
        }
        let sent = Body::<DevicePut>::take(call).await?.into_inner();
        platform_check(platform, sent.platform)?;
        Ok(Self(sent))
    }
}

/// Register a device for push messages
///
/// The registration goes with the sign-in: signing out removes it. A browser registers itself as `web`; of phones, the
/// mobile app does. A person has at most 50; a further one takes the place of the one that registered longest ago.
#[utoipa::path(put, path = "/v1/me/notifications/devices/{deviceId}", responses(
    (status = 400, description = "appId does not match the signed-in app"),
))]
pub(crate) async fn notify_device_put(
    person: NotifyPerson,
    DeviceBody(sent): DeviceBody,
    NewDeviceId(device_id): NewDeviceId,
    state: State,
) -> Result<Json<Done>> {
    app_check(sent.app_id, person.caller().app)?;
    if sent.platform == PushPlatform::Web {
        WebSubscription::parse("token", &sent.token)?;
    }
    let command = PutPushDevice {
        sign_in_id: person.sign_in_id(),
        device_id,
        app: sent.app_id,
        platform: sent.platform,
        token: sent.token,
        attrs: DeviceAttrs {
            name: sent.name,
            model: sent.model,
            os_version: sent.os_version,
            app_version: sent.app_version,
        },
    };
    state.actors.inbox.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(Done::new()))
}

/// The app on the device.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct DeviceQuery {
    /// The app there; `assistant` by default.
    #[serde(default = "default_app")]
    #[param(value_type = Option<String>)]
    app_id: App,
}

impl RequestQuery for DeviceQuery {}

/// The id of a registration that is to go; one that there isn't is gone already.
pub(crate) struct RegisteredDevice(String);

impl Argument for RegisteredDevice {
    fn describe(facts: &mut Facts) {
        NewDeviceId::describe_parameter(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(call.path_value(NewDeviceId::NAME)?.to_owned()))
    }
}

/// A person whose sign-in may register devices.
pub(crate) struct Registrar(NotifyPerson);

impl Argument for Registrar {
    fn describe(facts: &mut Facts) {
        NotifyPerson::describe(facts);
        facts.door("the mobile app, or a browser for itself", &not_the_mobile_app().to_string());
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let person = NotifyPerson::take(call).await?;
        let platform = person.caller().platform;
        if platform.is_mobile() || platform == Platform::Web {
            Ok(Self(person))
        } else {
            Err(not_the_mobile_app().into())
        }
    }
}

/// Remove a device for push messages
///
/// From the mobile app any of the person's devices, from a browser the person's browsers.
#[utoipa::path(delete, path = "/v1/me/notifications/devices/{deviceId}")]
pub(crate) async fn notify_device_delete(
    Registrar(person): Registrar,
    RegisteredDevice(device_id): RegisteredDevice,
    Query(DeviceQuery { app_id }): Query<DeviceQuery>,
    state: State,
) -> Result<NoContent> {
    let command = RemovePushDevice { platform: person.caller().platform, device_id, app: app_id };
    state.actors.inbox.ask(&person.user_id(), command, person.context()).await?;
    Ok(NoContent)
}
