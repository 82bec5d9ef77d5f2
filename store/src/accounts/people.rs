//! People.

use domain::{Email, Timestamp, id::UserId, otp::OtpSecret};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::parsed;
use crate::{
    Change, Expect, SecretKeys, Store, StoreError,
    reader::Reads,
    secrets::{Cell, SecretError},
    sql::Sql,
};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "people")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub email: String,
        pub name: String,
        pub password_hash: String,
        pub password_change_due: bool,
        pub locale: Option<String>,
        pub time_zone: Option<String>,
        pub phone: Option<String>,
        pub otp_secret: Option<Vec<u8>>,
        pub otp_pending: Option<Vec<u8>>,
        pub otp_last_step: i64,
        pub version: i64,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A person.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// Their id.
    pub id: UserId,
    /// The address that they sign in with, unique.
    pub email: Email,
    /// What they are called.
    pub name: String,
    /// argon2id, as a PHC string.
    pub password_hash: String,
    /// Whether somebody else chose the password, so that they should choose their own.
    pub password_change_due: bool,
    /// Their language.
    pub locale: Option<String>,
    /// Their time zone.
    pub time_zone: Option<String>,
    /// Their telephone number, not confirmed.
    pub phone: Option<String>,
    /// The second factor, once it is confirmed.
    pub otp_secret: Option<OtpSecret>,
    /// A second factor that waits for its first code.
    pub otp_pending: Option<OtpSecret>,
    /// The step of the last accepted code: none of it or before is accepted again.
    pub otp_last_step: i64,
    /// Counts changes of this row.
    pub version: i64,
    /// Since when they have an account.
    pub created_at: Timestamp,
    /// When this row last changed.
    pub updated_at: Timestamp,
}

/// The cell of a person's second factor.
fn otp_cell<'a>(column: &'static str, id: &'a [&'a str; 1]) -> Cell<'a> {
    Cell { table: "people", column, row: id }
}

