//! The devices that a vault is on (contract A 2.2, `VaultDevice`).

use std::{fmt, ops::RangeInclusive, time::Duration};

use super::DeviceId;
use crate::{
    app::names,
    error::{Error, Result},
    id::SignInId,
    problems::all,
    time::Timestamp,
};

/// How often at most a device's `lastSeenAt` is written.
pub const SEEN_EVERY: Duration = Duration::from_mins(1);

/// Characters of a name (contract A 4.2: 1-80, trimmed).
const NAME_LEN: RangeInclusive<usize> = 1..=80;

names! {
    /// What a device runs on (contract A 4.2).
    DevicePlatform { Ios = "ios", Android = "android", Web = "web", }
}

/// What a person calls a device: 1 to 80 characters after trimming, none of them a control character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceName(String);

impl DeviceName {
    /// Reads a name; `path` names the field in the 400.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let name = text.trim();
        if !NAME_LEN.contains(&name.chars().count()) {
            return Err(Error::invalid(path, "Must have 1 to 80 characters."));
        }
        if name.chars().any(char::is_control) {
            return Err(Error::invalid(path, "Must not have control characters."));
        }
        Ok(Self(name.to_owned()))
    }

    /// A name that was checked when it was stored.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a device says of itself when it registers or is renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceDraft {
    /// The id that it made.
    pub device_id: DeviceId,
    /// Its name.
    pub name: DeviceName,
    /// What it runs on.
    pub platform: DevicePlatform,
}

impl DeviceDraft {
    /// Checks what a device said of itself, with its id as far as it could be read; `prefix` stands before the fields'
    /// names in the 400.
    pub fn check(prefix: &str, device_id: Result<DeviceId>, name: &str, platform: &str) -> Result<Self> {
        let platform = DevicePlatform::from_name(platform)
            .ok_or_else(|| Error::invalid(format!("{prefix}platform"), "Must be ios, android or web."));
        let (device_id, name, platform) =
            all((device_id, DeviceName::parse(&format!("{prefix}name"), name), platform))?;
        Ok(Self { device_id, name, platform })
    }
}

/// A device that the vault is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The id that the device made.
    pub device_id: DeviceId,
    /// Its name.
    pub name: DeviceName,
    /// What it runs on.
    pub platform: DevicePlatform,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it last asked for the vault, to the minute.
    pub last_seen_at: Timestamp,
    /// The sign-in that it syncs over, which ends with its removal; none for one that was registered before that was noted.
    pub sign_in_id: Option<SignInId>,
}

impl Device {
    /// A device that registers now, over this sign-in.
    pub fn registered(draft: &DeviceDraft, sign_in_id: Option<SignInId>, now: Timestamp) -> Self {
        Self {
            device_id: draft.device_id,
            name: draft.name.clone(),
            platform: draft.platform,
            created_at: now,
            last_seen_at: now,
            sign_in_id,
        }
    }

    /// Whether its `lastSeenAt` is old enough to be written again.
    pub fn seen_is_due(&self, now: Timestamp) -> bool {
        now.since(self.last_seen_at) >= SEEN_EVERY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_1_to_80_characters_after_trimming() {
        for (text, name) in [(" a ", "a".to_owned()), (&"é".repeat(80), "é".repeat(80)), ("a b", "a b".to_owned())] {
            assert_eq!(DeviceName::parse("name", text).unwrap().as_str(), name);
        }
        for text in ["", "  ", &"é".repeat(81), "a\0b", "a\nb"] {
            assert!(DeviceName::parse("name", text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_draft_names_every_field_at_fault() {
        let id = DeviceId::check("device.deviceId", "short");
        let Err(Error::Invalid { problems }) = DeviceDraft::check("device.", id, " ", "cli") else { panic!() };
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["device.deviceId", "device.name", "device.platform"]);
    }

    #[test]
    fn a_device_counts_as_seen_at_most_once_a_minute() {
        let id = DeviceId::check("deviceId", "AAAAAAAAAAAAAAAAAAAAAA");
        let device = Device::registered(&DeviceDraft::check("", id, "Phone", "ios").unwrap(), None, Timestamp(0));
        assert!(!device.seen_is_due(Timestamp(59_999)));
        assert!(device.seen_is_due(Timestamp(60_000)));
    }
}
