//! A copy of a SQLite database, taken while it is used.

use std::path::{Path, PathBuf};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};

use crate::{StoreError, connection};

/// Pages that are copied at once; others have their turn in between.
const PAGES_AT_ONCE: i32 = 1_000;

/// How far a copy is, in pages of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Pages that are copied.
    pub done: u64,
    /// Pages that there are.
    pub total: u64,
}

/// The file of a database's URL, or `None` when the database is no file of SQLite's.
///
/// # Errors
/// A URL that doesn't read.
pub fn sqlite_path(url: &str) -> Result<Option<PathBuf>, StoreError> {
    if url.starts_with("sqlite:") { connection::sqlite_file(url).map(Some) } else { Ok(None) }
}

/// Copies the database at `source` to the new file `target`, as it is at one moment, while others read and write it; says
/// how far it is after every step. The copy is one file, checked, and on the disk when this returns.
///
/// # Errors
/// `source` can't be read, `target` can't be written, or the copy turns out damaged.
pub fn copy_sqlite(source: &Path, target: &Path, mut says: impl FnMut(Copied)) -> Result<(), StoreError> {
    let from = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    // What is read inside a transaction stays what it is: nobody's commit has the copy begin anew.
    from.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;").map_err(failed)?;
    let mut to = Connection::open(target).map_err(failed)?;
    {
        let copying = Backup::new(&from, &mut to).map_err(failed)?;
        loop {
            let step = copying.step(PAGES_AT_ONCE).map_err(failed)?;
            let progress = copying.progress();
            let pages = |count| u64::try_from(count).unwrap_or(0);
            says(Copied { done: pages(progress.pagecount - progress.remaining), total: pages(progress.pagecount) });
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                // Busy or locked: whoever holds it lets go soon.
                _ => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        }
    }
    to.pragma_update(None, "journal_mode", "DELETE").map_err(failed)?;
    check(&to)?;
    to.close().map_err(|(_, error)| failed(error))?;
    let file = std::fs::File::open(target).and_then(|file| file.sync_all());
    file.map_err(|error| StoreError::Failed(format!("the copy can't be put on the disk: {error}")))
}

/// Looks through the whole database at `path` for damage.
///
/// # Errors
/// The damage, or a file that is no database.
pub fn check_sqlite(path: &Path) -> Result<(), StoreError> {
    check(&Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?)
}

fn check(connection: &Connection) -> Result<(), StoreError> {
    let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if verdict == "ok" { Ok(()) } else { Err(StoreError::Failed(format!("the database is damaged: {verdict}"))) }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}
