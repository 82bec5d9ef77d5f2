//! Issue tracking (contract B 4.1 to 4.3).

mod agenda;
mod approvals;
mod argument;
mod attachments;
mod boards;
mod bulk;
mod clocks;
mod comments;
mod components;
mod config;
mod filters;
mod following;
mod mail_hooks;
mod moves;
mod one;
mod places;
mod queues;
mod routes;
mod search;
mod spaces;
mod sprints;
mod transfer;
mod trash;
mod versions;

pub use self::{argument::IssueOf, routes::page};
