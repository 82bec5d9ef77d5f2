//! Making a resource.

use domain::{
    Result, Scope,
    access_key::AccessKeyGrant,
    id::{ProjectId, ResourceId},
    resource::{Resource, ResourceStatus, physical_name},
};
use kernel::{Command, Handle, Turn};
use store::Change;

use super::{ResourceBook, ResourceKind, audit, name_is_free};
use crate::Services;

/// What the record of a resource begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewResource {
    /// What people call it.
    pub name: String,
    /// What its name is compared by.
    pub name_key: String,
    /// The project that it is attached to.
    pub project_id: Option<ProjectId>,
    /// How far it is once it is made.
    pub status: ResourceStatus,
}

impl NewResource {
    /// A resource of this name, compared as it is written, that is usable at once.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { name_key: name.clone(), name, project_id: None, status: ResourceStatus::Active }
    }
}

/// A resource that an area has made.
pub trait ResourceCreate: Send + Sync + 'static {
    /// The stable name of the command, such as `create_table`.
    const COMMAND: &'static str;
    /// What is made.
    const KIND: ResourceKind;
    /// The scope that it takes.
    const SCOPE: Scope = Scope::ResourcesWrite;

    /// What its record begins with.
    fn draft(&self) -> NewResource;

    /// The area's own rows of the resource, or why there can't be one. It is asked once for each run of the turn, after the
    /// name and the number of resources.
    fn rows(&self, services: &Services, resource: &Resource) -> impl Future<Output = Result<Change>> + Send;
}

/// Makes a resource.
#[derive(Clone, Debug)]
pub struct CreateResource<C>(pub C);

impl<C: ResourceCreate> Command for CreateResource<C> {
    type Reply = Resource;

    const NAME: &'static str = C::COMMAND;
}

impl<C: ResourceCreate> Handle<CreateResource<C>> for ResourceBook {
    async fn handle(
        &mut self,
        CreateResource(command): &CreateResource<C>,
        turn: &mut Turn<'_, Self>,
    ) -> Result<Resource> {
        let authority = turn.authority(*turn.key()).await?;
        authority.require(C::SCOPE)?;
        turn.context().caller.grant().map_or(Ok(()), AccessKeyGrant::organization_check)?;
        let draft = command.draft();
        name_is_free(turn, &C::KIND, &draft.name_key).await?;
        let services = turn.services();
        let (count, most) = (
            services.store.resources_count(*turn.key(), C::KIND.resource_type).await?,
            (C::KIND.count_max)(&services.settings),
        );
        if count >= most {
            return Err((C::KIND.too_many)(most));
        }
        let id = ResourceId::new(turn.now());
        let resource = Resource {
            id,
            org_id: *turn.key(),
            resource_type: C::KIND.resource_type,
            physical_name: physical_name(&draft.name, id),
            name: draft.name,
            name_key: draft.name_key,
            status: draft.status,
            status_reason: None,
            location: services.settings.location.clone(),
            region: services.settings.region.clone(),
            project_id: draft.project_id,
            created_by: authority.on_behalf_of()?,
            created_at: turn.now(),
            updated_at: turn.now(),
            version: 1,
        };
        let mut change = self.change();
        change.resource_add(&resource);
        change.append(command.rows(services, &resource).await?);
        audit(&mut change, turn, &C::KIND, ("created", None), &resource);
        self.commit(turn, change).await?;
        Ok(resource)
    }
}
