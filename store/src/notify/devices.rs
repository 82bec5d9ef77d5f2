//! Devices that are registered for push messages. A registration goes with the sign-in that made it.

use domain::{
    App, Timestamp,
    id::{SignInId, UserId},
    notify::{PushPlatform, PushTarget, push_token_hash},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
    sea_query::{Expr, ExprTrait, OnConflict, Query, SimpleExpr},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Change, Expect, Purge, SecretKeys, Store, StoreError, json, reader::Reads, secrets::Cell};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "push_devices")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub device_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub app: String,
        pub sign_in_id: String,
        pub platform: String,
        pub token: String,
        pub token_hash: String,
        pub attrs: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Which registration of a person's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PushKey {
    /// Whose.
    pub user_id: UserId,
    /// The install id of the phone or browser.
    pub device_id: String,
    /// The app there.
    pub app: App,
}

/// What a device says of itself: any JSON, and nobody here reads it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceAttrs {
    /// What its owner calls it.
    pub name: Value,
    /// What its maker calls it.
    pub model: Value,
    /// The version of what it runs on.
    pub os_version: Value,
    /// The version of the app.
    pub app_version: Value,
}

/// A device that is registered for push messages.
#[derive(Clone, Debug, PartialEq)]
pub struct PushDevice {
    /// Which it is.
    pub key: PushKey,
    /// The sign-in that it goes with.
    pub sign_in_id: SignInId,
    /// Who carries messages to it.
    pub platform: PushPlatform,
    /// What that carrier knows it by. Never shown.
    pub token: String,
    /// What it says of itself.
    pub attrs: DeviceAttrs,
    /// Since when it is registered.
    pub created_at: Timestamp,
    /// When it last registered.
    pub updated_at: Timestamp,
}

