//! Issue tracking (contract B 2.1 to 2.3, 4.1 to 4.3): who owns what.
//!
//! The [catalog](IssueCatalog) of an organization owns its settings and decides which spaces and filters there are. A
//! [space](IssueSpace) owns its configuration and gives issues their numbers. An [issue](IssueOwner) owns all that is its own. A
//! [filter](IssueFilter) owns its name, query, sharing and stars.

mod access;
mod catalog;
mod clocks;
mod comments;
mod export;
mod fields;
mod filter;
mod import;
mod issue;
mod links;
mod people;
pub mod portal;
mod removal;
mod search;
mod space;
mod subscription;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

pub use self::{
    access::{Sight, sight},
    catalog::{CreateFilter, CreateSpace, IssueCatalog, PutSettings},
    comments::{AddComment, DeleteComment, EditComment},
    export::{Export, NoteExport},
    fields::IssueFields,
    filter::{ChangeFilter, DeleteFilter, FilterPatch, IssueFilter, StarFilter, SubscribeFilter},
    import::{ImportIssues, ImportOutcome, ImportedRow},
    issue::{BlockedTransition, ChangeIssue, DeleteIssue, IssueOwner, Moved, TransitionIssue, transitions_of},
    links::{AddLink, RemoveLink},
    search::{Asked, search},
    space::{ArchiveSpace, ChangeSpace, CreateIssue, IssueSpace, SpacePatch},
};

/// What goes over all areas knows of issue tracking.
pub const AREA: Area = Area {
    purges: removal::purges,
    jobs: &[removal::ISSUES_REMOVAL],
    lanes,
    deletes_organization: removal::delete_issues_after,
    ..Area::named("issues")
};

/// The lanes of jobs that ask no actor.
fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), removal::ISSUES_REMOVAL, removal::IssuesRemoval)]
}
