//! Names of refs, whole (`refs/heads/main`). They are bytes: git takes any.

use std::fmt;

use super::BranchName;

/// Bytes of a ref's name.
pub const REF_NAME_MAX: usize = 1_024;

const BRANCHES: &[u8] = b"refs/heads/";
const TAGS: &[u8] = b"refs/tags/";
const NOTES: &[u8] = b"refs/notes/";

/// A ref's name, by git's own rules (`git check-ref-format`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(Vec<u8>);

/// What a ref is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefKind {
    /// Below `refs/heads/`.
    Branch,
    /// Below `refs/tags/`.
    Tag,
    /// Below `refs/notes/`.
    Notes,
    /// Anything else, which nobody pushes.
    Other,
}

impl RefName {
    /// Reads a name; none where git takes none such.
    pub fn parse(name: &[u8]) -> Option<Self> {
        let rest = name.strip_prefix(b"refs/")?;
        let is_named = name.len() <= REF_NAME_MAX
            && rest.contains(&b'/')
            && name.split(|byte| *byte == b'/').all(is_part)
            && !name.ends_with(b".")
            && !name.windows(2).any(|pair| pair == b".." || pair == b"@{")
            && !name.iter().any(|byte| byte.is_ascii_control() || b" ~^:?*[\\".contains(byte));
        is_named.then(|| Self(name.to_vec()))
    }

    /// The ref of a branch.
    pub fn of_branch(branch: &BranchName) -> Self {
        Self([BRANCHES, branch.as_str().as_bytes()].concat())
    }

    /// The tag of the name of a branch.
    pub fn of_tag(name: &BranchName) -> Self {
        Self([TAGS, name.as_str().as_bytes()].concat())
    }

    /// What a branch or a tag is called, without the folder of all of them; what isn't UTF-8 is shown as such.
    pub fn short(&self) -> String {
        let short = [BRANCHES, TAGS, NOTES].iter().find_map(|folder| self.0.strip_prefix(*folder));
        String::from_utf8_lossy(short.unwrap_or(&self.0)).into_owned()
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What it is for.
    pub fn kind(&self) -> RefKind {
        match &self.0 {
            name if name.starts_with(BRANCHES) => RefKind::Branch,
            name if name.starts_with(TAGS) => RefKind::Tag,
            name if name.starts_with(NOTES) => RefKind::Notes,
            _ => RefKind::Other,
        }
    }

    /// The branch that it is, where people can name it.
    pub fn branch(&self) -> Option<BranchName> {
        let short = std::str::from_utf8(self.0.strip_prefix(BRANCHES)?).ok()?;
        BranchName::parse("name", short).ok().filter(|branch| branch.as_str() == short)
    }

    /// The folders that it is in, from the outermost: none of them can be a ref beside it.
    pub fn folders(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.skip(2).map(|end| &self.0[..end])
    }

    /// Where refs begin and end for which this is a folder.
    pub fn inside(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut from, mut to) = (self.0.clone(), self.0.clone());
        from.push(b'/');
        to.push(b'/' + 1);
        (from, to)
    }
}

fn is_part(part: &[u8]) -> bool {
    !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock")
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> RefName {
        RefName::parse(name.as_bytes()).unwrap()
    }

    #[test]
    fn a_ref_is_named_by_gits_rules() {
        for good in
            ["refs/heads/main", "refs/heads/a/b", "refs/tags/v1.0", "refs/notes/commits", "refs/x/y", "refs/heads/é"]
        {
            assert_eq!(named(good).to_string(), good);
        }
        assert!(RefName::parse(b"refs/heads/\xff").is_some());
        for bad in [
            "",
            "HEAD",
            "main",
            "heads/main",
            "refs/",
            "refs/main",
            "refs//main",
            "refs/heads/",
            "refs/heads/.a",
            "refs/heads/a.lock",
            "refs/heads/a.lock/b",
            "refs/heads/a.",
            "refs/heads/a..b",
            "refs/heads/a@{b",
            "refs/heads/a b",
            "refs/heads/a~1",
            "refs/heads/a^",
            "refs/heads/a:b",
            "refs/heads/a?",
            "refs/heads/a*",
            "refs/heads/[a",
            "refs/heads/a\\b",
            "refs/heads/a\n",
            "refs/heads/a\u{7f}",
            "refs/heads//a",
            "/refs/heads/a",
        ] {
            assert!(RefName::parse(bad.as_bytes()).is_none(), "{bad}");
        }
        let longest = format!("refs/heads/{}", "a".repeat(REF_NAME_MAX - 11));
        assert!(RefName::parse(longest.as_bytes()).is_some());
        assert!(RefName::parse(format!("{longest}a").as_bytes()).is_none());
    }

    #[test]
    fn a_ref_says_what_it_is_for_and_which_branch_it_is() {
        assert_eq!(named("refs/heads/a/b").kind(), RefKind::Branch);
        assert_eq!(named("refs/tags/a").kind(), RefKind::Tag);
        assert_eq!(named("refs/notes/a").kind(), RefKind::Notes);
        assert_eq!(named("refs/pull/1/head").kind(), RefKind::Other);
        assert_eq!(named("refs/heads/a/b").branch().unwrap().as_str(), "a/b");
        assert_eq!(named("refs/tags/a").branch(), None);
        assert_eq!(named("refs/heads/HEAD").branch(), None);
        assert_eq!(RefName::of_branch(&BranchName::default()), named("refs/heads/main"));
    }

    #[test]
    fn a_ref_is_in_folders_and_may_be_one() {
        let name = named("refs/heads/a/b/c");
        let folders: Vec<_> = name.folders().map(String::from_utf8_lossy).collect();
        assert_eq!(folders, ["refs/heads/a", "refs/heads/a/b"]);
        assert_eq!(named("refs/heads/a").folders().count(), 0);
        assert_eq!(named("refs/heads/a").inside(), (b"refs/heads/a/".to_vec(), b"refs/heads/a0".to_vec()));
    }
}
