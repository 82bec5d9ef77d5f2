//! Changing a resource: its name, its status, and what its area says of it. Having it deleted is a change of its status.

use domain::{Authority, Result, Scope, id::ResourceId, resource::Resource};
use kernel::{Command, Handle, Turn};
use serde_json::Value;
use store::Change;

use super::{ResourceBook, ResourceKind, audit, name_is_free};
use crate::Services;

/// A change that an area makes to a resource.
pub trait ResourceChange: Send + Sync + 'static {
    /// The stable name of the command, such as `delete_table`.
    const COMMAND: &'static str;
    /// What is changed.
    const KIND: ResourceKind;
    /// What the audit trail calls the change, such as `deleted` in `table.deleted`.
    const ACT: &'static str;
    /// The scope that it takes.
    const SCOPE: Scope = Scope::ResourcesWrite;

    /// Which one.
    fn id(&self) -> ResourceId;

    /// Refuses a caller who has the scope, but not this resource; nobody where the scope is all that it takes.
    fn admit(&self, services: &Services, authority: &Authority) -> impl Future<Output = Result<()>> + Send {
        let _ = (services, authority);
        async { Ok(()) }
    }

    /// What the audit trail says of the change: its name, and more about it.
    fn audited(&self, before: &Resource) -> (&'static str, Option<Value>) {
        let _ = before;
        (Self::ACT, None)
    }

    /// Changes the record (name, status, project), where it is to change, and says what else is written, or why nothing can
    /// be. It is asked once for each run of the turn, and may read what it decides on.
    fn decide(&self, services: &Services, resource: &mut Resource) -> impl Future<Output = Result<Change>> + Send;
}

/// Changes a resource.
#[derive(Clone, Debug)]
pub struct ChangeResource<C>(pub C);

impl<C: ResourceChange> Command for ChangeResource<C> {
    type Reply = Resource;

    const NAME: &'static str = C::COMMAND;
}

impl<C: ResourceChange> Handle<ChangeResource<C>> for ResourceBook {
    async fn handle(
        &mut self,
        ChangeResource(command): &ChangeResource<C>,
        turn: &mut Turn<'_, Self>,
    ) -> Result<Resource> {
        let authority = turn.authority(*turn.key()).await?;
        authority.require(C::SCOPE)?;
        turn.context().caller.grant().map_or(Ok(()), |grant| grant.resource_check(command.id()))?;
        let store = &turn.services().store;
        let before = store.resource(*turn.key(), C::KIND.resource_type, command.id()).await?;
        let before = before.ok_or_else(C::KIND.not_found)?;
        command.admit(turn.services(), &authority).await?;
        let mut after = before.clone();
        let rows = command.decide(turn.services(), &mut after).await?;
        if after.name_key != before.name_key {
            name_is_free(turn, &C::KIND, &after.name_key).await?;
        }
        after.updated_at = turn.now();
        after.version = before.version + 1;
        let mut change = self.change();
        change.resource_update(&after);
        change.append(rows);
        audit(&mut change, turn, &C::KIND, command.audited(&before), &after);
        self.commit(turn, change).await?;
        Ok(after)
    }
}
