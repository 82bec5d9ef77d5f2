//! SQLite's checkpoints, beside the commits instead of within them.
//!
//! What is committed lies in the write-ahead log until a checkpoint copies it into the file. Left alone, SQLite makes one
//! within every commit that brings the log to a thousand pages: some tens of milliseconds for which nobody commits. Here a
//! connection of its own does it while commits go on. Only where they go on so fast that the log never comes to its end is
//! it begun anew while they wait, for the little that a checkpoint left.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use tokio::{sync::Notify, task::JoinHandle};

/// After about how many pages in the log a checkpoint is made.
const PAGES_BETWEEN: usize = 1_000;
/// About how many pages a transaction writes beside those of its steps.
const PAGES_OF_TRANSACTION: usize = 8;
/// How many pages of the log there are at most, 32 MiB, before commits wait for it to be begun anew.
const LOG_PAGES_MAX: i64 = 8_192;
/// How long such a beginning waits for readers of the log.
const RESTART_TIMEOUT: Duration = Duration::from_millis(500);

/// Counts what is committed, and has checkpoints made.
#[derive(Default)]
pub(super) struct Checkpoints {
    pages: AtomicUsize,
    due: Notify,
    is_closed: AtomicBool,
}

impl Checkpoints {
    /// A transaction with so many steps was committed.
    pub fn committed(&self, steps: usize) {
        let pages = steps + PAGES_OF_TRANSACTION;
        if self.pages.fetch_add(pages, Relaxed) + pages >= PAGES_BETWEEN {
            self.pages.store(0, Relaxed);
            self.due.notify_one();
        }
    }

    /// Has the task end, which then has no connection any more: the last one to be closed empties the log.
    pub fn close(&self) {
        self.is_closed.store(true, SeqCst);
        self.due.notify_one();
    }

    /// Makes those of this database until they are closed.
    pub fn start(self: &Arc<Self>, path: PathBuf) -> JoinHandle<()> {
        let checkpoints = Arc::clone(self);
        tokio::spawn(async move {
            let connection = Arc::<Mutex<Option<Connection>>>::default();
            loop {
                checkpoints.due.notified().await;
                if checkpoints.is_closed.load(SeqCst) {
                    return;
                }
                let (connection, path) = (Arc::clone(&connection), path.clone());
                let made = tokio::task::spawn_blocking(move || checkpoint(&mut connection.lock(), &path)).await;
                match made {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::debug!(%error, "a checkpoint was not made; the next one is"),
                    Err(error) => tracing::error!(%error, "a checkpoint ended"),
                }
            }
        })
    }
}

fn checkpoint(kept: &mut Option<Connection>, path: &Path) -> rusqlite::Result<()> {
    // Taken out first: a connection that failed is not used again.
    let connection = kept.take().map_or_else(|| open(path), Ok)?;
    let log_pages = run(&connection, "PASSIVE")?;
    if log_pages > LOG_PAGES_MAX {
        run(&connection, "RESTART")?;
    }
    *kept = Some(connection);
    Ok(())
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(RESTART_TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// How many pages the log has.
fn run(connection: &Connection, mode: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(1))
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Instant};

    use domain::{Timestamp, id::UserId};
    use serde_json::json;

    use super::*;
    use crate::{Change, Clock, Store, connection::sqlite_file, outbox::OutboxEntry, testing::Scratch};

    /// How long what must come is waited for.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn size(path: &Path) -> u64 {
        fs::metadata(path).map_or(0, |file| file.len())
    }

    #[tokio::test]
    async fn what_is_committed_reaches_the_file_beside_the_commits_and_the_log_is_gone_in_the_end() {
        let scratch = Scratch::sqlite().expect("a database");
        let options = scratch.options();
        let file = sqlite_file(&options.url).expect("a file");
        let store = Store::connect(&options, Clock::system()).await.expect("connects");
        let before = size(&file);
        let (user_id, message) = (UserId::new(Timestamp(0)), json!({ "type": "x".repeat(1_000) }));
        let started = Instant::now();
        while size(&file) < before + 1_000_000 {
            assert!(started.elapsed() < PATIENCE, "nothing reaches the file");
            let mut change = Change::new();
            for _ in 0..100 {
                change.outbox_add(store.now(), &OutboxEntry::Live { user_id, message: message.clone() });
            }
            store.commit(change).await.expect("commits");
        }
        store.close().await;
        let mut log = file.into_os_string();
        log.push("-wal");
        assert_eq!(size(Path::new(&log)), 0);
    }
}
