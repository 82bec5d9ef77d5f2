//! Access keys of organizations. One that was deleted has no row.

use std::sync::Arc;

use domain::{
    Authority, Caller, Membership, OrgKind, Role, Timestamp,
    access_key::{ACCESS_KEY_SALT_LEN, Access, AccessKeyCaller, AccessKeyGrant, AccessKeyId, AccessKeySecret},
    id::{OrgId, ResourceId, UserId},
    storage::KeyPrefix,
};
use hmac::{Hmac, Mac};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use sha2::Sha256;

use super::{named, parsed};
use crate::{
    Change, Expect, RevocationKind, Store, StoreError, json,
    reader::{Reads, row as read_row},
    sql::Sql,
};

/// What a secret is made of, beside the server's own, the key's id and its salt.
const SECRET_LABEL: &[u8] = b"troupe-access-key/v1";
/// What the server's secret is recognized by is made of.
const MARK_LABEL: &[u8] = b"troupe-access-key/server/v1";
/// Bytes by which the server's secret is recognized.
const MARK_LEN: usize = 8;

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "access_keys")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub name: String,
        pub access: String,
        pub resources: Option<String>,
        pub prefix: Option<String>,
        pub salt: Vec<u8>,
        pub server: Vec<u8>,
        pub maker: String,
        pub created_at: i64,
        pub expires_at: Option<i64>,
        pub last_used_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// An access key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessKey {
    /// Its id.
    pub id: AccessKeyId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// What it is called.
    pub name: String,
    /// What it was given.
    pub grant: AccessKeyGrant,
    /// Who made it.
    pub maker: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When it stops working by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, give or take an hour.
    pub last_used_at: Option<Timestamp>,
}

/// What a program's signature is checked with, and what it may do, as both are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessKeyCredential {
    /// Which key it is.
    pub caller: AccessKeyCaller,
    /// Its secret.
    pub secret: AccessKeySecret,
    /// The part of its maker in the organization.
    pub maker: Membership,
    /// When it stops working by itself.
    pub expires_at: Option<Timestamp>,
    /// When its last use was last written down.
    pub last_used_at: Option<Timestamp>,
}

impl AccessKeyCredential {
    /// Whether it hasn't expired at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }

    /// Who calls with it, for the context of commands.
    pub fn caller(&self) -> Caller {
        Caller::AccessKey(self.caller.clone())
    }

    /// What it may do in its organization: what its maker may now, as far as it was given that.
    ///
    /// # Errors
    /// As [`Authority::of`] says.
    pub fn authority(&self) -> domain::Result<Authority> {
        Authority::of(&self.caller(), self.caller.org_id, Some(self.maker))
    }
}

fn grant(access: &str, resources: Option<&str>, prefix: Option<String>) -> Result<AccessKeyGrant, StoreError> {
    let prefix = prefix.map(KeyPrefix::parse).transpose();
    Ok(AccessKeyGrant {
        access: named("access_keys.access", Access::from_name(access))?,
        resources: resources.map(|text| json::read::<Vec<ResourceId>>("access_keys.resources", text)).transpose()?,
        prefix: prefix.map_err(|_| StoreError::corrupt("access_keys.prefix"))?,
    })
}

impl TryFrom<row::Model> for AccessKey {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: parsed("access_keys.id", &row.id)?,
            org_id: parsed("access_keys.org_id", &row.org_id)?,
            name: row.name,
            grant: grant(&row.access, row.resources.as_deref(), row.prefix)?,
            maker: parsed("access_keys.maker", &row.maker)?,
            created_at: Timestamp(row.created_at),
            expires_at: row.expires_at.map(Timestamp),
            last_used_at: row.last_used_at.map(Timestamp),
        })
    }
}

read_row! {
    struct CredentialRow {
        org_id: String,
        access: String,
        resources: Option<String>,
        prefix: Option<String>,
        salt: Vec<u8>,
        server: Vec<u8>,
        maker: String,
        expires_at: Option<i64>,
        last_used_at: Option<i64>,
        role: String,
        kind: String,
    }
}

read_row! {
    struct Counted {
        keys: i64,
    }
}

impl Change {
    /// Deletes an access key, on every node within a second; stale when it is gone.
    pub fn access_key_remove(&mut self, now: Timestamp, id: AccessKeyId) {
        let sql = Sql::new("DELETE FROM access_keys WHERE id = $1", [id.to_string().into()]);
        self.run_statement(sql, Expect::Rows(1));
        self.revoke(now, RevocationKind::Key, &id);
    }

    /// Notes that an access key was used; nothing happens when it is gone.
    pub fn access_key_used(&mut self, id: AccessKeyId, now: Timestamp) {
        let statement = "UPDATE access_keys SET last_used_at = $2 WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into()]), Expect::Any);
    }
}

