//! Imports: what becomes of an archive that is made pages of.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Error, Timestamp,
    error::Problem,
    id::{KeyId, OrgId, PageId, PageImportId, UserId},
};

/// Imports of one organization that are under way at once.
pub const IMPORTS_AT_ONCE_MAX: u64 = 2;
/// How long it is known what became of an import.
pub const IMPORT_KNOWN_FOR: Duration = Duration::from_hours(7 * 24);
/// Files that were left out and are named.
pub const SKIPPED_MAX: usize = 100;

/// How an import stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportState {
    /// It is under way, or waits for its turn.
    Running,
    /// Its pages are there.
    Done,
    /// It came to nothing.
    Failed,
    /// Somebody called it off.
    Cancelled,
}

impl ImportState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Running, Self::Done, Self::Failed, Self::Cancelled];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The one of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// An import of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImport {
    /// Its id.
    pub id: PageImportId,
    /// The organization that the pages come into.
    pub org_id: OrgId,
    /// Who imports.
    pub created_by: UserId,
    /// The key that they do so with, if it is one.
    pub key_id: Option<KeyId>,
    /// Where what is at the top of the archive comes to lie; none for the root.
    pub parent_id: Option<PageId>,
    /// How it stands.
    pub state: ImportState,
    /// How many pages the archive has.
    pub pages: u32,
    /// How many of them are ready to be made.
    pub pages_done: u32,
    /// Files that are no pages and are left out, by name.
    pub skipped: Vec<String>,
    /// The pages that lie where they were imported, once it is done.
    pub made: Vec<PageId>,
    /// Why it came to nothing.
    pub error: Option<ImportFault>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// Why an import came to nothing, as whoever asks for it reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportFault {
    /// The status that HTTP answers with.
    pub status: u16,
    /// A stable slug.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// Files at fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl From<&Error> for ImportFault {
    fn from(error: &Error) -> Self {
        let problems = if let Error::Invalid { problems } = error { problems.clone() } else { Vec::new() };
        Self { status: error.status(), code: error.code().to_owned(), message: error.to_string(), problems }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reads_as_it_is_written() {
        for state in ImportState::ALL {
            assert_eq!(ImportState::parse(state.as_str()), Some(state));
        }
        assert_eq!(ImportState::parse("lost"), None);
    }

    #[test]
    fn a_fault_says_what_its_error_says() {
        let fault = ImportFault::from(&Error::invalid("a.md", "Is damaged."));
        assert_eq!((fault.status, fault.code.as_str(), fault.problems.len()), (400, "invalid", 1));
        let text = serde_json::to_string(&fault).unwrap();
        assert_eq!(serde_json::from_str::<ImportFault>(&text).unwrap(), fault);
        assert_eq!(ImportFault::from(&Error::internal("a secret")).message, "Something went wrong on the server.");
    }
}
