//! Jobs: work that takes long, goes on after a crash, and can be cancelled.
//!
//! A job is an entry of the work queue, added by the commit that it follows from:
//!
//! ```ignore
//! change.work_add(now, NewWork::new(PAGES_IMPORT.name, org_id, &PagesImport { import_id }).with_key(import_id.to_string()));
//! ```
//!
//! (A key keeps a second entry out for as long as the first one is there, even while that one is about to end. Where what
//! comes then must be done as well, as after every removal, there is no key.)
//!
//! A [`Handler`] does it, on a task of its own and never in an actor's turn, in steps that are small (at most 1,000 rows
//! each) and recorded:
//!
//! ```ignore
//! async fn run(&self, job: &Job) -> Result<Change, Halt> {
//!     let import: PagesImport = job.payload()?;
//!     let mut done: Done = job.progress()?.unwrap_or_default(); // where the last node stopped
//!     while let Some(batch) = self.next_batch(&import, &done).await? {
//!         done.pages += batch.len();
//!         job.step(batch.staging(), &done).await?; // one commit: the rows, the progress, the lease
//!     }
//!     Ok(last_change) // committed with the entry's end
//! }
//! ```
//!
//! - Whatever a step commits is committed under the job's fence: a node that lost its lease changes nothing more.
//! - The lease is renewed for as long as the handler runs. A node that dies leaves a lease that ends; then another node goes
//!   on behind the last step, and the work of the broken step is done again: a step's effects outside of the store must bear
//!   that.
//! - [`Change::work_cancel`](store::Change::work_cancel) has the next step fail with [`Halt::Cancelled`], and
//!   [`Handler::cancelled`] says what is committed then. A node that stops has it fail with [`Halt::Stopping`]. A handler
//!   passes both on with `?`.
//! - What fails is tried again with growing pauses that are counted from the last step, and becomes a dead letter in the
//!   end. So does a job that was taken up too often without a step: it may be what ends the process.
//! - Work for the CPU belongs into its pool; a handler only waits for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use domain::{Tenant, Timestamp, backoff};
use futures::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use store::{
    Change, Claimed, CommitError, Permits, Store, StoreError, Turns, Work,
    faults::{Place, Stage},
};
use tokio::sync::{Notify, watch};

use super::lane::{Lane, Run};

/// A kind of job, and how much of it one node does at once.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// Its name, which its entries carry.
    pub name: &'static str,
    /// How many run at once.
    pub permits: Permits,
    /// How long a node may be silent before another takes its jobs over.
    pub lease: Duration,
    /// How often a job may fail without a step in between before it is given up.
    pub tries_max: u32,
    /// Why operators can't cancel its jobs, where they can't.
    pub goes_on_because: Option<&'static str>,
}

impl Topic {
    /// Up to two jobs of a tenant at once and four altogether; a dead node's are taken over after 15 s.
    pub const fn new(name: &'static str) -> Self {
        let (permits, lease) = (Permits::with_spare(2, 2), Duration::from_secs(15));
        Self { name, permits, lease, tries_max: backoff::TRIES_MAX, goes_on_because: None }
    }
}

/// Why a job ends before it is done.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// It may go better later.
    #[error("{0}")]
    Later(String),
    /// It will never go better: a dead letter, until operators repeat it.
    #[error("{0}")]
    Refused(String),
    /// Somebody asked for it.
    #[error("cancelled")]
    Cancelled,
    /// The node stops; another one, or the next start, goes on.
    #[error("the node stops")]
    Stopping,
    /// Another node has taken it over.
    #[error("taken over by another node")]
    Lost,
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Later(error.to_string())
    }
}

impl From<CommitError> for Halt {
    fn from(error: CommitError) -> Self {
        Self::Later(error.to_string())
    }
}

impl From<domain::Error> for Halt {
    fn from(error: domain::Error) -> Self {
        Self::Later(error.to_string())
    }
}

/// Who does the jobs of a topic.
pub trait Handler: Send + Sync + 'static {
    /// Does `job`, from its last step on; what is answered is committed with its end.
    fn run(&self, job: &Job) -> impl Future<Output = Result<Change, Halt>> + Send;

    /// What is committed with the end of a job that was cancelled.
    fn cancelled(&self, job: &Job) -> impl Future<Output = Result<Change, Halt>> + Send {
        let _ = job;
        async { Ok(Change::new()) }
    }

    /// What is committed when a job is given up, beside that it is a dead letter.
    fn given_up(&self, job: &Job) -> impl Future<Output = Result<Change, Halt>> + Send {
        let _ = job;
        async { Ok(Change::new()) }
    }
}

