//! Mail (contract B 2.7, 4.7): the domains of organizations, and who has which mailboxes.

mod action;
mod arrival;
mod category;
mod conversation;
mod domains;
mod fields;
mod findings;
mod html;
mod message;
mod name;
mod place;
mod preferences;
mod receiving;
mod records;
mod refusals;
mod stamp;
mod subject;
mod tally;
mod threading;
mod verdict;
mod verification;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

pub use self::{
    action::{ACTION_THREADS, Acted, SNOOZE_FOR, ThreadAction},
    arrival::{Arrival, NotARawId, RawId},
    category::{Categorized, MailCategory, Traits, categorize},
    conversation::{Conversation, DOUBLE_FOR, MailMessage, MailPeople, ThreadRow, mail_words},
    domains::{
        DOMAINS_MAX, DkimKey, DkimKind, DkimMode, DkimPlace, DomainNote, DomainStatus, LOOKS_PER_MINUTE, MailDomain,
        MailHost, OrgDomain, domain_in_use, domain_is_lent, domain_removed, key_is_theirs, mailboxes_first,
        not_verified, platform_domain_check, rotation_failed, selector_check, setup_failed, too_many_domains,
    },
    fields::{Field, HEAD_BYTES_MAX, fields, hops, joined},
    findings::{DmarcMode, DmarcPolicy, Findings, placed},
    html::clean_html,
    message::{BODY_BYTES_MAX, Correspondent, MailBody, MailContent, MailFile, PARTS_MAX, WORDS_BYTES_MAX, file_bytes},
    name::DomainName,
    place::{MailBox, Placing, ThreadState, View},
    preferences::{MESSAGE_MB_MAX, MailPreferences, MailPush, RECIPIENTS_MAX, SEND_PER_DAY},
    receiving::{ARRIVALS_MAX, HOPS_MAX, MESSAGE_BYTES_MAX, RECIPIENTS_AT_ONCE_MAX, is_of_the_domain, without_tag},
    records::{
        DKIM, DMARC, DomainRecord, MAIL_FROM_MX, MAIL_FROM_SPF, MX, Purpose, RecordType, SPF, dkim_record_key,
        dns_provider, is_dkim_record, is_dmarc_record, is_spf,
    },
    refusals::{
        CHOOSE_A_LABEL, COMES_BACK_WHEN, LABEL_NOT_FOUND, SENDER_INVALID, THREAD_NOT_FOUND, TRASH_FIRST,
        choose_a_label, comes_back_when, no_label, no_thread, sender_invalid, trash_first,
    },
    stamp::Stamp,
    subject::BaseSubject,
    tally::{Count, Standing, Tally},
    threading::{Candidate, Joins, MessageIdHash, REFERENCES_MAX, SUBJECT_JOINS_FOR, Strand, joins},
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
