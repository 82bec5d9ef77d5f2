//! A resource's row.

use std::str::FromStr;

use domain::{
    Timestamp,
    id::OrgId,
    resource::{Resource, ResourceStatus, ResourceType},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, Select};

pub(super) use self::entity::{Column, Entity};
use crate::StoreError;

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "resources")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        #[sea_orm(column_name = "type")]
        pub resource_type: String,
        pub name: String,
        pub name_key: String,
        pub physical_name: String,
        pub status: String,
        pub status_reason: Option<String>,
        pub location: String,
        pub region: String,
        pub project_id: Option<String>,
        pub created_by: String,
        pub created_at: i64,
        pub updated_at: i64,
        pub version: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(super) fn active(resource: &Resource) -> entity::ActiveModel {
    entity::ActiveModel {
        id: Set(resource.id.to_string()),
        org_id: Set(resource.org_id.to_string()),
        resource_type: Set(resource.resource_type.as_str().to_owned()),
        name: Set(resource.name.clone()),
        name_key: Set(resource.name_key.clone()),
        physical_name: Set(resource.physical_name.clone()),
        status: Set(resource.status.as_str().to_owned()),
        status_reason: Set(resource.status_reason.clone()),
        location: Set(resource.location.clone()),
        region: Set(resource.region.clone()),
        project_id: Set(resource.project_id.map(|id| id.to_string())),
        created_by: Set(resource.created_by.to_string()),
        created_at: Set(resource.created_at.0),
        updated_at: Set(resource.updated_at.0),
        version: Set(resource.version),
    }
}

/// The organization's resources of one type.
pub(super) fn of_type(org_id: OrgId, resource_type: ResourceType) -> Select<Entity> {
    Entity::find().filter(Column::OrgId.eq(org_id.to_string())).filter(Column::ResourceType.eq(resource_type.as_str()))
}

impl TryFrom<entity::Model> for Resource {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let corrupt = |column: &'static str| move || StoreError::corrupt(column);
        Ok(Self {
            id: id("resources.id", &row.id)?,
            org_id: id("resources.org_id", &row.org_id)?,
            resource_type: ResourceType::from_name(&row.resource_type).ok_or_else(corrupt("resources.type"))?,
            name: row.name,
            name_key: row.name_key,
            physical_name: row.physical_name,
            status: ResourceStatus::from_name(&row.status).ok_or_else(corrupt("resources.status"))?,
            status_reason: row.status_reason,
            location: row.location,
            region: row.region,
            project_id: row.project_id.map(|text| id("resources.project_id", &text)).transpose()?,
            created_by: id("resources.created_by", &row.created_by)?,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
            version: row.version,
        })
    }
}

fn id<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(column))
}
