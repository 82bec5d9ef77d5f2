//! Where a person has signed in from: install ids and addresses.

use domain::{Timestamp, id::UserId};
use sea_orm::EntityTrait;

use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "seen_places")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub place: String,
        pub seen_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl Change {
    /// Remembers that the person signed in from `place`.
    pub fn place_seen(&mut self, now: Timestamp, user_id: UserId, place: &str) {
        self.run_statement(
            Sql::new(
                "INSERT INTO seen_places (user_id, place, seen_at) VALUES ($1, $2, $3) \
                 ON CONFLICT (user_id, place) DO UPDATE SET seen_at = excluded.seen_at",
                [user_id.to_string().into(), place.into(), now.0.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Forgets the person's places that were last seen before `before`.
    pub fn places_purge(&mut self, user_id: UserId, before: Timestamp) {
        self.run_statement(
            Sql::new(
                "DELETE FROM seen_places WHERE user_id = $1 AND seen_at < $2",
                [user_id.to_string().into(), before.0.into()],
            ),
            Expect::Any,
        );
    }
}

impl Store {
    /// Whether the person has signed in from `place`.
    pub async fn place_is_known(&self, user_id: UserId, place: &str) -> Result<bool, StoreError> {
        let key = (user_id.to_string(), place.to_owned());
        Ok(row::Entity::find_by_id(key).read_one(self.reader()).await?.is_some())
    }
}