/// The cell of a registration's token.
fn token_cell<'a>(row: &'a [&'a str; 3]) -> Cell<'a> {
    Cell { table: "push_devices", column: "token", row }
}

impl PushDevice {
    fn read(row: &row::Model, keys: &SecretKeys) -> Result<Self, StoreError> {
        let key = [row.user_id.as_str(), &row.device_id, &row.app];
        let token = keys.open_text(&token_cell(&key), &row.token)?;
        let corrupt = || StoreError::corrupt(format_args!("push device {} of {}", row.device_id, row.user_id));
        Ok(Self {
            key: PushKey {
                user_id: row.user_id.parse().map_err(|_| corrupt())?,
                app: App::from_name(&row.app).ok_or_else(corrupt)?,
                device_id: row.device_id.clone(),
            },
            sign_in_id: row.sign_in_id.parse().map_err(|_| corrupt())?,
            platform: PushPlatform::from_name(&row.platform).ok_or_else(corrupt)?,
            attrs: serde_json::from_str(&row.attrs).map_err(|_| corrupt())?,
            token,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Store {
    /// A registration, with its token.
    pub async fn push_device(&self, key: &PushKey) -> Result<Option<PushDevice>, StoreError> {
        let row = row::Entity::find().filter(is(key)).read_one(self.reader()).await?;
        row.map(|row| PushDevice::read(&row, self.secrets())).transpose()
    }

    /// A person's registrations, the one longest ago refreshed first.
    pub async fn push_devices(&self, user_id: UserId) -> Result<Vec<PushDevice>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .order_by_asc(row::Column::UpdatedAt)
            .order_by_asc(row::Column::DeviceId)
            .order_by_asc(row::Column::App)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(|row| PushDevice::read(&row, self.secrets())).collect()
    }

    /// The registrations of these people whose sign-ins still count at `now`, in the order of people and devices.
    pub(super) async fn push_devices_of(
        &self,
        user_ids: &[UserId],
        now: Timestamp,
    ) -> Result<Vec<PushDevice>, StoreError> {
        let counting = Query::select()
            .column("id")
            .from("sign_ins")
            .and_where(Expr::col("user_id").is_in(user_ids.iter().map(UserId::to_string)))
            .and_where(Expr::col("expires_at").gt(now.0))
            .to_owned();
        let rows = row::Entity::find()
            .filter(row::Column::UserId.is_in(user_ids.iter().map(UserId::to_string)))
            .filter(row::Column::SignInId.in_subquery(counting))
            .order_by_asc(row::Column::UserId)
            .order_by_asc(row::Column::DeviceId)
            .order_by_asc(row::Column::App)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(|row| PushDevice::read(&row, self.secrets())).collect()
    }
}

impl PushDevice {
    /// Where it is pushed to.
    pub fn target(&self) -> PushTarget {
        PushTarget { device_id: self.key.device_id.clone(), platform: self.platform, app: self.key.app }
    }
}

impl Change {
    /// Registers a device, or refreshes its registration. A token that was registered otherwise, by the same person or
    /// another who was signed in there before, is that no more.
    pub fn push_device_put(&mut self, device: &PushDevice) {
        use row::Column::{App, Attrs, DeviceId, Platform, SignInId, Token, TokenHash, UpdatedAt, UserId};

        let token_hash = push_token_hash(&device.token);
        let others = row::Entity::delete_many()
            .filter(row::Column::TokenHash.eq(token_hash.as_str()))
            .filter(is(&device.key).not());
        self.run(others, Expect::Any);
        let refreshed = OnConflict::columns([UserId, DeviceId, App])
            .update_columns([SignInId, Platform, Token, TokenHash, Attrs, UpdatedAt])
            .to_owned();
        let token = device.token.clone();
        let mut row = row::ActiveModel {
            user_id: Set(device.key.user_id.to_string()),
            device_id: Set(device.key.device_id.clone()),
            app: Set(device.key.app.to_string()),
            sign_in_id: Set(device.sign_in_id.to_string()),
            platform: Set(device.platform.to_string()),
            token_hash: Set(token_hash),
            attrs: Set(json::text(&device.attrs)),
            created_at: Set(device.created_at.0),
            updated_at: Set(device.updated_at.0),
            ..Default::default()
        };
        let key = [device.key.user_id.to_string(), device.key.device_id.clone(), device.key.app.to_string()];
        self.sealed(move |keys, change| {
            row.token = Set(keys.seal_text(&token_cell(&key.each_ref().map(String::as_str)), &token)?);
            change.run(row::Entity::insert(row).on_conflict(refreshed), Expect::Any);
            Ok(())
        });
    }

    /// Removes a registration.
    pub fn push_device_remove(&mut self, key: &PushKey) {
        self.run(row::Entity::delete_many().filter(is(key)), Expect::Any);
    }

    /// Removes a registration whose token its carrier knows no more, unless it has another by now.
    pub fn push_device_dead(&mut self, key: &PushKey, token: &str) {
        let is_this = is(key).and(row::Column::TokenHash.eq(push_token_hash(token)));
        self.run(row::Entity::delete_many().filter(is_this), Expect::Any);
    }

    /// Removes what a sign-in that ends registered.
    pub(crate) fn push_devices_end(&mut self, sign_in_id: SignInId) {
        self.run(row::Entity::delete_many().filter(row::Column::SignInId.eq(sign_in_id.to_string())), Expect::Any);
    }
}

impl Purge {
    /// What sign-ins registered that are gone or expired at `now` or before.
    pub fn push_devices(now: Timestamp) -> Self {
        const OF_NO_SIGN_IN: &str = "NOT EXISTS (SELECT 1 FROM sign_ins \
             WHERE sign_ins.id = push_devices.sign_in_id AND sign_ins.expires_at > $1)";
        Self::new("push devices", ["push_devices", "user_id, device_id, app", OF_NO_SIGN_IN], now.0)
    }
}

fn is(key: &PushKey) -> SimpleExpr {
    row::Column::UserId
        .eq(key.user_id.to_string())
        .and(row::Column::DeviceId.eq(key.device_id.as_str()))
        .and(row::Column::App.eq(key.app.as_str()))
}
