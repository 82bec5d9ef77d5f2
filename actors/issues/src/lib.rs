//! Issue tracking (contract B 2.1 to 2.3, 4.1 to 4.3): who owns what.
//!
//! The [catalog](IssueCatalog) of an organization owns its settings and decides which spaces and filters there are. A
//! [space](IssueSpace) owns its configuration and gives issues their numbers. An [issue](IssueOwner) owns all that is its own. A
//! [filter](IssueFilter) owns its name, query, sharing and stars.

mod access;
mod catalog;
mod comments;
mod fields;
mod filter;
mod issue;
mod links;
pub mod portal;
mod search;
mod space;

use actors_base::Area;

pub use self::{
    access::{Sight, sight},
    catalog::{CreateFilter, CreateSpace, IssueCatalog, PutSettings},
    comments::{AddComment, DeleteComment, EditComment},
    fields::IssueFields,
    filter::{ChangeFilter, DeleteFilter, FilterPatch, IssueFilter, StarFilter, SubscribeFilter},
    issue::{BlockedTransition, ChangeIssue, DeleteIssue, IssueOwner, Moved, TransitionIssue, transitions_of},
    links::{AddLink, RemoveLink},
    search::{Asked, search},
    space::{ArchiveSpace, ChangeSpace, CreateIssue, IssueSpace, SpacePatch},
};

/// What goes over all areas knows of issue tracking.
pub const AREA: Area = Area::named("issues");
