//! How a pull request is merged, and what the commits say that come of it.

use std::{collections::HashSet, fmt::Write as _};

use super::{Identity, Pull};
use crate::{app::names, git::ObjectId};

/// Commits that one rebase makes anew.
pub const REBASED_MAX: usize = 100;
/// Authors that a squashed commit names beside its own.
pub const COAUTHORS_MAX: usize = 100;

names! {
    /// How the commits of the head come into the base: with a commit that follows both, as a single commit, or each anew.
    MergeMethod { Merge = "merge", Squash = "squash", Rebase = "rebase", }
}

/// Who wrote what a squashed commit has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SquashAuthors {
    /// Whoever wrote the first commit.
    pub author: Option<Identity>,
    /// All others, in the order of their commits.
    pub others: Vec<Identity>,
    known: HashSet<String>,
}

impl SquashAuthors {
    /// Adds somebody who wrote the next commit, or whom it names as somebody who did.
    pub fn add(&mut self, identity: Identity) {
        if !self.known.insert(identity.key()) {
            return;
        }
        match &self.author {
            None => self.author = Some(identity),
            Some(_) if self.others.len() < COAUTHORS_MAX => self.others.push(identity),
            Some(_) => {}
        }
    }
}

/// What the commit of a merge says where nobody says it.
pub fn merge_message(pull: &Pull) -> String {
    format!("Merge pull request #{} from {}\n\n{}\n", pull.number, pull.head.as_str(), pull.title)
}

/// What a squashed commit says, with who else wrote it.
pub fn squash_message(pull: &Pull, said: Option<&str>, authors: &SquashAuthors) -> String {
    let mut text = match said {
        Some(said) => said.trim_end().to_owned(),
        None => format!("{} (#{})\n\n{}", pull.title, pull.number, pull.body).trim_end().to_owned(),
    };
    let lowered = text.to_lowercase();
    let is_named = |it: &&Identity| lowered.contains(&format!("co-authored-by: {it}").to_lowercase());
    let mut others = authors.others.iter().filter(|it| !is_named(it)).peekable();
    text.push('\n');
    if others.peek().is_some() && !ends_with_trailer(&text) {
        text.push('\n');
    }
    for other in others {
        // Writing to a text doesn't fail.
        let _ = writeln!(text, "Co-authored-by: {other}");
    }
    text
}

/// Whether the last paragraph of a message, which isn't the first, ends with a line that names a co-author.
fn ends_with_trailer(text: &str) -> bool {
    let last = text.trim_end().lines().last().unwrap_or_default();
    text.trim_end().contains("\n\n") && last.to_lowercase().starts_with("co-authored-by: ")
}

/// What the commit says by which the base comes into the head.
pub fn update_message(pull: &Pull) -> String {
    format!("Merge branch '{}' into {}\n", pull.base.as_str(), pull.head.as_str())
}

/// What a test merge says: which two commits it merges.
pub fn test_merge_message(base: ObjectId, head: ObjectId) -> String {
    format!("Merge {head} into {base}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Timestamp,
        git::{BranchName, ObjectId, PullNumber, PullState},
        id::UserId,
    };

    fn pull(body: &str) -> Pull {
        let (oid, now) = (ObjectId::of_bytes([1; 20]), Timestamp(0));
        Pull {
            number: PullNumber::new(7).unwrap(),
            title: "Say hello".to_owned(),
            body: body.to_owned(),
            head: BranchName::parse("head", "feature").unwrap(),
            base: BranchName::default(),
            state: PullState::Open,
            is_draft: false,
            author: UserId::new(now),
            version: 1,
            opened_with: (oid, oid),
            head_oid: oid,
            base_oid: oid,
            merge_commit: None,
            created_at: now,
            updated_at: now,
            ended: None,
            auto_merge: None,
        }
    }

    #[test]
    fn a_squashed_commit_names_everybody_who_wrote_it_once() {
        let mut authors = SquashAuthors::default();
        for who in ["Ada <ada@b>", "Bob <bob@b>", "Ada L <ADA@b>", "Eve <eve@b>", "Bobby <bob@b>"] {
            authors.add(Identity::read(who).unwrap());
        }
        assert_eq!(authors.author, Identity::read("Ada <ada@b>"));
        let message = squash_message(&pull("Hello to all."), None, &authors);
        assert_eq!(
            message,
            "Say hello (#7)\n\nHello to all.\n\nCo-authored-by: Bob <bob@b>\nCo-authored-by: Eve <eve@b>\n"
        );
        let message = squash_message(&pull(""), Some("Mine\n\nCo-Authored-By: Bob <bob@b>\n\n"), &authors);
        assert_eq!(message, "Mine\n\nCo-Authored-By: Bob <bob@b>\nCo-authored-by: Eve <eve@b>\n");
        assert_eq!(squash_message(&pull(""), None, &SquashAuthors::default()), "Say hello (#7)\n");
        let many = (0..COAUTHORS_MAX + 2).map(|at| Identity::new("x", &format!("{at}@b")));
        let mut authors = SquashAuthors::default();
        for who in many {
            authors.add(who);
        }
        assert_eq!(authors.others.len(), COAUTHORS_MAX);
    }

    #[test]
    fn a_merge_says_what_was_merged() {
        assert_eq!(merge_message(&pull("")), "Merge pull request #7 from feature\n\nSay hello\n");
        assert_eq!(update_message(&pull("")), "Merge branch 'main' into feature\n");
        let (base, head) = (ObjectId::of_bytes([1; 20]), ObjectId::of_bytes([2; 20]));
        assert_eq!(test_merge_message(base, head), format!("Merge {} into {}\n", "02".repeat(20), "01".repeat(20)));
    }
}
