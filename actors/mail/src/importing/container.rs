//! The file of an import: a file, or an archive whose files are read one behind the other. Only the table of contents of a ZIP is in
//! memory; what an archive says of itself is not believed.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom},
};

use domain::mail::{IMPORT_UNPACKED_MAX, IMPORT_ZIP_FILES_MAX};
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use zip::{CompressionMethod, ZipArchive};

use super::tar::{BLOCK_LEN, TarReader, is_tar};

/// Bytes that are read at once.
const READ_LEN: usize = 64 * 1024;
/// What a ZIP ends with, at most: its last record, and a comment.
const ZIP_END_LEN: u64 = 64 * 1024 + 22;
/// Begins the last record of a ZIP.
const ZIP_END: &[u8] = b"PK\x05\x06";
/// Begins the last record of a ZIP of many files.
const ZIP64_END: &[u8] = b"PK\x06\x06";

type Bytes = Box<dyn BufRead + Send>;

/// A file of an archive.
pub(super) struct Entry {
    /// What it is called; empty where the import is one file.
    pub name: String,
    /// Why it can't be read.
    pub fault: Option<&'static str>,
}

enum Kind {
    Single { source: Bytes, is_taken: bool },
    Zip { archive: ZipArchive<BufReader<File>>, file: File, next: usize, reading: Option<Bytes> },
    Tar(TarReader<Bytes>),
}

/// The file of an import. What is read of it is the current file of the archive.
pub(super) struct Container {
    kind: Kind,
    /// Bytes that may still be unpacked.
    room: u64,
}

impl Container {
    /// Opens it where `bytes` of its only file were read before; archives begin anew.
    pub(super) fn open(mut file: File, bytes: u64) -> io::Result<Self> {
        let room = IMPORT_UNPACKED_MAX;
        let mut begin = [0; 4];
        let len = file.read(&mut begin)?;
        file.rewind()?;
        let kind = match begin.get(..len).unwrap_or_default() {
            b"PK\x03\x04" | b"PK\x05\x06" => zip(file)?,
            [0x1f, 0x8b, ..] => {
                let unpacked = MultiGzDecoder::new(BufReader::with_capacity(READ_LEN, file));
                opened(Box::new(BufReader::with_capacity(READ_LEN, unpacked)), bytes)?
            }
            _ => {
                let mut head = [0; BLOCK_LEN];
                let is_tar = file.read_exact(&mut head).is_ok() && is_tar(&head);
                file.seek(SeekFrom::Start(if is_tar { 0 } else { bytes }))?;
                let source: Bytes = Box::new(BufReader::with_capacity(READ_LEN, file));
                if is_tar { Kind::Tar(TarReader::new(source)) } else { Kind::Single { source, is_taken: false } }
            }
        };
        Ok(Self { kind, room })
    }

    /// Whether it is one file.
    pub(super) const fn is_single(&self) -> bool {
        matches!(self.kind, Kind::Single { .. })
    }

    /// Whether what can't be read of one file leaves the others readable.
    pub(super) const fn goes_on(&self) -> bool {
        matches!(self.kind, Kind::Zip { .. }) && self.room > 0
    }

