//! Hooks that alarms from outside come in by. One that was deleted has no row.

use domain::{
    Timestamp, TokenHash,
    id::{AlarmHookId, OrgId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "alarm_hooks")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub name: String,
        pub token_hash: Vec<u8>,
        pub created_by: String,
        pub created_at: i64,
        pub last_used_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmHook {
    /// Its id.
    pub id: AlarmHookId,
    /// The organization whose alarms come in by it.
    pub org_id: OrgId,
    /// What it is called.
    pub name: String,
    /// Who made it.
    pub created_by: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When something last came in by it, give or take a minute.
    pub last_used_at: Option<Timestamp>,
}

impl TryFrom<row::Model> for AlarmHook {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("alarm_hooks.id"))?,
            org_id: row.org_id.parse().map_err(|_| StoreError::corrupt("alarm_hooks.org_id"))?,
            name: row.name,
            created_by: row.created_by.parse().map_err(|_| StoreError::corrupt("alarm_hooks.created_by"))?,
            created_at: Timestamp(row.created_at),
            last_used_at: row.last_used_at.map(Timestamp),
        })
    }
}

impl Change {
    /// Adds a hook whose token has this hash.
    pub fn alarm_hook_add(&mut self, hook: &AlarmHook, token_hash: TokenHash) {
        self.insert(row::ActiveModel {
            id: Set(hook.id.to_string()),
            org_id: Set(hook.org_id.to_string()),
            name: Set(hook.name.clone()),
            token_hash: Set(token_hash.0.to_vec()),
            created_by: Set(hook.created_by.to_string()),
            created_at: Set(hook.created_at.0),
            last_used_at: Set(hook.last_used_at.map(|at| at.0)),
        });
    }

    /// Notes that something came in by the hook; stale when it is gone.
    pub fn alarm_hook_used(&mut self, id: AlarmHookId, now: Timestamp) {
        let statement = "UPDATE alarm_hooks SET last_used_at = $2 WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into()]), Expect::Rows(1));
    }

    /// Deletes a hook; stale when it is gone.
    pub fn alarm_hook_remove(&mut self, id: AlarmHookId) {
        let statement = "DELETE FROM alarm_hooks WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Rows(1));
    }
}

impl Store {
    /// The organization's hook with this id.
    pub async fn alarm_hook(&self, org_id: OrgId, id: AlarmHookId) -> Result<Option<AlarmHook>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .read_one(self.reader())
            .await?;
        row.map(AlarmHook::try_from).transpose()
    }

    /// The hook with this id that a token with this hash opens.
    pub async fn alarm_hook_by_token(
        &self,
        id: AlarmHookId,
        token: TokenHash,
    ) -> Result<Option<AlarmHook>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::TokenHash.eq(token.0.to_vec()))
            .read_one(self.reader())
            .await?;
        row.map(AlarmHook::try_from).transpose()
    }

    /// The organization's hooks, oldest first.
    pub async fn alarm_hooks(&self, org_id: OrgId) -> Result<Vec<AlarmHook>, StoreError> {
        let rows = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .order_by_asc(row::Column::Id)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(AlarmHook::try_from).collect()
    }
}
