//! A secret that was found, without the secret.

use super::{Fingerprint, SecretRule};
use crate::git::ObjectId;

/// Characters that are shown at each end of a secret.
const SHOWN_AT_EACH_END: usize = 4;
/// A shorter secret is shown less of: at each end no more than one in so many of its characters.
const SHOWN_IN: usize = 5;

/// Characters of a path that are kept.
const PATH_SHOWN_MAX: usize = 1_000;

/// A secret in the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    /// By which rule it was found.
    pub rule: SecretRule,
    /// The line that it begins in, from 1.
    pub line: u32,
    /// What it is known by.
    pub fingerprint: Fingerprint,
    /// Its first characters and its last.
    pub preview: String,
}

/// A secret in a file that a change brings (contract C 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    /// What was found.
    pub secret: FoundSecret,
    /// The file; none where the change names its bytes without a path. A name that isn't UTF-8 is shown as far as it is, and of one
    /// with more than 1,000 characters the end.
    pub path: Option<String>,
    /// The file's bytes.
    pub blob: ObjectId,
    /// The first of the change's commits that has them, where somebody looked for it.
    pub commit: Option<ObjectId>,
}

impl SecretFinding {
    /// Where it is, as people are told: `path:line`.
    pub fn place(&self) -> String {
        // The line of an editor's link is never broken by a file's name.
        let path = self
            .path
            .as_deref()
            .map_or_else(|| self.blob.to_string(), |path| path.replace(char::is_control, "\u{fffd}"));
        format!("{path}:{}", self.secret.line)
    }
}

/// The path of a file, where it has one; of a long one, its end.
pub(in crate::git) fn path_shown(path: &[u8]) -> Option<String> {
    if path.is_empty() {
        return None;
    }
    let path = String::from_utf8_lossy(path);
    let hidden = path.chars().count().saturating_sub(PATH_SHOWN_MAX);
    if hidden == 0 {
        return Some(path.into_owned());
    }
    Some(std::iter::once('…').chain(path.chars().skip(hidden + 1)).collect())
}

/// The first characters of a secret and its last.
pub(super) fn preview(secret: &[u8]) -> String {
    let shown = SHOWN_AT_EACH_END.min(secret.len() / SHOWN_IN);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}…{}", text(&secret[..shown]), text(&secret[secret.len() - shown..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_shows_four_characters_at_each_end_and_less_of_what_is_short() {
        assert_eq!(preview(b"AKIA2345672345672345"), "AKIA…2345");
        assert_eq!(preview(b"sk_live_0123456789abcdefghijklmnop"), "sk_l…mnop");
        assert_eq!(preview(b"0123456789"), "01…89");
        assert_eq!(preview(b"0123"), "…");
        assert_eq!(preview(b""), "…");
    }

    #[test]
    fn of_a_long_path_the_end_is_kept() {
        assert_eq!(path_shown(b""), None);
        assert_eq!(path_shown(b"a/\xff"), Some("a/\u{fffd}".to_owned()));
        let long = format!("{}é", "a".repeat(PATH_SHOWN_MAX - 1));
        assert_eq!(path_shown(long.as_bytes()), Some(long.clone()));
        assert_eq!(path_shown(format!("b{long}").as_bytes()), Some(format!("…{}", &long[1..])));
    }

    #[test]
    fn a_place_is_one_line() {
        let secret = FoundSecret {
            rule: SecretRule::StripeKey,
            line: 7,
            fingerprint: Fingerprint::of_bytes([1; 16]),
            preview: String::new(),
        };
        let at = |path: Option<&str>| {
            let finding = SecretFinding {
                secret: secret.clone(),
                path: path.map(str::to_owned),
                blob: ObjectId::of_bytes([2; 20]),
                commit: None,
            };
            finding.place()
        };
        assert_eq!(at(Some("src/keys.rs")), "src/keys.rs:7");
        assert_eq!(at(Some("a\u{1b}[2Jb")), "a\u{fffd}[2Jb:7");
        assert_eq!(at(None), format!("{}:7", "02".repeat(20)));
    }
}
