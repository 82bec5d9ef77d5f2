//! What a subject is about, without what replying, forwarding and lists add to it (RFC 5256 2.1).

use std::fmt;

/// A subject without its prefixes, in small letters: what tells whether two messages are about the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BaseSubject {
    text: String,
    is_reply: bool,
}

impl BaseSubject {
    /// Of a subject that is decoded.
    pub fn of(subject: &str) -> Self {
        let mut text = subject.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let mut is_reply = false;
        loop {
            let before = text.len();
            while let Some(len) = text.strip_suffix("(fwd)").map(|rest| rest.trim_end().len()) {
                text.truncate(len);
                is_reply = true;
            }
            while let Some(rest) = without_leader(&text) {
                is_reply |= rest.is_reply;
                text = rest.text.to_owned();
            }
            if let Some(inner) = text.strip_prefix("[fwd:").and_then(|rest| rest.strip_suffix(']')) {
                text = inner.trim().to_owned();
                is_reply = true;
            }
            if text.len() == before {
                return Self { text, is_reply };
            }
        }
    }

    /// Its text; empty where nothing but prefixes is there.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a prefix says that the message answers or passes on another one.
    pub const fn is_reply(&self) -> bool {
        self.is_reply
    }

    /// Whether it says enough to join messages that don't refer to each other: two words.
    pub fn is_telling(&self) -> bool {
        self.text.split(' ').filter(|word| word.chars().any(char::is_alphanumeric)).nth(1).is_some()
    }
}

impl fmt::Display for BaseSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Prefixes of answers and of what is passed on: those of the RFC, and those that clients in other languages write.
const PREFIXES: [&str; 11] = ["re", "fwd", "fw", "aw", "wg", "sv", "vs", "tr", "rv", "antw", "odp"];

struct Rest<'a> {
    text: &'a str,
    is_reply: bool,
}

/// What stands behind the first prefix, or behind a list's name where something is left then.
fn without_leader(text: &str) -> Option<Rest<'_>> {
    let mut at = text;
    while let Some(rest) = behind_blob(at) {
        at = rest;
    }
    if let Some(rest) = behind_prefix(at) {
        return Some(Rest { text: rest, is_reply: true });
    }
    let rest = behind_blob(text)?;
    (!rest.is_empty()).then_some(Rest { text: rest, is_reply: false })
}

/// Behind `[…]`.
fn behind_blob(text: &str) -> Option<&str> {
    let (inner, rest) = text.strip_prefix('[')?.split_once(']')?;
    (!inner.contains('[') && !inner.starts_with("fwd:")).then(|| rest.trim_start())
}

/// Behind `re:`, `re[2]:` and their like.
fn behind_prefix(text: &str) -> Option<&str> {
    PREFIXES.iter().find_map(|prefix| {
        let rest = text.strip_prefix(prefix)?.trim_start();
        let rest = behind_blob(rest).unwrap_or(rest);
        rest.strip_prefix(':').map(str::trim_start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_names_of_lists_are_no_part_of_what_a_subject_is_about() {
        for subject in [
            "Lunch on Friday",
            "Re: Lunch on Friday",
            "RE:  re[4]: lunch  on\tFriday",
            "[team] Lunch on Friday",
            "[team] Re: [team] Lunch on Friday (fwd)",
            "[Fwd: Re: Lunch on Friday]",
            "AW: WG: Lunch on Friday (fwd) (fwd)",
        ] {
            assert_eq!(BaseSubject::of(subject).as_str(), "lunch on friday", "{subject}");
        }
    }

    #[test]
    fn a_prefix_tells_an_answer_and_a_lists_name_does_not() {
        assert!(BaseSubject::of("Re: a").is_reply());
        assert!(BaseSubject::of("[list] Fwd: a").is_reply());
        assert!(BaseSubject::of("a (fwd)").is_reply());
        assert!(!BaseSubject::of("[list] a").is_reply());
        assert!(!BaseSubject::of("Reply: a").is_reply());
        assert!(!BaseSubject::of("retreat: a").is_reply());
    }

    #[test]
    fn what_is_nothing_but_prefixes_is_empty_and_a_lone_name_of_a_list_stays() {
        assert_eq!(BaseSubject::of("Re: Re:").as_str(), "");
        assert_eq!(BaseSubject::of("").as_str(), "");
        assert_eq!(BaseSubject::of("[urgent]").as_str(), "[urgent]");
    }

    #[test]
    fn two_words_tell_enough_to_join_messages() {
        assert!(BaseSubject::of("Lunch Friday").is_telling());
        assert!(!BaseSubject::of("Re: Lunch").is_telling());
        assert!(!BaseSubject::of("Lunch -").is_telling());
        assert!(!BaseSubject::of("").is_telling());
    }
}
