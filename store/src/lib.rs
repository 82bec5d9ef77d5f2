//! What Troupe remembers: entities and queries, one module per area; the commit writer; blobs.
//!
//! **Reads** are methods of [`Store`], in the module of their area, and go through the [`reader`]. **Writes** are data: a
//! [`Change`] that functions of the areas add rows and statements to, and that [`Store::commit`] makes durable as one
//! transaction, together with whatever else waits at that moment (see [`writer`]).
//!
//! Ids are stored as their text, times as milliseconds since the Unix epoch, JSON that must come back as it was sent as
//! text. A row that several may decide on carries a `version`; whoever changes it names the version that they saw, and
//! a commit that finds another one fails with [`CommitError::Stale`] and leaves no trace.

pub mod accounts;
pub mod audit;
pub mod backup;
pub mod behalf;
pub mod blobs;
pub mod calendar;
mod change;
mod clock;
mod connection;
pub mod copying;
pub mod databases;
pub mod deadline;
mod drift;
mod error;
pub mod faults;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod git;
pub mod idempotency;
pub mod issues;
mod json;
pub mod kept;
pub mod live;
pub mod mail;
pub mod nodes;
pub mod notify;
mod options;
pub mod outbox;
pub mod overview;
pub mod pages;
pub mod pipelines;
pub mod purge;
mod reader;
pub mod resources;
pub mod revocations;
mod schema;
pub mod secrets;
mod sql;
pub mod storage;
pub mod testing;
pub mod timers;
pub mod trace;
pub mod vault;
pub mod work;
pub mod writer;

use std::sync::Arc;

use domain::{Tenant, time::Timestamp};

pub use self::{
    audit::{AuditActor, AuditEntry, AuditEvent, AuditQuery, AuditTarget},
    blobs::{BlobOptions, Blobs},
    change::{Change, Expect},
    clock::Clock,
    drift::DRIFT_MAX,
    error::{CommitError, StoreError},
    faults::{Faults, FaultsError},
    idempotency::{Idempotency, IdempotencyAnswer, IdempotencyRequest},
    kept::KeptMessage,
    live::{LiveDraft, LiveMessage},
    nodes::{Node, NodeHealth},
    notify::{
        NewNotice, Notice, PushDevice, PushKey,
        deliveries::{Delivery, DeliveryClaim, DeliveryLane, HeldClaim, NewDelivery},
    },
    options::StoreOptions,
    outbox::{EmailCalendar, EmailTo, OutboxClaim, OutboxEntry},
    pages::{NewPageUpdate, PageDocument, PageFold, PageHead, PageUpdate, PageUpdateId},
    purge::{PURGE_ROWS_MAX, Purge, PurgeBatch},
    revocations::{FeedLook, FeedPosition, Revocation, RevocationKind},
    secrets::{Rekeyed, SecretKeys, SecretsError},
    timers::Timer,
    work::{Claimed, NewWork, Permits, Turns, Work, WorkState},
    writer::{Signals, WriterStats},
};
use self::{
    behalf::Behalf, blobs::contents::Readers, connection::Connections, databases::Database, drift::Drift,
    faults::Place, reader::Reader, resources::Remembered, storage::StoredBucket, writer::Writer,
};

/// The store: a cheap handle, one per process and database.
#[derive(Clone)]
pub struct Store {
    parts: Arc<Parts>,
}

struct Parts {
    connections: Connections,
    writer: Writer,
    blobs: Blobs,
    clock: Clock,
    secrets: SecretKeys,
    drift: Drift,
    faults: Faults,
    readers: Arc<Readers>,
    buckets: Remembered<StoredBucket>,
    databases: Remembered<Database>,
}

impl Store {
    /// Connects to the database and opens the place of the blobs; changes nothing in either.
    ///
    /// Fails when the URL is neither SQLite's nor PostgreSQL's, or the database can't be reached. Must be called on the
    /// tokio runtime that the writer shall live on.
    pub async fn connect(options: &StoreOptions, clock: Clock) -> Result<Self, StoreError> {
        let connections = Connections::open(options).await?;
        let drift = Drift::default();
        let clock = clock.corrected(drift.correction_ms());
        let writer = Writer::start(&connections, options);
        let blobs = Blobs::open(&options.blobs, clock.clone(), options.faults.clone())?;
        let (secrets, faults) = (options.secrets.clone(), options.faults.clone());
        let readers = Arc::new(Readers::new(clock.now()));
        let (buckets, databases) = (Remembered::default(), Remembered::default());
        let parts = Parts { connections, writer, blobs, clock, secrets, drift, faults, readers, buckets, databases };
        let store = Self { parts: Arc::new(parts) };
        // Before anything is claimed.
        if let Err(error) = store.clock_check().await {
            tracing::warn!(%error, "this node's clock could not be compared with the database's");
        }
        Ok(store)
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.reader().ping().await
    }

    /// The clock that everything reads business time from.
    pub fn clock(&self) -> &Clock {
        &self.parts.clock
    }

    /// What the clock shows.
    pub fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// The blobs.
    pub fn blobs(&self) -> &Blobs {
        &self.parts.blobs
    }

    /// Makes `change` durable as one transaction: it is on disk when this returns `Ok`, and has left no trace when it
    /// returns any error but [`CommitError::Unavailable`], whose outcome is unknown.
    ///
    /// A caller that stops waiting doesn't take the change back. An empty change succeeds without a transaction.
    pub async fn commit(&self, change: Change) -> Result<(), CommitError> {
        self.commit_at(change, Place::commit_of_nobody()).await
    }

    /// [`commit`](Self::commit) by a resource: in the turns of the organization or person whose id its key is.
    pub async fn commit_at(&self, change: Change, place: Place<'_>) -> Result<(), CommitError> {
        let behalf = Behalf::of_commit(|| Tenant::of_key(&place.key.to_string()));
        let Some(fault) = self.faults().meet(place) else { return self.parts.writer.commit(change, behalf).await };
        fault.before_commit().await?;
        self.parts.writer.commit(change, behalf).await?;
        fault.after_commit()
    }

    /// What a test has go wrong.
    pub fn faults(&self) -> &Faults {
        &self.parts.faults
    }

    /// What the writer has done since the store was opened, for operators.
    pub fn writer_stats(&self) -> WriterStats {
        self.parts.writer.stats()
    }

    /// Ends the writer once it has committed what waits, and closes the connections; later commits are refused.
    pub async fn close(&self) {
        self.parts.writer.close().await;
        self.parts.connections.close().await;
    }

    /// The reads of contents that are under way here.
    pub(crate) fn readers(&self) -> &Arc<Readers> {
        &self.parts.readers
    }

    /// Who waits for this store's commits.
    pub fn signals(&self) -> &Arc<Signals> {
        self.parts.writer.signals()
    }

    /// The connections for reads; nothing may be written through them.
    pub(crate) fn reader(&self) -> &Reader {
        &self.parts.connections.reader
    }

    /// The connections for what signing in and every request begin with, which wait for no other reads.
    pub(crate) fn credential_reader(&self) -> &Reader {
        &self.parts.connections.credential_reader
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("backend", &self.parts.connections.backend()).finish_non_exhaustive()
    }
}
