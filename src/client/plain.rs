//! Text from a server that may be shown on a terminal, written into a line, or made part of a path.

use serde::{Deserialize, Serialize};

/// Characters of such a text, at most.
const LEN_MAX: usize = 256;
/// Characters of a server's sentence, at most.
const SENTENCE_LEN_MAX: usize = 500;

/// An id, slug or token: letters, digits, `.`, `_` and `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Plain(String);

impl Plain {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Plain {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let is_plain = (1..=LEN_MAX).contains(&text.len()) && text.bytes().all(is_usual);
        if is_plain { Ok(Self(text)) } else { Err("an id, slug or token was expected") }
    }
}

/// A server's sentence as it may be printed: in one line, without what steers a terminal.
pub fn sentence(text: &str) -> String {
    let printable = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    printable.take(SENTENCE_LEN_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_slug_or_token_has_nothing_that_steers_anything() {
        let plain = |text: &str| Plain::try_from(text.to_owned()).is_ok();
        for good in ["acme", "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "trp_k_0iZ3qkV9xTg2", "a.b-c", &"a".repeat(256)] {
            assert!(plain(good), "{good}");
        }
        for bad in ["", "a b", "a\nb", "a/b", "a\u{1b}[2J", "é", "a=b", &"a".repeat(257)] {
            assert!(!plain(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_sentence_is_one_line_without_control_characters() {
        assert_eq!(sentence("No.\n\u{1b}[31mRed\u{9b}"), "No.  [31mRed ");
        assert_eq!(sentence(&"a".repeat(501)).len(), 500);
    }
}
