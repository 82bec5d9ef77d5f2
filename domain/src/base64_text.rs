//! Base64 as the contract's fields carry it: the standard alphabet, padded with `=` to whole groups of four.
//!
//! Text that is only stored (salts, ciphertexts) is held to this pattern and kept as sent; it is not decoded.

use crate::error::{Error, Result};

/// Whether the text is base64: whole groups of four characters of the standard alphabet, of which the last may end in
/// one or two `=`. The empty text is not.
///
/// The unused bits before a `=` may have any value: the contract asks for a pattern, and the text is returned as sent.
pub fn is_base64(text: &str) -> bool {
    let body = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// A field of base64 text with so many characters; `path` names it in the 400.
pub fn base64_field(path: &str, text: String, chars: std::ops::RangeInclusive<usize>) -> Result<String> {
    if !chars.contains(&text.len()) {
        let (min, max) = (chars.start(), chars.end());
        return Err(Error::invalid(path, format!("Must have {min} to {max} characters.")));
    }
    if !is_base64(&text) {
        return Err(Error::invalid(path, "Must be base64: the standard alphabet, padded with =."));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_groups_of_the_standard_alphabet_pass() {
        for text in ["AAAA", "AA==", "AAA=", "+/+/", "zzzzAA==", "ab09"] {
            assert!(is_base64(text), "{text}");
        }
    }

    #[test]
    fn other_alphabets_lengths_and_paddings_are_refused() {
        for text in ["", "=", "==", "====", "A===", "AAAAA", "AAA", "AA=A", "-_-_", "AA A", "AAA\n", "ÄAA", "AAAA===="]
        {
            assert!(!is_base64(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_an_encoder_writes_passes(bytes in proptest::collection::vec(any::<u8>(), 1..200)) {
            prop_assert!(is_base64(&STANDARD.encode(bytes)));
        }
    }
}
