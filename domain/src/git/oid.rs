//! Names of objects.

use std::{fmt, str::FromStr};

/// Characters of an object's name.
const HEX_LEN: usize = 40;

/// The name of a commit, tree, blob or tag: the SHA-1 of what it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 20]);

/// The text names no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of an object")]
pub struct NotAnObjectId;

impl ObjectId {
    /// What stands for no object where one is named.
    pub const ZERO: Self = Self([0; 20]);

    /// The name of these bytes.
    pub const fn of_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// Reads 40 hexadecimal digits.
    pub fn read(hex: &[u8]) -> Result<Self, NotAnObjectId> {
        if hex.len() != HEX_LEN {
            return Err(NotAnObjectId);
        }
        let mut bytes = [0; 20];
        for (byte, digits) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = digit(digits[0])? << 4 | digit(digits[1])?;
        }
        Ok(Self(bytes))
    }

    /// The object, where it isn't [`ZERO`](Self::ZERO).
    pub fn given(self) -> Option<Self> {
        (self != Self::ZERO).then_some(self)
    }
}

impl serde::Serialize for ObjectId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for ObjectId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

fn digit(character: u8) -> Result<u8, NotAnObjectId> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        b'A'..=b'F' => Ok(character - b'A' + 10),
        _ => Err(NotAnObjectId),
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ObjectId {
    type Err = NotAnObjectId;

    fn from_str(text: &str) -> Result<Self, NotAnObjectId> {
        Self::read(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_named_by_40_hexadecimal_digits() {
        let text = "00ff7f80123456789abcdef0fedcba9876543210";
        let read: ObjectId = text.parse().unwrap();
        assert_eq!(read.to_string(), text);
        assert_eq!(text.to_uppercase().parse(), Ok(read));
        assert_eq!(read.given(), Some(read));
        assert_eq!("0".repeat(40).parse::<ObjectId>().unwrap().given(), None);
        for bad in ["", &text[1..], &format!("{text}0"), &text.replace('f', "g"), &text.replace("ff", "+f")] {
            assert_eq!(bad.parse::<ObjectId>(), Err(NotAnObjectId), "{bad}");
        }
    }
}
