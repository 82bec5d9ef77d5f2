//! A copy of a SQLite database, taken while it is used.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::{
    Connection, OpenFlags, OptionalExtension,
    backup::{Backup, StepResult},
};

use crate::{Clock, StoreError, connection};

/// Pages that are copied at once; others have their turn in between.
const PAGES_AT_ONCE: i32 = 1_000;

/// What the names of contents' blobs begin with.
const CONTENTS: &str = "contents/";
/// How long a hold stands that nobody renews.
const HOLD_FOR: Duration = Duration::from_mins(10);
/// How often it is renewed.
const RENEW_EVERY: Duration = Duration::from_mins(1);
/// How long a hold waits for others that write.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps a server from deleting blobs while they are copied, so that those are there that the copy of the database names.
/// One that a killed program leaves behind ends after ten minutes.
pub struct BlobHold {
    stops: Sender<()>,
    /// Whether it stood all the time.
    renewing: JoinHandle<Result<(), StoreError>>,
}

impl BlobHold {
    /// Takes a hold in the database at `source`; none where it is of a program that doesn't know them.
    ///
    /// # Errors
    /// The database can't be written to.
    pub fn take(source: &Path) -> Result<Option<Self>, StoreError> {
        let database = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
        database.busy_timeout(PATIENCE).map_err(failed)?;
        let knows = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'blob_holds'";
        if database.query_row(knows, [], |_| Ok(())).optional().map_err(failed)?.is_none() {
            return Ok(None);
        }
        let now = Clock::system().now();
        let id = domain::id::new_uuid(now).to_string();
        let values = (&id, now.after(HOLD_FOR).as_millis());
        database.execute("INSERT INTO blob_holds (id, until) VALUES (?1, ?2)", values).map_err(failed)?;
        let (stops, stopped) = mpsc::channel();
        let renewing = thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(RENEW_EVERY) {
                renew(&database, &id)?;
            }
            renew(&database, &id)?;
            database.execute("DELETE FROM blob_holds WHERE id = ?1", [&id]).map_err(failed)?;
            Ok(())
        });
        Ok(Some(Self { stops, renewing }))
    }

    /// Lets go of the blobs.
    ///
    /// # Errors
    /// The hold did not stand all the time: blobs may have been deleted.
    pub fn release(self) -> Result<(), StoreError> {
        drop(self.stops);
        let stood =
            self.renewing.join().map_err(|_| StoreError::Failed("the hold of the blobs broke off".to_owned()))?;
        stood.map_err(|error| StoreError::Failed(format!("the blobs were not held while they were copied: {error}")))
    }
}

impl std::fmt::Debug for BlobHold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobHold").finish_non_exhaustive()
    }
}

fn renew(database: &Connection, id: &str) -> Result<(), StoreError> {
    let now = Clock::system().now();
    let values = (id, now.after(HOLD_FOR).as_millis(), now.as_millis());
    let renewed = database.execute("UPDATE blob_holds SET until = ?2 WHERE id = ?1 AND until > ?3", values);
    if renewed.map_err(failed)? == 1 { Ok(()) } else { Err(StoreError::Failed("it ended before".to_owned())) }
}

/// How far a copy is, in pages of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Pages that are copied.
    pub done: u64,
    /// Pages that there are.
    pub total: u64,
}

/// Which blobs of contents a database names.
pub struct NamedBlobs(HashSet<u64>);

impl NamedBlobs {
    /// What the database at `path` names; none where it is of a program that doesn't know contents.
    ///
    /// # Errors
    /// The database can't be read.
    pub fn read(path: &Path) -> Result<Option<Self>, StoreError> {
        let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
        let knows = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'content_segments'";
        if database.query_row(knows, [], |_| Ok(())).optional().map_err(failed)?.is_none() {
            return Ok(None);
        }
        let knows = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'mail_raw'";
        let knows_mail = database.query_row(knows, [], |_| Ok(())).optional().map_err(failed)?.is_some();
        let of_mail =
            if knows_mail { " UNION ALL SELECT blob_key FROM mail_raw WHERE blob_key IS NOT NULL" } else { "" };
        let all = format!(
            "SELECT blob FROM content_segments WHERE blob IS NOT NULL \
             UNION ALL SELECT blob FROM blob_pending UNION ALL SELECT blob FROM blob_doomed{of_mail}"
        );
        let mut statement = database.prepare(&all).map_err(failed)?;
        let names = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        let hashes: Result<_, _> = names.map(|name| name.map(|name| hash(&name))).collect();
        Ok(Some(Self(hashes.map_err(failed)?)))
    }

    /// Whether a blob of this name, or what is being written under it, belongs to a copy of the database: all that is no
    /// content's does. What was begun after the copy doesn't.
    pub fn keeps(&self, name: &str) -> bool {
        let name = name.split('#').next().unwrap_or_default();
        !name.starts_with(CONTENTS) || self.0.contains(&hash(name))
    }
}

impl std::fmt::Debug for NamedBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedBlobs").field("count", &self.0.len()).finish()
    }
}

/// Two names that share one keep a blob too many, which does no harm.
fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
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
