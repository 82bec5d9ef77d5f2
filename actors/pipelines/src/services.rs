//! What the owners of pipelines work with.

use actors_base::Services;
use domain::Timestamp;
use kernel::Cpu;

use crate::waiting::WaitingRunners;

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
