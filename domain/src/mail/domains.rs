//! Domains that organizations claim for mail (contract B 2.7, 4.7): what is known of a claim.
//!
//! Several organizations may claim a domain while none has proved that it is theirs; the proof is the record of the claim's own
//! key. The first one that becomes active owns the domain.

use std::{collections::BTreeMap, net::IpAddr};

use super::name::DomainName;
use crate::{
    Error, Timestamp,
    id::{MailDomainId, MailboxId, OrgId},
};

/// Domains of an organization.
pub const DOMAINS_MAX: u64 = 50;
/// How often a minute an organization may have domains looked at.
pub const LOOKS_PER_MINUTE: u32 = 10;
/// Contract B 4.7.
pub const PLATFORM_DOMAIN: &str = "Platform domains can't be added.";
/// Contract B 4.7.
pub const DOMAIN_IN_USE: &str = "This domain is already in use.";
/// Contract B 4.7.
pub const SETUP_FAILED: &str = "Couldn't set up this domain. Try again.";
/// Contract B 4.7.
pub const ROTATION_FAILED: &str = "Couldn't rotate the key. The current key is still in use; try again.";
/// Contract B 4.7.
pub const MAILBOXES_FIRST: &str = "Delete this domain's mailboxes first.";
/// The contract has only keys that were made here rotated, and no text.
pub const KEY_IS_THEIRS: &str = "Only keys that were made here can be rotated.";
/// The contract has `lent` domains, and no text.
pub const DOMAIN_IS_LENT: &str = "This domain is lent by the platform.";
/// The contract has the 409 (B 4.9), and no text.
pub const NOT_VERIFIED: &str = "This mailbox's domain isn't verified for sending yet.";
/// Past [`DOMAINS_MAX`].
pub const TOO_MANY_DOMAINS: &str = "An organization has at most 50 domains.";

/// How far a claim got (contract B 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainStatus {
    /// None of the records that are required was seen.
    Pending,
    /// Some were.
    Verifying,
    /// All were.
    Active,
    /// A domain that was active and isn't any more.
    Error,
}

impl DomainStatus {
    const ALL: [Self; 4] = [Self::Pending, Self::Verifying, Self::Active, Self::Error];

    /// The contract's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Verifying => "verifying",
            Self::Active => "active",
            Self::Error => "error",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// Whose keys sign (contract B 2.7, `dkimMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DkimMode {
    /// Made here.
    Easy,
    /// Brought along.
    Byo,
}

impl DkimMode {
    /// The contract's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Byo => "byo",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Easy, Self::Byo].into_iter().find(|it| it.as_str() == name)
    }
}

/// What a key is one of (RFC 6376, RFC 8463).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DkimKind {
    /// RSA of 2,048 bits, where it was made here.
    Rsa,
    /// Ed25519.
    Ed25519,
}

impl DkimKind {
    /// What its record says.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rsa => "rsa",
            Self::Ed25519 => "ed25519",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Rsa, Self::Ed25519].into_iter().find(|it| it.as_str() == name)
    }
}

/// When a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DkimPlace {
    /// Once its record is seen.
    Next,
    /// Now.
    Current,
    /// No more; its record must stay while what it signed may be under way.
    Former,
}

impl DkimPlace {
    /// What the store knows it by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Current => "current",
            Self::Former => "former",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Next, Self::Current, Self::Former].into_iter().find(|it| it.as_str() == name)
    }
}

/// The public half of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DkimKey {
    /// What its record is found by.
    pub selector: String,
    /// What it is one of.
    pub kind: DkimKind,
    /// The public key in base64, as its record has it.
    pub public: String,
    /// When it signs.
    pub place: DkimPlace,
    /// Since when it has that place.
    pub since: Timestamp,
}

/// What the last look says beside the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainNote {
    /// Nothing.
    None,
    /// Nobody answered.
    Away,
    /// The domain is another organization's.
    Held,
    /// The domain became another organization's.
    Taken,
}

impl DomainNote {
    const ALL: [Self; 4] = [Self::None, Self::Away, Self::Held, Self::Taken];

