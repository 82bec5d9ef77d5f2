//! Cursors: where the next page of a list starts, in a form that clients pass back and don't read.
//!
//! A cursor names its list and carries a check-sum, so that a damaged one, or one of another list, is told apart.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Error, Result};
use sha2::{Digest, Sha256};

/// Bytes of the check-sum.
const CHECK_LEN: usize = 4;

/// The cursor of `list` for the page that starts at `position`.
pub fn write(list: &str, position: impl std::fmt::Display) -> String {
    let text = format!("{list}\n{position}");
    let mut bytes = check_sum(text.as_bytes()).to_vec();
    bytes.extend_from_slice(text.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The position in a cursor of `list`; 400 `Invalid cursor` for anything else.
pub fn read<P: std::str::FromStr>(list: &str, cursor: &str) -> Result<P> {
    position(list, cursor).ok_or_else(|| Error::bad_request("invalid_cursor", "Invalid cursor"))
}

fn position<P: std::str::FromStr>(list: &str, cursor: &str) -> Option<P> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (check, text) = bytes.split_at_checked(CHECK_LEN)?;
    if check != check_sum(text) {
        return None;
    }
    let (named, position) = std::str::from_utf8(text).ok()?.split_once('\n')?;
    if named == list { position.parse().ok() } else { None }
}

fn check_sum(text: &[u8]) -> [u8; CHECK_LEN] {
    let digest = Sha256::digest(text);
    std::array::from_fn(|place| digest[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_in_its_own_list_only() {
        let cursor = write("log", 17);
        assert_eq!(read::<i64>("log", &cursor).unwrap(), 17);
        assert_eq!(read::<i64>("notices", &cursor).unwrap_err().to_string(), "Invalid cursor");
    }

    #[test]
    fn a_damaged_cursor_is_noticed_wherever_the_damage_stands() {
        let cursor = write("log", 17);
        for place in 0..cursor.len() {
            let mut bytes = cursor.clone().into_bytes();
            bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
            assert!(read::<i64>("log", &String::from_utf8(bytes).unwrap()).is_err(), "{place}");
        }
        for text in ["", "AAAA", "%", &cursor[1..], &write("log", "seventeen")] {
            assert!(read::<i64>("log", text).is_err(), "{text}");
        }
    }
}
