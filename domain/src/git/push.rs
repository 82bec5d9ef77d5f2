//! What a push may do to refs.

use std::collections::HashSet;

use super::{BranchName, ObjectId, RefKind, RefName};
use crate::app::names;

/// What a ref that isn't where the client believes reads.
pub const STALE_INFO: &str = "stale info";
/// What every other ref reads where one of an atomic push can't be moved.
pub const ATOMIC_FAILED: &str = "atomic push failed";
/// Bytes of a pack.
pub const PACK_MAX: u64 = 5 << 30;

/// A ref that is to be moved, and what is known of the objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefMove {
    /// The ref.
    pub name: RefName,
    /// What it is to name now.
    pub old: Option<ObjectId>,
    /// What it is to name then.
    pub new: Option<ObjectId>,
    /// The object that a tag's object ends at, where it is to name one.
    pub peeled: Option<ObjectId>,
    /// Whether commits are left behind.
    pub is_forced: bool,
    /// Whether a merge commit is among those that the ref gains; nothing where nobody looked.
    pub adds_merges: Option<bool>,
    /// Heads of open pull requests that are among the commits which the ref gains.
    pub gained_heads: Vec<ObjectId>,
}

/// What is there where a ref is to be moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefPlace {
    /// What the ref names.
    pub oid: Option<ObjectId>,
    /// A ref that is a folder of it, or for which it is one.
    pub in_the_way: Option<RefName>,
}

names! {
    /// What became of a ref: a forced one names a commit that isn't a descendant of what it named.
    RefVerdict {
        Created = "created",
        Updated = "updated",
        Forced = "forced",
        Deleted = "deleted",
        Refused = "refused",
    }
}

impl RefMove {
    /// A move of a ref that says nothing yet.
    pub const fn nothing(name: RefName) -> Self {
        Self { name, old: None, new: None, peeled: None, is_forced: false, adds_merges: None, gained_heads: Vec::new() }
    }

    /// Why such a ref can't be pushed at all.
    pub fn check_name(name: &[u8]) -> Result<RefName, &'static str> {
        let Some(name) = RefName::parse(name) else { return Err("This isn't a name that a ref can have.") };
        match name.kind() {
            RefKind::Branch if name.branch().is_none() => Err("This isn't a name that a branch can have here."),
            RefKind::Branch | RefKind::Tag | RefKind::Notes => Ok(name),
            RefKind::Other => Err("Only branches, tags and notes can be pushed."),
        }
    }

    /// What the move does to what is there, or why it isn't done.
    pub fn decide(&self, place: &RefPlace, default_branch: &BranchName) -> Result<RefVerdict, String> {
        if place.oid != self.old {
            return Err(STALE_INFO.to_owned());
        }
        match (self.old, self.new) {
            (Some(_), None) if self.name.branch().as_ref() == Some(default_branch) => {
                Err("The default branch can't be deleted.".to_owned())
            }
            (_, None) => Ok(RefVerdict::Deleted),
            (None, Some(_)) => match &place.in_the_way {
                Some(other) => Err(format!("{other} is in the way.")),
                None => Ok(RefVerdict::Created),
            },
            (Some(_), Some(_)) if self.is_forced => Ok(RefVerdict::Forced),
            (Some(_), Some(_)) => Ok(RefVerdict::Updated),
        }
    }
}

/// Decides on each ref of a push by itself.
pub fn decide_each(moves: &[(RefMove, RefPlace)], default_branch: &BranchName) -> Vec<Result<RefVerdict, String>> {
    let mut verdicts: Vec<_> = moves.iter().map(|(asked, place)| asked.decide(place, default_branch)).collect();
    // Two new refs of one push can stand in each other's way.
    let made =
        |(_, verdict): &(&(RefMove, RefPlace), &Result<RefVerdict, String>)| **verdict == Ok(RefVerdict::Created);
    let created: HashSet<&[u8]> =
        moves.iter().zip(&verdicts).filter(made).map(|((asked, _), _)| asked.name.as_bytes()).collect();
    for ((asked, _), verdict) in moves.iter().zip(&mut verdicts) {
        if *verdict == Ok(RefVerdict::Created)
            && let Some(folder) = asked.name.folders().find(|folder| created.contains(folder))
        {
            *verdict = Err(format!("{} is in the way.", String::from_utf8_lossy(folder)));
        }
    }
    verdicts
}

