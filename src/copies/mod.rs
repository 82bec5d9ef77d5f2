//! `troupe backup` and `troupe restore`: everything that a node keeps on its own disk, in one folder.
//!
//! A copy has the database as one file, the blobs, and the server's secrets, if they are this node's own. `copy.json` is
//! written last: a folder without it is a copy that was not finished, and isn't restored.

mod folder;
mod progress;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde::{Deserialize, Serialize};
use store::{
    StoreError,
    copying::{self, BlobHold, NamedBlobs},
};

use self::{
    folder::{Tree, copy_file, is_free},
    progress::Bar,
};
use crate::{
    config::{BlobKind, Config},
    secret::{KEYS_FILE, SECRET_FILE},
};

/// What a copy says of itself.
const MANIFEST: &str = "copy.json";
/// The database in a copy.
const DATABASE: &str = "troupe.sqlite";
/// The blobs in a copy.
const BLOBS: &str = "blobs";
/// How `copy.json` and the files beside it are to be read.
const FORMAT: u32 = 1;

/// Why a copy could not be made or put back. Prints as sentences for the operator.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The database isn't a file.
    #[error(
        "The database is a PostgreSQL, which has tools of its own: `pg_dump -Fc` and `pg_restore` (docs/operations.md). \
         Blobs and secret are files to copy after it."
    )]
    NotSqlite,
    /// Something is there already.
    #[error("{0} is there already, and stays as it is. Name a folder that is empty or doesn't exist.")]
    Occupied(PathBuf),
    /// No copy, or one that was not finished.
    #[error("{0} is no finished copy of `troupe backup`: it has no readable {MANIFEST}.")]
    NoCopy(PathBuf),
    /// A copy of a later program.
    #[error("The copy was made by a later version of this program ({0}). Use that one.")]
    Later(String),
    /// The copy isn't what it says.
    #[error("The copy is incomplete: {0}")]
    Incomplete(String),
    /// The database.
    #[error("The database can't be copied: {0}")]
    Database(#[from] StoreError),
    /// A file.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
}

/// What a copy says of itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    format: u32,
    /// The program that made it.
    version: String,
    /// When it was made, in milliseconds since 1970.
    made_at: i64,
    /// The length of the database, in bytes.
    database_bytes: u64,
    /// How many blobs there are, and how long they are together; `null` when they are kept elsewhere.
    blobs: Option<Tree>,
}

/// Copies everything into `folder`.
pub(crate) fn backup(config: &Config, folder: &Path) -> Result<ExitCode, CopyError> {
    let database = copying::sqlite_path(&config.database_url())?.ok_or(CopyError::NotSqlite)?;
    if !is_free(folder)? {
        return Err(CopyError::Occupied(folder.to_owned()));
    }
    folder::make_private(folder)?;
    let copy = folder.join(DATABASE);
    folder::new_file(&copy)?;
    // Before the database: what is deleted from now on is not named by its copy.
    let hold = match config.blobs.kind {
        BlobKind::Local => BlobHold::take(&database)?,
        BlobKind::S3 => None,
    };
    let mut bar = Bar::new("database", "pages");
    copying::copy_sqlite(&database, &copy, |copied| bar.show(copied.done, copied.total))?;
    bar.end();
    // After the database: what it names is there before its row.
    let blobs = match config.blobs.kind {
        BlobKind::Local => {
            // What was begun after the copy would be left over where that is restored: no row of it says so.
            let named = NamedBlobs::read(&copy)?;
            let keeps = |name: &str| named.as_ref().is_none_or(|named| named.keeps(name));
            Some(copy_blobs(&config.blob_folder(), &folder.join(BLOBS), &keeps)?)
        }
        BlobKind::S3 => None,
    };
    hold.map_or(Ok(()), BlobHold::release)?;
    for name in own_secrets(config) {
        let secret = config.data.dir.join(name);
        if secret.exists() {
            copy_file(&secret, &folder.join(name))?;
        }
    }
    let database_bytes = fs::metadata(&copy).map_err(at(&copy))?.len();
    let made_at = store::Clock::system().now().as_millis();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let manifest = Manifest { format: FORMAT, version, made_at, database_bytes, blobs };
    folder::write_last(
        &folder.join(MANIFEST),
        &serde_json::to_vec_pretty(&manifest).map_err(io::Error::other),
        folder,
    )?;
    println!("Copied to {}.{}", folder.display(), elsewhere(config));
    Ok(ExitCode::SUCCESS)
}

