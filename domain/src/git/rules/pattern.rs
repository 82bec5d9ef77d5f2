//! Patterns of names that a rule covers.
//!
//! A pattern is matched against the name of a branch or of a tag, without `refs/heads/` or `refs/tags/`, and against all of it.
//! `*` stands for any bytes of one segment, none among them, but never for a `/`. `**` is a segment of its own and stands for any
//! number of segments, none among them; at the end it stands for at least one, so that `release/**` covers what is in `release`
//! and not a branch of that name. Everything else stands for itself, in the case in which it is written.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Characters of a pattern.
pub const PATTERN_LEN: std::ops::RangeInclusive<usize> = 1..=256;

/// What stands in no name of a ref, and means nothing in a pattern.
const FORBIDDEN: [char; 7] = [' ', '~', '^', ':', '?', '[', '\\'];
/// The segment that stands for many.
const ANY_SEGMENTS: &str = "**";

/// A pattern of names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RefPattern(String);

impl RefPattern {
    /// Reads a pattern, without the blanks around it; `path` is where it stands in the request.
    pub fn parse(path: impl Into<String>, text: &str) -> Result<Self> {
        let text = text.trim();
        if !PATTERN_LEN.contains(&text.chars().count()) {
            return Err(Error::invalid(path, "Use 1 to 256 characters."));
        }
        if text.chars().any(|it| it.is_control() || FORBIDDEN.contains(&it)) || text.split('/').any(str::is_empty) {
            return Err(Error::invalid(path, "This is no pattern of names."));
        }
        if text.split('/').any(|segment| segment != ANY_SEGMENTS && segment.contains(ANY_SEGMENTS)) {
            return Err(Error::invalid(path, "`**` is a segment of its own, as in `release/**`."));
        }
        Ok(Self(text.to_owned()))
    }

    /// The pattern, as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it covers a branch or a tag of this name.
    pub fn covers(&self, name: &[u8]) -> bool {
        let mut wanted: Vec<Segment<'_>> = self.0.split('/').map(Segment::of).collect();
        if wanted.last() == Some(&Segment::Any) {
            wanted.push(Segment::Like(b"*"));
        }
        let segments: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
        matches(&wanted, &segments, |it| *it == Segment::Any, |it, segment| it.covers(segment))
    }
}

impl fmt::Display for RefPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A segment of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment<'a> {
    /// Any number of segments.
    Any,
    /// One that looks so.
    Like(&'a [u8]),
}

impl<'a> Segment<'a> {
    fn of(text: &'a str) -> Self {
        if text == ANY_SEGMENTS { Self::Any } else { Self::Like(text.as_bytes()) }
    }

    fn covers(self, segment: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Like(pattern) => matches(pattern, segment, |it| *it == b'*', |it, byte| it == byte),
        }
    }
}

