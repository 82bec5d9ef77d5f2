//! Mailboxes (contract B 2.7, 4.7): who has them, and what they are called.

use std::ops::RangeInclusive;

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
/// Past [`MAILBOXES_MAX`].
pub const TOO_MANY_MAILBOXES: &str = "An organization has at most 5,000 mailboxes.";

/// Mailboxes of an organization.
pub const MAILBOXES_MAX: u64 = 5_000;
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
    /// Counts its changes.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Mailbox {
    /// The domain of its address.
    pub fn domain(&self) -> &str {
        self.address.as_str().rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// 409 where the organization doesn't have the domain any more, so that nothing can be sent from it.
    pub fn can_send(&self, slug: &Slug, platform_domain: &str) -> Result<()> {
        if lent_domain(slug, platform_domain).as_deref() == Some(self.domain()) {
            Ok(())
        } else {
            Err(Error::conflict("domain_removed", DOMAIN_REMOVED))
        }
    }
}

/// The domain that the platform lends an organization; none where it lends none (`mail_server.platform_domain`).
pub fn lent_domain(slug: &Slug, platform_domain: &str) -> Option<String> {
    (!platform_domain.is_empty()).then(|| format!("{slug}.{platform_domain}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_letters_and_no_character_more() {
        let address = |local: &str| mailbox_address(local, "acme.example.org");
        assert_eq!(address(" Ada.L ").unwrap().as_str(), "ada.l@acme.example.org");
        for local in ["a", "a-b_c.d", "1", &"a".repeat(63), &"a".repeat(64)] {
            assert!(address(local).is_ok(), "{local}");
        }
        for local in ["", ".a", "a.", "-a", "a b", "a@b", "é", "a+b", &"a".repeat(65)] {
            assert_eq!(address(local).unwrap_err().to_string(), ADDRESS_INVALID, "{local}");
        }
        assert_eq!(address("a..b").unwrap_err().to_string(), ADDRESS_INVALID);
    }

    #[test]
    fn mail_leaves_from_the_domain_that_is_lent() {
        let slug = Slug::parse("acme").unwrap();
        let mailbox = Mailbox {
            id: MailboxId::new(Timestamp(1)),
            org_id: OrgId::new(Timestamp(1)),
            address: mailbox_address("ada", "acme.example.org").unwrap(),
            display_name: String::new(),
            members: Vec::new(),
            version: 1,
            created_at: Timestamp(1),
        };
        assert_eq!(mailbox.domain(), "acme.example.org");
        assert!(mailbox.can_send(&slug, "example.org").is_ok());
        for (slug, platform) in [("acme", "example.com"), ("other", "example.org"), ("acme", "")] {
            let slug = Slug::parse(slug).unwrap();
            assert_eq!(mailbox.can_send(&slug, platform).unwrap_err().to_string(), DOMAIN_REMOVED);
        }
    }
}
