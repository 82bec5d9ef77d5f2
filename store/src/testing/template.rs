//! A SQLite database as the migrations make it, for tests to copy: migrating takes many times as long.
//!
//! Each process of tests migrates once and keeps the bytes of the file.

use std::{fs, sync::OnceLock, thread};

use super::Scratch;
use crate::{Clock, Store, StoreError, connection};

/// Makes the file that `url` names, with the schema.
///
/// Panics when the migrations fail.
pub(super) fn copy_to(url: &str) -> Result<(), StoreError> {
    static MIGRATED: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = MIGRATED.get_or_init(|| {
        // A thread of its own, because whoever asks first may be within a runtime.
        let migrating = thread::spawn(migrated).join();
        let bytes = migrating.unwrap_or_else(|_| panic!("the migrations panicked"));
        bytes.unwrap_or_else(|error| panic!("the migrations failed: {error}"))
    });
    let file = connection::sqlite_file(url)?;
    connection::make_private(url, &file)?;
    fs::write(file, bytes).map_err(failed)
}

/// The bytes of a migrated database.
fn migrated() -> Result<Vec<u8>, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let scratch = Scratch::unmigrated_sqlite()?;
    runtime.block_on(async {
        let store = Store::connect(&scratch.options(), Clock::system()).await?;
        let migrated = store.migrate().await;
        // Nothing stands in the write-ahead log any more once this is done.
        store.close().await;
        migrated
    })?;
    fs::read(connection::sqlite_file(&scratch.url)?).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("no database for a test: {error}"))
}
