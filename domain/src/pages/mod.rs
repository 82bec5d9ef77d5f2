//! Notes pages (contract B 2.6): a tree of documents and databases.
//!
//! A page whose parent is a database is one of its rows, whatever its own kind. A page in the trash has everything below
//! it there too, and stays as it is until it is restored.

pub mod archive;
mod author;
pub mod comment;
pub mod content;
pub mod database;
mod draft;
pub mod history;
pub mod import;
pub mod live;
mod page;
pub mod position;
pub mod search;
mod tree;

pub use self::{
    author::author,
    draft::{PageChange, PageDraft, Parent, icon_check, title_check},
    page::{Page, PageContent, PageKind},
    tree::{Landing, create_check, import_check, in_the_trash, move_check, not_found},
};

use std::{ops::RangeInclusive, time::Duration};

/// Characters of a title (contract B 4.6).
pub const TITLE_LEN: RangeInclusive<usize> = 0..=200;
/// Characters of an icon (contract B 4.6).
pub const ICON_LEN: RangeInclusive<usize> = 0..=16;
/// Characters of a parent's id, or of `root` (contract B 4.6).
pub const PARENT_LEN_MAX: usize = 64;
/// How deep pages lie in one another; a page at the root lies at 1 (decisions, "Notes pages").
pub const DEPTH_MAX: u32 = 20;
/// Pages that the list answers (decisions, "Notes pages").
pub const LIST_MAX: u64 = 5_000;
/// How long a page stays in the trash before it is deleted for good (decisions, "Notes pages").
pub const TRASH_KEPT: Duration = Duration::from_hours(30 * 24);
