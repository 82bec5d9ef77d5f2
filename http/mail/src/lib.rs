//! Mail (contract B 2.7, 4.7, 4.8): domains, and who has which mailboxes with which addresses.

mod aliases;
mod domain_body;
mod domains;
mod mailboxes;
mod preferences;
mod routes;
mod thread;
mod thread_actions;
mod thread_row;
mod threads;

pub use self::routes::page;
