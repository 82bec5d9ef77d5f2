//! Telephone numbers: which are confirmed, and the codes that confirm them.

use domain::{Timestamp, id::UserId};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, sea_query::OnConflict,
};

use crate::{Change, Expect, Purge, Store, StoreError, json, reader::Reads};

pub(super) mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "confirmed_phones")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub phone: String,
        pub confirmed_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod code {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "phone_codes")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub phone: String,
        pub code_hash: Option<String>,
        pub expires_at: i64,
        pub tries: i32,
        pub sent_at: String,
        pub version: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What is known of the codes that a person had texted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneCode {
    /// The number that the last one went to.
    pub phone: String,
    /// Its hash, until it was used or tried too often.
    pub code_hash: Option<String>,
    /// When it can no longer be used.
    pub expires_at: Timestamp,
    /// How often another was tried in its place.
    pub tries: u32,
    /// When codes were sent, lately.
    pub sent_at: Vec<Timestamp>,
    /// Counts changes; nothing was stored yet at 0.
    pub version: i64,
}

impl TryFrom<code::Model> for PhoneCode {
    type Error = StoreError;

    fn try_from(row: code::Model) -> Result<Self, StoreError> {
        let sent_at = serde_json::from_str(&row.sent_at).map_err(|_| StoreError::corrupt("phone_codes.sent_at"))?;
        Ok(Self {
            phone: row.phone,
            code_hash: row.code_hash,
            expires_at: Timestamp(row.expires_at),
            tries: u32::try_from(row.tries).map_err(StoreError::corrupt)?,
            sent_at,
            version: row.version,
        })
    }
}

impl Store {
    /// The number that a person confirmed, where it is still theirs.
    pub async fn confirmed_phone(&self, user_id: UserId) -> Result<Option<String>, StoreError> {
        let confirmed = row::Entity::find_by_id(user_id.to_string()).read_one(self.reader()).await?;
        let Some(confirmed) = confirmed else { return Ok(None) };
        let phone = self.person(user_id).await?.and_then(|person| person.phone);
        Ok(phone.filter(|phone| *phone == confirmed.phone))
    }

    /// What is known of the codes that a person had texted.
    pub async fn phone_code(&self, user_id: UserId) -> Result<Option<PhoneCode>, StoreError> {
        let row = code::Entity::find_by_id(user_id.to_string()).read_one(self.reader()).await?;
        row.map(PhoneCode::try_from).transpose()
    }
}

impl Change {
    /// Notes that a person confirmed this number.
    pub fn phone_confirm(&mut self, user_id: UserId, phone: &str, now: Timestamp) {
        let row = row::ActiveModel {
            user_id: Set(user_id.to_string()),
            phone: Set(phone.to_owned()),
            confirmed_at: Set(now.0),
        };
        let another = OnConflict::column(row::Column::UserId)
            .update_columns([row::Column::Phone, row::Column::ConfirmedAt])
            .to_owned();
        self.run(row::Entity::insert(row).on_conflict(another), Expect::Any);
    }

    /// Notes that a person's number is another, or none.
    pub fn phone_unconfirm(&mut self, user_id: UserId) {
        self.run(row::Entity::delete_many().filter(row::Column::UserId.eq(user_id.to_string())), Expect::Any);
    }

    /// Writes what is known of a person's codes over what was read; stale when it is something else by now.
    pub fn phone_code_set(&mut self, user_id: UserId, code: &PhoneCode) {
        let row = code::Model {
            user_id: user_id.to_string(),
            phone: code.phone.clone(),
            code_hash: code.code_hash.clone(),
            expires_at: code.expires_at.0,
            tries: i32::try_from(code.tries).unwrap_or(i32::MAX),
            sent_at: json::text(&code.sent_at),
            version: code.version + 1,
        };
        if code.version == 0 {
            return self.insert(row.into_active_model());
        }
        let whole = row.into_active_model().reset_all();
        let update = code::Entity::update_many()
            .set(whole)
            .filter(code::Column::UserId.eq(user_id.to_string()))
            .filter(code::Column::Version.eq(code.version));
        self.run(update, Expect::Rows(1));
    }
}

impl Purge {
    /// The codes that expired at `before` or earlier.
    pub fn phone_codes(before: Timestamp) -> Self {
        Self::new("phone codes", ["phone_codes", "user_id", "expires_at <= $1"], before.0)
    }
}