/// Has none of an atomic push's refs be moved where one of them can't, or another one `is_refused`.
pub fn all_or_none(verdicts: &mut [Result<RefVerdict, String>], is_refused: bool) {
    if is_refused || verdicts.iter().any(Result::is_err) {
        for verdict in verdicts.iter_mut().filter(|verdict| verdict.is_ok()) {
            *verdict = Err(ATOMIC_FAILED.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(byte: u8) -> Option<ObjectId> {
        ObjectId::of_bytes([byte; 20]).given()
    }

    fn moving(name: &str, old: u8, new: u8) -> RefMove {
        let name = RefName::parse(name.as_bytes()).unwrap();
        RefMove { old: oid(old), new: oid(new), ..RefMove::nothing(name) }
    }

    fn at(byte: u8) -> RefPlace {
        RefPlace { oid: oid(byte), in_the_way: None }
    }

    #[test]
    fn a_ref_is_moved_from_where_the_client_believes_it_is() {
        let main = BranchName::default();
        let decided = |asked: &RefMove, there: u8| asked.decide(&at(there), &main);
        assert_eq!(decided(&moving("refs/heads/a", 0, 1), 0), Ok(RefVerdict::Created));
        assert_eq!(decided(&moving("refs/heads/a", 1, 2), 1), Ok(RefVerdict::Updated));
        let forced = RefMove { is_forced: true, ..moving("refs/heads/a", 1, 2) };
        assert_eq!(decided(&forced, 1), Ok(RefVerdict::Forced));
        assert_eq!(decided(&moving("refs/heads/a", 1, 0), 1), Ok(RefVerdict::Deleted));
        for (asked, there) in
            [(moving("refs/heads/a", 0, 1), 2), (moving("refs/heads/a", 1, 2), 3), (moving("refs/heads/a", 1, 0), 0)]
        {
            assert_eq!(decided(&asked, there), Err(STALE_INFO.to_owned()));
        }
        let refusal = decided(&moving("refs/heads/main", 1, 0), 1).unwrap_err();
        assert_eq!(refusal, "The default branch can't be deleted.");
        assert!(decided(&moving("refs/tags/main", 1, 0), 1).is_ok());
    }

    #[test]
    fn a_ref_and_its_folder_cannot_both_be() {
        let main = BranchName::default();
        let in_the_way = RefPlace { oid: None, in_the_way: RefName::parse(b"refs/heads/a") };
        let refused = moving("refs/heads/a/b", 0, 1).decide(&in_the_way, &main).unwrap_err();
        assert_eq!(refused, "refs/heads/a is in the way.");
        let both = [(moving("refs/heads/a/b", 0, 1), at(0)), (moving("refs/heads/a", 0, 1), at(0))];
        let verdicts = decide_each(&both, &main);
        assert_eq!(verdicts, [Err("refs/heads/a is in the way.".to_owned()), Ok(RefVerdict::Created)]);
    }

    #[test]
    fn an_atomic_push_is_done_whole_or_not_at_all() {
        let main = BranchName::default();
        let moves = [(moving("refs/heads/a", 0, 1), at(0)), (moving("refs/heads/b", 0, 1), at(2))];
        let each = decide_each(&moves, &main);
        assert_eq!(each, [Ok(RefVerdict::Created), Err(STALE_INFO.to_owned())]);
        let atomic = |moves: &[(RefMove, RefPlace)], is_refused| {
            let mut verdicts = decide_each(moves, &main);
            all_or_none(&mut verdicts, is_refused);
            verdicts
        };
        assert_eq!(atomic(&moves, false), [Err(ATOMIC_FAILED.to_owned()), Err(STALE_INFO.to_owned())]);
        assert_eq!(atomic(&moves[..1], false), [Ok(RefVerdict::Created)]);
        assert_eq!(atomic(&moves[..1], true), [Err(ATOMIC_FAILED.to_owned())]);
    }

    #[test]
    fn branches_tags_and_notes_are_pushed() {
        for good in ["refs/heads/a", "refs/tags/a", "refs/notes/a"] {
            assert!(RefMove::check_name(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in ["refs/pull/1/head", "refs/x/y", "HEAD", "refs/heads/HEAD", "refs/heads/a..b"] {
            assert!(RefMove::check_name(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(RefMove::check_name(b"refs/heads/\xff").is_err());
        assert!(RefMove::check_name(b"refs/tags/\xff").is_ok());
    }
}
