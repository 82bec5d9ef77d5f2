//! Reading escalations, and who may be told of them.

use domain::{
    id::{EscalationId, OrgId, ProtocolId},
    notify::escalation::EscalationState,
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{
    Escalation,
    row::{self, open_key},
};
use crate::{Store, StoreError, reader::Reads};

/// Which escalations of an organization are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EscalationQuery {
    /// Only those that stand here.
    pub state: Option<EscalationState>,
    /// Only those that started before this one.
    pub before: Option<EscalationId>,
    /// At most so many.
    pub limit: u64,
}

fn all(rows: Vec<row::Model>) -> Result<Vec<Escalation>, StoreError> {
    rows.into_iter().map(Escalation::try_from).collect()
}

impl Store {
    /// The escalation with this id.
    pub async fn escalation(&self, id: EscalationId) -> Result<Option<Escalation>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string()).read_one(self.reader()).await?;
        row.map(Escalation::try_from).transpose()
    }

    /// The organization's escalation with this id.
    pub async fn escalation_of(&self, org_id: OrgId, id: EscalationId) -> Result<Option<Escalation>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .read_one(self.reader())
            .await?;
        row.map(Escalation::try_from).transpose()
    }

    /// The organization's escalations, newest first.
    pub async fn escalations(&self, org_id: OrgId, query: EscalationQuery) -> Result<Vec<Escalation>, StoreError> {
        let mut select = row::Entity::find().filter(row::Column::OrgId.eq(org_id.to_string()));
        if let Some(state) = query.state {
            select = select.filter(row::Column::State.eq(state.as_str()));
        }
        if let Some(before) = query.before {
            select = select.filter(row::Column::Id.lt(before.to_string()));
        }
        all(select.order_by_desc(row::Column::Id).limit(query.limit).read_all(self.reader()).await?)
    }

    /// The open escalations of these protocols and `dedupKey`s.
    pub async fn escalations_open(&self, keys: &[(ProtocolId, &str)]) -> Result<Vec<Escalation>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys = keys.iter().map(|(protocol_id, key)| open_key(*protocol_id, key));
        all(row::Entity::find().filter(row::Column::OpenKey.is_in(keys)).read_all(self.reader()).await?)
    }

    /// The organization's open escalations with this `dedupKey`, whatever their protocol.
    pub async fn escalations_of_key(&self, org_id: OrgId, dedup_key: &str) -> Result<Vec<Escalation>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::DedupKey.eq(dedup_key))
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::OpenKey.is_not_null());
        all(select.read_all(self.reader()).await?)
    }

    /// The running escalations of a protocol.
    pub async fn escalations_running_of(&self, protocol_id: ProtocolId) -> Result<Vec<Escalation>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::ProtocolId.eq(protocol_id.to_string()))
            .filter(row::Column::State.eq(EscalationState::Running.as_str()));
        all(select.read_all(self.reader()).await?)
    }

    /// The running escalations that one event started.
    pub async fn escalations_of_source(&self, source: &str) -> Result<Vec<Escalation>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::Source.eq(source))
            .filter(row::Column::State.eq(EscalationState::Running.as_str()));
        all(select.read_all(self.reader()).await?)
    }
}
