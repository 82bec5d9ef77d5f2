//! A table's row.

use std::str::FromStr;

use domain::id::{OrgId, ResourceId};
use sea_orm::{ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, Select};
use serde::de::DeserializeOwned;

pub(super) use self::entity::Entity;
use super::KeptTable;
use crate::{StoreError, json};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "kv_tables")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub table_no: i64,
        pub id: String,
        pub org_id: String,
        pub key_schema: String,
        pub indexes: String,
        pub indexes_made: i32,
        pub settings: String,
        pub epoch: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The organization's tables.
pub(super) fn of_org(org_id: OrgId) -> Select<Entity> {
    Entity::find().filter(entity::Column::OrgId.eq(org_id.to_string()))
}

/// The organization's table with this id.
pub(super) fn by_id(org_id: OrgId, id: ResourceId) -> Select<Entity> {
    of_org(org_id).filter(entity::Column::Id.eq(id.to_string()))
}

/// A table that has no number yet.
pub(super) fn new(table: &KeptTable) -> entity::ActiveModel {
    entity::ActiveModel {
        table_no: NotSet,
        id: Set(table.id.to_string()),
        org_id: Set(table.org_id.to_string()),
        key_schema: Set(json::text(&table.schema)),
        indexes: Set(json::text(&table.indexes)),
        indexes_made: Set(table.indexes_made),
        settings: Set(json::text(&table.settings)),
        epoch: Set(table.epoch),
    }
}

impl TryFrom<entity::Model> for KeptTable {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        Ok(Self {
            no: row.table_no,
            id: id("kv_tables.id", &row.id)?,
            org_id: id("kv_tables.org_id", &row.org_id)?,
            schema: read("kv_tables.key_schema", &row.key_schema)?,
            indexes: read("kv_tables.indexes", &row.indexes)?,
            indexes_made: row.indexes_made,
            settings: read("kv_tables.settings", &row.settings)?,
            epoch: row.epoch,
        })
    }
}

fn id<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(column))
}

fn read<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::corrupt(column))
}
