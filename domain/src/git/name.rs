//! Names of repositories.

use std::ops::RangeInclusive;

use crate::{Error, Result};

/// Characters of a repository's name.
pub const REPOSITORY_NAME_LEN: RangeInclusive<usize> = 1..=100;
/// Repositories of one organization, those that are being deleted among them.
pub const REPOSITORIES_MAX: u64 = 10_000;

/// The ends that mean something else to git and to its clients.
const RESERVED_ENDS: [&str; 2] = [".git", ".lock"];

/// A repository's name. No two of an organization have the same, regardless of case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RepositoryName(String);

impl RepositoryName {
    /// Reads a name; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if !REPOSITORY_NAME_LEN.contains(&text.len()) || !text.bytes().all(is_usual) {
            return Err(Error::invalid(path, "Use 1 to 100 letters, digits, '.', '_' and '-'."));
        }
        if text.starts_with(['.', '-']) {
            return Err(Error::invalid(path, "Begin with a letter, a digit or '_'."));
        }
        let name = Self(text.to_owned());
        if RESERVED_ENDS.iter().any(|end| name.key().ends_with(end)) {
            return Err(Error::invalid(path, "Don't end with .git or .lock."));
        }
        Ok(name)
    }

    /// The name as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it is compared by.
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_to_a_hundred_usual_characters() {
        for good in ["a", "A.b_c-1", "_", "9", "git", "lock", ".git.x".trim_start_matches('.'), &"a".repeat(100)] {
            assert_eq!(RepositoryName::parse("name", good).unwrap().as_str(), good);
        }
        for bad in
            ["", &"a".repeat(101), "a b", "a/b", "é", ".a", "-a", "a.git", "a.GIT", "a.lock", "a.Lock", "a\0", " a"]
        {
            assert!(RepositoryName::parse("name", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_compared_regardless_of_case() {
        let key = |text| RepositoryName::parse("name", text).unwrap().key();
        assert_eq!(key("Web-App"), key("wEB-aPP"));
        assert_ne!(key("web-app"), key("web_app"));
    }
}
