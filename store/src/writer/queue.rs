//! The changes that wait for the lanes: bounded in number and in bytes, and taken in turns by tenant, those that somebody
//! waits for before those that nobody does.

use domain::FairQueue;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{GROUP_BYTES_MAX, GROUP_STEPS_BEHIND_MAX, GROUP_STEPS_MAX, Job, stats::Tally};
use crate::{CommitError, StoreOptions, behalf::Behalf};

/// What waits.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    len_max: usize,
    bytes_max: usize,
}

#[derive(Default)]
struct State {
    /// Changes that somebody waits for.
    asked: FairQueue<Job>,
    /// Changes that nobody waits for.
    behind: FairQueue<Job>,
    bytes: usize,
    is_closed: bool,
}

/// What one transaction still takes.
struct Room {
    is_fresh: bool,
    steps: usize,
    bytes: usize,
}

impl Queue {
    /// A queue, as wide as the options say.
    pub fn new(options: &StoreOptions) -> Self {
        let StoreOptions { write_queue_len_max: len_max, write_queue_bytes_max: bytes_max, .. } = *options;
        Self { state: Mutex::default(), changed: Notify::new(), len_max, bytes_max }
    }

    /// Has the change wait; refuses it where too much waits already. A change by itself may be of any size.
    pub fn push(&self, job: Job) -> Result<(), CommitError> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(CommitError::Unavailable("the store is closed".into()));
        }
        if state.len() >= self.len_max || (state.bytes > 0 && state.bytes + job.bytes > self.bytes_max) {
            metrics::counter!("troupe_store_commits_refused_total").increment(1);
            return Err(CommitError::Unavailable("too many changes wait for the writer".into()));
        }
        state.push(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// How many changes wait.
    pub fn len(&self) -> usize {
        self.state.lock().len()
    }

    /// Takes no more changes; what waits is still taken out.
    pub fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_waiters();
    }

    /// Takes what waits into `group`, once something does, as far as one transaction takes it; false once nothing will.
    pub async fn take(&self, group: &mut Vec<Job>) -> bool {
        loop {
            // Before the look, so that nothing that comes behind it is missed.
            let changed = self.changed.notified();
            {
                let mut state = self.state.lock();
                state.fill(group);
                Tally::taken(state.len());
                if !group.is_empty() {
                    if state.len() > 0 {
                        // What is left is for another lane.
                        self.changed.notify_one();
                    }
                    return true;
                }
                if state.is_closed {
                    return false;
                }
            }
            changed.await;
        }
    }
}

impl State {
    fn len(&self) -> usize {
        self.asked.len() + self.behind.len()
    }

    fn push(&mut self, job: Job) {
        self.bytes += job.bytes;
        match job.behalf {
            Behalf::Asked(tenant) => self.asked.push(tenant, job),
            Behalf::Behind(tenant) => self.behind.push(tenant, job),
        };
    }

    /// What somebody waits for, and beside it so much of the rest that it goes on, but holds nobody up.
    fn fill(&mut self, group: &mut Vec<Job>) {
        Room::of(GROUP_STEPS_MAX).fill(&mut self.asked, group);
        let steps = if group.is_empty() { GROUP_STEPS_MAX } else { GROUP_STEPS_BEHIND_MAX };
        Room::of(steps).fill(&mut self.behind, group);
        self.bytes -= group.iter().map(|job| job.bytes).sum::<usize>();
    }
}

impl Room {
    const fn of(steps: usize) -> Self {
        Self { is_fresh: true, steps, bytes: GROUP_BYTES_MAX }
    }

    /// Whether there is room for the change; there is for any as the first one.
    fn has_room(&self, job: &Job) -> bool {
        self.is_fresh || (job.len() <= self.steps && job.bytes <= self.bytes)
    }

    fn fill(mut self, waiting: &mut FairQueue<Job>, group: &mut Vec<Job>) {
        while let Some(job) = waiting.pop_if(|job| self.has_room(job)) {
            self = Self {
                is_fresh: false,
                steps: self.steps.saturating_sub(job.len()),
                bytes: self.bytes.saturating_sub(job.bytes),
            };
            group.push(job);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Tenant, Timestamp, id::OrgId};
    use sea_orm::{DbBackend, Statement};
    use tokio::sync::oneshot;

    use super::*;
    use crate::{
        Expect,
        change::{Step, Wakes},
        writer::trace::CommitTrace,
    };

    fn job(behalf: Behalf, steps: usize) -> Job {
        let step = Step::Run { statement: Statement::from_string(DbBackend::Sqlite, ""), expect: Expect::Any };
        let (answer, _) = oneshot::channel();
        let trace = CommitTrace::begin(DbBackend::Sqlite, steps);
        Job { behalf, steps: vec![step; steps], bytes: 1, wakes: Wakes::default(), trace, answer }
    }

    fn tenants<const N: usize>() -> [Tenant; N] {
        std::array::from_fn(|_| OrgId::new(Timestamp(1)).into())
    }

    /// Of each change of the next group, on whose behalf it is.
    fn next_group(state: &mut State) -> Vec<Behalf> {
        let mut group = Vec::new();
        state.fill(&mut group);
        group.iter().map(|job| job.behalf).collect()
    }

    #[test]
    fn a_change_stands_behind_one_of_each_tenant_however_many_wait() {
        let [loud, quiet] = tenants();
        let mut state = State::default();
        for _ in 0..10 {
            state.push(job(Behalf::Asked(loud), GROUP_STEPS_MAX / 2));
        }
        state.push(job(Behalf::Asked(quiet), 1));
        assert_eq!(next_group(&mut state), [Behalf::Asked(loud), Behalf::Asked(quiet)]);
        assert_eq!(next_group(&mut state), [Behalf::Asked(loud), Behalf::Asked(loud)]);
    }

    #[test]
    fn what_nobody_waits_for_goes_on_a_little_at_a_time_beside_what_somebody_does() {
        let [asking, working] = tenants();
        let mut state = State::default();
        for _ in 0..3 {
            state.push(job(Behalf::Behind(working), GROUP_STEPS_BEHIND_MAX / 2 + 1));
        }
        state.push(job(Behalf::Asked(asking), 1));
        assert_eq!(next_group(&mut state), [Behalf::Asked(asking), Behalf::Behind(working)]);
        assert_eq!(next_group(&mut state), [Behalf::Behind(working); 2]);
        assert_eq!((next_group(&mut state), state.bytes), (vec![], 0));
    }

    #[test]
    fn a_group_takes_so_many_steps_and_any_change_as_its_first() {
        let [tenant] = tenants();
        let mut state = State::default();
        for steps in [GROUP_STEPS_MAX * 3, GROUP_STEPS_MAX - 1, 1, 1] {
            state.push(job(Behalf::Asked(tenant), steps));
        }
        let lens: Vec<usize> = std::iter::from_fn(|| Some(next_group(&mut state).len())).take(4).collect();
        assert_eq!(lens, [1, 2, 1, 0]);
    }
}
