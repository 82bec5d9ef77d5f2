//! Pipelines: who owns what (contract C 2.1, 4.1, 4.2).

pub mod files;
pub mod logs;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};
use store::pipelines::registrations_over;

/// What goes over all areas knows of pipelines.
pub const AREA: Area = Area {
    jobs: &[logs::LOG_SEALING],
    lanes,
    purges: |now| vec![registrations_over(now)],
    deletes_organization: |change, org_id, _now| change.runners_end(org_id),
    ..Area::named("pipelines")
};

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), logs::LOG_SEALING, logs::LogSealing)]
}
