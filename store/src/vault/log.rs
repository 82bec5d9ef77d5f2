//! What happened to a person's vaults; it outlives them.

use domain::{
    context::Context,
    id::UserId,
    time::Timestamp,
    vault::{DeviceId, DeviceName, VaultEvent},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::{Change, Store, StoreError, reader::Reads};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "vault_log")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub seq: i64,
        pub user_id: String,
        pub event: String,
        pub at: i64,
        pub device_id: Option<String>,
        pub device_name: Option<String>,
        pub ip: Option<String>,
        pub user_agent: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultLogEntry {
    /// What happened.
    pub event: VaultEvent,
    /// When.
    pub at: Timestamp,
    /// The device that it is about, or that did it.
    pub device_id: Option<DeviceId>,
    /// What that device was called.
    pub device_name: Option<DeviceName>,
    /// The address that the request came from.
    pub ip: Option<String>,
    /// The program that it came through.
    pub user_agent: Option<String>,
}

impl VaultLogEntry {
    /// `event`, now, from where the context says.
    pub fn new(context: &Context, event: VaultEvent, now: Timestamp) -> Self {
        Self {
            event,
            at: now,
            device_id: None,
            device_name: None,
            ip: context.ip.map(|ip| ip.to_string()),
            user_agent: context.user_agent.as_deref().map(str::to_owned),
        }
    }

    /// The same about a device; its name where it is known.
    #[must_use]
    pub fn about(mut self, device_id: DeviceId, name: Option<&DeviceName>) -> Self {
        self.device_id = Some(device_id);
        self.device_name = name.cloned();
        self
    }
}

impl TryFrom<row::Model> for VaultLogEntry {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("vault_log {}", row.seq));
        Ok(Self {
            event: VaultEvent::from_name(&row.event).ok_or_else(corrupt)?,
            at: Timestamp(row.at),
            device_id: row.device_id.map(|id| id.parse()).transpose().map_err(|_| corrupt())?,
            device_name: row.device_name.map(DeviceName::from_stored),
            ip: row.ip,
            user_agent: row.user_agent,
        })
    }
}

/// A page of the log, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultLogPage {
    /// The entries.
    pub entries: Vec<VaultLogEntry>,
    /// What the next page starts below, where there is one.
    pub next_before: Option<i64>,
}

impl Store {
    /// A page of at most `limit` entries of a person's log; `before` is the `next_before` of the page before it.
    pub async fn vault_log(
        &self,
        user_id: UserId,
        before: Option<i64>,
        limit: u64,
    ) -> Result<VaultLogPage, StoreError> {
        let mut select = row::Entity::find().filter(row::Column::UserId.eq(user_id.to_string()));
        if let Some(before) = before {
            select = select.filter(row::Column::Seq.lt(before));
        }
        let mut rows = select.order_by_desc(row::Column::Seq).limit(limit + 1).read_all(self.reader()).await?;
        let has_more = rows.len() as u64 > limit;
        if has_more {
            rows.pop();
        }
        let next_before = rows.last().filter(|_| has_more).map(|row| row.seq);
        let entries = rows.into_iter().map(VaultLogEntry::try_from).collect::<Result<_, _>>()?;
        Ok(VaultLogPage { entries, next_before })
    }
}

impl Change {
    /// Writes an entry into a person's log.
    pub fn vault_log_add(&mut self, user_id: UserId, entry: VaultLogEntry) {
        self.insert(row::ActiveModel {
            user_id: Set(user_id.to_string()),
            event: Set(entry.event.to_string()),
            at: Set(entry.at.0),
            device_id: Set(entry.device_id.map(|id| id.to_string())),
            device_name: Set(entry.device_name.map(|name| name.to_string())),
            ip: Set(entry.ip),
            user_agent: Set(entry.user_agent),
            ..Default::default()
        });
    }
}
