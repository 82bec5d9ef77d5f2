//! Pages as a ZIP of Markdown files, there and back.

mod export;
mod import;
mod pack;
mod unpack;

pub(crate) use self::{export::*, import::*};

/// A ZIP that anybody may have made, for fuzzing: what it unpacks to has its limit, and becomes pages or is refused.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing_zip(bytes: &[u8]) {
    use domain::{
        Timestamp,
        pages::archive::{ARCHIVE_ENTRIES_MAX, ArchiveFile, IMPORT_BYTES_MAX, plan},
    };
    let refused = |error: domain::Error| assert!(matches!(error.status(), 400 | 413), "{error:?}");
    match unpack::unpack(bytes) {
        Err(error) => refused(error),
        Ok(files) => {
            let unpacked: usize = files.iter().map(|file: &ArchiveFile| file.bytes.len()).sum();
            assert!(files.len() <= ARCHIVE_ENTRIES_MAX && unpacked <= IMPORT_BYTES_MAX);
            plan(files, Timestamp(0)).map_or_else(refused, drop);
        }
    }
}