/// What became of a step that may be too much for the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// It is committed.
    Done,
    /// Nothing of it is: an entry of an index would be too long.
    TooLong(String),
}

/// A job that this node does.
#[derive(Debug)]
pub struct Job {
    store: Store,
    topic: Topic,
    work: Work,
    /// Tries without a step in between, this one included.
    attempts: AtomicU32,
    stopping: watch::Receiver<bool>,
}

impl Job {
    /// The store that it is an entry of.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// In whose turn it is done.
    pub fn tenant(&self) -> Tenant {
        self.work.tenant
    }

    /// Its entry, as it was when it was claimed.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// What to do.
    ///
    /// # Errors
    /// [`Halt::Refused`] when it doesn't read as a `T`.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Halt> {
        serde_json::from_str(&self.work.payload).map_err(|error| Halt::Refused(format!("its payload: {error}")))
    }

    /// The last step that was recorded before this run; none in the first one.
    ///
    /// # Errors
    /// [`Halt::Refused`] when it doesn't read as a `T`.
    pub fn progress<T: DeserializeOwned>(&self) -> Result<Option<T>, Halt> {
        let Some(progress) = &self.work.progress else { return Ok(None) };
        serde_json::from_str(progress).map(Some).map_err(|error| Halt::Refused(format!("its progress: {error}")))
    }

    /// Commits a step: `change`, and with it that the job got as far as `progress`.
    ///
    /// # Errors
    /// That the job shall end here, which the handler passes on. Whether this step was committed still, the next run sees in
    /// the progress.
    pub async fn step(&self, change: Change, progress: &(impl Serialize + Sync)) -> Result<(), Halt> {
        match self.try_step(change, progress).await? {
            Stepped::Done => Ok(()),
            Stepped::TooLong(error) => Err(Halt::Later(error)),
        }
    }

    /// The same, for changes whose keys may be too long for the database.
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub async fn try_step(&self, mut change: Change, progress: &(impl Serialize + Sync)) -> Result<Stepped, Halt> {
        let progress = serde_json::to_string(progress).map_err(|error| Halt::Refused(error.to_string()))?;
        change.work_step(&self.work, &progress, self.store.now().after(self.topic.lease));
        match self.store.commit_at(change, self.place()).await {
            Ok(()) => self.attempts.store(1, Ordering::Relaxed),
            Err(CommitError::Stale) => return Err(self.why_stale().await?),
            Err(CommitError::TooLong(error)) => return Ok(Stepped::TooLong(error)),
            Err(error) => return Err(error.into()),
        }
        if *self.stopping.borrow() { Err(Halt::Stopping) } else { Ok(Stepped::Done) }
    }

    /// Where it commits, for tests that have its steps fail.
    fn place(&self) -> Place<'_> {
        Place { stage: Stage::Commit, kind: self.topic.name, command: "", key: &self.work.tenant }
    }

    async fn why_stale(&self) -> Result<Halt, Halt> {
        Ok(match self.store.work(self.work.seq).await? {
            Some(work) if work.fence != self.work.fence => Halt::Lost,
            Some(work) if work.cancelled => Halt::Cancelled,
            Some(_) => Halt::Later(CommitError::Stale.to_string()),
            None => Halt::Lost,
        })
    }

    async fn commit_end(&self, mut change: Change) -> Result<(), CommitError> {
        change.work_done(&self.work);
        self.store.commit_at(change, self.place()).await
    }
}

/// The lane of a topic's jobs.
struct Jobs<H> {
    store: Store,
    topic: Topic,
    turns: Turns,
    handler: Arc<H>,
    stopping: watch::Sender<bool>,
}

/// The lane on which `handler` does the jobs of `topic`.
pub fn lane(store: Store, topic: Topic, handler: impl Handler) -> Arc<dyn Lane> {
    let (turns, stopping) = (Turns::new(topic.permits), watch::Sender::new(false));
    Arc::new(Jobs { store, topic, turns, handler: Arc::new(handler), stopping })
}

impl<H: Handler> Lane for Jobs<H> {
    fn name(&self) -> &'static str {
        self.topic.name
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn changed(&self) -> Arc<Notify> {
        self.store.work_changed(self.topic.name)
    }

