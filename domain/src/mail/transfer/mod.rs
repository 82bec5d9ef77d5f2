//! Mail that comes in files and goes out in files.

mod marks;
mod mbox;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::{
    marks::{FiledAs, Folder, MboxMarks, maildir_place, mbox_fields, received_at},
    mbox::{MboxMessage, MboxReader, mbox_entry},
};
use crate::{
    Error, Timestamp,
    app::names,
    id::{ContentId, MailExportId, MailImportId, MailboxId, OrgId, UserId},
};

/// Bytes of a file that is imported.
pub const IMPORT_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;
/// Bytes that the file of an import may unpack to.
pub const IMPORT_UNPACKED_MAX: u64 = 4 * IMPORT_BYTES_MAX;
/// Files in a ZIP that is imported: its table of contents is in memory.
pub const IMPORT_ZIP_FILES_MAX: usize = 100_000;
/// Messages of an import that one commit files.
pub const IMPORT_AT_ONCE: usize = 200;
/// Faults that are kept of an import.
pub const IMPORT_FAULTS_MAX: usize = 100;
/// Imports of a mailbox that are not over.
pub const IMPORTS_MAX: u64 = 10;
/// How long the file of an import may be sent for.
pub const IMPORT_UPLOAD_LASTS: Duration = Duration::from_hours(24);
/// How long an import waits to be started, and an export is kept.
pub const TRANSFER_KEPT: Duration = Duration::from_hours(7 * 24);
/// How long the address of an export works.
pub const EXPORT_ADDRESS_LASTS: Duration = Duration::from_mins(10);
/// Bytes of an export.
pub const EXPORT_BYTES_MAX: u64 = 100 * 1024 * 1024 * 1024;

/// The message of the 404 for an import of mail.
pub const MAIL_IMPORT_NOT_FOUND: &str = "Import not found";
/// The message of the 404 for an export of mail.
pub const MAIL_EXPORT_NOT_FOUND: &str = "Export not found";
/// Past [`IMPORT_BYTES_MAX`].
pub const IMPORT_TOO_LARGE: &str = "A file that is imported has at most 10 GB.";
/// Past [`IMPORTS_MAX`].
pub const TOO_MANY_IMPORTS: &str = "A mailbox has at most 10 imports under way.";
/// For what nobody sent yet.
pub const IMPORT_UPLOAD_MISSING: &str = "The upload isn't there yet.";
/// For a file that was sent for an import that has begun.
pub const IMPORT_HAS_BEGUN: &str = "This import has begun.";
/// For an import that nothing changes any more.
pub const IMPORT_OVER: &str = "This import is over.";
/// For a second export of a mailbox.
pub const EXPORT_UNDER_WAY: &str = "An export of this mailbox is under way.";
/// For mail that would be fetched from another server.
pub const IMAP_IMPORT_LATER: &str = "Importing over IMAP isn't possible yet; send an mbox, a maildir or messages.";

names! {
    /// What the file of an import is.
    MailImportKind { Mbox = "mbox", Maildir = "maildir", Eml = "eml", }
}

names! {
    /// How far an import is.
    MailImportState {
        Waiting = "waiting", Running = "running", Done = "done", Failed = "failed", Cancelled = "cancelled",
    }
}

names! {
    /// How far an export is.
    MailExportState { Running = "running", Done = "done", Failed = "failed", }
}

/// How far the file of an import was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportPlace {
    /// How many files of the archive lie behind.
    pub file: u64,
    /// How many bytes of the next one.
    pub bytes: u64,
}

/// What came of the messages of an import so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// How many were read.
    pub read: u64,
    /// How many of them are in the mailbox by that.
    pub filed: u64,
    /// How many were there already.
    pub duplicates: u64,
    /// How many could not be filed.
    pub failed: u64,
}

/// Why a message, or a file of an archive, was not imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportFault {
    /// Which message, from 1 on.
    pub message: u64,
    /// The file that it stands in; empty where there is only one.
    pub file: String,
    /// What is wrong.
    pub reason: String,
}

/// An import of mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailImport {
    /// Its id.
    pub id: MailImportId,
    /// Whose mailbox it is.
    pub org_id: OrgId,
    /// Where the messages go.
    pub mailbox_id: MailboxId,
    /// Who imports.
    pub created_by: UserId,
    /// What the file is.
    pub kind: MailImportKind,
    /// How many bytes it has.
    pub size: u64,
    /// How far it is.
    pub state: MailImportState,
    /// The file, from when it was sent until the import is over.
    pub content: Option<ContentId>,
    /// How far the file was read.
    pub place: ImportPlace,
    /// How many commits filed messages of it.
    pub commits: i64,
    /// What came of the messages.
    pub counts: ImportCounts,
    /// What was wrong with some of them, the first ones.
    pub faults: Vec<ImportFault>,
    /// Why it came to nothing more.
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl MailImport {
    /// What people read of its state: one that waits says whether its file was sent.
    pub const fn shown_state(&self) -> &'static str {
        match (self.state, self.content) {
            (MailImportState::Waiting, Some(_)) => "uploaded",
            (state, _) => state.as_str(),
        }
    }
}

/// An export of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailExport {
    /// Its id.
    pub id: MailExportId,
    /// Whose mailbox it is.
    pub org_id: OrgId,
    /// The mailbox.
    pub mailbox_id: MailboxId,
    /// Who exports.
    pub created_by: UserId,
    /// How far it is.
    pub state: MailExportState,
    /// The file, once it is done.
    pub content: Option<ContentId>,
    /// How many bytes the file has.
    pub size: u64,
    /// How many messages are in it.
    pub messages: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// 404 for an import that the mailbox hasn't.
pub fn no_mail_import() -> Error {
    Error::not_found(MAIL_IMPORT_NOT_FOUND)
}

/// 404 for an export that the mailbox hasn't.
pub fn no_mail_export() -> Error {
    Error::not_found(MAIL_EXPORT_NOT_FOUND)
}

/// 400 for one import too many.
pub fn too_many_imports() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_IMPORTS)
}

/// 413 for a file that is too large.
pub fn import_too_large() -> Error {
    Error::too_large(IMPORT_TOO_LARGE)
}

/// 409 for an import whose file nobody sent.
pub fn import_upload_missing() -> Error {
    Error::conflict("upload_missing", IMPORT_UPLOAD_MISSING)
}

/// 409 for a file of an import that has begun.
pub fn import_has_begun() -> Error {
    Error::conflict("import_begun", IMPORT_HAS_BEGUN)
}

/// 409 for an import that is over.
pub fn import_over() -> Error {
    Error::conflict("import_over", IMPORT_OVER)
}

/// 409 for a second export at the same time.
pub fn export_under_way() -> Error {
    Error::conflict("export_under_way", EXPORT_UNDER_WAY)
}
