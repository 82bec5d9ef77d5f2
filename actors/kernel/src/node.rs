//! One kernel: the threads, and what all kinds share.

use std::{
    io,
    num::NonZeroUsize,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use domain::{Error, Origin, Outcome, Result, Timestamp};
use store::{Change, Clock, Store};
use tokio::{runtime::Handle, sync::watch};

use super::{
    arbiters::Arbiters,
    cpu::Cpu,
    crashes::{Crash, Crashes, SlowCommand, SlowCommands},
    dead_letters::DeadLetters,
    directory::Directory,
    jitter::Jitter,
    policy::Policy,
    recent::RecentCommand,
    registry::{Registry, Slots},
    residents::{Resident, Residents, ResidentsQuery},
    resource::Resource,
    stats::KindStats,
    watchdog::{self, Stall, Watched},
};

/// The pause before an alarm is emitted again that could not be kept, and the longest that this grows to.
const ALARM_PAUSE_MIN: Duration = Duration::from_millis(100);
const ALARM_PAUSE_MAX: Duration = Duration::from_secs(10);

/// Adds to a change what follows from a quarantine; asked again when the change can't be committed.
pub type QuarantineHook = Arc<dyn Fn(&Quarantine, &mut Change) + Send + Sync>;

/// How a kernel is set up.
#[derive(Clone)]
pub struct KernelOptions {
    /// The node's name; timers are claimed under it.
    pub node: String,
    /// How many threads actors are spread over.
    pub arbiters: NonZeroUsize,
    /// How often idle resources are looked for.
    pub sweep_every: Duration,
    /// How long a node has for a timer that it claimed, before it is delivered again: by another node, if this one died. It
    /// may be shorter than a turn, because a turn's commit settles its timer once.
    pub timer_lease: Duration,
    /// What is committed for every key that goes into quarantine.
    pub on_quarantine: Option<QuarantineHook>,
}

impl KernelOptions {
    /// One thread per processor; a sweep every ten seconds; ten seconds for a timer.
    pub fn new(node: impl Into<String>) -> Self {
        Self {
            node: node.into(),
            arbiters: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            sweep_every: Duration::from_secs(10),
            timer_lease: Duration::from_secs(10),
            on_quarantine: None,
        }
    }
}

/// A key that crashed too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// The kind of resource.
    pub kind: &'static str,
    /// The key.
    pub key: String,
    /// What it crashed of the last time; for operators, not for clients.
    pub last_error: String,
    /// How often it crashed since it has its actor.
    pub crashes: u64,
    /// When it began.
    pub began_at: Timestamp,
    /// Until when it is left alone.
    pub until: Timestamp,
}

/// The actor kernel of this process. A cheap handle; the actors stop where they stand when the last one is dropped.
#[derive(Clone)]
pub struct Kernel {
    pub(super) node: Arc<Node>,
    pub(super) directory: Arc<Directory>,
}

/// What all kinds share.
pub(super) struct Node {
    /// The runtime that the kernel was started on: sockets and timers of handlers live there, so that they outlive the
    /// arbiter on which they were opened (a pooled connection of the store, for one).
    runtime: Handle,
    store: Store,
    options: KernelOptions,
    arbiters: Arbiters,
    watched: Arc<Watched>,
    stopping: watch::Sender<bool>,
    /// The same, for those who ask for every command.
    is_stopping: AtomicBool,
    cpu: Cpu,
    crashes: Crashes,
    slow: SlowCommands,
    dead_letters: DeadLetters,
    jitter: Jitter,
}

/// What the actors of one kind share.
pub(super) struct Kind<R: Resource> {
    pub(super) node: Arc<Node>,
    pub(super) services: R::Services,
    pub(super) policy: Policy,
    pub(super) stats: KindStats,
    /// The registry of the kind, for what its actors leave behind for themselves.
    pub(super) slots: OnceLock<Weak<Slots<R>>>,
}

