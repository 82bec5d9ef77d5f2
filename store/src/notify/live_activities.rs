//! Live activities of iPhone apps: tokens that start one, and tokens that update one. They go with their sign-in.

use domain::{
    App, Timestamp,
    id::{OrgId, SignInId, UserId},
    notify::LiveEnvironment,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
    sea_query::{ExprTrait, OnConflict, SimpleExpr},
};
use serde::{Deserialize, Serialize};

use crate::{Change, Expect, Purge, SecretKeys, Store, StoreError, json, reader::Reads, secrets::Cell};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "live_activities")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub install_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub app: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub activity_id: String,
        pub sign_in_id: String,
        pub environment: String,
        pub bundle_id: String,
        pub token: String,
        pub attrs: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Which registration of a person's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveActivityKey {
    /// Whose.
    pub user_id: UserId,
    /// The install id of the phone.
    pub install_id: String,
    /// The app there.
    pub app: App,
    /// The running activity; nothing for the token that starts activities.
    pub activity_id: Option<String>,
}

/// What a registration says beside its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum LiveActivityAttrs {
    /// Of a token that starts activities.
    Start {
        /// The flights whose activities run on the phone.
        running: Vec<String>,
        /// Whether it wants activities of cars.
        cars: Option<bool>,
    },
    /// Of a token that updates a flight's activity.
    Activity {
        /// The organization that it belongs to.
        org_id: OrgId,
        /// The flight.
        hex: String,
        /// The watch that it shows.
        watch_id: Option<String>,
        /// Whether the app started it itself.
        local: Option<bool>,
    },
}

/// A registered token of a live activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveActivity {
    /// Which it is.
    pub key: LiveActivityKey,
    /// The sign-in that it goes with.
    pub sign_in_id: SignInId,
    /// Which of Apple's servers knows the token.
    pub environment: LiveEnvironment,
    /// The app's name with Apple.
    pub bundle_id: String,
    /// The token. Never shown.
    pub token: String,
    /// What it says beside.
    pub attrs: LiveActivityAttrs,
    /// Since when it is registered.
    pub created_at: Timestamp,
    /// When it last registered.
    pub updated_at: Timestamp,
}

/// The cell of a registration's token.
fn token_cell<'a>(row: &'a [&'a str; 4]) -> Cell<'a> {
    Cell { table: "live_activities", column: "token", row }
}

impl LiveActivity {
    fn read(row: row::Model, keys: &SecretKeys) -> Result<Self, StoreError> {
        let key = [row.user_id.as_str(), &row.install_id, &row.app, &row.activity_id];
        let token = keys.open_text(&token_cell(&key), &row.token)?;
        let corrupt = || StoreError::corrupt(format_args!("live activity of {}", row.user_id));
        Ok(Self {
            key: LiveActivityKey {
                user_id: row.user_id.parse().map_err(|_| corrupt())?,
                install_id: row.install_id,
                app: App::from_name(&row.app).ok_or_else(corrupt)?,
                activity_id: Some(row.activity_id).filter(|id| !id.is_empty()),
            },
            sign_in_id: row.sign_in_id.parse().map_err(|_| corrupt())?,
            environment: LiveEnvironment::from_name(&row.environment).ok_or_else(corrupt)?,
            bundle_id: row.bundle_id,
            token,
            attrs: serde_json::from_str(&row.attrs).map_err(|_| corrupt())?,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Store {
    /// A person's registrations, the one longest ago refreshed first.
    pub async fn live_activities(&self, user_id: UserId) -> Result<Vec<LiveActivity>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .order_by_asc(row::Column::UpdatedAt)
            .order_by_asc(row::Column::InstallId)
            .order_by_asc(row::Column::ActivityId)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(|row| LiveActivity::read(row, self.secrets())).collect()
    }
}

impl Change {
    /// Registers a token, or refreshes its registration.
    pub fn live_activity_put(&mut self, activity: &LiveActivity) {
        use row::Column::{
            ActivityId, App, Attrs, BundleId, Environment, InstallId, SignInId, Token, UpdatedAt, UserId,
        };
        let key = &activity.key;
        let token = activity.token.clone();
        let refreshed = OnConflict::columns([UserId, InstallId, App, ActivityId])
            .update_columns([SignInId, Environment, BundleId, Token, Attrs, UpdatedAt])
            .to_owned();
        let mut row = row::ActiveModel {
            user_id: Set(key.user_id.to_string()),
            install_id: Set(key.install_id.clone()),
            app: Set(key.app.to_string()),
            activity_id: Set(key.activity_id.clone().unwrap_or_default()),
            sign_in_id: Set(activity.sign_in_id.to_string()),
            environment: Set(activity.environment.to_string()),
            bundle_id: Set(activity.bundle_id.clone()),
            attrs: Set(json::text(&activity.attrs)),
            created_at: Set(activity.created_at.0),
            updated_at: Set(activity.updated_at.0),
            ..Default::default()
        };
        let activity_id = key.activity_id.clone().unwrap_or_default();
        let key = [key.user_id.to_string(), key.install_id.clone(), key.app.to_string(), activity_id];
        self.sealed(move |keys, change| {
            row.token = Set(keys.seal_text(&token_cell(&key.each_ref().map(String::as_str)), &token)?);
            change.run(row::Entity::insert(row).on_conflict(refreshed), Expect::Any);
            Ok(())
        });
    }

    /// Removes a registration.
    pub fn live_activity_remove(&mut self, key: &LiveActivityKey) {
        self.run(row::Entity::delete_many().filter(is(key)), Expect::Any);
    }

    /// Removes what a sign-in that ends registered.
    pub(crate) fn live_activities_end(&mut self, sign_in_id: SignInId) {
        self.run(row::Entity::delete_many().filter(row::Column::SignInId.eq(sign_in_id.to_string())), Expect::Any);
    }
}

impl Purge {
    /// What sign-ins registered that are gone or expired at `now` or before.
    pub fn live_activities(now: Timestamp) -> Self {
        const OF_NO_SIGN_IN: &str = "NOT EXISTS (SELECT 1 FROM sign_ins \
             WHERE sign_ins.id = live_activities.sign_in_id AND sign_ins.expires_at > $1)";
        const KEY: &str = "user_id, install_id, app, activity_id";
        Self::new("live activities", ["live_activities", KEY, OF_NO_SIGN_IN], now.0)
    }
}

fn is(key: &LiveActivityKey) -> SimpleExpr {
    row::Column::UserId
        .eq(key.user_id.to_string())
        .and(row::Column::InstallId.eq(key.install_id.as_str()))
        .and(row::Column::App.eq(key.app.as_str()))
        .and(row::Column::ActivityId.eq(key.activity_id.as_deref().unwrap_or_default()))
}
