//! The devices that a vault is on, and those that it was on.

use domain::{
    id::{SignInId, UserId},
    time::Timestamp,
    vault::{Device, DeviceId, DeviceName, DevicePlatform},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
    sea_query::{Expr, ExprTrait, OnConflict, SimpleExpr},
};

use crate::{Change, Expect, Store, StoreError, reader::Reads};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "vault_devices")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub device_id: String,
        pub name: String,
        pub platform: String,
        pub created_at: i64,
        pub last_seen_at: i64,
        pub removed_at: Option<i64>,
        pub sign_in_id: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A device that the vault is on, or was on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDevice {
    /// The device.
    pub device: Device,
    /// Whether it was removed; its id is never registered again.
    pub removed: bool,
}

impl TryFrom<row::Model> for StoredDevice {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("vault device {}", row.device_id));
        let device = Device {
            device_id: row.device_id.parse().map_err(|_| corrupt())?,
            platform: DevicePlatform::from_name(&row.platform).ok_or_else(corrupt)?,
            name: DeviceName::from_stored(row.name),
            created_at: Timestamp(row.created_at),
            last_seen_at: Timestamp(row.last_seen_at),
            sign_in_id: row.sign_in_id.as_deref().map(str::parse).transpose().map_err(|_| corrupt())?,
        };
        Ok(Self { device, removed: row.removed_at.is_some() })
    }
}

impl Store {
    /// The devices of a person's vault, removed ones included, the oldest first.
    pub async fn vault_devices(&self, user_id: UserId) -> Result<Vec<StoredDevice>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .order_by_asc(row::Column::CreatedAt)
            .order_by_asc(row::Column::DeviceId)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(StoredDevice::try_from).collect()
    }
}

impl Change {
    /// Registers a device, or renames it.
    pub fn vault_device_put(&mut self, user_id: UserId, device: &Device) {
        let row = row::ActiveModel {
            user_id: Set(user_id.to_string()),
            device_id: Set(device.device_id.to_string()),
            name: Set(device.name.to_string()),
            platform: Set(device.platform.to_string()),
            created_at: Set(device.created_at.0),
            last_seen_at: Set(device.last_seen_at.0),
            removed_at: Set(None),
            sign_in_id: Set(device.sign_in_id.map(|id| id.to_string())),
        };
        let renamed = OnConflict::columns([row::Column::UserId, row::Column::DeviceId])
            .update_columns([row::Column::Name, row::Column::Platform, row::Column::SignInId])
            .to_owned();
        self.run(row::Entity::insert(row).on_conflict(renamed), Expect::Any);
    }

    /// Removes a device for good; stale when it is gone already.
    pub fn vault_device_remove(&mut self, user_id: UserId, device_id: DeviceId, now: Timestamp) {
        let update = row::Entity::update_many()
            .col_expr(row::Column::RemovedAt, Expr::value(now.0))
            .filter(registered(user_id, device_id));
        self.run(update, Expect::Rows(1));
    }

    /// Notes that a device syncs over this sign-in; nothing when it was removed meanwhile.
    pub fn vault_device_bind(&mut self, user_id: UserId, device_id: DeviceId, sign_in_id: SignInId) {
        let update = row::Entity::update_many()
            .col_expr(row::Column::SignInId, Expr::value(sign_in_id.to_string()))
            .filter(registered(user_id, device_id));
        self.run(update, Expect::Any);
    }

    /// Notes that a device asked for the vault; nothing when it was removed meanwhile.
    pub fn vault_device_seen(&mut self, user_id: UserId, device_id: DeviceId, now: Timestamp) {
        let update = row::Entity::update_many()
            .col_expr(row::Column::LastSeenAt, Expr::value(now.0))
            .filter(registered(user_id, device_id))
            .filter(row::Column::LastSeenAt.lt(now.0));
        self.run(update, Expect::Any);
    }
}

pub(super) fn delete_all(change: &mut Change, user_id: &str) {
    change.run(row::Entity::delete_many().filter(row::Column::UserId.eq(user_id)), Expect::Any);
}

fn registered(user_id: UserId, device_id: DeviceId) -> SimpleExpr {
    row::Column::UserId
        .eq(user_id.to_string())
        .and(row::Column::DeviceId.eq(device_id.as_str()))
        .and(row::Column::RemovedAt.is_null())
}
