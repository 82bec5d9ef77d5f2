//! Reading a ZIP that anybody may have made.
//!
//! What it says of itself is not believed: entries are counted before its table of contents is read, and bytes as they come
//! out.

use std::io::{Cursor, Read};

use domain::{
    Error, Result,
    pages::archive::{ARCHIVE_ENTRIES_MAX, ARCHIVE_NAME_LEN_MAX, ArchiveFile, IMPORT_BYTES_MAX, is_read},
};
use zip::{ZipArchive, read::ZipFile, result::ZipError};

/// Begins each entry of the table of contents.
const ENTRY: &[u8] = b"PK\x01\x02";

/// The files of a ZIP; those that no import reads are named without their bytes.
///
/// 400 for what is no ZIP, is encrypted, is damaged, or has too many entries; 413 for one that unpacks to too much.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<ArchiveFile>> {
    if bytes.windows(ENTRY.len()).filter(|window| *window == ENTRY).count() > ARCHIVE_ENTRIES_MAX {
        return Err(too_many());
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| no_zip())?;
    if archive.len() > ARCHIVE_ENTRIES_MAX {
        return Err(too_many());
    }
    if archive.has_duplicate_names() {
        return Err(Error::bad_request("no_zip", "The ZIP has two files of one name."));
    }
    let (mut files, mut room) = (Vec::new(), IMPORT_BYTES_MAX);
    for place in 0..archive.len() {
        let mut entry = archive.by_index(place).map_err(|error| refusal(&error))?;
        if entry.is_dir() {
            continue;
        }
        let name = name(&entry)?;
        let content = if is_read(&name) && !entry.is_symlink() { read(&mut entry, &name, room)? } else { Vec::new() };
        room -= content.len();
        // A link leads elsewhere, and is no page.
        let name = if entry.is_symlink() { format!("{name} (link)") } else { name };
        files.push(ArchiveFile { name, bytes: content });
    }
    Ok(files)
}

/// Many programs write names in UTF-8 without saying so.
fn name<R: Read>(entry: &ZipFile<'_, R>) -> Result<String> {
    let raw = entry.name_raw();
    if raw.len() > ARCHIVE_NAME_LEN_MAX {
        return Err(Error::bad_request("no_zip", "The ZIP has a file with too long a name."));
    }
    match std::str::from_utf8(raw) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => entry.name().map(std::borrow::Cow::into_owned).map_err(|error| refusal(&error)),
    }
}

/// The bytes of a file, as long as there is room.
fn read<R: Read>(entry: &mut ZipFile<'_, R>, name: &str, room: usize) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let most = u64::try_from(room).unwrap_or(u64::MAX).saturating_add(1);
    entry.take(most).read_to_end(&mut content).map_err(|_| Error::invalid(name, "Is damaged."))?;
    if content.len() > room {
        return Err(Error::too_large(format!("A ZIP may unpack to {} MB.", IMPORT_BYTES_MAX / 1024 / 1024)));
    }
    Ok(content)
}

fn refusal(error: &ZipError) -> Error {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            Error::bad_request("encrypted_zip", "The ZIP is encrypted.")
        }
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            Error::bad_request("unsupported_zip", "The ZIP is compressed in a way that is not read here; use Deflate.")
        }
        _ => no_zip(),
    }
}

fn no_zip() -> Error {
    Error::bad_request("no_zip", "This is no ZIP, or a damaged one.")
}

fn too_many() -> Error {
    Error::bad_request("too_many_files", format!("A ZIP may have {ARCHIVE_ENTRIES_MAX} files and folders."))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

    use super::*;
    use crate::pages::archive::pack::Packer;

    fn file(name: &str, bytes: impl Into<Vec<u8>>) -> ArchiveFile {
        ArchiveFile { name: name.to_owned(), bytes: bytes.into() }
    }

    fn packed(files: Vec<ArchiveFile>) -> Vec<u8> {
        let mut packer = Packer::new();
        let mut bytes = packer.add(files).unwrap().to_vec();
        bytes.extend_from_slice(&packer.finish().unwrap());
        bytes
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let files = vec![file("Ä/ö 漢字.md", "text"), file("empty.md", ""), file("a.blocks.json", vec![b'['; 100_000])];
        assert_eq!(unpack(&packed(files.clone())).unwrap(), files);
        assert_eq!(unpack(&packed(Vec::new())).unwrap(), []);
        assert_eq!(unpack(&packed(vec![file("a.png", "bytes")])).unwrap(), [file("a.png", "")]);
    }

    #[test]
    fn a_bomb_is_stopped_at_the_limit() {
        for (over, fits) in [(0, true), (1, false)] {
            let half = vec![0; IMPORT_BYTES_MAX / 2];
            let bytes = packed(vec![file("a.md", half.clone()), file("b.md", half), file("c.md", vec![0; over])]);
            assert!(bytes.len() < 1_000_000, "{}", bytes.len());
            assert_eq!(
                unpack(&bytes).map(|files| files.len()).map_err(|error| error.status()),
                if fits { Ok(3) } else { Err(413) }
            );
        }
        // What no import reads is not unpacked.
        assert!(unpack(&packed(vec![file("a.bin", vec![0; IMPORT_BYTES_MAX + 1])])).is_ok());
    }

    #[test]
    fn entries_are_counted_before_they_are_read() {
        for (count, fits) in [(ARCHIVE_ENTRIES_MAX, true), (ARCHIVE_ENTRIES_MAX + 1, false)] {
            let bytes = packed((0..count).map(|at| file(&format!("{at}.txt"), "")).collect());
            assert_eq!(unpack(&bytes).is_ok(), fits, "{count}");
        }
    }

    #[test]
    fn what_is_no_zip_is_refused_and_nothing_panics() {
        let whole = packed(vec![file("a.md", "some text that is long enough to be worth it"), file("b.md", "b")]);
        for bytes in [&b""[..], b"PK", b"# Markdown", &whole[..whole.len() - 1], &whole[..40]] {
            assert_eq!(unpack(bytes).unwrap_err().status(), 400);
        }
        for place in 0..whole.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[place] ^= flip;
                if let Err(error) = unpack(&damaged) {
                    assert!(matches!(error.status(), 400 | 413), "{place}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_link_and_two_files_of_one_name_are_no_pages() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.add_symlink("a.md", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        zip.start_file("stored.md", SimpleFileOptions::default().compression_method(CompressionMethod::Stored))
            .unwrap();
        zip.write_all(b"x").unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        assert_eq!(unpack(&bytes).unwrap(), [file("a.md (link)", ""), file("stored.md", "x")]);
        let mut twice = packed(vec![file("one.md", "1"), file("two.md", "2")]);
        while let Some(at) = twice.windows(6).position(|window| window == b"two.md") {
            twice[at..at + 6].copy_from_slice(b"one.md");
        }
        assert_eq!(unpack(&twice).unwrap_err().status(), 400);
    }
}
