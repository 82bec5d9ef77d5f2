//! The tag behind the `+` of a desk's address, by which an answer finds its request: its number, and a seal that only this server
//! makes.

use crate::Email;

/// Bytes of a seal.
pub const SEAL_LEN: usize = 8;
/// Digits of the number of an issue.
const NUMBER_LEN_MAX: usize = 15;
/// Characters before the `@` (RFC 5321 4.5.3.1.1).
const LOCAL_LEN_MAX: usize = 64;

/// A seal as it is written.
pub fn seal_text(seal: [u8; SEAL_LEN]) -> String {
    let digits = seal.into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The address with the tag of a request; none where that would be too long.
pub fn tagged(address: &Email, number: i64, seal: [u8; SEAL_LEN]) -> Option<Email> {
    let (local, domain) = address.as_str().rsplit_once('@')?;
    let local = format!("{local}+{number}-{}", seal_text(seal));
    if local.len() > LOCAL_LEN_MAX { None } else { format!("{local}@{domain}").parse().ok() }
}

/// The number and the seal that an address has behind its `+`.
pub fn tag_of(address: &str) -> Option<(i64, [u8; SEAL_LEN])> {
    let (local, _) = address.rsplit_once('@')?;
    let (number, text) = local.rsplit_once('+')?.1.split_once('-')?;
    let is_number = (1..=NUMBER_LEN_MAX).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_seal = text.len() == 2 * SEAL_LEN && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_number || !is_seal {
        return None;
    }
    let mut seal = [0; SEAL_LEN];
    for (byte, at) in seal.iter_mut().zip((0..text.len()).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some((number.parse().ok()?, seal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_as_it_was_written() {
        let (address, seal): (Email, _) =
            ("help@example.org".parse().expect("an address"), [0, 1, 2, 3, 4, 5, 254, 255]);
        let it = tagged(&address, 12, seal).expect("room");
        assert_eq!(it.as_str(), "help+12-000102030405feff@example.org");
        assert_eq!(tag_of(it.as_str()), Some((12, seal)));
        assert_eq!(tag_of("help+12-000102030405FEFF@example.org"), Some((12, seal)));
        for address in [
            "help@example.org",
            "help+12@example.org",
            "help+-000102030405feff@example.org",
            "help+12-000102030405fef@example.org",
            "help+12-000102030405fefg@example.org",
            "help+12-00010203040\u{e9}fef@example.org",
            "help+1234567890123456-000102030405feff@example.org",
            "+@",
            "",
        ] {
            assert_eq!(tag_of(address), None, "{address}");
        }
    }

    #[test]
    fn an_address_without_room_gets_no_tag() {
        let of =
            |length: usize| tagged(&format!("{}@example.org", "a".repeat(length)).parse().expect("one"), 1, [0; 8]);
        assert!(of(45).is_some() && of(46).is_none());
    }
}
