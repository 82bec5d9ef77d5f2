//! Reading a ZIP that anybody may have made.
//!
//! What it says of itself is not believed: entries are counted before its table of contents is read, and bytes as they come
//! out.

use std::io::{self, BufReader, Read, Seek};

use domain::{
    Error, Result,
    id::PageImportId,
    pages::{
        archive::{
            ARCHIVE_ENTRIES_MAX, ARCHIVE_NAME_LEN_MAX, ArchiveFile, ArchivePlan, ArchiveScan, IMPORT_BYTES_MAX, is_read,
        },
        content::CONTENT_TOO_LARGE,
    },
};
use zip::{ZipArchive, read::ZipFile, result::ZipError};

/// Begins each entry of the table of contents.
const ENTRY: &[u8] = b"PK\x01\x02";
/// Bytes of a file that are held at once. A page's content has at most 1 MB; the rest is front matter.
pub(crate) const FILE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes that are looked through at once.
const LOOKED_THROUGH_LEN: usize = 64 * 1024;

/// A ZIP that is read file by file.
pub(crate) struct Unpacker<R: Read + Seek> {
    archive: ZipArchive<BufReader<R>>,
    /// Bytes that may still be unpacked.
    room: usize,
}

impl<R: Read + Seek> Unpacker<R> {
    /// Reads the table of contents.
    ///
    /// 400 for what is no ZIP, is damaged, or has too many entries or two of one name.
    pub(crate) fn open(mut source: R) -> Result<Self> {
        if entries(&mut source).map_err(|_| no_zip())? > ARCHIVE_ENTRIES_MAX {
            return Err(too_many());
        }
        let archive = ZipArchive::new(BufReader::new(source)).map_err(|_| no_zip())?;
        if archive.len() > ARCHIVE_ENTRIES_MAX {
            return Err(too_many());
        }
        if archive.has_duplicate_names() {
            return Err(Error::bad_request("no_zip", "The ZIP has two files of one name."));
        }
        Ok(Self { archive, room: IMPORT_BYTES_MAX })
    }

    /// The pages that its files become, by the import `import_id`. Each file is read once, and let go.
    ///
    /// 400 for what is encrypted or damaged, and as [`ArchiveScan`] says; 413 for a ZIP that unpacks to too much.
    pub(crate) fn plan(&mut self, import_id: PageImportId) -> Result<ArchivePlan> {
        self.room = IMPORT_BYTES_MAX;
        let mut scan = ArchiveScan::default();
        for place in 0..self.archive.len() {
            match self.next(place) {
                Ok(Some(file)) => scan.take(place, file)?,
                Ok(None) => {}
                Err(fault) => scan.refuse(fault)?,
            }
        }
        scan.into_plan(import_id)
    }

    /// The file at `place`, for the first time: it takes its part of the room. None for a folder; one that no import reads is
    /// named without its bytes.
    fn next(&mut self, place: usize) -> Result<Option<ArchiveFile>> {
        let mut entry = self.archive.by_index(place).map_err(|error| refusal(&error))?;
        if entry.is_dir() {
            return Ok(None);
        }
        let name = name(&entry)?;
        // A link leads elsewhere, and is no page.
        if entry.is_symlink() {
            return Ok(Some(ArchiveFile { name: format!("{name} (link)"), bytes: Vec::new() }));
        }
        let bytes = if is_read(&name) { read(&mut entry, &name, &mut self.room)? } else { Vec::new() };
        Ok(Some(ArchiveFile { name, bytes }))
    }

    /// The file at `place` again, which was found to be one that is read.
    pub(crate) fn again(&mut self, place: usize) -> Result<ArchiveFile> {
        let mut entry = self.archive.by_index(place).map_err(|error| refusal(&error))?;
        let name = name(&entry)?;
        let mut room = FILE_BYTES_MAX;
        let bytes = read(&mut entry, &name, &mut room)?;
        Ok(ArchiveFile { name, bytes })
    }
}

