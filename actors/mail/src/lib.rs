//! Mail (contract B 2.7, 4.7): who owns what.
//!
//! Which domains and mailboxes an organization has, what they are called and who opens them is decided by its
//! [`MailDirectory`]; one actor, because who gives a domain up must see its mailboxes. [`MailDomains`] makes keys and looks
//! names up, for people and as a job, and brings the directory what it found. [`MailGate`] takes in what is sent to mailboxes, [`MailFiler`]
//! has it filed, and a mailbox's conversations belong to its [`MailboxOwner`].

mod aliases;
mod claims;
mod directory;
mod domains;
mod gate;
mod keys;
mod look;
mod mailbox;
mod mailboxes;
mod preferences;
mod removal;

use std::sync::Arc;

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

use self::removal::{MAILBOX_REMOVAL, MailboxRemoval, delete_mailboxes_after};
pub use self::{
    aliases::{AliasAdd, AliasRemove},
    claims::{BroughtKey, DOMAIN_LOOKS, MailDomains},
    directory::MailDirectory,
    domains::{DomainDelete, DomainUpdate},
    gate::{Accepted, GateOptions, Incoming, MailGate, NotTaken},
    mailbox::{
        Arrived, MAIL_FILING_JOB, MailFile, MailFiler, MailboxOwner, MailboxSettings, SenderCategorize, ThreadsAct,
    },
    mailboxes::{MailboxCreate, MailboxDelete, MailboxUpdate},
    preferences::{MailChoices, MailChoose, MailPersonKey},
};

/// What goes over all areas knows of mail.
pub const AREA: Area = Area {
    jobs: &[MAILBOX_REMOVAL, DOMAIN_LOOKS, MAIL_FILING_JOB],
    lanes,
    deletes_organization: delete_mailboxes_after,
    ..Area::named("mail")
};

fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), MAILBOX_REMOVAL, MailboxRemoval)]
}
