//! What is read of objects: commits, folders, files, and how they differ.

mod blame;
mod change;
mod commit;
mod divergence;
mod latest;
mod media;
mod patch;
mod path;
mod tree;

pub use self::{
    blame::{BlamedLines, read_blame},
    change::{ChangeKind, FileChange, LineCounts, read_changes, read_line_counts},
    commit::{Commit, Signature},
    divergence::{DIVERGENCE_NAMES_MAX, DIVERGENCE_WALK_MAX, Divergence, divergences},
    latest::{LATEST_WALK_MAX, LatestCommits},
    media::{MediaKind, media_type},
    patch::{Hunk, Patch, PatchReader},
    path::{REPOSITORY_PATH_MAX, RepositoryPath},
    tree::{EntryKind, TreeEntry, read_tree, read_tree_object},
};
