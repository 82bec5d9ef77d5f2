//! The files of one page.

use super::{ArchivePath, ArchivedPage, front_matter};

/// What a Markdown file's name ends with.
pub(super) const MARKDOWN: &str = ".md";
/// What the name of a file of blocks ends with.
pub(super) const BLOCKS: &str = ".blocks.json";

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFile {
    /// Its name, with its folders, between slashes.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The files of a page that lies there.
pub fn page_files(at: &ArchivePath, page: &ArchivedPage) -> Vec<ArchiveFile> {
    let file = |extension: &str, text: String| ArchiveFile {
        name: format!("{}{extension}", at.path),
        bytes: text.into_bytes(),
    };
    let blocks = page.content.blocks.as_ref().map(|blocks| file(BLOCKS, blocks.as_str().to_owned()));
    [file(MARKDOWN, front_matter::write(page))].into_iter().chain(blocks).collect()
}
