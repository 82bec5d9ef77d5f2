//! API keys of organizations. One that was deleted has no row.

use domain::{
    KeyKind, ScopeSet, Timestamp, TokenHash,
    git::{MACHINES_MAX, MachineId},
    id::{KeyId, OrgId, UserId},
    key::{scopes_from_text, scopes_to_text},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};

use super::{named, parsed};
use crate::{Change, Expect, Purge, RevocationKind, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "api_keys")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub name: String,
        pub kind: String,
        pub scopes: String,
        pub token_hash: Vec<u8>,
        pub hint: String,
        pub maker: String,
        pub created_at: i64,
        pub expires_at: Option<i64>,
        pub last_used_at: Option<i64>,
        pub machine_id: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A key.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub kind: KeyKind,
    /// What it may do, as far as its maker may.
    pub scopes: ScopeSet,
    /// The secret's last characters, to recognize it by.
    pub hint: String,
    /// Who made it.
    pub maker: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When it stops working by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, give or take an hour.
    pub last_used_at: Option<Timestamp>,
    /// The machine that uses git with it, where it is one's (contract C 4.3).
    pub machine_id: Option<MachineId>,
}

impl TryFrom<row::Model> for Key {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let machine_id = row
            .machine_id
            .map(|text| MachineId::parse("machineId", &text).map_err(|_| StoreError::corrupt("api_keys.machine_id")));
        Ok(Self {
            id: parsed("api_keys.id", &row.id)?,
            org_id: parsed("api_keys.org_id", &row.org_id)?,
            name: row.name,
            kind: named("api_keys.kind", KeyKind::from_name(&row.kind))?,
            scopes: scopes_from_text(&row.scopes),
            hint: row.hint,
            maker: parsed("api_keys.maker", &row.maker)?,
            created_at: Timestamp(row.created_at),
            expires_at: row.expires_at.map(Timestamp),
            last_used_at: row.last_used_at.map(Timestamp),
            machine_id: machine_id.transpose()?,
        })
    }
}

impl Change {
    /// Adds a key whose secret has this hash.
    pub fn key_add(&mut self, key: &Key, token_hash: TokenHash) {
        self.insert(row::ActiveModel {
            id: Set(key.id.to_string()),
            org_id: Set(key.org_id.to_string()),
            name: Set(key.name.clone()),
            kind: Set(key.kind.as_str().to_owned()),
            scopes: Set(scopes_to_text(key.scopes)),
            token_hash: Set(token_hash.0.to_vec()),
            hint: Set(key.hint.clone()),
            maker: Set(key.maker.to_string()),
            created_at: Set(key.created_at.0),
            expires_at: Set(key.expires_at.map(|at| at.0)),
            last_used_at: Set(key.last_used_at.map(|at| at.0)),
            machine_id: Set(key.machine_id.as_ref().map(|id| id.as_str().to_owned())),
        });
    }

    /// Notes that the key was used; nothing happens when it is gone.
    pub fn key_used(&mut self, id: KeyId, now: Timestamp) {
        self.run_statement(
            Sql::new("UPDATE api_keys SET last_used_at = $2 WHERE id = $1", [id.to_string().into(), now.0.into()]),
            Expect::Any,
        );
    }

    /// Deletes a key, on every node within a second; stale when it is gone.
    pub fn key_remove(&mut self, now: Timestamp, id: KeyId) {
        self.run_statement(Sql::new("DELETE FROM api_keys WHERE id = $1", [id.to_string().into()]), Expect::Rows(1));
        self.revoke(now, RevocationKind::Key, &id);
    }
}

impl Purge {
    /// The keys of machines that ended at `now` or before; they count no more already.
    pub fn machine_keys(now: Timestamp) -> Self {
        Self::new("keys of machines", ["api_keys", "id", "machine_id IS NOT NULL AND expires_at <= $1"], now.0)
    }
}

fn of_no_machine(org_id: OrgId) -> Select<row::Entity> {
    row::Entity::find().filter(row::Column::OrgId.eq(org_id.to_string())).filter(row::Column::MachineId.is_null())
}

fn of_machines(org_id: OrgId, maker: UserId) -> Select<row::Entity> {
    row::Entity::find()
        .filter(row::Column::OrgId.eq(org_id.to_string()))
        .filter(row::Column::Maker.eq(maker.to_string()))
        .filter(row::Column::MachineId.is_not_null())
}

impl Store {
    /// The organization's key with this id.
    pub async fn key(&self, org_id: OrgId, id: KeyId) -> Result<Option<Key>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .read_one(self.reader())
            .await?;
        row.map(Key::try_from).transpose()
    }

    /// Up to `limit` keys, oldest first, after the one with the id `after`.
    pub async fn keys(&self, org_id: OrgId, after: Option<KeyId>, limit: u64) -> Result<Vec<Key>, StoreError> {
        let mut select = row::Entity::find().filter(row::Column::OrgId.eq(org_id.to_string()));
        if let Some(after) = after {
            select = select.filter(row::Column::Id.gt(after.to_string()));
        }
        let rows = select.order_by_asc(row::Column::Id).limit(limit).read_all(self.reader()).await?;
        rows.into_iter().map(Key::try_from).collect()
    }

    /// How many keys the organization has, without those of machines.
    pub async fn keys_count(&self, org_id: OrgId) -> Result<u64, StoreError> {
        of_no_machine(org_id).read_count(self.reader()).await
    }

    /// Up to `limit` ids of the organization's keys, without those of machines.
    pub async fn key_ids(&self, org_id: OrgId, limit: u64) -> Result<Vec<KeyId>, StoreError> {
        let rows: Vec<row::Model> = of_no_machine(org_id).limit(limit).read_all(self.reader()).await?;
        rows.iter().map(|row| parsed("api_keys.id", &row.id)).collect()
    }

    /// The keys of this person's machines that are still good at `now`, oldest first.
    pub async fn machine_keys(&self, org_id: OrgId, maker: UserId, now: Timestamp) -> Result<Vec<Key>, StoreError> {
        let select = of_machines(org_id, maker)
            .filter(row::Column::ExpiresAt.gt(now.0))
            .order_by_asc(row::Column::Id)
            .limit(MACHINES_MAX);
        select.read_all(self.reader()).await?.into_iter().map(Key::try_from).collect()
    }

    /// The machine's key with this id, whosever it is.
    pub async fn key_of_machine(&self, id: KeyId) -> Result<Option<Key>, StoreError> {
        let select = row::Entity::find_by_id(id.to_string()).filter(row::Column::MachineId.is_not_null());
        select.read_one(self.reader()).await?.map(Key::try_from).transpose()
    }

    /// The key of this person's machine, good or not.
    pub async fn machine_key(
        &self,
        org_id: OrgId,
        maker: UserId,
        machine_id: &MachineId,
    ) -> Result<Option<Key>, StoreError> {
        let select = of_machines(org_id, maker).filter(row::Column::MachineId.eq(machine_id.as_str()));
        select.read_one(self.reader()).await?.map(Key::try_from).transpose()
    }

    /// The organization's keys that this person made.
    pub async fn keys_made_by(&self, org_id: OrgId, maker: UserId) -> Result<Vec<KeyId>, StoreError> {
        let rows: Vec<row::Model> = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::Maker.eq(maker.to_string()))
            .read_all(self.reader())
            .await?;
        rows.iter().map(|row| parsed("api_keys.id", &row.id)).collect()
    }
}
