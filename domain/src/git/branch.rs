//! Names of branches, by git's own rules (`git check-ref-format`).

use std::ops::RangeInclusive;

use crate::{Error, Result};

/// Characters of a branch's name (contract C 4.3).
pub const BRANCH_NAME_LEN: RangeInclusive<usize> = 1..=256;
/// The default branch of a repository that is made without one.
pub const DEFAULT_BRANCH: &str = "main";

/// What stands in no name of a ref.
const FORBIDDEN: [char; 8] = [' ', '~', '^', ':', '?', '*', '[', '\\'];

/// A branch's name, without `refs/heads/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BranchName(String);

impl BranchName {
    /// Reads a name, without the blanks around it; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let name = text.trim();
        if !BRANCH_NAME_LEN.contains(&name.chars().count()) {
            return Err(Error::invalid(path, "Use 1 to 256 characters."));
        }
        if is_branch(name) {
            Ok(Self(name.to_owned()))
        } else {
            Err(Error::invalid(path, "This isn't a branch's name."))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for BranchName {
    fn default() -> Self {
        Self(DEFAULT_BRANCH.to_owned())
    }
}

fn is_branch(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none();
    name.split('/').all(is_part)
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !matches!(name, "@" | "HEAD")
        && !name.chars().any(|it| it.is_control() || FORBIDDEN.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_by_gits_rules() {
        for good in ["main", "feature/a", "a.b", "é", "a@b", "a-", "lock", "@a", &"a".repeat(256)] {
            assert_eq!(BranchName::parse("name", good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            " ",
            "-a",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "a..b",
            "a@{b",
            "@",
            "HEAD",
            "a b",
            "a~",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a\u{7f}",
            "a\nb",
            &"a".repeat(257),
        ] {
            assert!(BranchName::parse("name", bad).is_err(), "{bad}");
        }
        assert_eq!(BranchName::parse("name", " main ").unwrap(), BranchName::default());
    }
}
