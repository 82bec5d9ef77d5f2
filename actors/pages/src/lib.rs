//! Notes pages: who owns what, and what is live (contract B 2.6, B 4.6).

pub mod archive;
pub mod comments;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod imports;
pub mod live;
pub mod session;
pub mod tree;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};
use domain::{Timestamp, pages::import::IMPORT_KNOWN_FOR};
use store::Purge;

use self::{
    imports::PAGES_IMPORT,
    tree::{PAGES_REMOVAL, PagesRemoval, delete_pages_after},
};

/// What goes over all areas knows of pages.
pub const AREA: Area = Area {
    purges,
    jobs: &[PAGES_IMPORT, PAGES_REMOVAL],
    lanes,
    deletes_organization: delete_pages_after,
    ..Area::named("pages")
};

fn purges(now: Timestamp) -> Vec<Purge> {
    vec![Purge::page_imports(now.before(IMPORT_KNOWN_FOR))]
}

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), PAGES_REMOVAL, PagesRemoval)]
}
