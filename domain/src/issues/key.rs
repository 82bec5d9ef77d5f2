//! Keys of spaces and issues: `WEB`, `WEB-12`.

use std::{fmt, str::FromStr};

/// Characters of the key of a space.
const SPACE_KEY_LEN: std::ops::RangeInclusive<usize> = 2..=10;
/// Digits of the number of an issue.
const NUMBER_LEN_MAX: usize = 15;

/// The text is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a key")]
pub struct NotAKey;

/// The key of a space: 2 to 10 capital letters and digits, a letter first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceKey(String);

/// The key of an issue. Keys are ordered by space, then number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IssueKey {
    /// The space's.
    pub space: SpaceKey,
    /// The number within the space, from 1.
    pub number: i64,
}

impl SpaceKey {
    /// The key, as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SpaceKey {
    type Err = NotAKey;

    /// Reads a key in any case.
    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let fits = SPACE_KEY_LEN.contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && text.starts_with(|first: char| first.is_ascii_alphabetic());
        if fits { Ok(Self(text.to_ascii_uppercase())) } else { Err(NotAKey) }
    }
}

impl FromStr for IssueKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let (space, digits) = text.rsplit_once('-').ok_or(NotAKey)?;
        let fits = (1..=NUMBER_LEN_MAX).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.starts_with('0');
        if !fits {
            return Err(NotAKey);
        }
        Ok(Self { space: space.parse()?, number: digits.parse().map_err(|_| NotAKey)? })
    }
}

impl fmt::Display for SpaceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for IssueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.space, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_in_any_case_and_written_in_capitals() {
        assert_eq!("web2-12".parse::<IssueKey>().map(|key| key.to_string()), Ok("WEB2-12".to_owned()));
        for wrong in [
            "",
            "W-1",
            "WEB",
            "WEB-",
            "WEB-0",
            "WEB-01",
            "2WEB-1",
            "WEB-1a",
            "ABCDEFGHIJK-1",
            "WÉB-1",
            "WEB--1",
            "WEB-1234567890123456",
        ] {
            assert_eq!(wrong.parse::<IssueKey>(), Err(NotAKey), "{wrong}");
        }
        for (text, fits) in [("A", false), ("AB", true), ("ABCDEFGHIJ", true), ("ABCDEFGHIJK", false), ("1A", false)] {
            assert_eq!(text.parse::<SpaceKey>().is_ok(), fits, "{text}");
        }
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        let key = |text: &str| text.parse::<IssueKey>().expect("a key");
        assert!(key("WEB-9") < key("WEB-10") && key("APP-10") < key("WEB-9"));
    }
}