impl Store {
    /// Adds an access key to a change; its secret, which follows from the salt.
    pub fn access_key_add(
        &self,
        change: &mut Change,
        key: &AccessKey,
        salt: [u8; ACCESS_KEY_SALT_LEN],
    ) -> AccessKeySecret {
        change.insert(row::ActiveModel {
            id: Set(key.id.to_string()),
            org_id: Set(key.org_id.to_string()),
            name: Set(key.name.clone()),
            access: Set(key.grant.access.as_str().to_owned()),
            resources: Set(key.grant.resources.as_ref().map(json::text)),
            prefix: Set(key.grant.prefix.as_ref().map(|prefix| prefix.as_str().to_owned())),
            salt: Set(salt.to_vec()),
            server: Set(self.server_mark()),
            maker: Set(key.maker.to_string()),
            created_at: Set(key.created_at.0),
            expires_at: Set(key.expires_at.map(|at| at.0)),
            last_used_at: Set(key.last_used_at.map(|at| at.0)),
        });
        self.access_key_secret(key.id, &salt)
    }

    /// What a signature with this access key is checked with. Nothing when the key was never made, was deleted or was made
    /// under another secret of the server, or when its maker has no part in its organization any more.
    pub async fn access_key_credential(&self, id: AccessKeyId) -> Result<Option<AccessKeyCredential>, StoreError> {
        let sql = Sql::new(
            "SELECT k.org_id, k.access, k.resources, k.prefix, k.salt, k.server, k.maker, k.expires_at, k.last_used_at, \
             m.role, o.kind FROM access_keys k JOIN organizations o ON o.id = k.org_id \
             JOIN members m ON m.org_id = k.org_id AND m.user_id = k.maker WHERE k.id = $1",
            [id.to_string().into()],
        );
        let Some(row) = self.credential_reader().row::<CredentialRow>(&sql).await? else { return Ok(None) };
        if row.server != self.server_mark() {
            return Ok(None);
        }
        let (org_id, user_id) = (parsed("access_keys.org_id", &row.org_id)?, parsed("access_keys.maker", &row.maker)?);
        let role = named("members.role", Role::from_name(&row.role))?;
        let kind = named("organizations.kind", OrgKind::from_name(&row.kind))?;
        let grant = Arc::new(grant(&row.access, row.resources.as_deref(), row.prefix)?);
        Ok(Some(AccessKeyCredential {
            caller: AccessKeyCaller { id, org_id, maker: user_id, grant },
            secret: self.access_key_secret(id, &row.salt),
            maker: Membership { org_id, user_id, role, kind },
            expires_at: row.expires_at.map(Timestamp),
            last_used_at: row.last_used_at.map(Timestamp),
        }))
    }

    /// The organization's access key with this id.
    pub async fn access_key(&self, org_id: OrgId, id: AccessKeyId) -> Result<Option<AccessKey>, StoreError> {
        let select = row::Entity::find_by_id(id.to_string()).filter(row::Column::OrgId.eq(org_id.to_string()));
        select.read_one(self.reader()).await?.map(AccessKey::try_from).transpose()
    }

    /// The organization's access keys, the oldest first.
    pub async fn access_keys(&self, org_id: OrgId) -> Result<Vec<AccessKey>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .order_by_asc(row::Column::CreatedAt)
            .order_by_asc(row::Column::Id)
            .limit(domain::access_key::ACCESS_KEYS_MAX);
        select.read_all(self.reader()).await?.into_iter().map(AccessKey::try_from).collect()
    }

    /// How many access keys the organization has.
    pub async fn access_keys_count(&self, org_id: OrgId) -> Result<u64, StoreError> {
        row::Entity::find().filter(row::Column::OrgId.eq(org_id.to_string())).read_count(self.reader()).await
    }

    /// The organization's access keys that this person made.
    pub async fn access_keys_made_by(&self, org_id: OrgId, maker: UserId) -> Result<Vec<AccessKeyId>, StoreError> {
        let select = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::Maker.eq(maker.to_string()));
        let rows: Vec<row::Model> = select.read_all(self.reader()).await?;
        rows.iter().map(|row| parsed("access_keys.id", &row.id)).collect()
    }

    /// How many access keys were made under another secret of the server, so that nobody can sign with them any more.
    pub async fn access_keys_lost(&self) -> Result<u64, StoreError> {
        let sql = Sql::new("SELECT COUNT(*) AS keys FROM access_keys WHERE server <> $1", [self.server_mark().into()]);
        let counted: Option<Counted> = self.reader().row(&sql).await?;
        Ok(counted.map_or(0, |counted| u64::try_from(counted.keys).unwrap_or(0)))
    }

    fn access_key_secret(&self, id: AccessKeyId, salt: &[u8]) -> AccessKeySecret {
        AccessKeySecret::from_bytes(self.server_mac(&[SECRET_LABEL, id.as_str().as_bytes(), salt]))
    }

    /// What the server's secret is recognized by, and from which neither it nor any key's follows.
    fn server_mark(&self) -> Vec<u8> {
        self.server_mac(&[MARK_LABEL])[..MARK_LEN].to_vec()
    }

    fn server_mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac: Hmac<Sha256> = self.blobs().signer().clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}
