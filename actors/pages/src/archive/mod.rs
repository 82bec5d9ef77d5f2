//! Archives of pages: a ZIP of Markdown files, or one such file.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod pack;
mod unpack;

use std::{
    fs::File,
    io::{Read, Seek},
};

use domain::{
    Error, Result,
    id::PageImportId,
    pages::{
        archive::{ArchiveFile, ArchivePlan, Links, PlannedPage, plan_file, planned_content},
        content::{CONTENT_TOO_LARGE, ContentDraft},
    },
};
use serde::{Deserialize, Serialize};

pub use self::pack::Packer;
use self::unpack::{FILE_BYTES_MAX, Unpacker};

/// What an archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveFormat {
    /// A ZIP of Markdown files.
    Zip,
    /// One Markdown file.
    Markdown,
}

impl ArchiveFormat {
    /// What the import `import_id` makes of the file, and where what it says is read from: the same, however often it is
    /// asked. `title` is what the page of a single Markdown file is called where it doesn't say so itself. Takes the
    /// processor, and waits for nothing but a disk.
    pub fn plan(self, mut file: File, title: &str, import_id: PageImportId) -> Result<(ArchivePlan, ArchiveContents)> {
        if self == Self::Zip {
            let mut zip = Unpacker::open(file)?;
            return Ok((zip.plan(import_id)?, ArchiveContents(Contents::Zip(zip))));
        }
        let mut text = Vec::new();
        let read = file.rewind().and_then(|()| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut text));
        read.map_err(Error::internal)?;
        if text.len() > FILE_BYTES_MAX {
            return Err(Error::invalid("file", CONTENT_TOO_LARGE));
        }
        Ok((plan_file(title, &text, import_id)?, ArchiveContents(Contents::File(text))))
    }
}

/// Where what an archive says is read from.
pub struct ArchiveContents(Contents);

enum Contents {
    /// The files of a ZIP.
    Zip(Unpacker<File>),
    /// The one Markdown file.
    File(Vec<u8>),
}

impl ArchiveContents {
    /// What the page says, with the links to the new pages. Takes the processor, and waits for nothing but a disk.
    pub fn read(&mut self, page: &PlannedPage, links: &Links) -> Result<ContentDraft> {
        let markdown = page.source.markdown.map(|place| self.file(place)).transpose()?;
        let blocks = page.source.blocks.map(|place| self.file(place)).transpose()?;
        planned_content(links, markdown, blocks)
    }

    fn file(&mut self, place: usize) -> Result<ArchiveFile> {
        match &mut self.0 {
            Contents::Zip(zip) => zip.again(place),
            Contents::File(text) => Ok(ArchiveFile { name: "file".to_owned(), bytes: text.clone() }),
        }
    }
}

impl std::fmt::Debug for ArchiveContents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArchiveContents").finish_non_exhaustive()
    }
}
