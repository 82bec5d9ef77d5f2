//! Mailboxes (contract B 2.7, 4.7): who owns what.
//!
//! Which mailboxes an organization has, what they are called and who opens them is decided by its [`MailDirectory`].

mod directory;
mod removal;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

pub use self::directory::{MailDirectory, MailboxCreate, MailboxDelete, MailboxUpdate};
use self::removal::{MAILBOX_REMOVAL, MailboxRemoval, delete_mailboxes_after};

/// What goes over all areas knows of mailboxes.
pub const AREA: Area =
    Area { jobs: &[MAILBOX_REMOVAL], lanes, deletes_organization: delete_mailboxes_after, ..Area::named("mail") };

fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), MAILBOX_REMOVAL, MailboxRemoval)]
}
