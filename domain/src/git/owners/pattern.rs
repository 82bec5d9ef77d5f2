//! Which files a line of a `CODEOWNERS` file is about.
//!
//! Patterns are those of `.gitignore`, but for what GitHub leaves out: `!`, `[ ]` and `\#` mean nothing, and a line with one of them is
//! passed over. A name alone is looked for in every folder; with a slash at its beginning, or one within, it is the path from the top. A
//! folder stands for all that is below it. `*` and `?` stay within a name; `**` stands for any number of folders. Other than in
//! `.gitignore`, `docs/*` is what is in `docs` itself, and nothing in folders below. Case counts.

use std::{cell::Cell, ops::RangeInclusive};

use crate::git::rules::matches;

/// Characters of a pattern.
const PATTERN_LEN: RangeInclusive<usize> = 1..=1_024;

/// A pattern of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnersPattern(Vec<Part>);

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any number of names, none among them.
    Any,
    /// One name.
    One,
    /// One name that looks so.
    Like(Vec<Sign>),
}

/// A sign of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// Any number of characters, none among them.
    Many,
    /// One character.
    One,
    /// This one.
    Is(char),
}

impl OwnersPattern {
    /// The pattern; nothing where it isn't understood.
    pub(super) fn read(text: &str) -> Option<Self> {
        let is_understood = PATTERN_LEN.contains(&text.chars().count())
            && !text.starts_with('!')
            && !text.starts_with("\\#")
            && !text.contains(['[', ']', '\0'])
            && !text.contains("***");
        if !is_understood {
            return None;
        }
        let (is_rooted, rest) = text.strip_prefix('/').map_or((false, text), |rest| (true, rest));
        let (is_folder, rest) = rest.strip_suffix('/').map_or((false, rest), |rest| (true, rest));
        let mut parts = rest.split('/').map(Part::read).collect::<Option<Vec<_>>>()?;
        if !is_rooted && parts.len() == 1 {
            parts.insert(0, Part::Any);
        }
        if is_folder {
            parts.extend([Part::Any, Part::One]);
        } else {
            match parts.last() {
                Some(Part::Any) => parts.push(Part::One),
                // It may be a folder.
                Some(Part::Like(_)) => parts.push(Part::Any),
                Some(Part::One) | None => {}
            }
        }
        Some(Self(parts))
    }

    /// Whether it is about the file whose path has these names; each comparison is counted.
    pub(super) fn covers(&self, names: &[Vec<char>], steps: &Cell<u64>) -> bool {
        matches(&self.0, names, |part| *part == Part::Any, |part, name| part.covers(name, steps))
    }
}

impl Part {
    fn read(text: &str) -> Option<Self> {
        match text {
            "" => None,
            "**" => Some(Self::Any),
            "*" => Some(Self::One),
            _ => Sign::all_of(text).map(Self::Like),
        }
    }

    fn covers(&self, name: &[char], steps: &Cell<u64>) -> bool {
        count(steps);
        match self {
            Self::Any | Self::One => true,
            Self::Like(signs) => {
                let is_like = |sign: &Sign, it: &char| {
                    count(steps);
                    *sign == Sign::One || *sign == Sign::Is(*it)
                };
                matches(signs, name, |sign| *sign == Sign::Many, is_like)
            }
        }
    }
}

impl Sign {
    /// The signs of a name; nothing where it ends within an escape.
    fn all_of(text: &str) -> Option<Vec<Self>> {
        let (mut signs, mut letters) = (Vec::with_capacity(text.len()), text.chars());
        while let Some(letter) = letters.next() {
            signs.push(match letter {
                '*' => Self::Many,
                '?' => Self::One,
                '\\' => Self::Is(letters.next()?),
                other => Self::Is(other),
            });
        }
        Some(signs)
    }
}

fn count(steps: &Cell<u64>) {
    steps.set(steps.get() + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
        OwnersPattern::read(pattern).unwrap_or_else(|| panic!("{pattern}")).covers(&names, &Cell::new(0))
    }

    /// What GitHub's documentation has as examples, and what `.gitignore` says of the others.
    #[test]
    #[rustfmt::skip]
    fn a_pattern_is_about_what_github_says() {
        for (pattern, about, not_about) in [
            ("/*", &["a", ".b"][..], &["a/b"][..]),
            ("*", &["a", "a/b", "a/b/.c"], &[]),
            ("**", &["a", "a/b"], &[]),
            ("*.js", &["a.js", "a/b.js", ".js", "lib.js/a"], &["a.jsx", "a/b.JS", "js"]),
            ("*.go", &["main.go"], &["go", "main.go2"]),
            ("/build/logs/", &["build/logs/a", "build/logs/a/b"], &["build/logs", "a/build/logs/b", "build/a"]),
            ("docs/*", &["docs/getting-started.md"], &["docs/build-app/troubleshooting.md", "a/docs/b"]),
            ("docs/**", &["docs/a", "docs/a/b"], &["docs", "a/docs/b"]),
            ("apps/", &["apps/a", "a/apps/b/c"], &["apps", "myapps/a"]),
            ("/docs/", &["docs/a", "docs/a/b"], &["a/docs/b", "docs"]),
            ("/scripts", &["scripts", "scripts/a/b"], &["a/scripts", "scripts.sh"]),
            ("**/logs", &["logs", "logs/a", "build/logs/a", "deeply/nested/logs/a"], &["logs.txt", "build/logs.txt"]),
            ("/apps/github", &["apps/github", "apps/github/a"], &["apps/githubs", "x/apps/github"]),
            ("apps/github", &["apps/github/a"], &["x/apps/github"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b/c"], &["a/x", "b"]),
            ("a/*/b", &["a/x/b", "a/x/b/c"], &["a/b", "a/x/y/b"]),
            ("docs/**/*.md", &["docs/a.md", "docs/b/c/a.md"], &["a.md", "docs/a.txt"]),
            ("a?c", &["abc", "x/aéc"], &["ac", "abbc", "a/c"]),
            ("*/", &["a/b", "a/b/c"], &["a"]),
            ("a\\ b", &["a b", "x/a b/c"], &["ab"]),
            ("a\\*", &["a*"], &["ab"]),
            ("a**b", &["ab", "axxb"], &["a/b"]),
            ("x#y", &["x#y"], &["x"]),
            ("README", &["README", "a/README"], &["readme"]),
            ("a*b*c", &["abbcbc", "x/abc"], &["abcb"]),
        ] {
            for path in about {
                assert!(covers(pattern, path), "{pattern} {path}");
            }
            for path in not_about {
                assert!(!covers(pattern, path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn what_github_leaves_out_is_no_pattern() {
        for text in ["", "/", "//", "a//b", "!a", "\\#a", "[ab]", "a[0-9]", "a/***/b", "a\\", "a\0", &"a".repeat(1_025)]
        {
            assert_eq!(OwnersPattern::read(text), None, "{text}");
        }
        assert!(OwnersPattern::read(&"a".repeat(1_024)).is_some());
    }
}