    fn take(&self) -> BoxFuture<'_, Result<Claimed<Run>, StoreError>> {
        Box::pin(async {
            let claimed = self.store.work_claim(self.topic.name, &self.turns, self.topic.lease).await?;
            Ok(claimed.map(|work| self.start(work)))
        })
    }

    fn next(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.store.work_next(self.topic.name))
    }

    fn interrupt(&self) {
        self.stopping.send_replace(true);
    }
}

impl<H: Handler> Jobs<H> {
    fn start(&self, work: Work) -> Run {
        let permit = self.turns.take(work.tenant);
        let (topic, store, stopping) = (self.topic, self.store.clone(), self.stopping.subscribe());
        let job = Job { attempts: AtomicU32::new(work.attempts), store, topic, work, stopping };
        let handler = Arc::clone(&self.handler);
        Run::new(vec![permit], async move {
            let seq = job.work.seq;
            let halt = while_renewing(&job, run(&*handler, &job)).await;
            if let Err(error) = settle(&*handler, &job, halt).await {
                tracing::warn!(topic = topic.name, seq, %error, "a job could not be settled; it comes again");
            }
        })
    }
}

/// Runs the handler to the job's end, and commits it; why it halted, if it did.
async fn run<H: Handler>(handler: &H, job: &Job) -> Option<Halt> {
    if job.work.cancelled {
        return Some(Halt::Cancelled);
    }
    if job.work.attempts > job.topic.tries_max {
        return Some(Halt::Refused("it was taken up too often, and never came to a step".to_owned()));
    }
    let change = match handler.run(job).await {
        Ok(change) => change,
        Err(halt) => return Some(halt),
    };
    match job.commit_end(change).await {
        Ok(()) => None,
        Err(CommitError::Stale) => Some(job.why_stale().await.unwrap_or_else(|halt| halt)),
        Err(error) => Some(error.into()),
    }
}

/// Does `work`, and keeps the claim meanwhile; drops it where it stands when the claim is lost.
async fn while_renewing(job: &Job, work: impl Future<Output = Option<Halt>>) -> Option<Halt> {
    let renewing = async {
        loop {
            tokio::time::sleep(job.topic.lease / 3).await;
            let mut change = Change::new();
            change.work_renew(&job.work, job.store.now().after(job.topic.lease));
            match job.store.commit(change).await {
                Ok(()) => {}
                Err(CommitError::Stale) => return,
                Err(error) => tracing::warn!(seq = job.work.seq, %error, "a job's lease could not be renewed"),
            }
        }
    };
    tokio::select! {
        biased;
        done = work => done,
        () = renewing => Some(Halt::Lost),
    }
}

/// What becomes of the entry after the run.
async fn settle<H: Handler>(handler: &H, job: &Job, halt: Option<Halt>) -> Result<(), Halt> {
    let (topic, seq) = (job.topic.name, job.work.seq);
    let outcome = match &halt {
        None => "done",
        Some(Halt::Later(_)) => "failed",
        Some(Halt::Refused(_)) => "refused",
        Some(Halt::Cancelled) => "cancelled",
        Some(Halt::Stopping) => "stopped",
        Some(Halt::Lost) => "lost",
    };
    metrics::counter!("troupe_work_total", "topic" => topic, "outcome" => outcome).increment(1);
    let mut change = Change::new();
    match halt {
        None => return Ok(()),
        Some(Halt::Lost) => {
            tracing::warn!(topic, seq, "a job was taken over by another node");
            return Ok(());
        }
        Some(Halt::Cancelled) => {
            tracing::info!(topic, seq, "a job was cancelled");
            let change = handler.cancelled(job).await?;
            return Ok(job.commit_end(change).await?);
        }
        Some(Halt::Stopping) => change.work_release(&job.work),
        Some(Halt::Later(error)) => {
            let attempts = job.attempts.load(Ordering::Relaxed);
            if attempts >= job.topic.tries_max {
                tracing::error!(topic, seq, attempts, error, "a job was given up");
                change = handler.given_up(job).await?;
                change.work_given_up(&job.work, &error);
            } else {
                let pause = backoff::pause_after(attempts, seq);
                tracing::warn!(topic, seq, attempts, ?pause, error, "a job waits for another try");
                change.work_put_off(topic, &job.work, &error, job.store.now().after(pause));
            }
        }
        Some(Halt::Refused(error)) => {
            tracing::error!(topic, seq, error, "a job was given up");
            change = handler.given_up(job).await?;
            change.work_given_up(&job.work, &error);
        }
    }
    Ok(job.store.commit(change).await?)
}
