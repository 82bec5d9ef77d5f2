//! Mail (contract B 2.7, 4.7): the domains of organizations, and who has which mailboxes.

mod action;
mod arrival;
mod blocking;
mod bounces;
mod calendar_part;
mod category;
mod composing;
mod conversation;
mod domains;
mod drafts;
mod fields;
mod file;
mod filter;
mod findings;
mod forwarding;
mod generated;
mod html;
mod label;
mod message;
mod message_action;
mod name;
mod outgoing;
mod place;
mod policy;
mod preferences;
mod receiving;
mod records;
mod refusals;
#[cfg(test)]
mod samples;
mod search;
mod sending;
mod stamp;
mod subject;
mod suggesting;
mod tally;
mod threading;
mod transfer;
mod unsubscribing;
mod vacation;
mod verdict;
mod verification;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use self::message::correspondents;
pub use self::{
    action::{ACTION_THREADS, Acted, SNOOZE_FOR, ThreadAction},
    arrival::{Arrival, NotARawId, RawId},
    blocking::{BLOCKED_MAX, BLOCKS_ITSELF, TOO_MANY_BLOCKED, block_check},
    bounces::{BounceAddress, Reported, reported, settled},
    calendar_part::{CalendarLetter, calendar_letter},
    category::{Categorized, MailCategory, Traits, categorize},
    composing::{Report, compose, own_message_id, report, with_surroundings, without_bcc},
    conversation::{Conversation, DOUBLE_FOR, MailMessage, MailPeople, ThreadRow},
    domains::{
        DOMAINS_MAX, DkimKey, DkimKind, DkimMode, DkimPlace, DomainNote, DomainStatus, LOOKS_PER_MINUTE, MailDomain,
        MailHost, OrgDomain, domain_in_use, domain_is_lent, domain_removed, key_is_theirs, mailboxes_first,
        not_verified, platform_domain_check, rotation_failed, selector_check, setup_failed, too_many_domains,
    },
    drafts::{
        DRAFT_BODY_BYTES_MAX, DRAFT_FILES_MAX, DRAFT_NOT_FOUND, DRAFTS_MAX, DraftChange, DraftContent, DraftFile,
        DraftMode, MailDraft, draft_changed, file_check, no_draft, sender_of, text_of, too_many_drafts,
    },
    fields::{Field, HEAD_BYTES_MAX, fields, hops, joined},
    file::{FileDecoder, FileEncoding, FilePlace, sent_type},
    filter::{
        FILTER_DAYS, FILTER_NAME_LEN, FILTER_NOT_FOUND, FILTER_QUERY_LEN, FILTER_RUNS, FILTERS_MAX, FilterActions,
        FilterNote, Filtered, MailFilter, NEVER_APPLIED, TOO_MANY_FILTERS, filter_actions_check, filter_count_check,
        filter_name_check, filter_query_check, filter_runs, filters_ordered, never_applied, no_filter,
    },
    findings::{DmarcMode, DmarcPolicy, Findings, placed},
    forwarding::{
        FORWARDS_MAX, FORWARDS_WITHIN, forward_check, forwards_within, is_passed_on, may_be_passed_on, passed_on,
    },
    generated::{Generated, generated},
    html::clean_html,
    label::{
        LABEL_NAME_IN_USE, LABEL_NAME_LEN, LABELS_MAX, LabelColor, MailLabel, TOO_MANY_LABELS, label_count_check,
        label_folded, label_name_check, label_name_in_use, label_name_is_free, labels_renamed,
    },
    message::{
        BODY_BYTES_MAX, Correspondent, MailBody, MailContent, MailFile, PARTS_MAX, WORDS_BYTES_MAX, authors, file_bytes,
    },
    message_action::{ActedOn, MESSAGE_ACTIONS, MESSAGE_TRASH_FIRST},
    name::DomainName,
    outgoing::{DELAY_TOLD_AFTER, DeliveryState, Heard, Leaving, Notice, Outgoing, Said, TRIED_FOR},
    place::{MailBox, Placing, ThreadState, View},
    policy::{KnownPolicy, MailPolicy, POLICY_BYTES_MAX, PolicyMode, policy_record},
    preferences::{MESSAGE_MB_MAX, MailPreferences, MailPush, RECIPIENTS_MAX, SEND_PER_DAY},
    receiving::{ARRIVALS_MAX, HOPS_MAX, MESSAGE_BYTES_MAX, RECIPIENTS_AT_ONCE_MAX, is_of_the_domain, without_tag},
    records::{
        DKIM, DMARC, DomainRecord, MAIL_FROM_MX, MAIL_FROM_SPF, MX, Purpose, RecordType, SPF, dkim_record_key,
        dns_provider, is_dkim_record, is_dmarc_record, is_spf,
    },
    refusals::{
        CHOOSE_A_LABEL, COMES_BACK_WHEN, FILE_NOT_FOUND, LABEL_NOT_FOUND, SENDER_INVALID, THREAD_NOT_FOUND,
        TRASH_FIRST, choose_a_label, comes_back_when, no_file, no_label, no_message, no_thread, sender_invalid,
        trash_first,
    },
    search::{Asked, Joined, MailField, MailQuestion, MailTraces, MailWords, MessageFacts, Step, WordsAsked},
    sending::{
        ALREADY_SENT, SCHEDULED_FOR, UNDO_SECONDS, UNDO_SECONDS_USUAL, already_sent, day_is_over, message_too_large,
        no_recipient, schedule_check, sender_not_own, too_many_recipients,
    },
    stamp::{Stamp, date as mail_date},
    subject::BaseSubject,
    suggesting::{SUGGEST_LEN_MAX, SUGGESTED_FROM, SUGGESTED_MAX, suggested},
    tally::{Count, Standing, Tally},
    threading::{Candidate, Joins, MessageIdHash, REFERENCES_MAX, SUBJECT_JOINS_FOR, Strand, joins},
    transfer::{
        EXPORT_ADDRESS_LASTS, EXPORT_BYTES_MAX, FiledAs, Folder, IMAP_IMPORT_LATER, IMPORT_AT_ONCE, IMPORT_BYTES_MAX,
        IMPORT_FAULTS_MAX, IMPORT_OVER, IMPORT_UNPACKED_MAX, IMPORT_UPLOAD_LASTS, IMPORT_ZIP_FILES_MAX, IMPORTS_MAX,
        ImportCounts, ImportFault, ImportPlace, MAIL_EXPORT_NOT_FOUND, MAIL_IMPORT_NOT_FOUND, MailExport,
        MailExportState, MailImport, MailImportKind, MailImportState, MboxMarks, MboxMessage, MboxReader,
        TRANSFER_KEPT, export_under_way, import_has_begun, import_over, import_too_large, import_upload_missing,
        maildir_place, mbox_entry, mbox_fields, no_mail_export, no_mail_import, received_at, too_many_imports,
    },
    unsubscribing::{
        NO_UNSUBSCRIBING, UNSUBSCRIBE_BY_HAND, UNSUBSCRIBE_FAILED, UNSUBSCRIBE_UNVERIFIED, Unsubscribing,
        unsubscribe_failed, unsubscribing,
    },
    vacation::{
        ANSWERED_FOR, ANSWERS_UP_TO, VACATION_SUBJECT_LEN, VACATION_TEXT_LEN_MAX, Vacation, answered,
        is_automatic_answer, vacation_answer,
    },
    verdict::{Outcome, Placed, Point, SPAM_FROM, Verdict},
    verification::{Happened, Observed, Rival},
};
use crate::{
    Email, Error, Result, Slug, Timestamp,
    account::text_check,
    id::{MailboxId, OrgId, UserId},
};