/// Whether all of `found` is what `wanted` says, where some of it stands for any number of them. The last such is the only one
/// that is ever gone back to, so that this takes at most as many steps as the product of both lengths.
pub(in crate::git) fn matches<W, F>(
    wanted: &[W],
    found: &[F],
    is_any: impl Fn(&W) -> bool,
    is_like: impl Fn(&W, &F) -> bool,
) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut back_to: Option<(usize, usize)> = None;
    while from < found.len() {
        if wanted.get(at).is_some_and(&is_any) {
            back_to = Some((at, from));
            at += 1;
        } else if wanted.get(at).is_some_and(|it| is_like(it, &found[from])) {
            at += 1;
            from += 1;
        } else if let Some((any, taken)) = back_to {
            back_to = Some((any, taken + 1));
            at = any + 1;
            from = taken + 1;
        } else {
            return false;
        }
    }
    wanted[at..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covers(pattern: &str, name: &str) -> bool {
        RefPattern::parse("patterns[0]", pattern).unwrap().covers(name.as_bytes())
    }

    #[test]
    fn a_star_stays_in_its_segment_and_two_go_over_any_number() {
        for (pattern, name) in [
            ("main", "main"),
            ("*", "main"),
            ("v*", "v"),
            ("v*.0", "v1.0.0"),
            ("*/*", "a/b"),
            ("release/*", "release/1"),
            ("**", "a"),
            ("**", "a/b/c"),
            ("release/**", "release/1/2"),
            ("**/fix", "fix"),
            ("**/fix", "a/b/fix"),
            ("a/**/b", "a/b"),
            ("a/**/b", "a/x/b/y/b"),
            ("a*b*c", "abbcbc"),
            ("é*", "éa"),
        ] {
            assert!(covers(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("main", "Main"),
            ("main", "main2"),
            ("main", "a/main"),
            ("*", "a/b"),
            ("*/*", "a"),
            ("*/*", "a/b/c"),
            ("release/*", "release"),
            ("release/**", "release"),
            ("release/**", "releases/1"),
            ("**/fix", "afix"),
            ("a/**/b", "a/x"),
            ("a*b*c", "abbcb"),
        ] {
            assert!(!covers(pattern, name), "{pattern} {name}");
        }
        assert!(RefPattern::parse("p", "v*").unwrap().covers(b"v\xff"));
    }

    #[test]
    fn what_no_name_can_have_is_no_pattern() {
        for bad in ["", " ", "/a", "a/", "a//b", "a b", "a?", "[a]", "a\\b", "a~", "a\nb", "a**", "**a/b", "***"] {
            assert!(RefPattern::parse("p", bad).is_err(), "{bad}");
        }
        assert!(RefPattern::parse("p", &"é".repeat(256)).is_ok());
        assert!(RefPattern::parse("p", &"é".repeat(257)).is_err());
        assert_eq!(RefPattern::parse("p", " main ").unwrap().as_str(), "main");
    }

    /// The same, by trying everything.
    fn covers_slowly(wanted: &[&str], name: &[&str]) -> bool {
        fn like(pattern: &[u8], text: &[u8]) -> bool {
            match (pattern.first(), text.first()) {
                (None, None) => true,
                (Some(b'*'), _) => like(&pattern[1..], text) || (!text.is_empty() && like(pattern, &text[1..])),
                (Some(it), Some(byte)) => it == byte && like(&pattern[1..], &text[1..]),
                _ => false,
            }
        }
        match (wanted.first(), name.first()) {
            (None, None) => true,
            (Some(&"**"), None) => wanted.len() > 1 && covers_slowly(&wanted[1..], name),
            (Some(&"**"), Some(_)) if wanted.len() == 1 => true,
            (Some(&"**"), Some(_)) => covers_slowly(&wanted[1..], name) || covers_slowly(wanted, &name[1..]),
            (Some(it), Some(segment)) => {
                like(it.as_bytes(), segment.as_bytes()) && covers_slowly(&wanted[1..], &name[1..])
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn a_name_is_covered_where_any_way_to_read_the_pattern_gives_it(
            wanted in proptest::collection::vec("[ab]{1,2}|[ab]?[*][ab]{0,2}([*][ab])?|[*][*]", 1..5),
            name in proptest::collection::vec("[ab]{1,3}", 1..5),
        ) {
            let (wanted, name): (Vec<_>, Vec<_>) =
                (wanted.iter().map(String::as_str).collect(), name.iter().map(String::as_str).collect());
            prop_assume!(wanted.iter().all(|it| *it == "**" || !it.contains("**")));
            prop_assert_eq!(covers(&wanted.join("/"), &name.join("/")), covers_slowly(&wanted, &name));
        }

        #[test]
        fn a_name_covers_itself(name in "[a-z0-9.-]{1,8}(/[a-z0-9.-]{1,8}){0,3}") {
            prop_assert!(covers(&name, &name));
            prop_assert!(covers("**", &name));
        }
    }
}
