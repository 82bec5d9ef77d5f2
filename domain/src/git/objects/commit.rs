//! Commits, as git keeps them.

use crate::{Timestamp, git::ObjectId};

/// Who made a commit, and when. Git takes anything: what can't be read is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Their name.
    pub name: Option<String>,
    /// Their address.
    pub email: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name.
    pub id: ObjectId,
    /// What its files are.
    pub tree: ObjectId,
    /// The commits that it follows; a merge has several.
    pub parents: Vec<ObjectId>,
    /// Who wrote it.
    pub author: Signature,
    /// Who put it where it is.
    pub committer: Signature,
    /// What it says.
    pub message: String,
}

impl Signature {
    /// Reads `Ada <ada@example.com> 1767225600 +0100`.
    fn read(line: &[u8]) -> Self {
        let line = String::from_utf8_lossy(line);
        let given = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        let Some((name, rest)) = line.split_once('<') else {
            return Self { name: given(&line), ..Self::default() };
        };
        let (email, rest) = rest.rsplit_once('>').unwrap_or((rest, ""));
        let seconds = rest.split_whitespace().next().and_then(|seconds| seconds.parse::<i64>().ok());
        let at = seconds.and_then(|seconds| seconds.checked_mul(1_000)).map(Timestamp);
        Self { name: given(name), email: given(email), at }
    }
}

impl Commit {
    /// Reads the object of this name; none where it isn't a commit. Its message may be cut.
    pub fn read(id: ObjectId, bytes: &[u8]) -> Option<Self> {
        let mut commit = Self {
            id,
            tree: ObjectId::ZERO,
            parents: Vec::new(),
            author: Signature::default(),
            committer: Signature::default(),
            message: String::new(),
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let (line, behind) = (&rest[..end], rest.get(end + 1..).unwrap_or_default());
            if line.is_empty() {
                commit.message = String::from_utf8_lossy(behind).into_owned();
                break;
            }
            let (name, value) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(line.len()));
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match name {
                b"tree" => commit.tree = ObjectId::read(value).ok()?,
                b"parent" => commit.parents.push(ObjectId::read(value).ok()?),
                b"author" => commit.author = Signature::read(value),
                b"committer" => commit.committer = Signature::read(value),
                // Signatures and what else there may be, each with lines of its own.
                _ => {}
            }
            rest = behind;
        }
        (commit.tree != ObjectId::ZERO).then_some(commit)
    }

    /// The first line of its message.
    pub fn subject(&self) -> &str {
        self.message.trim_start().lines().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

    fn read(text: &str) -> Option<Commit> {
        Commit::read(ObjectId::of_bytes([1; 20]), text.as_bytes())
    }

    #[test]
    fn a_commit_is_read_with_all_of_its_parents() {
        let text = format!(
            "tree {TREE}\nparent {TREE}\nparent {TREE}\nauthor Ada Lovelace <ada@example.com> 1767225600 +0100\n\
             committer Bob <b@example.com> -1 -0000\ngpgsig -----BEGIN\n tree of mine\n \n -----END\n\nSubject\n\nBody\n"
        );
        let commit = read(&text).unwrap();
        assert_eq!(commit.parents.len(), 2);
        assert_eq!(commit.author.name.as_deref(), Some("Ada Lovelace"));
        assert_eq!(commit.author.email.as_deref(), Some("ada@example.com"));
        assert_eq!(commit.author.at, Some(Timestamp(1_767_225_600_000)));
        assert_eq!(commit.committer.at, Some(Timestamp(-1_000)));
        assert_eq!((commit.subject(), commit.message.as_str()), ("Subject", "Subject\n\nBody\n"));
    }

    #[test]
    fn what_git_takes_is_read_as_far_as_it_says_something() {
        let author = |line: &str| read(&format!("tree {TREE}\nauthor {line}\n\n")).unwrap().author;
        assert_eq!(author("<> 1 +0000"), Signature { at: Some(Timestamp(1_000)), ..Signature::default() });
        assert_eq!(author("Ada <ada>"), Signature { name: Some("Ada".into()), email: Some("ada".into()), at: None });
        assert_eq!(author("Ada"), Signature { name: Some("Ada".into()), ..Signature::default() });
        assert_eq!(author("A <a> 99999999999999999999 +0000").at, None);
        assert_eq!(author("A <a> 9223372036854775807 +0000").at, None);
        assert_eq!(author("A <a>b> 1 +0000").email.as_deref(), Some("a>b"));
        let lossy = Commit::read(ObjectId::ZERO, &[format!("tree {TREE}\n\n").as_bytes(), b"\xff"].concat()).unwrap();
        assert_eq!(lossy.message, "\u{fffd}");
    }

    #[test]
    fn what_is_no_commit_is_not_read_as_one() {
        for other in ["", "\n", "tree 1\n\n", "object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ntype commit\n\n"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
