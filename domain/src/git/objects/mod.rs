//! What is read of objects: commits, folders, files.

mod commit;
mod divergence;
mod media;
mod path;
mod tree;

pub use self::{
    commit::{Commit, Signature},
    divergence::{DIVERGENCE_NAMES_MAX, DIVERGENCE_WALK_MAX, Divergence, divergences},
    media::{MediaKind, media_type},
    path::{REPOSITORY_PATH_MAX, RepositoryPath},
    tree::{EntryKind, TreeEntry, read_tree, read_tree_object},
};
