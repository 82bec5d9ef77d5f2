//! Mail (contract B 2.7, 4.7, 4.8): domains, and who has which mailboxes with which addresses.

mod aliases;
mod domain_body;
mod domains;
mod draft_files;
mod drafts;
mod exports;
mod filter_runs;
mod filters;
mod imports;
mod invitation;
mod labels;
mod mailboxes;
mod message_actions;
mod messages;
mod preferences;
mod routes;
mod senders;
mod sending;
mod thread;
mod thread_actions;
mod thread_row;
mod threads;
mod vacation;

pub use self::routes::page;
