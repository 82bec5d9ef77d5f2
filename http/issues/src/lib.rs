//! Issue tracking (contract B 4.1 to 4.3).

mod agenda;
mod argument;
mod attachments;
mod clocks;
mod comments;
mod config;
mod filters;
mod one;
mod places;
mod routes;
mod search;
mod spaces;
mod transfer;

pub use self::{argument::IssueOf, routes::page};