/// Puts the copy in `folder` into this configuration's data folder.
pub(crate) fn restore(config: &Config, folder: &Path) -> Result<ExitCode, CopyError> {
    let database = copying::sqlite_path(&config.database_url())?.ok_or(CopyError::NotSqlite)?;
    let manifest = manifest(folder)?;
    let secrets = [SECRET_FILE, KEYS_FILE].map(|name| (folder.join(name), config.data.dir.join(name)));
    let blobs = config.blob_folder();
    for place in secrets.iter().map(|(_, place)| place).chain([&database]) {
        if place.exists() {
            return Err(CopyError::Occupied(place.clone()));
        }
    }
    if manifest.blobs.is_some() && !is_free(&blobs)? {
        return Err(CopyError::Occupied(blobs));
    }
    let copy = folder.join(DATABASE);
    let len = fs::metadata(&copy).map_err(at(&copy))?.len();
    if len != manifest.database_bytes {
        return Err(CopyError::Incomplete(format!(
            "{DATABASE} has {len} bytes instead of {}",
            manifest.database_bytes
        )));
    }
    copying::check_sqlite(&copy)?;
    folder::make_private(&config.data.dir)?;
    if let Some(expected) = manifest.blobs {
        let copied = copy_blobs(&folder.join(BLOBS), &blobs, &|_| true)?;
        if copied != expected {
            return Err(CopyError::Incomplete(format!("{copied} of {expected}")));
        }
    }
    for (copied, place) in secrets.iter().filter(|(copied, _)| copied.exists()) {
        copy_file(copied, place)?;
    }
    // Last: a data folder without a database is one where nothing was restored.
    copy_file(&copy, &database)?;
    println!("Restored into {}. Start the server; it migrates the database, if it must.", config.data.dir.display());
    Ok(ExitCode::SUCCESS)
}

fn manifest(folder: &Path) -> Result<Manifest, CopyError> {
    let none = || CopyError::NoCopy(folder.to_owned());
    let text = fs::read(folder.join(MANIFEST)).map_err(|_| none())?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|_| none())?;
    if manifest.format > FORMAT { Err(CopyError::Later(manifest.version)) } else { Ok(manifest) }
}

fn copy_blobs(from: &Path, to: &Path, keeps: &dyn Fn(&str) -> bool) -> Result<Tree, CopyError> {
    let expected = Tree::measure(from)?;
    let mut bar = Bar::new("blobs", "bytes");
    let copied = folder::copy_tree(from, to, keeps, &mut |copied: Tree| bar.show(copied.bytes, expected.bytes))?;
    bar.end();
    Ok(copied)
}

/// The secrets that are this node's own files, by their names in the data folder, which they have in a copy too.
fn own_secrets(config: &Config) -> impl Iterator<Item = &'static str> {
    let signing = config.server.secret.is_empty().then_some(SECRET_FILE);
    let keys = config.secrets.keys.is_empty().then_some(KEYS_FILE);
    signing.into_iter().chain(keys)
}

/// What a copy doesn't hold.
fn elsewhere(config: &Config) -> &'static str {
    match config.blobs.kind {
        BlobKind::Local => "",
        BlobKind::S3 => " The blobs are in their bucket, which has a back-up of its own.",
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    move |source| CopyError::File { path, source }
}