    /// What the store knows it by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Away => "away",
            Self::Held => "held",
            Self::Taken => "taken",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// An organization's claim to a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailDomain {
    /// Its id; nobody outside sees it.
    pub id: MailDomainId,
    /// Who claims it.
    pub org_id: OrgId,
    /// The domain.
    pub name: DomainName,
    /// How far it got.
    pub status: DomainStatus,
    /// Since when the domain is the organization's own; none while that isn't proved, or no more.
    pub owned_at: Option<Timestamp>,
    /// The zone that its records stand in, where that is known.
    pub zone: Option<String>,
    /// Who serves the zone, as far as that can be guessed.
    pub dns_provider: Option<String>,
    /// What the last look says beside the records.
    pub note: DomainNote,
    /// Whose keys sign.
    pub mode: DkimMode,
    /// The keys, the older first.
    pub keys: Vec<DkimKey>,
    /// When other keys began to sign.
    pub rotated_at: Option<Timestamp>,
    /// The SPF record that was there at the last look.
    pub spf_before: Option<String>,
    /// Which records were seen, by their keys.
    pub checks: BTreeMap<String, bool>,
    /// When somebody last answered.
    pub checked_at: Option<Timestamp>,
    /// When looks began to be frequent.
    pub looks_from: Timestamp,
    /// Looks in a row that an active domain missed something at.
    pub misses: i64,
    /// When the first of them was.
    pub missed_since: Option<Timestamp>,
    /// The mailbox that gets what no address matches.
    pub catch_all: Option<MailboxId>,
    /// Counts its changes.
    pub version: i64,
    /// When it was claimed.
    pub created_at: Timestamp,
}

impl MailDomain {
    /// 409 where the domain became another organization's, or where what is sent from it is signed with no key that receivers
    /// find.
    pub fn sending_check(&self) -> crate::Result<()> {
        if self.note == DomainNote::Taken {
            return Err(domain_removed());
        }
        if self.checks.get(super::records::DKIM) == Some(&true) { Ok(()) } else { Err(not_verified()) }
    }

    /// The keys that have this place.
    pub fn keys_at(&self, place: DkimPlace) -> impl Iterator<Item = &DkimKey> {
        self.keys.iter().filter(move |key| key.place == place)
    }
}

/// A domain of an organization, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrgDomain {
    /// One that it claims.
    Claimed(Box<MailDomain>),
    /// The one that the platform lends it, which is always active.
    Lent {
        /// The domain.
        name: String,
        /// The mailbox that gets what no address matches.
        catch_all: Option<MailboxId>,
    },
}

/// How the server is called where mail is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailHost {
    /// Its name, which MX records point at (`mail_server.hostname`).
    pub name: String,
    /// The addresses that mail leaves from; those of its name where none are given (`mail_server.outbound_addresses`).
    pub addresses: Vec<IpAddr>,
}

/// 400 for a domain of the platform's: the one below which it lends, what lies below that, and the server's own names.
pub fn platform_domain_check(name: &DomainName, platform_domain: &str, own_names: &[&str]) -> crate::Result<()> {
    if name.is_within(platform_domain) || own_names.contains(&name.as_str()) {
        return Err(Error::bad_request("platform_domain", PLATFORM_DOMAIN));
    }
    Ok(())
}

/// The name that the record of a key is found by, as it was sent.
pub fn selector_check(path: &str, selector: &str) -> crate::Result<String> {
    let fits = (1..=63).contains(&selector.len())
        && selector.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !selector.starts_with('-')
        && !selector.ends_with('-');
    let refused = || Error::invalid(path, "Use 1 to 63 small letters, digits and hyphens.");
    if fits { Ok(selector.to_owned()) } else { Err(refused()) }
}

/// 409 for a domain that is another organization's, or claimed already.
pub fn domain_in_use() -> Error {
    Error::conflict("domain_in_use", DOMAIN_IN_USE)
}

/// 400 for one domain too many.
pub fn too_many_domains() -> Error {
    Error::bad_request("limit_reached", TOO_MANY_DOMAINS)
}

/// 502 where a domain couldn't be set up.
pub fn setup_failed() -> Error {
    Error::bad_gateway("domain_setup_failed", SETUP_FAILED)
}

/// 502 where a key couldn't be rotated.
pub fn rotation_failed() -> Error {
    Error::bad_gateway("rotation_failed", ROTATION_FAILED)
}

/// 400 for a key that was brought along.
pub fn key_is_theirs() -> Error {
    Error::bad_request("dkim_byo", KEY_IS_THEIRS)
}

/// 400 for the domain that the platform lends.
pub fn domain_is_lent() -> Error {
    Error::bad_request("domain_lent", DOMAIN_IS_LENT)
}

/// 409 for a domain that has mailboxes.
pub fn mailboxes_first() -> Error {
    Error::conflict("domain_has_mailboxes", MAILBOXES_FIRST)
}

/// 409 for a mailbox whose domain the organization doesn't have any more.
pub fn domain_removed() -> Error {
    Error::conflict("domain_removed", super::DOMAIN_REMOVED)
}

/// 409 for a mailbox whose domain has no key yet that receivers find.
pub fn not_verified() -> Error {
    Error::conflict("domain_not_verified", NOT_VERIFIED)
}
