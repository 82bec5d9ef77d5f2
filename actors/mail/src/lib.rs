//! Mail (contract B 2.7, 4.7): who owns what.
//!
//! Which domains and mailboxes an organization has, what they are called and who opens them is decided by its
//! [`MailDirectory`]; one actor, because who gives a domain up must see its mailboxes. [`MailDomains`] makes keys and looks
//! names up, for people and as a job, and brings the directory what it found. [`MailGate`] takes in what is sent to mailboxes, [`MailFiler`]
//! has it filed, and a mailbox's conversations belong to its [`MailboxOwner`]. What its members write is made into messages by
//! [`MailWriting`], and leaves with [`MailSender`].

mod aliases;
mod claims;
mod directory;
mod domains;
mod exporting;
mod filtering;
mod gate;
mod handed;
mod importing;
mod keys;
mod look;
mod mailbox;
mod mailboxes;
mod posting;
mod preferences;
mod removal;
mod sender;
mod transfer_ends;
mod unsubscribing;
mod writing;

use std::{sync::Arc, time::Duration};

use actors_base::{
    Area, Services,
    work::{Lane, job},
};

use store::Purge;

pub use self::{
    aliases::{AliasAdd, AliasRemove},
    claims::{BroughtKey, DOMAIN_LOOKS, MailDomains},
    directory::MailDirectory,
    domains::{DomainDelete, DomainUpdate},
    exporting::{MAIL_EXPORT, MailExporter},
    filtering::{FilterPreview, MAIL_FILTERING, MailFilters, Previewed, filter_preview},
    gate::{Accepted, GateOptions, Incoming, MailGate, NotTaken},
    handed::{HandedMail, take_handed},
    importing::{MAIL_IMPORT, MailImporter},
    mailbox::{
        Arrived, DraftDelete, DraftWrite, FilterApply, FilterCreate, FilterDelete, FilterUpdate, FiltersOrder,
        LabelCreate, LabelDelete, LabelUpdate, Leaves, MAIL_FILING_JOB, MailExportBegin, MailFile, MailFiler,
        MailImportBegin, MailImportCancel, MailImportFill, MailImportStart, MailPutOff, MailSend, MailSent, MailUnsend,
        MailboxOwner, MailboxSettings, MessagesAct, SenderBlock, SenderCategorize, ThreadsAct, VacationSet,
        WrittenBytes,
    },
    mailboxes::{MailboxCreate, MailboxDelete, MailboxUpdate},
    posting::{CALENDAR_POSTING_JOB, CalendarPosting},
    preferences::{MailChoices, MailChoose, MailPersonKey},
    sender::{MAIL_SENDING_JOB, MailSender},
    unsubscribing::Unsubscribed,
    writing::{MailWriting, NewDraft, NewFile, Submission},
};
use self::{
    removal::{MAILBOX_REMOVAL, MailboxRemoval, delete_mailboxes_after},
    transfer_ends::{MAIL_TRANSFER_ENDS, TransferEnds},
};

/// How long imports are listed that are over.
const IMPORTS_KEPT: Duration = Duration::from_hours(30 * 24);

/// What goes over all areas knows of mail.
pub const AREA: Area = Area {
    jobs: &[
        CALENDAR_POSTING_JOB,
        MAILBOX_REMOVAL,
        DOMAIN_LOOKS,
        MAIL_FILING_JOB,
        MAIL_FILTERING,
        MAIL_SENDING_JOB,
        MAIL_IMPORT,
        MAIL_EXPORT,
        MAIL_TRANSFER_ENDS,
    ],
    purges: |now| {
        vec![
            Purge::mail_outgoing(now),
            Purge::mail_folder_gone(now),
            Purge::mail_policies(now),
            Purge::mail_vacation_told(now),
            Purge::mail_imports(now.before(IMPORTS_KEPT)),
        ]
    },
    lanes,
    deletes_organization: delete_mailboxes_after,
    ..Area::named("mail")
};

fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![
        job::lane(services.store.clone(), MAILBOX_REMOVAL, MailboxRemoval),
        job::lane(services.store.clone(), MAIL_TRANSFER_ENDS, TransferEnds),
    ]
}
