//! What a store is opened with.

use std::{sync::Arc, time::Duration};

use crate::{Faults, SecretKeys, Signals, blobs::BlobOptions};

/// Connections that read, unless configured.
const READ_CONNECTIONS: u32 = 8;
/// Transactions that PostgreSQL commits at the same time, unless configured.
const WRITE_LANES: u32 = 4;
/// Changes that may wait for the writer, unless configured.
const WRITE_QUEUE_LEN_MAX: usize = 8_192;
/// Bytes of the changes that may wait for the writer, unless configured.
const WRITE_QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long a read may take that no request waits for, unless configured.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection to a database that is away is waited for, unless configured.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// What a store is opened with.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// `sqlite://<path>?mode=rwc` or `postgres://<user>:<password>@<host>:<port>/<database>`.
    pub url: String,
    /// Connections that read.
    pub read_connections: u32,
    /// Transactions that commit at the same time on PostgreSQL; SQLite has one writer.
    pub write_lanes: u32,
    /// Changes that may wait for the writer; more are refused as [`CommitError::Unavailable`](crate::CommitError).
    pub write_queue_len_max: usize,
    /// Bytes of the changes that may wait for the writer; a change that goes beyond is refused unless none waits.
    pub write_queue_bytes_max: usize,
    /// How long a read may take at most; a request's reads end with its deadline.
    pub read_timeout: Duration,
    /// How long a commit or a read waits for a database that is away before it answers so.
    pub connect_timeout: Duration,
    /// Where the blobs are.
    pub blobs: BlobOptions,
    /// What seals and opens secrets.
    pub secrets: SecretKeys,
    /// What a test has go wrong.
    pub faults: Faults,
    /// Who waits for commits. Stores of one database that share it are told of each other's at once, and not at the next look.
    pub signals: Arc<Signals>,
}

impl StoreOptions {
    /// The usual sizes, for the database at `url`, the blobs at `blobs`, and secrets sealed with `secrets`.
    pub fn new(url: impl Into<String>, blobs: BlobOptions, secrets: SecretKeys) -> Self {
        Self {
            url: url.into(),
            read_connections: READ_CONNECTIONS,
            write_lanes: WRITE_LANES,
            write_queue_len_max: WRITE_QUEUE_LEN_MAX,
            write_queue_bytes_max: WRITE_QUEUE_BYTES_MAX,
            read_timeout: READ_TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            blobs,
            secrets,
            faults: Faults::default(),
            signals: Arc::default(),
        }
    }
}
