//! The messages in the file of an import, some at a time, each with what the file says of it.

use std::{
    fs::File,
    io::{self, BufRead, Read},
};

use domain::{
    Timestamp,
    mail::{
        FiledAs, Folder, IMPORT_AT_ONCE, ImportFault, ImportPlace, MESSAGE_BYTES_MAX, MailBox, MailImportKind,
        MboxMarks, MboxReader, maildir_place,
    },
};

use super::container::{Container, Entry};

/// Bytes of messages that are read for one commit, beside those of the last.
const BYTES_AT_ONCE: usize = 8 * 1024 * 1024;
/// For a message that is longer than [`MESSAGE_BYTES_MAX`].
const TOO_LONG: &str = "A message has at most 35 MB.";
/// For what is no mbox.
const NO_MBOX: &str = "This file is no mbox.";
/// Characters of a file's name that a fault shows.
const FILE_NAME_CHARS: usize = 200;

/// A message that was found.
pub(super) struct Found {
    /// Its bytes, with CR LF.
    pub bytes: Vec<u8>,
    /// Where it goes.
    pub filed: FiledAs,
    /// When it came, as an export of Troupe's says.
    pub received: Option<Timestamp>,
    /// When it came, as its file says.
    pub came_at: Option<Timestamp>,
}

/// Messages that one commit files.
#[derive(Default)]
pub(super) struct Batch {
    /// The messages.
    pub messages: Vec<Found>,
    /// What could not be read among them.
    pub faults: Vec<ImportFault>,
    /// How far the file is read with these.
    pub place: ImportPlace,
    /// Whether none follow.
    pub is_last: bool,
    /// Why what follows can't be read.
    pub broken: Option<io::Error>,
}

/// An mbox that is being read.
struct OpenMbox {
    reader: MboxReader,
    folder: Folder,
    name: String,
}

/// The file of an import.
pub(super) struct Source {
    container: Container,
    kind: MailImportKind,
    place: ImportPlace,
    /// Messages that were read, those of earlier runs among them.
    read: u64,
    mbox: Option<OpenMbox>,
}

/// What stands at a place of the file.
enum Next {
    Message(Found),
    Fault(ImportFault),
    End,
}

impl Source {
    /// Goes on behind a place at which `read` messages were read.
    pub(super) fn open(file: File, kind: MailImportKind, place: ImportPlace, read: u64) -> io::Result<Self> {
        let at = if place.file == 0 { place.bytes } else { 0 };
        let mut container = Container::open(file, at)?;
        container.skip_entries(place.file)?;
        let mut source = Self { container, kind, place, read, mbox: None };
        if place.bytes > 0 && kind == MailImportKind::Mbox {
            source.go_on()?;
        }
        Ok(source)
    }

    /// Goes on in the middle of an mbox.
    fn go_on(&mut self) -> io::Result<()> {
        let Some(entry) = self.container.next_entry()? else { return Ok(()) };
        if !self.container.is_single() {
            io::copy(&mut self.container.by_ref().take(self.place.bytes), &mut io::sink())?;
        }
        let (reader, folder) = (MboxReader::behind(self.place.bytes), folder_of(&entry.name));
        self.mbox = Some(OpenMbox { reader, folder, name: entry.name });
        Ok(())
    }

    /// The next messages.
    pub(super) fn batch(&mut self) -> Batch {
        let (mut batch, mut bytes) = (Batch::default(), 0);
        while batch.messages.len() + batch.faults.len() < IMPORT_AT_ONCE && bytes < BYTES_AT_ONCE {
            match self.next() {
                Ok(Next::Message(found)) => {
                    bytes += found.bytes.len();
                    batch.messages.push(found);
                }
                Ok(Next::Fault(fault)) => batch.faults.push(fault),
                Ok(Next::End) => {
                    batch.is_last = true;
                    break;
                }
                Err(error) => {
                    batch.broken = Some(error);
                    break;
                }
            }
        }
        batch.place = self.place;
        batch
    }

