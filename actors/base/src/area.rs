//! What an area says of itself, once. Whatever goes over all areas reads it in their descriptors: housekeeping, the list of
//! jobs, the lanes of a node, the deletion of an organization. `actors/src/areas.rs` lists them.

use std::{fmt, sync::Arc};

use domain::{Timestamp, id::OrgId};
use store::{Change, Purge};

use crate::{
    Services,
    work::{Lane, job::Topic},
};

/// Adds to the change that deletes an organization what an area does then: it deletes its own things of that organization, or
/// has a job delete them afterwards.
pub type DeletesOrganization = fn(&mut Change, OrgId, Timestamp);

/// An area's descriptor.
#[derive(Clone, Copy)]
pub struct Area {
    /// Its name, which is the same in all layers.
    pub name: &'static str,
    /// The rows of the area that are over at a moment; housekeeping throws them away.
    pub purges: fn(Timestamp) -> Vec<Purge>,
    /// The kinds of its long work.
    pub jobs: &'static [Topic],
    /// What a node works off for it without asking actors: the lanes of its jobs, and others.
    pub lanes: fn(&Services) -> Vec<Arc<dyn Lane>>,
    /// What it does when an organization is deleted.
    pub deletes_organization: DeletesOrganization,
}

impl Area {
    /// An area of which nothing is to be said but its name.
    pub const fn named(name: &'static str) -> Self {
        Self {
            name,
            purges: |_now| Vec::new(),
            jobs: &[],
            lanes: |_services| Vec::new(),
            deletes_organization: |_change, _org_id, _now| {},
        }
    }
}

impl fmt::Debug for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Area").field(&self.name).finish()
    }
}
