//! What the owners of pipelines work with.

use std::sync::Arc;

use actors_base::Services;
use dashmap::DashMap;
use domain::{Timestamp, id::OrgId};
use kernel::Cpu;
use tokio::sync::Notify;

/// What the owners of pipelines work with. A cheap handle.
#[derive(Clone, Debug)]
pub struct PipelineServices {
    /// What all actors work with.
    pub services: Services,
    /// Who waits for jobs, on this node.
    pub waiting: WaitingRunners,
    /// Where workflow files are read, which takes the processor.
    pub cpu: Cpu,
    /// When the node started; before that, no runner could reach it.
    pub started_at: Timestamp,
}

impl PipelineServices {
    /// What the owners work with, on a node where no runner waits yet.
    pub fn new(services: Services, cpu: Cpu) -> Self {
        let started_at = services.store.now();
        Self { services, waiting: WaitingRunners::default(), cpu, started_at }
    }
}

/// Who waits for jobs of which organization, on this node. A runner at another node looks for itself every few seconds.
#[derive(Clone, Debug, Default)]
pub struct WaitingRunners {
    of: Arc<DashMap<OrgId, Arc<Notify>>>,
}

impl WaitingRunners {
    /// What is told when there may be a job of the organization.
    pub fn of(&self, org_id: OrgId) -> Arc<Notify> {
        Arc::clone(&self.of.entry(org_id).or_default())
    }

    /// Wakes those that wait for a job of the organization.
    pub(crate) fn wake(&self, org_id: OrgId) {
        if let Some(waiting) = self.of.get(&org_id) {
            waiting.notify_waiters();
        }
    }

    /// Forgets organizations for which nobody waits any more.
    pub fn forget_idle(&self, org_id: OrgId) {
        self.of.remove_if(&org_id, |_, waiting| Arc::strong_count(waiting) == 1);
    }
}
