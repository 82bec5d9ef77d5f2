//! Stores for tests: empty, their own, and gone afterwards.

pub mod environments;
mod pool;
pub mod recount;
mod template;
#[cfg(test)]
mod tests;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use sea_orm::{ConnectionTrait, Database};

use crate::{
    Clock, SecretKeys, Signals, Store, StoreError, StoreOptions,
    blobs::{BlobOptions, BlobPlace},
    secrets::KEY_LEN,
};

/// Names the PostgreSQL database that tests may make schemas in; without it they run on SQLite.
pub const DATABASE_URL_VARIABLE: &str = "TROUPE_TEST_DATABASE_URL";
/// What the key of tests is made of.
const SECRET_KEY: u8 = 11;
/// The key of tests, for `secrets.keys` of a server whose database a test opens too.
pub const SECRET_KEY_TEXT: &str = "CwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCws=";
/// The server's secret of tests, for `server.secret` of a server whose database a test opens too.
pub const SIGNING_SECRET: &str = "a secret of tests that is no secret";
/// How long a test waits for its database: another store of the same may be writing to a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// An empty database and folder of one test, removed when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    url: String,
    schema: Option<Schema>,
}

/// A schema of PostgreSQL, and what becomes of it.
#[derive(Debug)]
enum Schema {
    /// Given back to be emptied.
    Pooled(pool::Migrated),
    /// Dropped.
    Own { database: String, name: String },
}

impl Scratch {
    /// On PostgreSQL when [`DATABASE_URL_VARIABLE`] is set, else on SQLite.
    pub async fn new() -> Result<Self, StoreError> {
        match std::env::var(DATABASE_URL_VARIABLE) {
            Ok(database) if !database.is_empty() => Self::postgres(&database).await,
            _ => Self::sqlite(),
        }
    }

    /// A SQLite file in a folder of its own, with the schema.
    pub fn sqlite() -> Result<Self, StoreError> {
        let scratch = Self::unmigrated_sqlite()?;
        template::copy_to(&scratch.url)?;
        Ok(scratch)
    }

    /// [`sqlite`](Self::sqlite) before any migration, and without the file.
    pub fn unmigrated_sqlite() -> Result<Self, StoreError> {
        let mut scratch = Self::bare(String::new())?;
        // The name that the program gives it, so that one which is started in this folder finds it.
        scratch.url = format!("sqlite://{}?mode=rwc", scratch.folder.join("troupe.sqlite").display());
        Ok(scratch)
    }

    /// A schema of its own in the PostgreSQL database of [`DATABASE_URL_VARIABLE`], with the tables; a test before this one may
    /// have had it. It is reached by `database`, which may name a proxy.
    pub async fn postgres(database: &str) -> Result<Self, StoreError> {
        let schema = pool::take().await?;
        let mut scratch = Self::bare(pool::url(database, &schema.name))?;
        scratch.schema = Some(Schema::Pooled(schema));
        Ok(scratch)
    }

    /// [`postgres`](Self::postgres) before any migration.
    pub async fn unmigrated_postgres(database: &str) -> Result<Self, StoreError> {
        let name = name();
        Database::connect(database).await?.execute_unprepared(&format!("CREATE SCHEMA {name}")).await?;
        let mut scratch = Self::bare(pool::url(database, &name))?;
        scratch.schema = Some(Schema::Own { database: database.to_owned(), name });
        Ok(scratch)
    }

    /// A folder for the database at `url`.
    fn bare(url: String) -> Result<Self, StoreError> {
        Ok(Self { folder: folder()?, url, schema: None })
    }

    /// The database's URL, as configuration takes it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder for files.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// What a store of this database and folder is opened with; few connections, because tests run side by side, and more
    /// patience than any of them takes long.
    pub fn options(&self) -> StoreOptions {
        let blobs =
            BlobOptions { place: BlobPlace::Folder(self.folder.join("blobs")), signing_secret: SIGNING_SECRET.into() };
        StoreOptions {
            read_connections: 2,
            write_lanes: 2,
            connect_timeout: PATIENCE,
            ..StoreOptions::new(&self.url, blobs, secret_keys([SECRET_KEY]))
        }
    }

    /// A migrated store of this database; call it again for a second node.
    pub async fn store(&self, clock: Clock) -> Result<Store, StoreError> {
        Self::opened(&self.options(), clock).await
    }

    /// One more store of the node whose commits wake `signals`.
    pub async fn store_beside(&self, signals: &Arc<Signals>, clock: Clock) -> Result<Store, StoreError> {
        Self::opened(&StoreOptions { signals: Arc::clone(signals), ..self.options() }, clock).await
    }

    async fn opened(options: &StoreOptions, clock: Clock) -> Result<Store, StoreError> {
        let store = Store::connect(options, clock).await?;
        store.migrate().await?;
        store.secrets_prepare().await.map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(store)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        match self.schema.take() {
            Some(Schema::Pooled(schema)) => pool::give_back(schema),
            Some(Schema::Own { database, name }) => drop_schema(database, name),
            None => {}
        }
    }
}

fn drop_schema(database: String, name: String) {
    // A runtime of its own: the test's may be shutting down.
    let cleaner = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let dropped = runtime.block_on(async {
            let connection = Database::connect(&database).await?;
            pool::end_connections(&connection, &name).await?;
            pool::drop_schema(&connection, &name).await
        });
        dropped.map_err(std::io::Error::other)
    });
    let _ = cleaner.join();
}

/// Keys of these bytes, the first of which seals.
///
/// Panics without any.
pub fn secret_keys<const COUNT: usize>(bytes: [u8; COUNT]) -> SecretKeys {
    let keys = bytes.map(|byte| [byte; KEY_LEN]);
    SecretKeys::new(&keys).unwrap_or_else(|| panic!("no key"))
}

fn name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let now = Clock::system().now();
    format!("troupe_test_{}_{now}_{made}", std::process::id())
}

fn folder() -> Result<PathBuf, StoreError> {
    let folder = std::env::temp_dir().join(name());
    std::fs::create_dir_all(&folder).map_err(|error| StoreError::Failed(format!("no folder for a test: {error}")))?;
    Ok(folder)
}

/// A scratch on SQLite, and one on PostgreSQL when [`DATABASE_URL_VARIABLE`] is set.
///
/// Panics when one can't be made.
pub async fn backends() -> Vec<Scratch> {
    let sqlite = Scratch::sqlite().unwrap_or_else(|error| panic!("{error}"));
    std::iter::once(sqlite).chain(postgres().await).collect()
}

/// [`backends`] before any migration.
///
/// Panics when one can't be made.
pub async fn unmigrated_backends() -> Vec<Scratch> {
    let sqlite = Scratch::unmigrated_sqlite().unwrap_or_else(|error| panic!("{error}"));
    let Some(database) = postgres_url() else { return vec![sqlite] };
    let postgres = Scratch::unmigrated_postgres(&database).await;
    vec![sqlite, postgres.unwrap_or_else(|error| panic!("{error}"))]
}

/// A scratch on PostgreSQL, when [`DATABASE_URL_VARIABLE`] is set.
///
/// Panics when it can't be made.
pub async fn postgres() -> Option<Scratch> {
    let database = postgres_url()?;
    Some(Scratch::postgres(&database).await.unwrap_or_else(|error| panic!("{error}")))
}

fn postgres_url() -> Option<String> {
    std::env::var(DATABASE_URL_VARIABLE).ok().filter(|url| !url.is_empty())
}
