//! The ways to tell a person something (contract A 6), and sets of them.

use std::{
    fmt,
    ops::{BitAnd, BitOr, Sub},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::app::names;

names! {
    /// A way to tell a person something.
    Channel { Email = "email", Sms = "sms", Push = "push", Voice = "voice", Inapp = "inapp", }
}

impl Channel {
    /// Whether it interrupts, so that quiet hours hold it back.
    pub const fn interrupts(self) -> bool {
        matches!(self, Self::Sms | Self::Push | Self::Voice)
    }

    /// Whether it needs a confirmed telephone number.
    pub const fn needs_phone(self) -> bool {
        matches!(self, Self::Sms | Self::Voice)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of channels. In JSON it is the list of their names, in the contract's order.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Channels(u8);

impl Channels {
    /// None.
    pub const EMPTY: Self = Self(0);
    /// All five.
    pub const ALL: Self = Self::of(Channel::ALL);
    /// Those that a person who wants no texts is spared.
    pub const TEXTS: Self = Self::of(&[Channel::Sms, Channel::Voice]);

    /// The set of these.
    pub const fn of(channels: &[Channel]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < channels.len() {
            bits |= channels[at].bit();
            at += 1;
        }
        Self(bits)
    }

    /// Whether `channel` is in it.
    pub const fn contains(self, channel: Channel) -> bool {
        self.0 & channel.bit() != 0
    }

    /// Puts `channel` in.
    pub fn insert(&mut self, channel: Channel) {
        self.0 |= channel.bit();
    }

    /// Takes `channel` out.
    pub fn remove(&mut self, channel: Channel) {
        self.0 &= !channel.bit();
    }

    /// Whether none is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those in it, in the contract's order.
    pub fn iter(self) -> impl Iterator<Item = Channel> {
        Channel::ALL.iter().copied().filter(move |channel| self.contains(*channel))
    }
}

impl FromIterator<Channel> for Channels {
    fn from_iter<I: IntoIterator<Item = Channel>>(channels: I) -> Self {
        channels.into_iter().fold(Self::EMPTY, |set, channel| set | Self::of(&[channel]))
    }
}

impl BitOr for Channels {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Channels {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Sub for Channels {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for Channels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Channels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Channel>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_the_list_of_names_in_the_contracts_order() {
        let set: Channels = [Channel::Inapp, Channel::Email, Channel::Inapp].into_iter().collect();
        let text = serde_json::to_string(&set).unwrap();
        assert_eq!(text, r#"["email","inapp"]"#);
        assert_eq!(serde_json::from_str::<Channels>(&text).unwrap(), set);
        assert!(serde_json::from_str::<Channels>(r#"["fax"]"#).is_err());
    }

    #[test]
    fn sets_are_united_met_and_subtracted() {
        let all = Channels::ALL;
        assert_eq!(all.iter().count(), 5);
        assert_eq!(all - Channels::TEXTS, Channels::of(&[Channel::Email, Channel::Push, Channel::Inapp]));
        assert_eq!((all - Channels::TEXTS) | Channels::TEXTS, all);
        assert_eq!(all & Channels::TEXTS, Channels::TEXTS);
        let mut set = Channels::EMPTY;
        assert!(set.is_empty());
        set.insert(Channel::Voice);
        assert!(set.contains(Channel::Voice) && !set.contains(Channel::Sms));
        set.remove(Channel::Voice);
        assert_eq!(set, Channels::EMPTY);
    }
}
