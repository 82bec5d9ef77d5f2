//! Pages as files: what export writes and import reads.
//!
//! A page is `Title.md`, and what is below it lies in the folder `Title`; a database is written like any page, and its
//! rows lie in its folder. What Markdown has no words for stands in the front matter, whose first line marks the file as
//! one of ours: id, exact title, kind, icon, width, position, a database's schema and views, a row's properties. Blocks,
//! which are large and for programs, lie beside the Markdown in `Title.blocks.json`.
//!
//! Files that others wrote are pages too: then the whole text is the page, the front matter included, and the title comes
//! from the front matter or from the file's name.
//!
//! An import makes new pages. Wherever a page of the archive names another one of it by its id, it names the new page.

mod files;
mod front_matter;
mod layout;
mod links;
mod names;
mod plan;
#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use self::plan::plan;
pub use self::{
    files::{ArchiveFile, page_files},
    layout::{ArchivePath, LaidOut, layout},
    links::Links,
    plan::{ArchivePlan, ArchiveScan, PageSource, PlannedPage, is_read, plan_file, planned_content},
};

use super::{PageKind, content::ContentDraft};
use crate::id::PageId;

/// Pages of an archive, at most.
pub const ARCHIVE_PAGES_MAX: usize = 5_000;
/// Bytes of what the pages of an archive hold, at most, when it is written: contents, schemas, views, properties.
pub const EXPORT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of an archive, and of what it unpacks to, at most, when it is read. Larger than what an export has, because its
/// files also have front matter, and the archive itself has names.
pub const IMPORT_BYTES_MAX: usize = 48 * 1024 * 1024;
/// Files and folders of an archive, at most: a page has up to two files, and a folder.
pub const ARCHIVE_ENTRIES_MAX: usize = 3 * ARCHIVE_PAGES_MAX;
/// Bytes of the name of a file within an archive, with its folders.
pub const ARCHIVE_NAME_LEN_MAX: usize = 4 * 1024;

/// A page as an archive holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchivedPage {
    /// The id that it had where it was exported; none for a file that others wrote.
    pub id: Option<PageId>,
    /// What it is.
    pub kind: PageKind,
    /// What it is called.
    pub title: String,
    /// Its icon.
    pub icon: Option<String>,
    /// Whether it takes the whole width.
    pub full_width: Option<bool>,
    /// Orders it among its siblings; none for a file that others wrote.
    pub position: Option<f64>,
    /// A database's schema, as JSON text.
    pub schema: Option<String>,
    /// A database's views, as JSON text.
    pub views: Option<String>,
    /// A row's values, as JSON text.
    pub properties: Option<String>,
    /// What it says.
    pub content: ContentDraft,
}

impl ArchivedPage {
    /// A document with this title that says nothing.
    pub fn empty(title: impl Into<String>) -> Self {
        Self {
            id: None,
            kind: PageKind::Doc,
            title: title.into(),
            icon: None,
            full_width: None,
            position: None,
            schema: None,
            views: None,
            properties: None,
            content: ContentDraft::default(),
        }
    }
}
