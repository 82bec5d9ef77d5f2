//! What the owners of pipelines work with.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use actors_base::Services;
use domain::Timestamp;
use kernel::Cpu;

use crate::waiting::WaitingRunners;

/// How many runners fell silent over a job since this node started, as it saw them. A cheap handle.
#[derive(Clone, Debug, Default)]
pub struct LostRunners(Arc<AtomicU64>);

impl LostRunners {
    /// One more.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        metrics::counter!("troupe_pipeline_runners_lost_total").increment(1);
    }

    /// How many they are.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the owners of pipelines work with. A cheap handle.
#[derive(Clone, Debug)]
pub struct PipelineServices {
    /// What all actors work with.
    pub services: Services,
    /// Who waits for jobs, on this node.
    pub waiting: WaitingRunners,
    /// Which runners fell silent over a job.
    pub lost_runners: LostRunners,
    /// Where workflow files are read, which takes the processor.
    pub cpu: Cpu,
    /// When the node started; before that, no runner could reach it.
    pub started_at: Timestamp,
}

impl PipelineServices {
    /// What the owners work with, on a node where no runner waits yet.
    pub fn new(services: Services, cpu: Cpu) -> Self {
        let started_at = services.store.now();
        let (waiting, lost_runners) = (WaitingRunners::default(), LostRunners::default());
        Self { services, waiting, lost_runners, cpu, started_at }
    }
}
