//! The authenticator backup: one row per person.

use domain::{
    backup::{Backup, BackupHead},
    id::UserId,
    time::Timestamp,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    sea_query::{ExprTrait, SimpleExpr},
};

use crate::{Change, Expect, Store, StoreError, reader::Reads};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "backups")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub salt: String,
        pub ciphertext: String,
        pub revision: i64,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl From<row::Model> for Backup {
    fn from(row: row::Model) -> Self {
        Self {
            salt: row.salt,
            ciphertext: row.ciphertext,
            revision: row.revision,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        }
    }
}

impl Store {
    /// A person's backup.
    pub async fn backup(&self, user_id: UserId) -> Result<Option<Backup>, StoreError> {
        let found = row::Entity::find_by_id(user_id.to_string()).read_one(self.reader()).await?;
        Ok(found.map(Backup::from))
    }

    /// What is known of a person's backup without its text.
    pub async fn backup_head(&self, user_id: UserId) -> Result<Option<BackupHead>, StoreError> {
        let found: Option<(i64, i64)> = row::Entity::find_by_id(user_id.to_string())
            .select_only()
            .columns([row::Column::Revision, row::Column::CreatedAt])
            .read_columns(self.reader())
            .await?;
        Ok(found.map(|(revision, created_at)| BackupHead { revision, created_at: Timestamp(created_at) }))
    }
}

impl Change {
    /// Saves `backup` over `seen`; stale when the backup is another by now.
    pub fn backup_save(&mut self, user_id: UserId, seen: Option<BackupHead>, backup: &Backup) {
        let row = row::Model {
            user_id: user_id.to_string(),
            salt: backup.salt.clone(),
            ciphertext: backup.ciphertext.clone(),
            revision: backup.revision,
            created_at: backup.created_at.0,
            updated_at: backup.updated_at.0,
        };
        let Some(seen) = seen else {
            return self.insert(row.into_active_model());
        };
        let update = row::Entity::update_many()
            .set(row::ActiveModel {
                salt: Set(row.salt),
                ciphertext: Set(row.ciphertext),
                revision: Set(row.revision),
                updated_at: Set(row.updated_at),
                ..Default::default()
            })
            .filter(is(user_id, seen));
        self.run(update, Expect::Rows(1));
    }

    /// Deletes the backup `seen`; stale when the backup is another by now.
    pub fn backup_delete(&mut self, user_id: UserId, seen: BackupHead) {
        self.run(row::Entity::delete_many().filter(is(user_id, seen)), Expect::Rows(1));
    }
}

/// The revision starts anew after a deletion, so that the time of the first tells one history from the next.
fn is(user_id: UserId, seen: BackupHead) -> SimpleExpr {
    row::Column::UserId
        .eq(user_id.to_string())
        .and(row::Column::Revision.eq(seen.revision))
        .and(row::Column::CreatedAt.eq(seen.created_at.0))
}
