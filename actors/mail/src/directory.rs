//! Which domains and mailboxes an organization has.
//!
//! Nothing but the directory's revision is kept in memory, which each commit counts up: no two nodes both decide on one state.
//! No name is looked up and no key made in a turn: whoever asks brings what was found and made ([`MailDomains`]).
//!
//! [`MailDomains`]: crate::MailDomains

use actors_base::Services;
use domain::{
    Email, Result,
    id::OrgId,
    mail::{DomainNote, MailDomain, Mailbox, domain_removed, no_domain},
};
use kernel::{Resource, Turn};
use serde_json::{Value, json};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    mail::MailDirectoryState,
};

/// The domains and mailboxes of an organization.
#[derive(Debug)]
pub struct MailDirectory {
    state: MailDirectoryState,
}

impl Resource for MailDirectory {
    type Key = OrgId;
    type Services = Services;

    const KIND: &'static str = "mail_directory";

    async fn load(org_id: &OrgId, services: &Services) -> Result<Self> {
        Ok(Self { state: services.store.mail_directory(*org_id).await? })
    }
}

impl MailDirectory {
    /// A change that turns the directory.
    pub(crate) fn change(&self) -> Change {
        let mut change = Change::new();
        change.mail_directory_turn(self.state);
        change
    }

    /// A change with its entry in the audit trail, about a mailbox.
    pub(crate) fn mailbox_change(&self, turn: &Turn<'_, Self>, action: &str, mailbox: &Mailbox) -> Change {
        let mut change = self.change();
        let target = AuditTarget::new("mailbox", mailbox.id).labelled(mailbox.address.as_str());
        let aliases: Vec<&str> = mailbox.aliases.iter().map(Email::as_str).collect();
        let said = json!({ "members": mailbox.members, "aliases": aliases });
        audit(&mut change, turn, action, target, said);
        change
    }

    /// A change with its entry in the audit trail, about a domain.
    pub(crate) fn domain_change(&self, turn: &Turn<'_, Self>, action: &str, domain: &MailDomain) -> Change {
        let mut change = self.change();
        let said = json!({ "status": domain.status.as_str(), "missing": domain.missing() });
        audit(&mut change, turn, action, AuditTarget::new("mail_domain", domain.name.as_str()), said);
        change
    }

    pub(crate) async fn commit(&mut self, turn: &mut Turn<'_, Self>, change: Change) -> Result<()> {
        turn.commit(change).await?;
        self.state = self.state.turned();
        Ok(())
    }
}

/// Adds an entry to the audit trail.
pub(crate) fn audit(
    change: &mut Change,
    turn: &Turn<'_, MailDirectory>,
    action: &str,
    target: AuditTarget,
    said: Value,
) {
    let entry = AuditEntry::new(turn.context(), action, target).in_org(*turn.key());
    change.audit_add(turn.now(), entry.with_metadata(said));
}

/// 404 for a domain that the organization doesn't have, 409 for one that became another's.
pub(crate) async fn has_domain(turn: &Turn<'_, MailDirectory>, domain: &str) -> Result<()> {
    let (services, org_id) = (turn.services(), *turn.key());
    if services.store.lent_domain(org_id, &services.settings.platform_domain).await?.as_deref() == Some(domain) {
        return Ok(());
    }
    let name = domain.parse().map_err(|_| no_domain())?;
    let claim = services.store.mail_domain(org_id, &name).await?.ok_or_else(no_domain)?;
    if claim.note == DomainNote::Taken { Err(domain_removed()) } else { Ok(()) }
}