    /// The next file, which is read from then on; none behind the last one.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<Entry>> {
        match &mut self.kind {
            Kind::Single { is_taken, .. } => {
                let is_first = !std::mem::replace(is_taken, true);
                Ok(is_first.then(|| Entry { name: String::new(), fault: None }))
            }
            Kind::Zip { archive, file, next, reading } => {
                *reading = None;
                if *next >= archive.len() {
                    return Ok(None);
                }
                *next += 1;
                let (entry, source) = zip_entry(archive, file, *next - 1);
                *reading = source;
                Ok(Some(entry))
            }
            Kind::Tar(tar) => Ok(tar.next_entry()?.map(|name| Entry { name, fault: None })),
        }
    }

    /// Passes over so many files.
    pub(super) fn skip_entries(&mut self, count: u64) -> io::Result<()> {
        if let Kind::Zip { next, archive, .. } = &mut self.kind {
            *next = usize::try_from(count).unwrap_or(usize::MAX).min(archive.len());
            return Ok(());
        }
        for _ in 0..count {
            if self.next_entry()?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// What is unpacked: a tar, or one file of which `bytes` were read before.
fn opened(mut unpacked: Bytes, bytes: u64) -> io::Result<Kind> {
    let mut head = Vec::with_capacity(BLOCK_LEN);
    unpacked.by_ref().take(BLOCK_LEN as u64).read_to_end(&mut head)?;
    let is_tar = head.as_slice().try_into().is_ok_and(|head: &[u8; BLOCK_LEN]| is_tar(head));
    let mut source: Bytes = Box::new(Cursor::new(head).chain(unpacked));
    if is_tar {
        return Ok(Kind::Tar(TarReader::new(source)));
    }
    io::copy(&mut source.by_ref().take(bytes), &mut io::sink())?;
    Ok(Kind::Single { source, is_taken: false })
}

fn zip(mut file: File) -> io::Result<Kind> {
    if zip_files(&mut file)? > IMPORT_ZIP_FILES_MAX as u64 {
        let text = format!("A ZIP has at most {IMPORT_ZIP_FILES_MAX} files; send a tar.");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let archive = ZipArchive::new(BufReader::with_capacity(READ_LEN, file.try_clone()?));
    let archive = archive.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "The ZIP is damaged."))?;
    Ok(Kind::Zip { archive, file, next: 0, reading: None })
}

/// How many files a ZIP says that it has, looked up before its table of contents is read.
fn zip_files(file: &mut File) -> io::Result<u64> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(ZIP_END_LEN + 76)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    file.rewind()?;
    let last = |mark: &[u8]| tail.windows(mark.len()).rposition(|window| window == mark);
    let number = |place: usize, len: usize| {
        let bytes = tail.get(place..place + len).unwrap_or_default();
        bytes.iter().rev().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte))
    };
    let many = last(ZIP64_END).map_or(0, |place| number(place + 32, 8));
    Ok(last(ZIP_END).map_or(0, |place| number(place + 10, 2)).max(many))
}

/// A file of a ZIP, and its bytes where they can be read. Folders and links have none.
fn zip_entry(archive: &mut ZipArchive<BufReader<File>>, file: &File, place: usize) -> (Entry, Option<Bytes>) {
    let faulty = |name: String, fault| (Entry { name, fault: Some(fault) }, None);
    let Ok(entry) = archive.by_index_raw(place) else {
        return faulty(String::new(), "This file of the ZIP can't be read.");
    };
    let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
    if !entry.is_file() {
        return (Entry { name, fault: None }, None);
    }
    if entry.encrypted() {
        return faulty(name, "This file of the ZIP is encrypted.");
    }
    let (method, len, start) = (entry.compression(), entry.compressed_size(), entry.data_start());
    drop(entry);
    let source = file.try_clone().and_then(|mut file| {
        file.seek(SeekFrom::Start(start.ok_or(io::ErrorKind::InvalidData)?))?;
        Ok(BufReader::with_capacity(READ_LEN, file.take(len)))
    });
    match (method, source) {
        (CompressionMethod::Stored, Ok(source)) => (Entry { name, fault: None }, Some(Box::new(source))),
        (CompressionMethod::Deflated, Ok(source)) => {
            let unpacked = BufReader::with_capacity(READ_LEN, DeflateDecoder::new(source));
            (Entry { name, fault: None }, Some(Box::new(unpacked)))
        }
        (_, Ok(_)) => faulty(name, "This file of the ZIP is packed in a way that isn't known."),
        (_, Err(_)) => faulty(name, "This file of the ZIP can't be read."),
    }
}

impl BufRead for Container {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.room == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "The archive unpacks to more than 40 GB."));
        }
        match &mut self.kind {
            Kind::Single { source, .. } | Kind::Zip { reading: Some(source), .. } => source.fill_buf(),
            Kind::Zip { reading: None, .. } => Ok(&[]),
            Kind::Tar(tar) => tar.fill_buf(),
        }
    }

    fn consume(&mut self, len: usize) {
        self.room = self.room.saturating_sub(len as u64);
        match &mut self.kind {
            Kind::Single { source, .. } | Kind::Zip { reading: Some(source), .. } => source.consume(len),
            Kind::Zip { reading: None, .. } => {}
            Kind::Tar(tar) => tar.consume(len),
        }
    }
}

impl Read for Container {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut buffer = self.fill_buf()?;
        let len = buffer.read(into)?;
        self.consume(len);
        Ok(len)
    }
}