impl Person {
    fn read(row: row::Model, keys: &SecretKeys) -> Result<Self, StoreError> {
        let secret = |column, sealed: Option<Vec<u8>>| {
            let read = |sealed: Vec<u8>| {
                let bytes = keys.open(&otp_cell(column, &[&row.id]), &sealed)?;
                OtpSecret::from_bytes(&bytes).ok_or_else(|| StoreError::corrupt("people.otp"))
            };
            sealed.map(read).transpose()
        };
        let (otp_secret, otp_pending) =
            (secret("otp_secret", row.otp_secret)?, secret("otp_pending", row.otp_pending)?);
        Ok(Self {
            id: parsed("people.id", &row.id)?,
            email: parsed("people.email", &row.email)?,
            name: row.name,
            password_hash: row.password_hash,
            password_change_due: row.password_change_due,
            locale: row.locale,
            time_zone: row.time_zone,
            phone: row.phone,
            otp_secret,
            otp_pending,
            otp_last_step: row.otp_last_step,
            version: row.version,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }

    fn to_row(&self, keys: &SecretKeys) -> Result<row::ActiveModel, SecretError> {
        let id = self.id.to_string();
        let secret = |column, secret: &Option<OtpSecret>| {
            let seal = |secret: &OtpSecret| keys.seal(&otp_cell(column, &[&id]), secret.as_bytes());
            secret.as_ref().map(seal).transpose()
        };
        let (otp_secret, otp_pending) =
            (secret("otp_secret", &self.otp_secret)?, secret("otp_pending", &self.otp_pending)?);
        Ok(row::ActiveModel {
            id: Set(id),
            email: Set(self.email.to_string()),
            name: Set(self.name.clone()),
            password_hash: Set(self.password_hash.clone()),
            password_change_due: Set(self.password_change_due),
            locale: Set(self.locale.clone()),
            time_zone: Set(self.time_zone.clone()),
            phone: Set(self.phone.clone()),
            otp_secret: Set(otp_secret),
            otp_pending: Set(otp_pending),
            otp_last_step: Set(self.otp_last_step),
            version: Set(self.version),
            created_at: Set(self.created_at.0),
            updated_at: Set(self.updated_at.0),
        })
    }
}

impl Change {
    /// Adds a person; fails when the address is taken.
    pub fn person_add(&mut self, person: &Person) {
        let person = person.clone();
        self.sealed(move |keys, change| {
            change.insert(person.to_row(keys)?);
            Ok(())
        });
    }

    /// Writes `person`, whose `version` is the one that was read, over the row, which gets the next version.
    pub fn person_set(&mut self, person: &Person) {
        let person = person.clone();
        self.sealed(move |keys, change| {
            let mut row = person.to_row(keys)?;
            row.version = Set(person.version + 1);
            let update = row::Entity::update_many()
                .set(row)
                .filter(row::Column::Id.eq(person.id.to_string()))
                .filter(row::Column::Version.eq(person.version));
            change.run(update, Expect::Rows(1));
            Ok(())
        });
    }

    /// Counts the person's row up, so that whatever else is decided on the version that was read is decided again; stale when
    /// something else was faster.
    pub fn person_turn(&mut self, person: &Person) {
        self.run_statement(
            Sql::new(
                "UPDATE people SET version = version + 1 WHERE id = $1 AND version = $2",
                [person.id.to_string().into(), person.version.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Gives the person these recovery codes in place of the ones that they had.
    pub fn recovery_codes_set(&mut self, user_id: UserId, hashes: &[String]) {
        self.run_statement(
            Sql::new("DELETE FROM recovery_codes WHERE user_id = $1", [user_id.to_string().into()]),
            Expect::Any,
        );
        for hash in hashes {
            self.run_statement(
                Sql::new(
                    "INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)",
                    [user_id.to_string().into(), hash.as_str().into()],
                ),
                Expect::Rows(1),
            );
        }
    }

    /// Uses up one recovery code; stale when it is gone.
    pub fn recovery_code_spend(&mut self, user_id: UserId, hash: &str) {
        self.run_statement(
            Sql::new(
                "DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2",
                [user_id.to_string().into(), hash.into()],
            ),
            Expect::Rows(1),
        );
    }
}

mod recovery_code {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "recovery_codes")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub code_hash: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl Store {
    /// The person with this id.
    pub async fn person(&self, user_id: UserId) -> Result<Option<Person>, StoreError> {
        let row = row::Entity::find_by_id(user_id.to_string()).read_one(self.reader()).await?;
        row.map(|row| Person::read(row, self.secrets())).transpose()
    }

    /// The person with this address.
    pub async fn person_by_email(&self, email: &Email) -> Result<Option<Person>, StoreError> {
        let row = row::Entity::find()
            .filter(row::Column::Email.eq(email.as_str()))
            .read_one(self.credential_reader())
            .await?;
        row.map(|row| Person::read(row, self.secrets())).transpose()
    }

    /// Those of these people whom there are, in any order.
    pub(crate) async fn people_by_id(&self, user_ids: &[UserId]) -> Result<Vec<Person>, StoreError> {
        let ids = user_ids.iter().map(UserId::to_string);
        let rows = row::Entity::find().filter(row::Column::Id.is_in(ids)).read_all(self.reader()).await?;
        rows.into_iter().map(|row| Person::read(row, self.secrets())).collect()
    }

    /// Up to `limit` people in the order of their ids, after the one with the id `after`.
    pub async fn people(&self, after: Option<UserId>, limit: u64) -> Result<Vec<Person>, StoreError> {
        let mut select = row::Entity::find();
        if let Some(after) = after {
            select = select.filter(row::Column::Id.gt(after.to_string()));
        }
        let rows = select.order_by_asc(row::Column::Id).limit(limit).read_all(self.reader()).await?;
        rows.into_iter().map(|row| Person::read(row, self.secrets())).collect()
    }

    /// Whether the person has an unused recovery code with this hash.
    pub async fn recovery_code_exists(&self, user_id: UserId, hash: &str) -> Result<bool, StoreError> {
        let key = (user_id.to_string(), hash.to_owned());
        Ok(recovery_code::Entity::find_by_id(key).read_one(self.reader()).await?.is_some())
    }
}
