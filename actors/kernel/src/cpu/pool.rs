//! One lane: its threads and what waits for them.

use std::{
    any::Any,
    fmt,
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use domain::{Error, FairQueue, Result, fair_queue::Ticket, tenant::Tenant};
use parking_lot::Mutex;
use tokio::{runtime::Handle, sync::oneshot};

use super::{CpuKind, snapshot::CpuLaneSnapshot};

/// Pieces of work that may wait in a lane.
pub const WAITING_MAX: usize = 4_096;
/// Pieces of work that one tenant may have waiting in a lane.
pub const WAITING_PER_TENANT_MAX: usize = 256;
/// What `Retry-After` says when too much waits.
const BUSY_RETRY: Duration = Duration::from_secs(1);

/// A lane. A cheap handle.
#[derive(Clone)]
pub(super) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    lane: &'static str,
    threads: usize,
    /// Lends the threads.
    runtime: Handle,
    state: Mutex<State>,
    done: AtomicU64,
    refused: AtomicU64,
    abandoned: AtomicU64,
    /// Time that work took, in microseconds.
    busy_us: AtomicU64,
}

#[derive(Default)]
struct State {
    waiting: FairQueue<Job>,
    /// Threads that are taken.
    running: usize,
}

/// A piece of work that waits.
struct Job {
    kind: CpuKind,
    queued_at: Instant,
    work: Box<dyn FnOnce() + Send>,
}

/// The place of a piece of work in the queue, which is given up when whoever asked is gone.
struct Place<'a> {
    pool: &'a Pool,
    ticket: Ticket,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let abandoned = self.pool.shared.state.lock().waiting.remove(self.ticket);
        // What the work holds is dropped outside of the lock.
        if let Some(job) = abandoned {
            self.pool.shared.abandoned.fetch_add(1, Ordering::Relaxed);
            metrics::gauge!("troupe_cpu_waiting", "kind" => job.kind.as_str()).decrement(1.0);
        }
    }
}

impl Pool {
    pub(super) fn new(lane: &'static str, runtime: Handle, threads: NonZeroUsize) -> Self {
        let shared = Shared {
            lane,
            threads: threads.get(),
            runtime,
            state: Mutex::default(),
            done: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            busy_us: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(super) async fn run<T: Send + 'static>(
        &self,
        tenant: Tenant,
        kind: CpuKind,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (sender, outcome) = oneshot::channel();
        let work = Box::new(move || {
            // Whoever asked may be gone, and needs no answer then.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        });
        let place = self.enqueue(tenant, Job { kind, queued_at: Instant::now(), work })?;
        let outcome = outcome.await.map_err(Error::internal)?;
        drop(place);
        outcome.map_err(|panic| panicked(kind, &*panic))
    }

    fn enqueue(&self, tenant: Tenant, job: Job) -> Result<Place<'_>> {
        let (shared, kind) = (&self.shared, job.kind);
        let mut state = shared.state.lock();
        if state.waiting.len() >= WAITING_MAX || state.waiting.len_of(tenant) >= WAITING_PER_TENANT_MAX {
            shared.refused.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("troupe_cpu_refused_total", "kind" => kind.as_str()).increment(1);
            return Err(Error::full(BUSY_RETRY));
        }
        let ticket = state.waiting.push(tenant, job);
        let has_thread = state.running < shared.threads;
        state.running += usize::from(has_thread);
        drop(state);
        metrics::gauge!("troupe_cpu_waiting", "kind" => kind.as_str()).increment(1.0);
        if has_thread {
            let shared = Arc::clone(shared);
            self.shared.runtime.spawn_blocking(move || shared.work_off());
        }
        Ok(Place { pool: self, ticket })
    }

    pub(super) fn snapshot(&self) -> CpuLaneSnapshot {
        let shared = &self.shared;
        let state = shared.state.lock();
        CpuLaneSnapshot {
            lane: shared.lane,
            threads: shared.threads,
            running: state.running,
            waiting: state.waiting.len(),
            tenants_waiting: state.waiting.tenants(),
            done: shared.done.load(Ordering::Relaxed),
            refused: shared.refused.load(Ordering::Relaxed),
            abandoned: shared.abandoned.load(Ordering::Relaxed),
            busy_ms: shared.busy_us.load(Ordering::Relaxed) / 1_000,
        }
    }
}

impl Shared {
    /// Does what waits, one after the other, until nothing does.
    fn work_off(&self) {
        while let Some(job) = self.next() {
            let Job { kind, queued_at, work } = job;
            let begun = Instant::now();
            metrics::gauge!("troupe_cpu_waiting", "kind" => kind.as_str()).decrement(1.0);
            metrics::gauge!("troupe_cpu_running", "kind" => kind.as_str()).increment(1.0);
            metrics::histogram!("troupe_cpu_wait_seconds", "kind" => kind.as_str()).record(begun - queued_at);
            // An answer that nobody takes any more is dropped in there, and its `Drop` may panic.
            let _ = catch_unwind(AssertUnwindSafe(work));
            self.note(kind, begun.elapsed());
        }
    }

    /// The next piece of work; with none, the thread is given back.
    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock();
        let job = state.waiting.pop();
        if job.is_none() {
            state.running -= 1;
        }
        job
    }

    fn note(&self, kind: CpuKind, took: Duration) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.busy_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        metrics::gauge!("troupe_cpu_running", "kind" => kind.as_str()).decrement(1.0);
        metrics::histogram!("troupe_cpu_seconds", "kind" => kind.as_str()).record(took);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.snapshot()).finish()
    }
}

fn panicked(kind: CpuKind, panic: &(dyn Any + Send)) -> Error {
    let text = crate::panic_text(panic);
    Error::internal(format_args!("work for the processor ({}) panicked: {text}", kind.as_str()))
}
