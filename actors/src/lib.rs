//! The actors of all areas: their registries, started and stopped together; what works off the queue; housekeeping.
//!
//! Each area is a package of its own, which is found here under its name. No area names another one: what it needs of one is
//! handed to it here.

mod areas;
mod git_commits;
pub mod housekeeping;
mod issue_calendar;
mod issue_mail;
pub mod jobs;
mod pipeline_sources;
mod quarantine;
mod registries;
mod test_merging;

pub use actors_accounts::{admin, organization, person, setup, sign_in};
pub use actors_backup as backup;
pub use actors_base::{PasswordCost, Services, Settings, event, live, outbox, repository_channel, resources, work};
pub use actors_calendar as calendar;
pub use actors_databases as databases;
pub use actors_git as git;
pub use actors_issues as issues;
pub use actors_mail as mail;
pub use actors_notify as notify;
pub use actors_pages as pages;
pub use actors_pipelines as pipelines;
pub use actors_platform as platform;
pub use actors_storage as storage;
pub use actors_vault as vault;
pub use issue_calendar::{BookingPlace, IssueCalendar};
pub use issue_mail::IssueMailDoor;
pub use pipeline_sources::{GitSources, WorkflowFolder};
pub use registries::{Actors, Registries, lanes};
