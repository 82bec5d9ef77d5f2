//! Names of domains for mail.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use crate::{Error, Result};

/// Characters of a domain's name (contract B 4.7).
const NAME_LEN: RangeInclusive<usize> = 4..=253;
/// Characters between two dots (RFC 1035 2.3.4).
const LABEL_LEN: RangeInclusive<usize> = 1..=63;
const NOT_A_NAME: &str = "Give the name of a domain in small letters, such as example.org.";

/// The name of a domain: small letters, digits, hyphens and dots (contract B 4.7).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainName(String);

impl DomainName {
    /// Reads a name that somebody typed.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let name = text.trim();
        if is_name(name) { Ok(Self(name.to_owned())) } else { Err(Error::invalid(path, NOT_A_NAME)) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is `other`, or lies below it; nothing lies below the empty name.
    pub fn is_within(&self, other: &str) -> bool {
        self.0.strip_suffix(other).is_some_and(|rest| !other.is_empty() && (rest.is_empty() || rest.ends_with('.')))
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for DomainName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse("domain", text)
    }
}

/// Whether it is a name of at least two labels, of which the last one is no number: that would be an address.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        LABEL_LEN.contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = name.rsplit_once('.').map(|(_, last)| last);
    NAME_LEN.contains(&name.len())
        && name.split('.').all(is_label)
        && last.is_some_and(|last| last.len() >= 2 && !last.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_labels_of_small_letters() {
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert_eq!(longest.len(), 253);
        for name in ["a.co", " example.org ", "xn--bcher-kva.example", "1.2.mail", &longest, &format!("{label}.org")] {
            assert!(DomainName::parse("domain", name).is_ok(), "{name}");
        }
        let too_long = format!("{longest}a");
        let faulty = [
            "",
            "a.b",
            "org",
            "Example.org",
            "a_b.org",
            "-a.org",
            "a-.org",
            "a..org",
            ".a.org",
            "a.org.",
            "127.0.0.1",
            "é.org",
            "a b.org",
            "a@b.org",
            &too_long,
            &format!("{label}a.org"),
        ];
        for name in faulty {
            assert!(DomainName::parse("domain", name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_name_is_within_itself_and_what_it_lies_below() {
        let name = DomainName::parse("domain", "mail.example.org").unwrap();
        assert!(["mail.example.org", "example.org", "org"].iter().all(|other| name.is_within(other)));
        assert!(["ample.org", "a.mail.example.org", "", "example.com"].iter().all(|other| !name.is_within(other)));
    }
}
