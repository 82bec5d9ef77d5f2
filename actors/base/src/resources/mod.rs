//! The book of an organization's resources (contract C 2.3): which names are taken, and how many there may be.
//!
//! Whatever makes or changes a resource is decided here, one after the other: the resource's record and the area's own rows
//! are one commit, which counts the book's revision up, so that two nodes never both give one name away. An area says what it
//! decides and writes ([`ResourceCreate`], [`ResourceChange`]), and is asked in the book's turn.
//!
//! Nothing but the revision is kept in memory. What lies in a resource belongs to the area's own actors. When nothing is
//! left in a resource that is being deleted, its area takes the record out
//! ([`Change::resource_remove`](store::Change::resource_remove)), which needs no turn of the book: a name that becomes free
//! refuses nobody.

mod change;
mod create;

use domain::{Error, Result, id::OrgId, resource::ResourceType};
use kernel::{Resource as KernelResource, Turn};
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    resources::ResourceBook as Book,
};

pub use self::{
    change::{ChangeResource, ResourceChange},
    create::{CreateResource, NewResource, ResourceCreate},
};
use crate::{Services, Settings};

/// What an area says of its type of resource.
#[derive(Clone, Copy, Debug)]
pub struct ResourceKind {
    /// The type.
    pub resource_type: ResourceType,
    /// What the audit trail calls one, such as `bucket` in `bucket.created`.
    pub audited_as: &'static str,
    /// How many an organization may have.
    pub count_max: fn(&Settings) -> u64,
    /// 409: one of the organization's has this name.
    pub exists: fn() -> Error,
    /// 409: the organization has so many, which is all that it may have.
    pub too_many: fn(u64) -> Error,
    /// 404: the organization has none with this id.
    pub not_found: fn() -> Error,
}

/// An organization's resources.
#[derive(Debug)]
pub struct ResourceBook {
    book: Book,
}

impl KernelResource for ResourceBook {
    type Key = OrgId;
    type Services = Services;

    const KIND: &'static str = "resource_book";

    async fn load(org_id: &OrgId, services: &Services) -> Result<Self> {
        Ok(Self { book: services.store.resource_book(*org_id).await? })
    }
}

impl ResourceBook {
    /// A change of the book as it was read.
    fn change(&self) -> Change {
        let mut change = Change::new();
        change.resource_book_turn(self.book);
        change
    }

    async fn commit(&mut self, turn: &mut Turn<'_, Self>, change: Change) -> Result<()> {
        turn.commit(change).await?;
        self.book = self.book.turned();
        Ok(())
    }
}

/// Refuses a name that another resource of the type has.
async fn name_is_free(turn: &Turn<'_, ResourceBook>, kind: &ResourceKind, name_key: &str) -> Result<()> {
    let named = turn.services().store.resource_named(*turn.key(), kind.resource_type, name_key).await?;
    if named.is_some() { Err((kind.exists)()) } else { Ok(()) }
}

/// Adds what was done to a resource to the audit trail.
fn audit(
    change: &mut Change,
    turn: &Turn<'_, ResourceBook>,
    kind: &ResourceKind,
    (act, metadata): (&str, Option<serde_json::Value>),
    resource: &domain::resource::Resource,
) {
    let target = AuditTarget::new(kind.audited_as, resource.id).labelled(&resource.name);
    let action = format!("{}.{act}", kind.audited_as);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(resource.org_id);
    change.audit_add(turn.now(), AuditEntry { metadata, ..entry });
}
