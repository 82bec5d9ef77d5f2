//! How much mail is taken in, and whose an address is.

use crate::{Email, mail::domain_of};

/// Bytes of a message as it travels: 25 MB of what people attach, encoded.
pub const MESSAGE_BYTES_MAX: u64 = 36_700_160;
/// Recipients of one transaction (RFC 5321 4.5.3.1.8 asks for at least so many).
pub const RECIPIENTS_AT_ONCE_MAX: usize = 100;
/// `Received` lines of a message; more are a loop (RFC 5321 6.3).
pub const HOPS_MAX: usize = 50;
/// Messages that came in and aren't filed; no more are taken.
pub const ARRIVALS_MAX: u64 = 100_000;

/// The address without what stands behind a `+` in its first part, which its owner chose for a sender.
#[must_use]
pub fn without_tag(address: &Email) -> Email {
    let (local, _) = address.as_str().rsplit_once('@').unwrap_or_default();
    let plain = local.split_once('+').map(|(plain, _)| format!("{plain}@{}", domain_of(address)));
    plain.and_then(|plain| plain.parse().ok()).unwrap_or_else(|| address.clone())
}

/// Whether whoever has the domain answers for the address (RFC 2142).
pub fn is_of_the_domain(address: &Email) -> bool {
    matches!(address.as_str().rsplit_once('@'), Some(("postmaster" | "abuse", _)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(text: &str) -> Email {
        text.parse().expect("an address")
    }

    #[test]
    fn what_stands_behind_a_plus_is_its_owners() {
        for (tagged, plain) in [
            ("ada+shop@example.com", "ada@example.com"),
            ("ada+a+b@example.com", "ada@example.com"),
            ("ada@example.com", "ada@example.com"),
            ("ada+@example.com", "ada@example.com"),
            ("+shop@example.com", "+shop@example.com"),
        ] {
            assert_eq!(without_tag(&email(tagged)), email(plain), "{tagged}");
        }
    }

    #[test]
    fn two_addresses_are_the_domains_own() {
        for (address, is) in [
            ("postmaster@example.com", true),
            ("abuse@example.com", true),
            ("postmaster+a@example.com", false),
            ("ada@example.com", false),
        ] {
            assert_eq!(is_of_the_domain(&email(address)), is, "{address}");
        }
    }
}
