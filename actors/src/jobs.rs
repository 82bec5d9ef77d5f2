//! The kinds of long work that there are, each with who does it.

use std::sync::Arc;

use actors_accounts::organization::{ORGANIZATION_REMOVAL, OrganizationRemoval};
use actors_base::{
    Services,
    work::{
        Lane,
        job::{self, Handler, Topic},
    },
};
use actors_pages::{
    imports::{Imports, PAGES_IMPORT},
    tree::{PAGES_REMOVAL, PagesRemoval},
};

use crate::housekeeping::{HOUSEKEEPING, HousekeepingJob};

/// The topics of all jobs.
pub const JOBS: [Topic; 4] = [HOUSEKEEPING, ORGANIZATION_REMOVAL, PAGES_IMPORT, PAGES_REMOVAL];

/// The topic of this name.
pub fn topic(name: &str) -> Option<Topic> {
    JOBS.into_iter().find(|topic| topic.name == name)
}

/// The lanes on which a node does those that ask no actor.
pub(crate) fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![
        lane(services, HOUSEKEEPING, HousekeepingJob::new(services)),
        lane(services, ORGANIZATION_REMOVAL, OrganizationRemoval),
        lane(services, PAGES_REMOVAL, PagesRemoval),
    ]
}

/// The lane on which a node makes pages of archives.
pub(crate) fn import_lane(services: &Services, imports: Imports) -> Arc<dyn Lane> {
    lane(services, PAGES_IMPORT, imports)
}

fn lane(services: &Services, topic: Topic, handler: impl Handler) -> Arc<dyn Lane> {
    job::lane(services.store.clone(), topic, handler)
}
