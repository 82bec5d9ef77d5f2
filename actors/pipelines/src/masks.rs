//! The masks of jobs that are under way: making them takes long where a job has many secrets, and a runner says something of its job
//! each second.

use std::{collections::HashMap, sync::Arc};

use domain::{Result, Tenant, id::JobId, pipelines::logs::Masks, token::TokenHash};
use kernel::{Cpu, CpuKind};
use parking_lot::Mutex;
use store::{
    Store,
    pipelines::{JobStage, StoredJob},
};

/// Bytes of the secrets whose masks are remembered.
const SECRETS_MAX: usize = 8 * 1024 * 1024;
/// Bytes that each job counts beside its secrets.
const JOB_COST: usize = 1024;

/// What must not be read of jobs, remembered for some. A cheap handle.
#[derive(Clone, Debug)]
pub struct JobMasks {
    store: Store,
    cpu: Cpu,
    known: Arc<Mutex<Known>>,
}

/// A job, as long as one runner has it: another one may be given other secrets.
type Held = (JobId, Option<TokenHash>);

#[derive(Debug, Default)]
struct Known {
    masks: HashMap<Held, Remembered>,
    bytes: usize,
    /// Counts what was asked for.
    asked: u64,
}

#[derive(Debug)]
struct Remembered {
    masks: Masks,
    bytes: usize,
    /// When it was last asked for.
    asked: u64,
}

impl Known {
    fn find(&mut self, held: &Held) -> Option<Masks> {
        self.asked += 1;
        let found = self.masks.get_mut(held)?;
        found.asked = self.asked;
        Some(found.masks.clone())
    }

    fn keep(&mut self, held: Held, masks: Masks, bytes: usize) {
        let bytes = bytes + JOB_COST;
        self.asked += 1;
        let before = self.masks.insert(held, Remembered { masks, bytes, asked: self.asked });
        self.bytes = self.bytes + bytes - before.map_or(0, |before| before.bytes);
        if self.bytes > SECRETS_MAX {
            self.forget();
        }
    }

    /// Forgets those that nobody asked for for longest, until a quarter is free.
    fn forget(&mut self) {
        let mut oldest: Vec<(u64, Held)> = self.masks.iter().map(|(held, it)| (it.asked, *held)).collect();
        oldest.sort_unstable_by_key(|(asked, _)| *asked);
        for (_, held) in oldest {
            if self.bytes <= SECRETS_MAX / 4 * 3 {
                break;
            }
            self.bytes -= self.masks.remove(&held).map_or(0, |it| it.bytes);
        }
    }
}

impl JobMasks {
    /// Remembers nothing yet.
    pub fn new(store: Store, cpu: Cpu) -> Self {
        Self { store, cpu, known: Arc::default() }
    }

    /// What must not be read of a job.
    pub async fn of(&self, job: &StoredJob) -> Result<Masks> {
        let held = (job.id, job.token);
        if let Some(masks) = self.known.lock().find(&held) {
            return Ok(masks);
        }
        let given = self.store.given_to_job(job.id).await?.unwrap_or_default();
        let values: Vec<String> = given.secrets.into_values().collect();
        let bytes = values.iter().map(String::len).sum();
        let masks = if values.is_empty() {
            Masks::none()
        } else {
            let making = move || Masks::of(values.iter().map(String::as_str));
            self.cpu.run(Tenant::Org(job.org_id), CpuKind::Log, making).await??
        };
        // Before its start a job has been given nothing yet.
        if job.stage.is_running() || job.stage == JobStage::Completed {
            self.known.lock().keep(held, masks.clone(), bytes);
        }
        Ok(masks)
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    #[test]
    fn what_nobody_asked_for_for_longest_is_forgotten() {
        let mut known = Known::default();
        let jobs: Vec<Held> = (0..9).map(|at| (JobId::new(Timestamp(at)), None)).collect();
        for held in &jobs[..8] {
            known.keep(*held, Masks::none(), SECRETS_MAX / 8 - JOB_COST);
        }
        assert_eq!((known.masks.len(), known.bytes), (8, SECRETS_MAX));
        assert!(known.find(&jobs[0]).is_some());
        known.keep(jobs[0], Masks::none(), SECRETS_MAX / 8 - JOB_COST);
        assert_eq!(known.bytes, SECRETS_MAX);
        known.keep(jobs[8], Masks::none(), 0);
        assert!(known.bytes <= SECRETS_MAX / 4 * 3);
        assert!(known.find(&jobs[0]).is_some() && known.find(&jobs[8]).is_some() && known.find(&jobs[1]).is_none());
    }
}
