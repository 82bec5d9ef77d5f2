//! What the parent of a commit has where something is changed.

use std::{collections::HashMap, ops::Range};

use crate::git::{
    ObjectId,
    objects::{EntryKind, RepositoryPath, read_tree_object},
};

/// What is at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nothing, and it could be made.
    #[default]
    Free,
    /// Nothing, and something that isn't a folder is on the way there.
    InFile,
    /// This.
    Taken(EntryKind),
}

/// A folder, and which of the paths are in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderToRead {
    /// The folder's object.
    pub tree: ObjectId,
    /// Bytes of its own path, with the slash behind it.
    skip: usize,
    paths: Range<usize>,
}

impl FolderToRead {
    /// The folder of a whole commit, where all paths are in.
    pub const fn whole(tree: ObjectId, paths: usize) -> Self {
        Self { tree, skip: 0, paths: 0..paths }
    }
}

/// Finds the paths of a folder in its object. Says in `places` what is at each of them that is known now, and answers the folders
/// in which the others are. The paths are in the order of [`RepositoryPath::cmp_in_tree`].
pub fn places_below(
    folder: &FolderToRead,
    object: &[u8],
    paths: &[RepositoryPath],
    places: &mut [Place],
) -> Vec<FolderToRead> {
    let name_of = |at: usize| paths[at].as_str()[folder.skip..].split('/').next().unwrap_or_default();
    let mut groups: Vec<(&str, Range<usize>)> = Vec::new();
    for at in folder.paths.clone() {
        match groups.last_mut() {
            Some((name, group)) if *name == name_of(at) => group.end = at + 1,
            _ => groups.push((name_of(at), at..at + 1)),
        }
    }
    let groups: HashMap<&[u8], Range<usize>> =
        groups.into_iter().map(|(name, group)| (name.as_bytes(), group)).collect();
    let mut below = Vec::new();
    for (kind, name, tree) in read_tree_object(object) {
        let Some(group) = groups.get(name) else { continue };
        let skip = folder.skip + name.len();
        // The entry itself comes before what is in it.
        let inside = group.clone().find(|at| paths[*at].as_str().len() > skip).unwrap_or(group.end);
        places[group.start..inside].fill(Place::Taken(kind));
        let inside = inside..group.end;
        if kind != EntryKind::Folder {
            places[inside].fill(Place::InFile);
        } else if !inside.is_empty() {
            below.push(FolderToRead { tree, skip: skip + 1, paths: inside });
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str, u8)]) -> Vec<u8> {
        let entry =
            |(mode, name, oid): &(&str, &str, u8)| [format!("{mode} {name}\0").as_bytes(), &[*oid; 20]].concat();
        entries.iter().flat_map(entry).collect()
    }

    #[test]
    fn paths_are_found_folder_by_folder() {
        let mut paths: Vec<_> = ["a", "a-b", "a/x", "a/y/z", "f", "f/g", "new/file", "s"]
            .iter()
            .map(|path| RepositoryPath::parse("path", path).unwrap())
            .collect();
        paths.sort_by(RepositoryPath::cmp_in_tree);
        let mut places = vec![Place::Free; paths.len()];
        let root = tree(&[("40000", "a", 2), ("100755", "a-b", 3), ("100644", "f", 4), ("160000", "s", 5)]);
        let whole = FolderToRead::whole(ObjectId::of_bytes([1; 20]), paths.len());
        let below = places_below(&whole, &root, &paths, &mut places);
        assert_eq!(below.len(), 1);
        assert_eq!(below[0].tree, ObjectId::of_bytes([2; 20]));
        let deeper = places_below(&below[0], &tree(&[("120000", "x", 6)]), &paths, &mut places);
        assert!(deeper.is_empty());
        let found: Vec<_> = paths.iter().map(RepositoryPath::as_str).zip(places).collect();
        let expected = [
            ("a", Place::Taken(EntryKind::Folder)),
            ("a/x", Place::Taken(EntryKind::Link)),
            ("a/y/z", Place::Free),
            ("a-b", Place::Taken(EntryKind::Executable)),
            ("f", Place::Taken(EntryKind::File)),
            ("f/g", Place::InFile),
            ("new/file", Place::Free),
            ("s", Place::Taken(EntryKind::Submodule)),
        ];
        assert_eq!(found, expected);
    }
}
