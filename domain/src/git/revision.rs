//! What people call a commit by: a branch, a tag, or its own name.

use std::ops::RangeInclusive;

use super::{BranchName, ObjectId, RefName, wire::Listing};
use crate::{Error, Result};

/// Characters of what names a commit (contract C 4.3).
pub const REVISION_LEN: RangeInclusive<usize> = 1..=256;
/// Hexadecimal digits that name a commit, where no other one begins with them.
const PREFIX_LEN: RangeInclusive<usize> = 7..=40;
/// The message of the 404 for what names nothing (contract C 4.3).
pub const REVISION_NOT_FOUND: &str = "Branch or tag not found";

/// What a text names among the refs of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revision<'a> {
    /// A branch or a tag.
    Ref(&'a Listing),
    /// Nothing, but a commit may have this name.
    Whole(ObjectId),
    /// Nothing, but the name of a commit may begin so.
    Prefix(&'a str),
    /// Nothing.
    Unknown,
}

impl<'a> Revision<'a> {
    /// Looks among refs that are in the order of their names: a branch goes before a tag, a tag before a commit. Whole names
    /// of refs are taken, too.
    pub fn find(refs: &'a [Listing], text: &'a str) -> Self {
        let at = |name: &[u8]| refs.binary_search_by(|it| it.name.as_bytes().cmp(name)).ok().map(|at| &refs[at]);
        let places = [format!("refs/heads/{text}"), format!("refs/tags/{text}")];
        let found = places.iter().find_map(|name| at(name.as_bytes()));
        let whole = || at(text.as_bytes()).filter(|_| text.starts_with("refs/"));
        if let Some(listing) = found.or_else(whole) {
            return Self::Ref(listing);
        }
        match text.parse() {
            Ok(oid) => Self::Whole(oid),
            Err(_) if PREFIX_LEN.contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit()) => {
                Self::Prefix(text)
            }
            Err(_) => Self::Unknown,
        }
    }
}

/// The ref of a branch among refs that are in the order of their names.
pub fn branch_among<'a>(refs: &'a [Listing], branch: &BranchName) -> Option<&'a Listing> {
    let name = RefName::of_branch(branch);
    refs.binary_search_by(|it| it.name.cmp(&name)).ok().map(|at| &refs[at])
}

/// 404: there is neither a branch nor a tag nor a commit of this name.
pub fn revision_not_found() -> Error {
    Error::not_found(REVISION_NOT_FOUND)
}

/// 400: the whole name of a commit that isn't there (contract C 4.3).
pub fn no_such_commit() -> Error {
    Error::bad_request("commit_not_found", "That commit doesn't exist.")
}

/// 404: the repository has no commit yet (contract C 4.3).
pub fn repository_empty() -> Error {
    Error::not_found("Not found")
}

/// 404: there is no such branch to delete (contract C 4.3).
pub fn branch_not_found() -> Error {
    Error::not_found("Branch not found.")
}

/// The branch that is to be deleted; 404 where none can have this name.
pub fn branch_named(text: &str) -> Result<BranchName> {
    BranchName::parse("name", text).map_err(|_| branch_not_found())
}

/// The tag that is to be deleted; 404 where none can have this name.
pub fn tag_named(text: &str) -> Result<BranchName> {
    BranchName::parse("name", text).map_err(|_| tag_not_found())
}

/// 409: a branch has this name, is a folder of it, or is in a folder that it would be (contract C 4.3).
pub fn branch_exists() -> Error {
    Error::conflict("branch_exists", "A branch with this name already exists.")
}

/// 409: a tag has this name (contract C 4.3).
pub fn tag_exists() -> Error {
    Error::conflict("tag_exists", "A tag with this name already exists.")
}

/// 404: there is no such tag to delete.
pub fn tag_not_found() -> Error {
    Error::not_found("Tag not found.")
}

/// 400: a clone begins with it (contract C 4.3).
pub fn default_branch_kept() -> Error {
    Error::bad_request("default_branch", "The default branch can't be deleted.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_goes_before_a_tag_and_a_tag_before_a_commit() {
        let listing = |name: &str, byte| Listing {
            name: RefName::parse(name.as_bytes()).unwrap(),
            oid: ObjectId::of_bytes([byte; 20]),
            peeled: None,
        };
        let refs = [
            listing("refs/heads/abcdef1", 1),
            listing("refs/heads/v1", 2),
            listing("refs/notes/n", 3),
            listing("refs/tags/v1", 4),
            listing("refs/tags/v2", 5),
        ];
        let found = |text| match Revision::find(&refs, text) {
            Revision::Ref(listing) => Some(listing.oid.as_bytes()[0]),
            _ => None,
        };
        assert_eq!(found("v1"), Some(2));
        assert_eq!(found("v2"), Some(5));
        assert_eq!(found("refs/tags/v1"), Some(4));
        assert_eq!(found("refs/notes/n"), Some(3));
        assert_eq!(found("abcdef1"), Some(1));
        assert_eq!(Revision::find(&refs, "abcdef2"), Revision::Prefix("abcdef2"));
        assert_eq!(Revision::find(&refs, "abcdef"), Revision::Unknown);
        assert_eq!(Revision::find(&refs, "heads/v1"), Revision::Unknown);
        let whole = "0101010101010101010101010101010101010101";
        assert_eq!(Revision::find(&refs, whole), Revision::Whole(ObjectId::of_bytes([1; 20])));
        assert_eq!(branch_among(&refs, &BranchName::parse("name", "v1").unwrap()), Some(&refs[1]));
        assert_eq!(branch_among(&refs, &BranchName::default()), None);
    }
}