    fn next(&mut self) -> io::Result<Next> {
        loop {
            if let Some(mut mbox) = self.mbox.take() {
                match mbox.reader.next(&mut self.container) {
                    Ok(Some(message)) => {
                        self.place.bytes = message.end;
                        let next = match message.bytes {
                            Some(bytes) => Ok((bytes, message.came_at, &mbox.folder)),
                            None => Err(TOO_LONG),
                        };
                        let next = self.of_mbox(next, &mbox.name);
                        self.mbox = Some(mbox);
                        return Ok(next);
                    }
                    Ok(None) => self.end_file(),
                    Err(error) if self.container.goes_on() => {
                        self.end_file();
                        return Ok(self.fault(&mbox.name, &error.to_string()));
                    }
                    Err(error) => return Err(error),
                }
            }
            let Some(Entry { name, fault }) = self.container.next_entry()? else { return Ok(Next::End) };
            if let Some(fault) = fault {
                self.end_file();
                return Ok(self.fault(&name, fault));
            }
            match self.open_file(&name) {
                Ok(Some(next)) => return Ok(next),
                Ok(None) => {}
                Err(error) if self.container.goes_on() => {
                    self.end_file();
                    return Ok(self.fault(&name, &error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn of_mbox(&mut self, message: Result<(Vec<u8>, Option<Timestamp>, &Folder), &str>, name: &str) -> Next {
        match message {
            Ok((bytes, came_at, folder)) => {
                self.read += 1;
                let (bytes, marks) = MboxMarks::take(bytes);
                let (filed, received) = (marks.filed(folder), marks.received);
                Next::Message(Found { bytes, filed, received, came_at })
            }
            Err(reason) => self.fault(name, reason),
        }
    }

    /// Begins with a file; its message, where it is one. A file of an archive that is none of this kind is passed over.
    fn open_file(&mut self, name: &str) -> io::Result<Option<Next>> {
        let filed = match self.kind {
            MailImportKind::Mbox => {
                self.open_mbox(name)?;
                return Ok(None);
            }
            MailImportKind::Maildir => maildir_place(name),
            MailImportKind::Eml => self.eml_place(name).map(|filed| (filed, None)),
        };
        let Some((filed, came_at)) = filed else {
            self.end_file();
            return Ok(None);
        };
        let bytes = whole(&mut self.container)?;
        self.end_file();
        let Some(bytes) = bytes else { return Ok(Some(self.fault(name, TOO_LONG))) };
        if bytes.is_empty() {
            return Ok(None);
        }
        self.read += 1;
        Ok(Some(Next::Message(Found { bytes, filed, received: None, came_at })))
    }

    fn open_mbox(&mut self, name: &str) -> io::Result<()> {
        let is_single = self.container.is_single();
        let begin = self.container.fill_buf()?.trim_ascii_start();
        if begin.is_empty() && !is_single {
            self.end_file();
            return Ok(());
        }
        if !begin.starts_with(b"From ") && !begin.is_empty() {
            if is_single {
                return Err(io::Error::new(io::ErrorKind::InvalidData, NO_MBOX));
            }
            self.end_file();
            return Ok(());
        }
        let (reader, folder) = (MboxReader::default(), folder_of(name));
        self.mbox = Some(OpenMbox { reader, folder, name: name.to_owned() });
        Ok(())
    }

    /// Where a message goes that is a file of its own: it was read by whoever saved it.
    fn eml_place(&self, name: &str) -> Option<FiledAs> {
        let is_eml = std::path::Path::new(name).extension().is_some_and(|it| it.eq_ignore_ascii_case("eml"));
        if !is_eml && !self.container.is_single() {
            return None;
        }
        let folder = name.rsplit_once('/').map_or("", |(folders, _)| folders.rsplit('/').next().unwrap_or_default());
        match Folder::named(folder) {
            Folder::Label(_) => Some(Folder::Box(MailBox::Inbox).filed(false, false)),
            folder @ Folder::Box(_) => Some(folder.filed(false, false)),
        }
    }

    fn end_file(&mut self) {
        self.place = ImportPlace { file: self.place.file + 1, bytes: 0 };
    }

    fn fault(&mut self, file: &str, reason: &str) -> Next {
        self.read += 1;
        let file: String = file.chars().filter(|it| !it.is_control()).take(FILE_NAME_CHARS).collect();
        Next::Fault(ImportFault { message: self.read, file, reason: reason.to_owned() })
    }
}

/// The folder that an mbox is called after.
fn folder_of(name: &str) -> Folder {
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    Folder::named(file.strip_suffix(".mbox").or_else(|| file.strip_suffix(".mbx")).unwrap_or(file))
}

/// All of a file that is one message, with CR LF; none of one that is too long.
fn whole(source: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        let piece = source.fill_buf()?;
        let len = piece.len();
        if len == 0 {
            return Ok(Some(bytes));
        }
        for byte in piece {
            if *byte == b'\n' && !bytes.ends_with(b"\r") {
                bytes.push(b'\r');
            }
            bytes.push(*byte);
        }
        source.consume(len);
        if bytes.len() as u64 > MESSAGE_BYTES_MAX {
            return Ok(None);
        }
    }
}
