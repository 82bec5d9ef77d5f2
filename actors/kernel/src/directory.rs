//! All kinds of one kernel, without their types: for sweeping, for the operators, for shutting down.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::RwLock;

use super::{
    node::Node,
    policy::Policy,
    recent::RecentCommand,
    registry::{Slot, Slots},
    residents::{Resident, Residents, ResidentsQuery},
    resource::{Resource, Shown},
    stats::KindStats,
    timers::TimerTarget,
    watchdog::AtWork,
};

/// The kinds of a kernel. Dropping it stops the threads.
pub(super) struct Directory {
    pub(super) node: Arc<Node>,
    kinds: RwLock<BTreeMap<&'static str, Arc<dyn Hosted>>>,
    timer_targets: RwLock<BTreeMap<&'static str, Arc<dyn TimerTarget>>>,
}

/// What can be done with the actors of a kind without knowing its type.
pub(super) trait Hosted: Send + Sync {
    fn stats(&self) -> &KindStats;
    fn policy(&self) -> &Policy;
    /// Removes who is idle; how many that were.
    fn sweep(&self) -> usize;
    /// Removes all who have nobody waiting, however lately they were active.
    fn passivate_all(&self) -> usize;
    fn residents(&self, limit: usize) -> Vec<Resident>;
    fn find(&self, query: &ResidentsQuery) -> Residents;
    /// One key, with its last commands.
    fn resident(&self, key: &str) -> Option<(Resident, Vec<RecentCommand>)>;
    /// The command that the actor of this number is at.
    fn at_work(&self, actor: u64) -> Option<AtWork>;
    /// Removes `key` unless somebody waits for it, has it in use, or it is in quarantine; whether it was removed.
    fn passivate(&self, key: &str) -> bool;
    /// Has the next command for `key` load it again; whether it has an actor.
    fn restart(&self, key: &str) -> bool;
    /// Ends the quarantine of `key` and forgets its crashes; whether there were any.
    fn release(&self, key: &str) -> bool;
}

impl Directory {
    pub(super) fn new(node: Arc<Node>) -> Self {
        Self { node, kinds: RwLock::default(), timer_targets: RwLock::default() }
    }

    pub(super) fn add_timer_target(&self, kind: &'static str, target: Arc<dyn TimerTarget>) {
        self.timer_targets.write().insert(kind, target);
    }

    pub(super) fn timer_target(&self, kind: &str) -> Option<Arc<dyn TimerTarget>> {
        self.timer_targets.read().get(kind).cloned()
    }

    /// Adds a kind.
    ///
    /// # Panics
    ///
    /// When the kind is there already: two registries would mean two actors for one key.
    pub(super) fn add(&self, kind: &'static str, hosted: Arc<dyn Hosted>) {
        let before = self.kinds.write().insert(kind, hosted);
        assert!(before.is_none(), "the kind `{kind}` has a registry already");
    }

    pub(super) fn get(&self, kind: &str) -> Option<Arc<dyn Hosted>> {
        self.kinds.read().get(kind).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<dyn Hosted>> {
        self.kinds.read().values().cloned().collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        self.node.stop_accepting();
        self.node.arbiters().stop();
    }
}

impl<R: Resource> Slots<R> {
    /// Removes `key` if `wanted` holds of it; the condition is checked under the lock that a new caller needs.
    fn remove_if(&self, key: &R::Key, wanted: impl FnOnce(&Slot<R>) -> bool) -> bool {
        let removed = self.by_key.remove_if(key, |_, slot| wanted(slot)).is_some();
        if removed {
            self.kind.stats.resident.add(-1);
            self.kind.stats.passivations.add_one();
        }
        removed
    }

    fn remove_all_if(&self, wanted: impl Fn(&Slot<R>) -> bool) -> usize {
        let found: Vec<_> = self.by_key.iter().filter(|slot| wanted(slot)).map(|slot| slot.key().clone()).collect();
        found.iter().filter(|key| self.remove_if(key, &wanted)).count()
    }

    fn with_cell<T>(&self, key: &str, look: impl FnOnce(&Slot<R>) -> T) -> Option<T> {
        let key = key.parse().ok()?;
        self.by_key.get(&key).map(|slot| look(&slot))
    }
}

impl<R: Resource> Hosted for Slots<R> {
    fn stats(&self) -> &KindStats {
        &self.kind.stats
    }

    fn policy(&self) -> &Policy {
        &self.kind.policy
    }

    fn sweep(&self) -> usize {
        let now = self.kind.node.clock().now();
        self.remove_all_if(|slot| slot.cell.is_idle(now))
    }

    fn passivate_all(&self) -> usize {
        self.remove_all_if(|slot| slot.cell.waiting() == 0)
    }

    fn residents(&self, limit: usize) -> Vec<Resident> {
        self.by_key.iter().take(limit).map(|slot| slot.resident()).collect()
    }

    fn find(&self, query: &ResidentsQuery) -> Residents {
        Residents::of(self.by_key.iter().map(|slot| slot.resident()), query)
    }

    fn resident(&self, key: &str) -> Option<(Resident, Vec<RecentCommand>)> {
        self.with_cell(key, |slot| (slot.resident(), slot.cell.recent()))
    }

    fn at_work(&self, actor: u64) -> Option<AtWork> {
        let slot = self.by_key.iter().find(|slot| slot.cell.number == actor)?;
        Some(AtWork {
            kind: R::KIND,
            key: slot.cell.key.to_string(),
            shown: Shown::<R>(&slot.cell.key).to_string(),
            command: slot.cell.running()?.command,
        })
    }

    fn passivate(&self, key: &str) -> bool {
        let is_free = |slot: &Slot<R>| {
            slot.cell.waiting() == 0 && !slot.cell.is_in_use() && slot.cell.quarantine_left().is_none()
        };
        key.parse().is_ok_and(|key| self.remove_if(&key, is_free))
    }

    fn restart(&self, key: &str) -> bool {
        self.with_cell(key, |slot| slot.cell.ask_reload()).is_some()
    }

    fn release(&self, key: &str) -> bool {
        self.with_cell(key, |slot| slot.cell.release()).unwrap_or(false)
    }
}

impl<R: Resource> Slot<R> {
    fn resident(&self) -> Resident {
        let (crashes, last_error) = self.cell.crashes();
        let running = self.cell.running();
        Resident {
            kind: R::KIND,
            key: self.cell.key.to_string(),
            loaded: self.cell.is_loaded(),
            waiting: self.cell.waiting(),
            command: running.map(|running| running.command),
            running_ms: running.map(|running| millis(running.since.elapsed())),
            crashes,
            last_error,
            quarantine_ms: self.cell.quarantine_left().map(millis),
            in_use: self.cell.is_in_use(),
            active_at: self.cell.active_at(),
        }
    }
}

pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