impl Kernel {
    /// Starts the threads. Must be called on a tokio runtime that outlives the actors: what their handlers open lives
    /// there.
    ///
    /// # Errors
    ///
    /// When there is no runtime here, or the operating system gives no threads.
    pub fn start(store: Store, options: KernelOptions) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let arbiters = Arbiters::start(options.arbiters)?;
        let node = Arc::new(Node {
            cpu: Cpu::new(&runtime),
            runtime,
            store,
            watched: Arc::new(Watched::new(arbiters.notes())),
            arbiters,
            options,
            stopping: watch::Sender::new(false),
            is_stopping: AtomicBool::new(false),
            crashes: Crashes::default(),
            slow: SlowCommands::default(),
            dead_letters: DeadLetters::default(),
            jitter: Jitter::new(),
        });
        let directory = Arc::new(Directory::new(Arc::clone(&node)));
        watchdog::start(&node.watched, &directory, node.clock().clone())?;
        let kernel = Self { node, directory };
        kernel.keep_sweeping();
        Ok(kernel)
    }

    /// The registry of a kind of resource, with what its actors work with.
    ///
    /// # Panics
    ///
    /// When called twice for one kind.
    pub fn registry<R: Resource>(&self, services: R::Services) -> Registry<R> {
        self.registry_with(services, R::policy())
    }

    /// [`registry`](Self::registry) with other limits than the kind's own.
    ///
    /// # Panics
    ///
    /// When called twice for one kind.
    pub fn registry_with<R: Resource>(&self, services: R::Services, policy: Policy) -> Registry<R> {
        let stats = KindStats::new(R::KIND);
        let registry = Registry::new(Arc::new(Kind {
            node: Arc::clone(&self.node),
            services,
            policy,
            stats,
            slots: OnceLock::new(),
        }));
        self.directory.add(R::KIND, registry.slots.clone());
        registry
    }

    /// Where work that takes the processor (hashing, compression, encoding) holds up nobody.
    pub fn cpu(&self) -> &Cpu {
        self.node.cpu()
    }

    /// Removes idle resources from memory now; how many. The kernel does so by itself every now and then.
    pub fn sweep(&self) -> usize {
        self.directory.all().iter().map(|kind| kind.sweep()).sum()
    }

    /// Keys of a kind that have an actor, at most `limit`; `None` for an unknown kind.
    pub fn residents(&self, kind: &str, limit: usize) -> Option<Vec<Resident>> {
        self.directory.get(kind).map(|kind| kind.residents(limit))
    }

    /// The keys of a kind that an operator looks for; `None` for an unknown kind.
    pub fn find(&self, kind: &str, query: &ResidentsQuery) -> Option<Residents> {
        self.directory.get(kind).map(|kind| kind.find(query))
    }

    /// One key that has an actor, and its last commands, newest first.
    pub fn resident(&self, kind: &str, key: &str) -> Option<(Resident, Vec<RecentCommand>)> {
        self.directory.get(kind)?.resident(key)
    }

    /// Whether there are resources of this kind.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.directory.get(kind).is_some()
    }

    /// The last crashes of this node, oldest first.
    pub fn crashes(&self) -> Vec<Crash> {
        self.node.crashes.all()
    }

    /// The last commands of this node that were slow, oldest first.
    pub fn slow_commands(&self) -> Vec<SlowCommand> {
        self.node.slow.all()
    }

    /// The last turns of this node that did not yield for a second or more, oldest first.
    pub fn stalls(&self) -> Vec<Stall> {
        self.node.watched.stalls()
    }

    /// Ends the quarantine of a key and forgets its crashes; whether there were any.
    pub fn release(&self, kind: &str, key: &str) -> bool {
        self.directory.get(kind).is_some_and(|kind| kind.release(key))
    }

    /// Has the next command for a key load its resource again; whether the key has an actor.
    pub fn restart(&self, kind: &str, key: &str) -> bool {
        self.directory.get(kind).is_some_and(|kind| kind.restart(key))
    }

    /// Removes a key's resource from memory, unless somebody waits for it, has it in use, or it is in quarantine;
    /// whether it was removed.
    pub fn passivate(&self, kind: &str, key: &str) -> bool {
        self.directory.get(kind).is_some_and(|kind| kind.passivate(key))
    }

    fn keep_sweeping(&self) {
        let directory = Arc::downgrade(&self.directory);
        let node = Arc::clone(&self.node);
        self.node.runtime.spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(node.options.sweep_every) => {}
                    () = node.stopping() => return,
                }
                let Some(directory) = directory.upgrade() else { return };
                for kind in directory.all() {
                    kind.sweep();
                }
            }
        });
    }
}

impl Node {
    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn clock(&self) -> &Clock {
        self.store.clock()
    }

    pub(super) fn arbiters(&self) -> &Arbiters {
        &self.arbiters
    }

    pub(super) fn dead_letters(&self) -> &DeadLetters {
        &self.dead_letters
    }

    pub(super) fn crashes(&self) -> &Crashes {
        &self.crashes
    }

    pub(super) fn slow(&self) -> &SlowCommands {
        &self.slow
    }

    pub(super) fn jitter(&self) -> &Jitter {
        &self.jitter
    }

    /// Whether a command from there is taken. While the kernel stops, actors may still ask one another, so that what
    /// was taken can be finished.
    pub(super) fn admit(&self, origin: Origin) -> Result<()> {
        if origin == Origin::Actor || !self.is_stopping() { Ok(()) } else { Err(stopping()) }
    }

    pub(super) fn stop_accepting(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.stopping.send_replace(true);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Returns once the kernel stops.
    pub(super) async fn stopping(&self) {
        // An error would mean that the sender is gone, but it is held right here.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    pub(super) fn timer_lease(&self) -> Duration {
        self.options.timer_lease
    }

    /// Has what follows from a quarantine committed.
    pub(super) fn alarm(&self, quarantine: Quarantine) {
        let Some(hook) = self.options.on_quarantine.clone() else { return };
        let (store, mut stopping) = (self.store.clone(), self.stopping.subscribe());
        let follows = move || {
            let mut change = Change::new();
            hook(&quarantine, &mut change);
            change
        };
        let mut change = follows();
        self.runtime.spawn(async move {
            let mut pause = ALARM_PAUSE_MIN;
            loop {
                // What crashed may have crashed of a store that is away. Told twice, it is one alarm.
                let Err(error) = store.commit(change).await else { return };
                tracing::error!(%error, "the alarm about a quarantine is not kept yet");
                tokio::select! {
                    () = tokio::time::sleep(pause) => pause = (pause * 2).min(ALARM_PAUSE_MAX),
                    _ = stopping.wait_for(|stopping| *stopping) => return,
                }
                change = follows();
            }
        });
    }

    pub(super) fn cpu(&self) -> &Cpu {
        &self.cpu
    }
}

/// 503 `busy`, because the server stops; another node, or the next start, will answer.
fn stopping() -> Error {
    Error::Busy {
        code: "busy",
        message: "The server is restarting; try again.".into(),
        retry_after: Duration::from_secs(2),
        outcome: Outcome::NotDone,
    }
}
