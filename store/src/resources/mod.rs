//! Resources: the record that repositories, databases and buckets have alike (contract C 2.3).
//!
//! What an area has of a resource is in tables of its own, by the resource's id. The rows of one commit are both: an
//! organization's [`ResourceBook`] is counted up by every commit that makes or changes a resource.

mod book;
mod remembered;
mod row;

use domain::{
    id::{OrgId, ResourceId},
    resource::{Resource, ResourceType},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

pub use self::book::ResourceBook;
pub(crate) use self::remembered::{Remembered, StateRow};
use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

impl Change {
    /// Adds a resource.
    pub fn resource_add(&mut self, resource: &Resource) {
        self.insert(row::active(resource));
    }

    /// Writes what has changed of a resource's record; stale where it isn't in the version before.
    pub fn resource_update(&mut self, resource: &Resource) {
        let values = [
            resource.id.to_string().into(),
            resource.name.as_str().into(),
            resource.name_key.as_str().into(),
            resource.status.as_str().into(),
            resource.status_reason.clone().into(),
            resource.project_id.map(|id| id.to_string()).into(),
            resource.updated_at.0.into(),
            resource.version.into(),
        ];
        let statement = "UPDATE resources SET name = $2, name_key = $3, status = $4, status_reason = $5, \
                         project_id = $6, updated_at = $7, version = $8 WHERE id = $1 AND version = $8 - 1";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Deletes the record of a resource of which nothing else is left; nothing happens where it is gone.
    pub fn resource_remove(&mut self, id: ResourceId) {
        let statement = "DELETE FROM resources WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
    }
}

impl Store {
    /// The organization's resource of this type with this id.
    pub async fn resource(
        &self,
        org_id: OrgId,
        resource_type: ResourceType,
        id: ResourceId,
    ) -> Result<Option<Resource>, StoreError> {
        let select = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::ResourceType.eq(resource_type.as_str()));
        select.read_one(self.reader()).await?.map(Resource::try_from).transpose()
    }

    /// The organization's resource of this type whose name has this key.
    pub async fn resource_named(
        &self,
        org_id: OrgId,
        resource_type: ResourceType,
        name_key: &str,
    ) -> Result<Option<Resource>, StoreError> {
        let select = row::of_type(org_id, resource_type).filter(row::Column::NameKey.eq(name_key));
        select.read_one(self.reader()).await?.map(Resource::try_from).transpose()
    }

    /// Up to `limit` resources of this type, oldest first.
    pub async fn resources(
        &self,
        org_id: OrgId,
        resource_type: ResourceType,
        limit: u64,
    ) -> Result<Vec<Resource>, StoreError> {
        let select = row::of_type(org_id, resource_type).order_by_asc(row::Column::Id).limit(limit);
        select.read_list(self.reader()).await?.into_iter().map(Resource::try_from).collect()
    }

    /// Those of `ids` that are buckets or databases of the organization.
    pub async fn resources_among(&self, org_id: OrgId, ids: &[ResourceId]) -> Result<Vec<ResourceId>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let types = [ResourceType::Bucket, ResourceType::Database];
        let select = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::Id.is_in(ids.iter().map(ResourceId::to_string)))
            .filter(row::Column::ResourceType.is_in(types.map(ResourceType::as_str)));
        let found = select.read_list(self.reader()).await?.into_iter().map(Resource::try_from);
        found.map(|resource| Ok(resource?.id)).collect()
    }

    /// Those of the organization's resources of this type that have these ids.
    pub(crate) async fn resources_with(
        &self,
        org_id: OrgId,
        resource_type: ResourceType,
        ids: &[String],
    ) -> Result<Vec<Resource>, StoreError> {
        let select = row::of_type(org_id, resource_type).filter(row::Column::Id.is_in(ids.iter().cloned()));
        select.read_list(self.reader()).await?.into_iter().map(Resource::try_from).collect()
    }

    /// How many resources of this type the organization has, those that are being deleted among them.
    pub async fn resources_count(&self, org_id: OrgId, resource_type: ResourceType) -> Result<u64, StoreError> {
        row::of_type(org_id, resource_type).read_count(self.reader()).await
    }
}
