//! Mailboxes (contract B 2.7, 4.7, 4.8).

mod mailboxes;
mod routes;

pub use self::routes::page;