/// How often the mark of an entry stands in it, which is at least as often as there are entries.
fn entries(source: &mut (impl Read + Seek)) -> io::Result<usize> {
    let (mut count, mut kept) = (0, 0);
    let mut window = vec![0; LOOKED_THROUGH_LEN];
    source.rewind()?;
    loop {
        let read = source.read(&mut window[kept..])?;
        if read == 0 {
            source.rewind()?;
            return Ok(count);
        }
        let len = kept + read;
        count += window[..len].windows(ENTRY.len()).filter(|window| *window == ENTRY).count();
        // A mark may begin in what is looked at now and end in what comes next.
        kept = len.min(ENTRY.len() - 1);
        window.copy_within(len - kept..len, 0);
    }
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

/// The bytes of a file, which takes its part of the room.
fn read<R: Read>(entry: &mut ZipFile<'_, R>, name: &str, room: &mut usize) -> Result<Vec<u8>> {
    let damaged = |_| Error::invalid(name, "Is damaged.");
    let mut content = Vec::new();
    let most = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
    let held = FILE_BYTES_MAX.min(*room);
    entry.by_ref().take(most(held)).read_to_end(&mut content).map_err(damaged)?;
    // The rest is too much for a page, and perhaps for the archive, which ends it all.
    let rest = io::copy(&mut entry.take(most(*room - content.len()).saturating_add(1)), &mut io::sink());
    let rest = usize::try_from(rest.map_err(damaged)?).unwrap_or(usize::MAX);
    if content.len() + rest > *room {
        return Err(Error::too_large(format!("A ZIP may unpack to {} MB.", IMPORT_BYTES_MAX / 1024 / 1024)));
    }
    *room -= content.len() + rest;
    if rest > 0 { Err(Error::invalid(name, CONTENT_TOO_LARGE)) } else { Ok(content) }
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
    use std::io::{Cursor, Write};

    use domain::Timestamp;
    use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

    use super::*;
    use crate::archive::pack::Packer;

    /// The files of a ZIP, as they are read the first time.
    fn unpack(bytes: &[u8]) -> Result<Vec<ArchiveFile>> {
        let mut unpacker = Unpacker::open(Cursor::new(bytes))?;
        let mut files = Vec::new();
        for place in 0..unpacker.archive.len() {
            files.extend(unpacker.next(place)?);
        }
        Ok(files)
    }

    fn file(name: &str, bytes: impl Into<Vec<u8>>) -> ArchiveFile {
        ArchiveFile { name: name.to_owned(), bytes: bytes.into() }
    }

    fn packed(files: Vec<ArchiveFile>) -> Vec<u8> {
        let mut packer = Packer::begin();
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
            let count = IMPORT_BYTES_MAX / FILE_BYTES_MAX;
            let mut files: Vec<_> = (0..count).map(|at| file(&format!("{at}.md"), vec![0; FILE_BYTES_MAX])).collect();
            files.push(file("last.md", vec![0; over]));
            let bytes = packed(files);
            assert!(bytes.len() < 1_000_000, "{}", bytes.len());
            assert_eq!(
                unpack(&bytes).map(|files| files.len()).map_err(|error| error.status()),
                if fits { Ok(count + 1) } else { Err(413) }
            );
        }
        // What no import reads is not unpacked.
        assert!(unpack(&packed(vec![file("a.bin", vec![0; IMPORT_BYTES_MAX + 1])])).is_ok());
    }

    #[test]
    fn a_file_that_is_too_large_for_a_page_is_never_held() {
        for (len, status) in [(FILE_BYTES_MAX + 1, 400), (IMPORT_BYTES_MAX, 400), (IMPORT_BYTES_MAX + 1, 413)] {
            assert_eq!(unpack(&packed(vec![file("a.md", vec![0; len])])).unwrap_err().status(), status, "{len}");
        }
    }

    #[test]
    fn a_mark_is_counted_wherever_it_stands() {
        for before in [0, 1, LOOKED_THROUGH_LEN - 5, LOOKED_THROUGH_LEN - 3, LOOKED_THROUGH_LEN - 1, LOOKED_THROUGH_LEN]
        {
            let bytes = [vec![0; before], ENTRY.to_vec(), vec![0; 7], ENTRY.to_vec()].concat();
            assert_eq!(entries(&mut Cursor::new(bytes)).unwrap(), 2, "{before}");
        }
    }

    #[test]
    fn a_file_is_read_again_as_it_was() {
        let bytes = packed(vec![file("a.md", "a"), file("b.md", "text")]);
        let mut unpacker = Unpacker::open(Cursor::new(bytes)).unwrap();
        assert_eq!(unpacker.plan(PageImportId::new(Timestamp(1))).unwrap().pages.len(), 2);
        assert_eq!(unpacker.again(1).unwrap(), file("b.md", "text"));
        assert_eq!(unpacker.again(0).unwrap(), file("a.md", "a"));
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
