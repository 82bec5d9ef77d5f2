//! Where the person can be pushed to.

use domain::{
    App, Error, Platform, Result,
    id::SignInId,
    notify::{DEVICES_MAX, PushPlatform, is_install_id, not_the_mobile_app},
};
use kernel::{Command, Handle, Turn};
use store::{Change, PushDevice, PushKey, notify::DeviceAttrs};

use super::Inbox;

/// Registers a device for push messages, or refreshes its registration.
#[derive(Clone, Debug)]
pub struct PutPushDevice {
    /// The sign-in that asks, and that the registration goes with.
    pub sign_in_id: SignInId,
    /// The install id of the phone or browser.
    pub device_id: String,
    /// The app there.
    pub app: App,
    /// Who carries messages to it.
    pub platform: PushPlatform,
    /// What that carrier knows it by.
    pub token: String,
    /// What the device says of itself.
    pub attrs: DeviceAttrs,
}

/// Removes a registration, where there is one.
#[derive(Clone, Debug)]
pub struct RemovePushDevice {
    /// What the sign-in that asks runs on: one in a browser removes browsers only.
    pub platform: Platform,
    /// The install id of the phone or browser.
    pub device_id: String,
    /// The app there.
    pub app: App,
}

impl Command for PutPushDevice {
    type Reply = ();

    const NAME: &'static str = "put_push_device";
}

impl Handle<PutPushDevice> for Inbox {
    async fn handle(&mut self, command: &PutPushDevice, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, user_id, now) = (&turn.services().store, *turn.key(), turn.now());
        signed_in(turn, command.sign_in_id).await?;
        let key = PushKey { user_id, device_id: command.device_id.clone(), app: command.app };
        // Read before the count: of two that are new at once, one is decided again.
        let person = store.person(user_id).await?.ok_or(Error::Unauthenticated)?;
        let registered = store.push_devices(user_id).await?;
        let known = registered.iter().find(|device| device.key == key);
        let device = PushDevice {
            key,
            sign_in_id: command.sign_in_id,
            platform: command.platform,
            token: command.token.clone(),
            attrs: command.attrs.clone(),
            created_at: known.map_or(now, |known| known.created_at),
            updated_at: now,
        };
        let mut change = Change::new();
        if known.is_none() {
            change.person_turn(&person);
        }
        let beyond = if known.is_none() { (registered.len() + 1).saturating_sub(DEVICES_MAX) } else { 0 };
        for oldest in &registered[..beyond] {
            change.push_device_remove(&oldest.key);
        }
        change.push_device_put(&device);
        turn.commit(change).await
    }
}

impl Command for RemovePushDevice {
    type Reply = ();

    const NAME: &'static str = "remove_push_device";
}

impl Handle<RemovePushDevice> for Inbox {
    async fn handle(&mut self, command: &RemovePushDevice, turn: &mut Turn<'_, Self>) -> Result<()> {
        let key = PushKey { user_id: *turn.key(), device_id: command.device_id.clone(), app: command.app };
        let can_be = is_install_id(&command.device_id);
        let found = if can_be { turn.services().store.push_device(&key).await? } else { None };
        let in_browser = found.as_ref().is_some_and(|device| device.platform == PushPlatform::Web);
        if !command.platform.is_mobile() && !in_browser {
            return Err(not_the_mobile_app());
        }
        if found.is_none() {
            return Ok(());
        }
        let mut change = Change::new();
        change.push_device_remove(&key);
        turn.commit(change).await
    }
}

/// Passes while the sign-in lasts: what is registered goes with it, so nothing may come after it.
pub(super) async fn signed_in(turn: &Turn<'_, Inbox>, sign_in_id: SignInId) -> Result<()> {
    let found = turn.services().store.sign_in(*turn.key(), sign_in_id).await?;
    match found {
        Some(sign_in) if sign_in.expires_at > turn.now() => Ok(()),
        _ => Err(Error::Unauthenticated),
    }
}