/// Contract B 4.8.
pub const MEMBERS_ONLY: &str = "Mailboxes are only available to members.";
/// The message of the 404 for a mailbox.
pub const MAILBOX_NOT_FOUND: &str = "Mailbox not found";
/// The message of the 404 for a domain (contract B 4.7).
pub const DOMAIN_NOT_FOUND: &str = "Domain not found";
/// Contract B 4.7.
pub const MEMBERS_BELONG: &str = "Mailbox members must belong to the organization.";
/// Contract B 4.7.
pub const ADDRESS_INVALID: &str = "Enter a valid address.";
/// The contract has the 409, and no text.
pub const ADDRESS_IN_USE: &str = "This address is already in use.";
/// Contract B 4.9.
pub const DOMAIN_REMOVED: &str = "This mailbox's domain was removed.";
/// The message of the 404 for an alias (contract B 4.7).
pub const ALIAS_NOT_FOUND: &str = "Alias not found";
/// Past [`ALIASES_MAX`].
pub const TOO_MANY_ALIASES: &str = "A mailbox has at most 100 aliases.";
/// Past [`MAILBOXES_MAX`].
pub const TOO_MANY_MAILBOXES: &str = "An organization has at most 5,000 mailboxes.";

/// Mailboxes of an organization.
pub const MAILBOXES_MAX: u64 = 5_000;
/// Aliases of a mailbox.
pub const ALIASES_MAX: usize = 100;
/// Members of a mailbox (contract B 4.7).
pub const MAILBOX_MEMBERS_MAX: usize = 100;
/// Characters of a mailbox's name (contract B 4.7).
pub const DISPLAY_NAME_LEN: RangeInclusive<usize> = 0..=200;
/// Characters before the `@` (contract B 4.7).
const LOCAL_PART_LEN: RangeInclusive<usize> = 1..=64;

