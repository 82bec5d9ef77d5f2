//! Issue tracking (contract B 4.1 to 4.3).

mod argument;
mod attachments;
mod comments;
mod config;
mod filters;
mod one;
mod routes;
mod search;
mod spaces;

pub use self::routes::page;
