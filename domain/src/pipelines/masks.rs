//! Secrets that no log shows: their values, and the forms in which programs print them.

use std::{borrow::Cow, collections::BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE},
};

/// What stands in the place of a secret.
pub const MASK: &str = "***";
/// Characters of a line of a secret, or of a form of it, that is masked by itself, at least.
const FORM_LEN_MIN: usize = 4;

/// The texts that are masked.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    forms: BTreeSet<String>,
    matcher: Option<AhoCorasick>,
}

impl Masks {
    /// Masks of these secrets.
    pub fn of<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let mut masks = Self::default();
        secrets.into_iter().for_each(|secret| masks.note(secret));
        masks.build();
        masks
    }

    /// Adds a secret: the value, each line of it, its base64 wherever it begins, its hex, URL and JSON forms.
    pub fn add(&mut self, secret: &str) {
        self.note(secret);
        self.build();
    }

    fn note(&mut self, secret: &str) {
        let secret = secret.trim_end_matches(['\r', '\n']);
        if secret.trim().is_empty() {
            return;
        }
        self.forms.insert(secret.to_owned());
        let lines = secret.lines().map(str::trim).filter(|line| line.chars().count() >= FORM_LEN_MIN);
        self.forms.extend(lines.map(str::to_owned));
        let derived = base64_forms(secret.as_bytes()).into_iter().chain(escaped_forms(secret));
        self.forms.extend(derived.filter(|form| form.len() >= FORM_LEN_MIN));
    }

    /// Which patterns there are is few, and a pattern that can't be searched for together with others hides all.
    fn build(&mut self) {
        self.matcher = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&self.forms).ok();
    }

    /// The text without secrets.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.forms.is_empty() {
            return Cow::Borrowed(text);
        }
        let Some(matcher) = &self.matcher else { return Cow::Borrowed(MASK) };
        let mut hidden: Vec<(usize, usize)> =
            matcher.find_overlapping_iter(text).map(|found| (found.start(), found.end())).collect();
        if hidden.is_empty() {
            return Cow::Borrowed(text);
        }
        hidden.sort_unstable();
        let (mut shown, mut at) = (String::with_capacity(text.len()), 0);
        for (start, end) in merged(hidden) {
            shown.push_str(text.get(at..start).unwrap_or_default());
            shown.push_str(MASK);
            at = end;
        }
        shown.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(shown)
    }
}

/// Ranges in their order, those that overlap as one.
fn merged(ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Base64 of the secret, whichever byte of three it begins at; without the characters that depend on what is around it.
fn base64_forms(secret: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(secret);
        let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for engine in [STANDARD, URL_SAFE] {
            forms.extend(engine.encode(&bytes).get(from..to).map(str::to_owned));
        }
    }
    forms
}

fn escaped_forms(secret: &str) -> Vec<String> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(secret).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default().to_owned();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let url = |space: &str| -> String {
        let part = |byte: u8| match byte {
            b' ' => space.to_owned(),
            byte if is_plain(byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        secret.bytes().map(part).collect()
    };
    let mut forms = vec![hex.to_ascii_uppercase(), hex, json, url("%20"), url("+")];
    forms.push(url("%20").to_ascii_lowercase());
    forms.retain(|form| form != secret);
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secret: &str, text: &str) -> String {
        Masks::of([secret]).apply(text).into_owned()
    }

    #[test]
    fn a_secret_is_masked_wherever_it_stands() {
        assert_eq!(masked("hunter2", "a hunter2, hunter2hunter2"), "a ***, ******");
        assert_eq!(masked("", "a b"), "a b");
        assert_eq!(masked("  ", "a  b"), "a  b");
        assert_eq!(masked("abcd\nefgh\nxy", "efgh abcd xy"), "*** *** xy");
    }

    #[test]
    fn lines_of_four_characters_are_masked_by_themselves() {
        for (line, shown) in [("abc", "abc"), ("abcd", "***"), ("abcde", "***")] {
            assert_eq!(masked(&format!("{line}\nsomething else"), line), shown, "{line}");
        }
    }

    #[test]
    fn secrets_that_overlap_are_masked_whole() {
        assert_eq!(Masks::of(["abcdef", "defghi"]).apply("xabcdefghix"), "x***x");
        assert_eq!(Masks::of(["abc", "abcdef"]).apply("abcdef"), "***");
    }

    #[test]
    fn forms_of_a_secret_are_masked() {
        let secret = "s3cr?t/p\"ß w>ord";
        for around in ["", "a", "ab"] {
            for engine in [STANDARD, URL_SAFE] {
                let shown = masked(secret, &engine.encode(format!("{around}{secret}ccc")));
                assert!(shown.contains(MASK) && shown.len() < 16, "{around}: {shown}");
            }
        }
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(masked(secret, &hex), MASK);
        assert_eq!(masked(secret, &hex.to_uppercase()), MASK);
        assert_eq!(masked(secret, &serde_json::to_string(secret).unwrap()), "\"***\"");
        assert_eq!(masked(secret, "s3cr%3Ft%2Fp%22%C3%9F%20w%3Eord"), MASK);
        assert_eq!(masked(secret, "s3cr%3Ft%2Fp%22%C3%9F+w%3Eord"), MASK);
    }
}
