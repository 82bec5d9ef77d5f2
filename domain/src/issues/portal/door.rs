//! Who may come in.

use super::desk::{PortalAccess, ServiceDesk};
use crate::{Email, id::UserId, issues::space::Space};

/// Somebody at the door of an organization's help centers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The person.
    pub user_id: UserId,
    /// Whether they belong to the organization.
    pub is_member: bool,
    /// Their address, once they have shown that it is theirs.
    pub confirmed_email: Option<Email>,
}

/// The desk of a space, where it has one that is open to the visitor.
pub fn admits<'s>(space: &'s Space, visitor: &Visitor) -> Option<&'s ServiceDesk> {
    let desk = space.config.servicedesk.as_ref().filter(|desk| desk.portal.enabled && !space.archived)?;
    is_let_in(desk, visitor).then_some(desk)
}

/// Whether a desk is there for the visitor, whether or not its help center is open.
pub fn is_let_in(desk: &ServiceDesk, visitor: &Visitor) -> bool {
    match desk.portal.access {
        PortalAccess::Any => true,
        PortalAccess::Org => visitor.is_member,
        PortalAccess::Listed => visitor.is_member || is_listed(desk, visitor),
    }
}

fn is_listed(desk: &ServiceDesk, visitor: &Visitor) -> bool {
    let Some(email) = &visitor.confirmed_email else { return false };
    desk.portal.customers.iter().any(|listed| listed.to_lowercase() == email.as_str().to_lowercase())
}
