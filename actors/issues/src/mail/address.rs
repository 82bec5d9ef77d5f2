//! The address of a desk, which follows from its space's configuration.

use actors_base::Services;
use domain::{
    Error, Result, Timestamp,
    id::MailboxId,
    issues::{mailing::DeskEmail, space::Space},
    mail::{address_in_use, domain_of},
};
use store::{Change, issues::IssueMailBox};

/// Gives a space the letterbox and the address that its configuration asks for; 409 for an address that is somebody's.
pub(crate) async fn follow(
    change: &mut Change,
    services: &Services,
    (before, after): (&Space, &Space),
    now: Timestamp,
) -> Result<()> {
    let email = |space: &Space| space.config.servicedesk.as_ref().and_then(|desk| desk.email.clone());
    let (was, is) = (email(before), email(after));
    if was == is {
        return Ok(());
    }
    let (store, org_id) = (&services.store, after.org_id);
    let address = is.as_ref().map(DeskEmail::address).transpose()?.flatten();
    let it = if let Some(found) = store.issue_mail_box_of(after.space_id).await? {
        found
    } else {
        let it = IssueMailBox { mailbox_id: MailboxId::new(now), org_id, space_id: after.space_id, address: None };
        change.issue_mail_box_add(&it, now);
        it
    };
    if it.address == address {
        return Ok(());
    }
    if let Some(address) = &address {
        let owner = store.mail_domain_organization(domain_of(address), &services.settings.platform_domain).await?;
        if owner != Some(org_id) {
            let message = "Use an address of a domain of the organization.";
            return Err(Error::invalid("config.servicedesk.email.address", message));
        }
        if store.mail_address_is_taken(org_id, address).await? {
            return Err(address_in_use());
        }
    }
    change.issue_mail_address_set(&it, address.as_ref(), now);
    Ok(())
}
