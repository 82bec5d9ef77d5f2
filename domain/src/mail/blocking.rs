//! Senders whom a mailbox keeps out.

use super::Mailbox;
use crate::{Error, Result};

/// Senders that a mailbox keeps out.
pub const BLOCKED_MAX: i64 = 2_000;
/// Past [`BLOCKED_MAX`].
pub const TOO_MANY_BLOCKED: &str = "A mailbox blocks at most 2,000 senders.";
/// For an address of the mailbox itself.
pub const BLOCKS_ITSELF: &str = "A mailbox can't block its own address.";

/// Whether a mailbox that keeps so many senders out may keep this one out, too.
pub fn block_check(mailbox: &Mailbox, address: &str, blocked: i64) -> Result<()> {
    if mailbox.addresses().any(|own| own.as_str() == address) {
        return Err(Error::bad_request("own_address", BLOCKS_ITSELF));
    }
    if blocked < BLOCKED_MAX { Ok(()) } else { Err(Error::bad_request("limit_reached", TOO_MANY_BLOCKED)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Timestamp,
        id::{MailboxId, OrgId},
    };

    #[test]
    fn others_are_kept_out_and_so_many() {
        let at = Timestamp(1);
        let mailbox = Mailbox {
            id: MailboxId::new(at),
            org_id: OrgId::new(at),
            address: "ada@acme.example".parse().expect("an address"),
            display_name: String::new(),
            members: Vec::new(),
            aliases: vec!["sales@acme.example".parse().expect("an address")],
            version: 1,
            created_at: at,
        };
        let said = |address: &str, blocked| block_check(&mailbox, address, blocked).err().map(|it| it.to_string());
        assert_eq!(said("bob@example.org", BLOCKED_MAX - 1), None);
        assert_eq!(said("bob@example.org", BLOCKED_MAX).as_deref(), Some(TOO_MANY_BLOCKED));
        for own in ["ada@acme.example", "sales@acme.example"] {
            assert_eq!(said(own, 0).as_deref(), Some(BLOCKS_ITSELF));
        }
    }
}
