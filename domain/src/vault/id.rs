//! Ids that devices make: 22 base64url characters (contract A 2.2).
//!
//! 16 random bytes make 22 such characters. The contract asks for the characters, so an id is compared as text and the
//! unused bits of its last character may have any value.

use std::{fmt, str::FromStr};

use crate::{
    error::{Error, Result},
    id::NotAnId,
};

const LEN: usize = 22;

macro_rules! device_made_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; LEN]);

        impl $name {
            /// Reads an id; `path` names the field in the 400.
            pub fn check(path: &str, text: &str) -> Result<Self> {
                text.parse().map_err(|_| Error::invalid(path, "Must be 22 base64url characters."))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                // Only ASCII passes `from_str`.
                std::str::from_utf8(&self.0).unwrap_or_default()
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> std::result::Result<Self, NotAnId> {
                let bytes: [u8; LEN] = text.as_bytes().try_into().map_err(|_| NotAnId)?;
                let known = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_');
                if known { Ok(Self(bytes)) } else { Err(NotAnId) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    )*};
}

device_made_ids! {
    /// A vault.
    VaultId;
    /// An item in a vault.
    ItemId;
    /// A device that a vault is on.
    DeviceId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_22_base64url_characters() {
        for text in ["AAAAAAAAAAAAAAAAAAAAAA", "abc-_0189ZYXabc-_0189_"] {
            assert_eq!(text.parse::<ItemId>().map(|id| id.to_string()), Ok(text.into()));
        }
        for text in [
            "",
            "AAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAA+",
            "AAAAAAAAAAAAAAAAAAAAA/",
            "AAAAAAAAAAAAAAAAAAAAA=",
            "AAAAAAAAAAAAAAAAAAAA é",
        ] {
            assert_eq!(text.parse::<ItemId>(), Err(NotAnId), "{text}");
        }
    }

    #[test]
    fn ids_that_differ_in_case_are_two() {
        assert_ne!("aAAAAAAAAAAAAAAAAAAAAA".parse::<VaultId>(), "AAAAAAAAAAAAAAAAAAAAAA".parse::<VaultId>());
    }
}