/// A mailbox of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox {
    /// Its id.
    pub id: MailboxId,
    /// Whose it is.
    pub org_id: OrgId,
    /// Its address.
    pub address: Email,
    /// What it is called; may be empty.
    pub display_name: String,
    /// Who opens it.
    pub members: Vec<UserId>,
    /// Other addresses that are the mailbox's, in the order in which it got them.
    pub aliases: Vec<Email>,
    /// Counts its changes.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Mailbox {
    /// The domain of its address.
    pub fn domain(&self) -> &str {
        domain_of(&self.address)
    }

    /// All addresses that are its own: its address, and its aliases.
    pub fn addresses(&self) -> impl Iterator<Item = &Email> {
        std::iter::once(&self.address).chain(&self.aliases)
    }
}

/// The domain that the platform lends an organization; none where it lends none (`mail_server.platform_domain`).
pub fn lent_domain(slug: &Slug, platform_domain: &str) -> Option<String> {
    (!platform_domain.is_empty()).then(|| format!("{slug}.{platform_domain}"))
}

/// What stands behind the `@`.
pub fn domain_of(address: &Email) -> &str {
    address.as_str().rsplit_once('@').map_or("", |(_, domain)| domain)
}

/// The slug of the organization that the platform lends this domain, where it could lend it to one.
pub fn lent_slug(domain: &str, platform_domain: &str) -> Option<Slug> {
    let slug = domain.strip_suffix(platform_domain)?.strip_suffix('.')?;
    if platform_domain.is_empty() { None } else { Slug::parse(slug).ok() }
}

/// An alias as it was sent: trimmed, in small letters, with a first part as mailboxes have it (contract B 4.7).
pub fn alias_address(text: &str) -> Result<Email> {
    let text = text.trim().to_ascii_lowercase();
    let invalid = || Error::bad_request("address_invalid", ADDRESS_INVALID);
    let (local, domain) = text.rsplit_once('@').ok_or_else(invalid)?;
    mailbox_address(local, domain)
}

/// The address of a mailbox: what stands before the `@` is trimmed and in small letters, with a letter or a digit at both
/// ends (contract B 4.7).
pub fn mailbox_address(local_part: &str, domain: &str) -> Result<Email> {
    let local = local_part.trim().to_ascii_lowercase();
    let is_end = |it: Option<char>| it.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    let fits = LOCAL_PART_LEN.contains(&local.len())
        && is_end(local.chars().next())
        && is_end(local.chars().next_back())
        && local.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || b"._-".contains(&it));
    let invalid = || Error::bad_request("address_invalid", ADDRESS_INVALID);
    if !fits {
        return Err(invalid());
    }
    Email::parse("localPart", &format!("{local}@{domain}")).map_err(|_| invalid())
}

/// What a mailbox is called, trimmed.
pub fn display_name_check(path: &str, name: &str) -> Result<String> {
    text_check(path, name, &DISPLAY_NAME_LEN)
}

/// 404 for a mailbox that isn't there, or that the caller is no member of.
pub fn no_mailbox() -> Error {
    Error::not_found(MAILBOX_NOT_FOUND)
}

/// 404 for a domain that the organization doesn't have.
pub fn no_domain() -> Error {
    Error::not_found(DOMAIN_NOT_FOUND)
}

/// 404 for an alias that no mailbox has.
pub fn no_alias() -> Error {
    Error::not_found(ALIAS_NOT_FOUND)
}

/// 400 for one alias too many.
pub fn too_many_aliases() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_ALIASES)
}

/// 409 for an address that is somebody's.
pub fn address_in_use() -> Error {
    Error::conflict("address_in_use", ADDRESS_IN_USE)
}

/// 400 for members who don't belong to the organization.
pub fn members_belong() -> Error {
    Error::bad_request("not_members", MEMBERS_BELONG)
}

/// 400 for one mailbox too many.
pub fn too_many_mailboxes() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_MAILBOXES)
}
