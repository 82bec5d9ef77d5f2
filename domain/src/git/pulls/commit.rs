//! Commits that are made here, as git keeps them.

use crate::{Timestamp, git::ObjectId};

/// What stands for somebody of whom nothing is left that git takes.
const NOBODY: &str = "nobody";

/// Somebody whom a commit names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    name: String,
    email: String,
}

impl Identity {
    /// Somebody of this name and address, without what git takes in neither.
    pub fn new(name: &str, email: &str) -> Self {
        let (name, email) = (cleaned(name), cleaned(email));
        let name = if name.is_empty() { email.clone() } else { name };
        let name = if name.is_empty() { NOBODY.to_owned() } else { name };
        Self { name, email }
    }

    /// Reads `Ada <ada@example.com>`.
    pub fn read(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('<')?;
        let (email, _) = rest.split_once('>')?;
        Some(Self::new(name, email)).filter(|it| !it.email.is_empty())
    }

    /// What tells people apart: their address, or their name where they have none.
    pub fn key(&self) -> String {
        let told = if self.email.is_empty() { &self.name } else { &self.email };
        told.to_lowercase()
    }

    /// The line of a commit that says what they did at this moment.
    pub fn line(&self, at: Timestamp) -> Vec<u8> {
        format!("{self} {} +0000", at.as_millis().div_euclid(1_000)).into_bytes()
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// A name or an address without brackets and control characters, and without what git cuts off at its ends.
fn cleaned(text: &str) -> String {
    let kept: String = text.chars().filter(|it| !it.is_control() && !matches!(it, '<' | '>')).collect();
    kept.trim_matches(|it: char| it.is_whitespace() || ".,:;\"\\'".contains(it)).to_owned()
}

/// What of a commit is kept when it is made anew: all but its place, its files and its signature. Git takes any bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitText {
    /// The line of who wrote it, and when.
    pub author: Vec<u8>,
    /// How its bytes are to be read, where that is said.
    pub encoding: Option<Vec<u8>>,
    /// What it says.
    pub message: Vec<u8>,
}

impl CommitText {
    /// Reads the bytes of a commit.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (mut text, mut rest) = (Self::default(), bytes);
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if line.is_empty() {
                text.message = rest.to_vec();
                return (!text.author.is_empty()).then_some(text);
            }
            if let Some(author) = line.strip_prefix(b"author ") {
                text.author = author.to_vec();
            } else if let Some(encoding) = line.strip_prefix(b"encoding ") {
                text.encoding = Some(encoding.to_vec());
            }
        }
    }
}

/// A commit that is to be made.
#[derive(Clone, Debug)]
pub struct NewCommit {
    /// What its files are.
    pub tree: ObjectId,
    /// The commits that it follows.
    pub parents: Vec<ObjectId>,
    /// The line of who put it where it is, and when.
    pub committer: Vec<u8>,
    /// What it says, and who wrote it.
    pub text: CommitText,
}

impl NewCommit {
    /// The commit's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("tree {}\n", self.tree).into_bytes();
        for parent in &self.parents {
            bytes.extend_from_slice(format!("parent {parent}\n").as_bytes());
        }
        let encoding = self.text.encoding.as_deref();
        let lines =
            [("author", Some(&*self.text.author)), ("committer", Some(&*self.committer)), ("encoding", encoding)];
        for (name, value) in lines {
            let Some(value) = value else { continue };
            for part in [name.as_bytes(), b" ", value, b"\n"] {
                bytes.extend_from_slice(part);
            }
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.text.message);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_ends_its_line_or_begins_an_address() {
        let line = |name, email| String::from_utf8(Identity::new(name, email).line(Timestamp(1_999))).unwrap();
        assert_eq!(line("Ada Lovelace", "ada@example.com"), "Ada Lovelace <ada@example.com> 1 +0000");
        assert_eq!(line("A<b>\ntree 1\0.", "a@b>\n"), "Abtree 1 <a@b> 1 +0000");
        assert_eq!(line(" \"' ", "a@b"), "a@b <a@b> 1 +0000");
        assert_eq!(line("", "<>"), "nobody <> 1 +0000");
        assert_eq!(Identity::read("Ada <a@b>").unwrap().key(), "a@b");
        assert_eq!(Identity::read(" A B <A@b> x"), Some(Identity::new("A B", "A@b")));
        for bad in ["", "Ada", "Ada <", "Ada <>"] {
            assert_eq!(Identity::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_commit_is_made_anew_with_what_it_said() {
        let tree = ObjectId::of_bytes([1; 20]);
        let old =
            b"tree x\nparent y\nauthor A <a@b> 1 +0100\ncommitter B <b@c> 2 +0000\nencoding latin1\ngpgsig x\n y\n\n\
                    Subject\n\n\xff\n";
        let text = CommitText::read(old).unwrap();
        let commit = NewCommit { tree, parents: vec![tree], committer: b"C <c@d> 3 +0000".to_vec(), text };
        let first = format!("tree {tree}\nparent {tree}\nauthor A <a@b> 1 +0100\n");
        let rest = b"committer C <c@d> 3 +0000\nencoding latin1\n\nSubject\n\n\xff\n";
        assert_eq!(commit.bytes(), [first.as_bytes(), &rest[..]].concat());
        for bad in [&b"tree x\n\n"[..], b"author A <a@b> 1 +0000", b""] {
            assert_eq!(CommitText::read(bad), None);
        }
    }
}
