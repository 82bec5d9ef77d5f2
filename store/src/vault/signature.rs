//! The signatures seen: each counts once.

use domain::{id::UserId, time::Timestamp};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};

use crate::{Change, Expect, Purge, Store, StoreError, reader::Reads};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "vault_signatures")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub signed_at: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub signature: Vec<u8>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A signature that was accepted. Sorts by when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenSignature {
    /// When it was made, by the device's clock.
    pub signed_at: Timestamp,
    /// The signature.
    pub bytes: [u8; 64],
}

impl Store {
    /// The signatures that were accepted of a person and not forgotten since.
    pub async fn vault_signatures(&self, user_id: UserId) -> Result<Vec<SeenSignature>, StoreError> {
        let rows =
            row::Entity::find().filter(row::Column::UserId.eq(user_id.to_string())).read_all(self.reader()).await?;
        rows.into_iter()
            .map(|row| {
                let bytes = row.signature.try_into().map_err(|_| StoreError::corrupt("vault_signatures.signature"))?;
                Ok(SeenSignature { signed_at: Timestamp(row.signed_at), bytes })
            })
            .collect()
    }
}

impl Change {
    /// Remembers an accepted signature; a duplicate when it was accepted before.
    pub fn vault_signature_add(&mut self, user_id: UserId, seen: SeenSignature) {
        self.insert(row::ActiveModel {
            user_id: Set(user_id.to_string()),
            signed_at: Set(seen.signed_at.0),
            signature: Set(seen.bytes.to_vec()),
        });
    }

    /// Forgets a person's signatures made before `before`.
    pub fn vault_signatures_forget(&mut self, user_id: UserId, before: Timestamp) {
        let stale = row::Entity::delete_many()
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .filter(row::Column::SignedAt.lt(before.0));
        self.run(stale, Expect::Any);
    }
}

impl Purge {
    /// Everybody's signatures made before `before`.
    pub fn vault_signatures(before: Timestamp) -> Self {
        const KEY: &str = "user_id, signed_at, signature";
        Self::new("vault signatures", ["vault_signatures", KEY, "signed_at < $1"], before.0)
    }
}
