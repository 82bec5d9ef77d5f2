//! How a person is reached: the one place that decides over which channels somebody is told something, when, and why not
//! over the others.

use serde::{Deserialize, Serialize};

use super::{
    channel::{Channel, Channels},
    prefs::NotifyPrefs,
};
use crate::{App, Email, Timestamp, app::names, id::UserId};

names! {
    /// Who carries a push message.
    PushPlatform { Ios = "ios", Android = "android", Web = "web", }
}

/// A registration for push messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushTarget {
    /// The install id of the phone or browser.
    pub device_id: String,
    /// Who carries messages to it.
    pub platform: PushPlatform,
    /// The app that is registered there.
    pub app: App,
}

/// A person, as far as telling them something goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The person.
    pub user_id: UserId,
    /// Their name.
    pub name: String,
    /// Their address.
    pub email: Email,
    /// Their telephone number, once it is confirmed.
    pub phone: Option<String>,
    /// What they chose.
    pub prefs: NotifyPrefs,
    /// Where they can be pushed to.
    pub devices: Vec<PushTarget>,
}

/// How somebody is to be told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The app that it is about; of several on one phone, it is the one that shows it.
    pub app: App,
    /// Over which channels.
    pub channels: Channels,
    /// Whether it may interrupt quiet hours, where these allow what is urgent.
    pub urgent: bool,
    /// Whether it must not text or call.
    pub texts_off: bool,
    /// Whether it interrupts quiet hours whatever they allow.
    pub overrides_quiet_hours: bool,
}

/// What becomes of one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The channel.
    pub channel: Channel,
    /// What becomes of it.
    pub outcome: Outcome,
}

/// Whether a person is told, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At once.
    Now(Target),
    /// When the person's quiet hours end.
    Held {
        /// When that is.
        until: Timestamp,
        /// Where to.
        target: Target,
    },
    /// Not over this channel.
    Not(WhyNot),
}

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// To an address.
    Email(String),
    /// To a telephone number.
    Phone(String),
    /// To a device.
    Device(PushTarget),
    /// Into the list of notices.
    Inbox,
}

names! {
    /// Why a person isn't told over a channel.
    WhyNot {
        NoConfirmedPhone = "no_confirmed_phone", NoDevice = "no_device", TextsOff = "texts_off",
        NotChosen = "not_chosen", CallsUnavailable = "calls_unavailable",
    }
}

/// What becomes of each of the five channels when `asked` is told to `recipient` at `at`: one answer for each, and one for
/// each device in the case of push. `calls_available` says whether the server can text and call at all.
pub fn reach(recipient: &Recipient, asked: &Asked, calls_available: bool, at: Timestamp) -> Vec<Reach> {
    let quiet_until = quiet_until(recipient, *asked, at);
    let mut found = Vec::new();
    for channel in Channel::ALL.iter().copied() {
        let outcome = |target| match quiet_until {
            Some(until) if channel.interrupts() => Outcome::Held { until, target },
            _ => Outcome::Now(target),
        };
        match targets(recipient, *asked, calls_available, channel) {
            Ok(targets) => found.extend(targets.into_iter().map(|it| Reach { channel, outcome: outcome(it) })),
            Err(why) => found.push(Reach { channel, outcome: Outcome::Not(why) }),
        }
    }
    found
}

fn quiet_until(recipient: &Recipient, asked: Asked, at: Timestamp) -> Option<Timestamp> {
    let quiet = recipient.prefs.quiet_hours.as_ref()?;
    let interrupts = asked.overrides_quiet_hours || (asked.urgent && quiet.allow_urgent);
    if interrupts { None } else { quiet.quiet_until(&recipient.prefs.zone, at) }
}

fn targets(recipient: &Recipient, asked: Asked, calls_available: bool, to: Channel) -> Result<Vec<Target>, WhyNot> {
    if !asked.channels.contains(to) {
        return Err(WhyNot::NotChosen);
    }
    match to {
        Channel::Email => Ok(vec![Target::Email(recipient.email.to_string())]),
        Channel::Inapp => Ok(vec![Target::Inbox]),
        Channel::Sms | Channel::Voice if asked.texts_off => Err(WhyNot::TextsOff),
        Channel::Sms | Channel::Voice if !calls_available => Err(WhyNot::CallsUnavailable),
        Channel::Sms | Channel::Voice => match &recipient.phone {
            Some(phone) => Ok(vec![Target::Phone(phone.clone())]),
            None => Err(WhyNot::NoConfirmedPhone),
        },
        Channel::Push if recipient.devices.is_empty() => Err(WhyNot::NoDevice),
        Channel::Push => Ok(one_per_phone(&recipient.devices, asked.app).map(Target::Device).collect()),
    }
}

/// A phone on which several apps are registered rings once: in the app that the message is about, or else in the
/// assistant, or else in the first.
fn one_per_phone(devices: &[PushTarget], app: App) -> impl Iterator<Item = PushTarget> {
    let rank = move |target: &PushTarget| (target.app != app, target.app != App::Assistant, target.app);
    devices
        .iter()
        .filter(move |this| devices.iter().all(|other| other.device_id != this.device_id || rank(this) <= rank(other)))
        .cloned()
}

#[cfg(test)]
mod tests;
