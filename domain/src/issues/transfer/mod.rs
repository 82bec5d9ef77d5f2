//! Issues that go out to a file and come in from one (contract B 4.1), as CSV in the way of Jira, or as JSON.
//!
//! Columns that repeat are lists. A cell that a spreadsheet would take for a formula goes out behind an apostrophe, which comes off
//! when it comes in. What a file says is read here; what it means in a space, the space's owner decides.

mod columns;
mod csv_read;
mod csv_write;
mod json;
mod moments;
mod order;

pub use self::{
    csv_read::from_csv,
    csv_write::{CsvShape, ExportedComment, ExportedIssue, ExportedLink, csv_header, csv_row},
    json::from_json,
    moments::{read_day, read_moment, written_moment},
    order::parents_first,
};
use crate::{Error, Result};

/// Columns of a file.
pub const COLUMNS_MAX: usize = 500;
/// Characters of the keys of the source (contract B 4.1).
pub const SOURCE_KEY_LEN_MAX: usize = 64;
/// The message of the 413 for a file (contract B 4.1).
pub const IMPORT_TOO_LARGE: &str = "Import files can be up to 5 MB.";
/// Bytes of a request that imports (contract B 4.1).
pub const IMPORT_LEN_MAX: usize = 5 * 1024 * 1024;

/// An issue, as a file says it. Nothing of it is looked up yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what the contract calls it")]
pub struct SourceIssue {
    /// What the source calls it: its key, and its id, by which other rows name it.
    pub names: Vec<String>,
    pub summary: String,
    pub kind: Option<String>,
    pub status: Option<String>,
    pub priority: Option<String>,
    pub resolution: Option<String>,
    /// What the person may be called, what is more exact first.
    pub assignee: Vec<String>,
    pub reporter: Vec<String>,
    pub watchers: Vec<String>,
    pub created: Option<String>,
    pub updated: Option<String>,
    pub resolved: Option<String>,
    pub due_date: Option<String>,
    pub start_date: Option<String>,
    pub story_points: Option<String>,
    pub original_estimate: Option<String>,
    pub remaining_estimate: Option<String>,
    pub environment: Option<String>,
    pub description: Option<String>,
    /// What the source calls the parent, what is more exact first.
    pub parent: Vec<String>,
    pub labels: Vec<String>,
    pub components: Vec<String>,
    pub fix_versions: Vec<String>,
    pub affects_versions: Vec<String>,
    /// The kind of each link, as it is called from this issue's end, and what the source calls the other end.
    pub links: Vec<(String, String)>,
    pub comments: Vec<SourceComment>,
}

/// A comment, as a file says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceComment {
    /// When it was written.
    pub at: Option<String>,
    /// Whoever wrote it.
    pub author: Option<String>,
    /// What it says.
    pub body: String,
    /// Whether people of the help center read it; a file of cells doesn't say.
    pub public: bool,
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// The issues, in the file's order.
    pub issues: Vec<SourceIssue>,
    /// Columns that nobody here knows.
    pub unknown: Vec<String>,
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Rows of cells.
    Csv,
    /// A list of objects.
    Json,
}

impl FileFormat {
    /// Reads a file.
    ///
    /// # Errors
    /// 400 at `content`, with the line where there is one.
    pub fn read(self, content: &str) -> Result<SourceFile> {
        // PostgreSQL takes no NUL.
        let content = content.strip_prefix('\u{feff}').unwrap_or(content).replace('\0', "\u{fffd}");
        match self {
            Self::Csv => from_csv(&content),
            Self::Json => from_json(&content),
        }
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::invalid("content", message)
}

/// Whether a spreadsheet would run a cell that holds this.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// A text as a cell holds it.
fn guarded(text: &str) -> String {
    if is_formula(text.trim_start_matches('\'')) { format!("'{text}") } else { text.to_owned() }
}

/// The text that a cell holds.
fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if is_formula(rest.trim_start_matches('\'')) => rest,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_guarded_and_comes_back() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "'quoted'", "", "fine", "a=b"] {
            let cell = guarded(text);
            assert!(!is_formula(&cell), "{text:?}");
            assert_eq!(unguarded(&cell), text);
        }
        assert_eq!((guarded("=1"), guarded("'x")), ("'=1".to_owned(), "'x".to_owned()));
    }
}
