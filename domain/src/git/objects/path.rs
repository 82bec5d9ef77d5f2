//! Paths of files in a repository.

use std::{cmp::Ordering, ops::RangeInclusive};

use crate::{Error, Result};

/// Bytes of a path.
pub const REPOSITORY_PATH_MAX: RangeInclusive<usize> = 1..=4_096;

/// Where a file or a folder is in a repository: names with slashes between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryPath(String);

impl RepositoryPath {
    /// Reads a path that is looked up. A slash at either end means nothing; `field` is where it stands in the request.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let path = text.trim_matches('/');
        if !REPOSITORY_PATH_MAX.contains(&path.len()) {
            return Err(Error::invalid(field, "Use 1 to 4,096 bytes."));
        }
        let is_path = path.split('/').all(|name| !matches!(name, "" | "." | "..")) && !path.contains('\0');
        if is_path { Ok(Self(path.to_owned())) } else { Err(Error::invalid(field, "This isn't the path of a file.")) }
    }

    /// The same, where no path is the whole repository.
    pub fn parse_folder(field: &str, text: Option<&str>) -> Result<Option<Self>> {
        text.filter(|text| !text.trim_matches('/').is_empty()).map(|text| Self::parse(field, text)).transpose()
    }

    /// Reads a path that a commit is to write: also none that git would not check out anywhere.
    pub fn parse_written(text: &str) -> Result<Self> {
        let refused = || unusable(text);
        let is_written = !text.starts_with('/')
            && !text.ends_with('/')
            && !text.chars().any(char::is_control)
            && !text.split('/').any(is_gits_own);
        let path = Self::parse("path", text).map_err(|_| refused())?;
        if is_written { Ok(path) } else { Err(refused()) }
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path, as a message says it.
    pub fn shown(&self) -> String {
        shown(&self.0)
    }

    /// 400: nothing can be at this path.
    pub fn unusable(&self) -> Error {
        unusable(&self.0)
    }

    /// The order in which what is in a folder follows it at once.
    pub fn cmp_in_tree(&self, other: &Self) -> Ordering {
        fn parts(path: &RepositoryPath) -> impl Iterator<Item = &[u8]> {
            path.0.as_bytes().split(|byte| *byte == b'/')
        }
        parts(self).cmp(parts(other))
    }

    /// The name of the file or folder.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folders that it is in, from the outermost.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(at, _)| &self.0[..at])
    }

    /// Whether it is in the folder, or is it.
    pub fn is_within(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

fn unusable(text: &str) -> Error {
    Error::bad_request("path", format!("{} can't be used as a path.", shown(text)))
}

/// A path, as a message says it.
fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    let kept: String = text.chars().take(SHOWN_MAX).map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect();
    if kept.len() < text.len() { format!("{kept}…") } else { kept }
}

/// Whether some file system takes the name for `.git`, which holds what git itself runs: HFS+ passes over some characters, NTFS
/// over blanks and dots at the end and what follows a colon, and calls it `GIT~1`, too.
fn is_gits_own(name: &str) -> bool {
    let is_passed_over = |it: &char| matches!(it, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let read: String = name.chars().filter(|it| !is_passed_over(it)).collect();
    let read = read.split([':', '\\']).next().unwrap_or_default().trim_end_matches([' ', '.']);
    let backslashed = name.split('\\').skip(1).any(is_gits_own);
    backslashed || read.eq_ignore_ascii_case(".git") || read.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_file() {
        for (text, path) in [("a", "a"), ("/a/b/", "a/b"), (".git/config", ".git/config"), ("a b\n", "a b\n")] {
            assert_eq!(RepositoryPath::parse("path", text).unwrap().as_str(), path);
        }
        for bad in ["", "/", "a//b", "./a", "a/..", "a/./b", "a\0b", &"a".repeat(4_097)] {
            assert!(RepositoryPath::parse("path", bad).is_err(), "{bad}");
        }
        assert!(RepositoryPath::parse("path", &"a".repeat(4_096)).is_ok());
        assert_eq!(RepositoryPath::parse_folder("path", Some("/")).unwrap(), None);
        let path = RepositoryPath::parse("path", "a/b/c").unwrap();
        assert_eq!((path.name(), path.folders().collect::<Vec<_>>()), ("c", vec!["a", "a/b"]));
        let folder = |text| RepositoryPath::parse("path", text).unwrap();
        assert!(path.is_within(&folder("a/b")) && path.is_within(&path) && !path.is_within(&folder("a/b/cc")));
        assert!(!folder("ab").is_within(&folder("a")));
    }

    #[test]
    fn nothing_is_written_where_git_keeps_its_own() {
        for good in ["a", "a/b.txt", ".gitignore", ".github/x", "git", ".gitx", "a.git", "é/ü", "git~2", "a b"] {
            assert!(RepositoryPath::parse_written(good).is_ok(), "{good}");
        }
        for bad in [
            ".git",
            "a/.git/config",
            ".GIT",
            ".Git ",
            ".git.",
            ".git. .",
            "GIT~1",
            ".g\u{200c}it",
            ".git::$INDEX",
            "a\\.git",
            ".git\\x",
            "..",
            "a/../b",
            "/a",
            "a/",
            "a\nb",
            "a\0",
            "",
        ] {
            let error = RepositoryPath::parse_written(bad).unwrap_err();
            assert!(error.to_string().contains("can't be used as a path."), "{bad}: {error}");
        }
    }
}
