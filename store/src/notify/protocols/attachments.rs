//! What protocols are attached to.

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{OrgId, ProtocolId},
    notify::{Attachment, ResourceType},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, ExprTrait, QueryFilter, QueryOrder};

use crate::{
    Change, Expect, StoreError,
    reader::{Reader, Reads},
    sql::Sql,
};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "protocol_attachments")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub resource_type: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub resource_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub protocol_id: String,
        pub label: Option<String>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl TryFrom<row::Model> for Attachment {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let resource_type = ResourceType::from_name(&row.resource_type)
            .ok_or_else(|| StoreError::corrupt("protocol_attachments.resource_type"))?;
        Ok(Self { resource_type, resource_id: row.resource_id, resource_label: row.label })
    }
}

/// The ids of the protocols that are attached to the organization or to one of `within`.
pub(super) async fn attached(
    reader: &Reader,
    org_id: OrgId,
    within: &[(ResourceType, String)],
) -> Result<Vec<String>, StoreError> {
    let org_id = org_id.to_string();
    let is = |resource_type: ResourceType, id: &str| {
        row::Column::ResourceType.eq(resource_type.as_str()).and(row::Column::ResourceId.eq(id))
    };
    let mut any = Condition::any().add(is(ResourceType::Org, &org_id));
    for (resource_type, id) in within {
        any = any.add(is(*resource_type, id));
    }
    let rows = row::Entity::find().filter(row::Column::OrgId.eq(org_id.as_str())).filter(any).read_all(reader).await?;
    Ok(rows.into_iter().map(|row| row.protocol_id).collect())
}

/// What each of these protocols is attached to, in the order in which that was done.
pub(super) async fn of(
    reader: &Reader,
    protocol_ids: impl Iterator<Item = String>,
) -> Result<BTreeMap<String, Vec<Attachment>>, StoreError> {
    let rows = row::Entity::find()
        .filter(row::Column::ProtocolId.is_in(protocol_ids))
        .order_by_asc(row::Column::CreatedAt)
        .order_by_asc(row::Column::ResourceType)
        .order_by_asc(row::Column::ResourceId)
        .read_all(reader)
        .await?;
    let mut found: BTreeMap<String, Vec<Attachment>> = BTreeMap::new();
    for row in rows {
        found.entry(row.protocol_id.clone()).or_default().push(row.try_into()?);
    }
    Ok(found)
}

impl Change {
    /// Attaches the protocol to something, or calls that something by another name.
    pub fn protocol_attach(&mut self, now: Timestamp, org_id: OrgId, id: ProtocolId, attachment: &Attachment) {
        let row = row::ActiveModel {
            org_id: Set(org_id.to_string()),
            resource_type: Set(attachment.resource_type.to_string()),
            resource_id: Set(attachment.resource_id.clone()),
            protocol_id: Set(id.to_string()),
            label: Set(attachment.resource_label.clone()),
            created_at: Set(now.0),
        };
        let key = [row::Column::OrgId, row::Column::ResourceType, row::Column::ResourceId, row::Column::ProtocolId];
        let again = sea_orm::sea_query::OnConflict::columns(key).update_column(row::Column::Label).to_owned();
        self.run(row::Entity::insert(row).on_conflict(again), Expect::Any);
    }

    /// Detaches the protocol from something.
    pub fn protocol_detach(&mut self, id: ProtocolId, resource_type: ResourceType, resource_id: &str) {
        let statement = "DELETE FROM protocol_attachments \
                         WHERE protocol_id = $1 AND resource_type = $2 AND resource_id = $3";
        let key = [id.to_string().into(), resource_type.as_str().into(), resource_id.into()];
        self.run_statement(Sql::new(statement, key), Expect::Rows(1));
    }
}
