//! Sign-ins: a person on one app and platform, with a token. One that ended has no row.

use std::net::IpAddr;

use domain::{
    App, Platform, Timestamp, TokenHash,
    account::SignInEnd,
    id::{SignInId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::{named, parsed};
use crate::{
    Change, Expect, Purge, RevocationKind, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "sign_ins")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub user_id: String,
        pub token_hash: Vec<u8>,
        pub app: String,
        pub platform: String,
        pub install_id: Option<String>,
        pub ip: Option<String>,
        pub user_agent: Option<String>,
        pub created_at: i64,
        pub last_seen_at: i64,
        pub expires_at: i64,
        pub confirmed_until: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A sign-in.
#[derive(Clone, Debug, PartialEq)]
pub struct SignIn {
    /// Its id.
    pub id: SignInId,
    /// Whose it is.
    pub user_id: UserId,
    /// The app that it is bound to.
    pub app: App,
    /// The platform that it is bound to.
    pub platform: Platform,
    /// The app's install, where the app said so.
    pub install_id: Option<String>,
    /// The address that it was made from.
    pub ip: Option<IpAddr>,
    /// The program that it was made with.
    pub user_agent: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its token was last used, give or take an hour.
    pub last_seen_at: Timestamp,
    /// When it ends unless its token is used.
    pub expires_at: Timestamp,
    /// Until when the second factor counts as just shown.
    pub confirmed_until: Option<Timestamp>,
}

impl TryFrom<row::Model> for SignIn {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: parsed("sign_ins.id", &row.id)?,
            user_id: parsed("sign_ins.user_id", &row.user_id)?,
            app: named("sign_ins.app", App::from_name(&row.app))?,
            platform: named("sign_ins.platform", Platform::from_name(&row.platform))?,
            install_id: row.install_id,
            ip: row.ip.and_then(|ip| ip.parse().ok()),
            user_agent: row.user_agent,
            created_at: Timestamp(row.created_at),
            last_seen_at: Timestamp(row.last_seen_at),
            expires_at: Timestamp(row.expires_at),
            confirmed_until: row.confirmed_until.map(Timestamp),
        })
    }
}

impl Change {
    /// Adds a sign-in whose token has this hash.
    pub fn sign_in_add(&mut self, sign_in: &SignIn, token_hash: TokenHash) {
        self.insert(row::ActiveModel {
            id: Set(sign_in.id.to_string()),
            user_id: Set(sign_in.user_id.to_string()),
            token_hash: Set(token_hash.0.to_vec()),
            app: Set(sign_in.app.to_string()),
            platform: Set(sign_in.platform.to_string()),
            install_id: Set(sign_in.install_id.clone()),
            ip: Set(sign_in.ip.map(|ip| ip.to_string())),
            user_agent: Set(sign_in.user_agent.clone()),
            created_at: Set(sign_in.created_at.0),
            last_seen_at: Set(sign_in.last_seen_at.0),
            expires_at: Set(sign_in.expires_at.0),
            confirmed_until: Set(sign_in.confirmed_until.map(|until| until.0)),
        });
    }

    /// Notes that the second factor was shown on this sign-in; stale when it has ended. Every node hears of it.
    pub fn sign_in_confirm(&mut self, now: Timestamp, id: SignInId, until: Timestamp) {
        self.run_statement(
            Sql::new("UPDATE sign_ins SET confirmed_until = $2 WHERE id = $1", [id.to_string().into(), until.0.into()]),
            Expect::Rows(1),
        );
        self.revoke(now, RevocationKind::SignInChanged, &id);
    }

    /// Notes that the token was used; nothing happens when the sign-in has ended.
    pub fn sign_in_seen(&mut self, id: SignInId, now: Timestamp, expires_at: Timestamp) {
        self.run_statement(
            Sql::new(
                "UPDATE sign_ins SET last_seen_at = $2, expires_at = $3 WHERE id = $1 AND last_seen_at < $2",
                [id.to_string().into(), now.0.into(), expires_at.0.into()],
            ),
            Expect::Any,
        );
    }

    /// Ends a sign-in, on every node within a second, and what it registered for push messages with it; nothing happens
    /// when it has ended already.
    pub fn sign_in_end(&mut self, now: Timestamp, id: SignInId) {
        self.push_devices_end(id);
        self.live_activities_end(id);
        self.run_statement(Sql::new("DELETE FROM sign_ins WHERE id = $1", [id.to_string().into()]), Expect::Any);
        self.revoke(now, RevocationKind::SignIn, &id);
    }

    /// Ends a sign-in, and has whoever shows its token read why from now on.
    pub fn sign_in_end_because(&mut self, now: Timestamp, id: SignInId, end: SignInEnd) {
        self.run_statement(
            Sql::new(
                "INSERT INTO ended_sign_ins (token_hash, reason, ended_at) \
                 SELECT token_hash, $2, $3 FROM sign_ins WHERE id = $1 ON CONFLICT (token_hash) DO NOTHING",
                [id.to_string().into(), end.as_str().into(), now.0.into()],
            ),
            Expect::Any,
        );
        self.sign_in_end(now, id);
    }
}

impl Purge {
    /// The sign-ins that expired at `now` or before; their tokens count no more already.
    pub fn sign_ins(now: Timestamp) -> Self {
        Self::new("sign-ins", ["sign_ins", "id", "expires_at <= $1"], now.0)
    }

    /// Why sign-ins ended that ended before `before`.
    pub fn ended_sign_ins(before: Timestamp) -> Self {
        Self::new("ended sign-ins", ["ended_sign_ins", "token_hash", "ended_at < $1"], before.0)
    }
}

row! {
    struct EndedRow {
        reason: String,
    }
}

impl Store {
    /// Why the sign-in with this token was ended, where whoever shows it is to know.
    pub async fn sign_in_ended(&self, token: TokenHash) -> Result<Option<SignInEnd>, StoreError> {
        let sql = Sql::new("SELECT reason FROM ended_sign_ins WHERE token_hash = $1", [token.0.to_vec().into()]);
        let row: Option<EndedRow> = self.credential_reader().row(&sql).await?;
        row.map(|row| named("ended_sign_ins.reason", SignInEnd::from_name(&row.reason))).transpose()
    }

    /// The person's sign-in with this id, whether expired or not.
    pub async fn sign_in(&self, user_id: UserId, id: SignInId) -> Result<Option<SignIn>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .read_one(self.reader())
            .await?;
        row.map(SignIn::try_from).transpose()
    }

    /// The person's sign-ins, the newest first, expired ones included.
    pub async fn sign_ins(&self, user_id: UserId) -> Result<Vec<SignIn>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .order_by_desc(row::Column::Id)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(SignIn::try_from).collect()
    }
}
