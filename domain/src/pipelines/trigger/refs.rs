//! Which refs of a push may start runs.

use std::collections::BTreeSet;

use crate::git::{RefKind, RefName};

/// Refs of one push that start runs, at most.
pub const TRIGGERING_REFS_MAX: usize = 100;

/// Of the refs that a push made or moved, those that may start runs: branches and tags, the first of them by their names.
pub fn triggering<'a>(moved: impl IntoIterator<Item = &'a RefName>) -> BTreeSet<&'a RefName> {
    let is_it = |name: &&RefName| matches!(name.kind(), RefKind::Branch | RefKind::Tag);
    let sorted: BTreeSet<_> = moved.into_iter().filter(is_it).collect();
    sorted.into_iter().take(TRIGGERING_REFS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<RefName> {
        // The last ones first: the order of a push says nothing.
        (0..count).rev().map(|at| RefName::parse(format!("refs/heads/b{at:03}").as_bytes()).unwrap()).collect()
    }

    #[test]
    fn the_first_hundred_by_their_names_start_runs() {
        for (count, expected) in [(99, 99), (100, 100), (101, 100)] {
            let all = names(count);
            let found = triggering(&all);
            assert_eq!(found.len(), expected);
            assert_eq!(found.last().unwrap().to_string(), format!("refs/heads/b{:03}", expected - 1));
        }
    }

    #[test]
    fn only_branches_and_tags_do() {
        let name = |text: &str| RefName::parse(text.as_bytes()).unwrap();
        let all = [name("refs/notes/commits"), name("refs/tags/v1"), name("refs/pull/1/head"), name("refs/heads/main")];
        let found: Vec<_> = triggering(&all).into_iter().map(ToString::to_string).collect();
        assert_eq!(found, ["refs/heads/main", "refs/tags/v1"]);
    }
}
