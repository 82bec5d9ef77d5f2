//! The account and the vault, without items and devices.

use domain::{
    id::UserId,
    time::Timestamp,
    vault::{Account, AccountId, Kdf, Reset, Sealed, SigningKey, VaultId, VaultRecord},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    sea_query::{Expr, ExprTrait, SimpleExpr},
};

use super::{device, item};
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, ReadsTwo},
};

mod account_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "vault_accounts")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub account_id: String,
        pub kdf_m: i64,
        pub kdf_t: i64,
        pub kdf_p: i64,
        pub kdf_salt: String,
        pub keyset: String,
        pub keyset_revision: i64,
        pub encryption_public_key: String,
        pub signing_public_key: String,
        pub reset_requested_at: Option<i64>,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl Related<super::vault_row::Entity> for Entity {
        fn to() -> RelationDef {
            Entity::belongs_to(super::vault_row::Entity)
                .from(Column::UserId)
                .to(super::vault_row::Column::UserId)
                .into()
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod vault_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "vaults")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub vault_id: String,
        pub version: i64,
        pub revision: i64,
        pub item_count: i64,
        pub created_at: i64,
        pub updated_at: i64,
        pub attrs_revision: i64,
        pub attrs: String,
        pub envelope: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The vault that somebody decided on: whose, and at which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaultSeen {
    /// The owner.
    pub user_id: UserId,
    /// The version. Rises with every change of anything in the vault.
    pub version: i64,
}

impl VaultSeen {
    /// The vault that `user_id` makes now.
    ///
    /// Its versions start above those of any vault that the person had before, so that nobody takes the new one for
    /// the old: the milliseconds since 1970, times more changes than fit into one.
    pub fn first(user_id: UserId, now: Timestamp) -> Self {
        const CHANGES_PER_MILLISECOND: i64 = 1 << 20;
        Self { user_id, version: now.as_millis().saturating_mul(CHANGES_PER_MILLISECOND) }
    }

    /// The vault after the next change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { version: self.version + 1, ..self }
    }

    fn is_current(self) -> SimpleExpr {
        vault_row::Column::UserId.eq(self.user_id.to_string()).and(vault_row::Column::Version.eq(self.version))
    }
}

/// Account, vault and reset as they stand together.
#[derive(Clone, Debug)]
pub struct StoredVault {
    /// The account.
    pub account: Account,
    /// The vault.
    pub record: VaultRecord,
    /// The reset that was asked for.
    pub reset: Option<Reset>,
    /// What a change has to name.
    pub seen: VaultSeen,
}

/// The least that tells which vault a person has and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaultHead {
    /// Which vault.
    pub vault_id: VaultId,
    /// Counts the requests that changed an item.
    pub revision: i64,
    /// What a change has to name.
    pub seen: VaultSeen,
}

impl Store {
    /// A person's account and vault.
    pub async fn vault(&self, user_id: UserId) -> Result<Option<StoredVault>, StoreError> {
        let found = account_row::Entity::find_by_id(user_id.to_string())
            .find_also_related(vault_row::Entity)
            .read_one(self.reader())
            .await?;
        match found {
            Some((account, Some(vault))) => read(user_id, account, vault).map(Some),
            Some((_, None)) => Err(StoreError::corrupt(format_args!("account of {user_id} without a vault"))),
            None => Ok(None),
        }
    }

    /// Which vault a person has and where it stands.
    pub async fn vault_head(&self, user_id: UserId) -> Result<Option<VaultHead>, StoreError> {
        let found: Option<(String, i64, i64)> = vault_row::Entity::find_by_id(user_id.to_string())
            .select_only()
            .columns([vault_row::Column::VaultId, vault_row::Column::Revision, vault_row::Column::Version])
            .read_columns(self.reader())
            .await?;
        let head = |(vault_id, revision, version): (String, i64, i64)| {
            let vault_id = vault_id.parse().map_err(|_| StoreError::corrupt("vaults.vault_id"))?;
            Ok(VaultHead { vault_id, revision, seen: VaultSeen { user_id, version } })
        };
        found.map(head).transpose()
    }
}

impl Change {
    /// Makes account and vault; stale when the person has one.
    pub fn vault_create(&mut self, seen: VaultSeen, account: &Account, record: &VaultRecord) {
        let user_id = seen.user_id.to_string();
        self.insert(account_row_of(user_id.clone(), account).into_active_model());
        self.insert(vault_row_of(user_id, seen.version, record).into_active_model());
    }

    /// Raises the vault's version; stale when another change came first.
    ///
    /// What is added to the same change, and what was answered to the client, then rests on the version seen.
    pub fn vault_confirm(&mut self, seen: VaultSeen) {
        let update = vault_row::Entity::update_many()
            .col_expr(vault_row::Column::Version, Expr::value(seen.next().version))
            .filter(seen.is_current());
        self.run(update, Expect::Rows(1));
    }

    /// Raises the vault's version and notes where its items stand; stale when another change came first.
    pub fn vault_items_changed(&mut self, seen: VaultSeen, record: &VaultRecord) {
        let update = vault_row::Entity::update_many()
            .set(vault_row::ActiveModel {
                version: Set(seen.next().version),
                revision: Set(record.revision),
                item_count: Set(record.item_count.cast_signed()),
                updated_at: Set(record.updated_at.0),
                ..Default::default()
            })
            .filter(seen.is_current());
        self.run(update, Expect::Rows(1));
    }

    /// Writes the account's key set. Guard it with [`vault_confirm`](Self::vault_confirm).
    pub fn vault_keyset_put(&mut self, user_id: UserId, account: &Account) {
        let row = account_row_of(user_id.to_string(), account);
        let update = account_row::Entity::update_many()
            .set(account_row::ActiveModel {
                kdf_m: Set(row.kdf_m),
                kdf_t: Set(row.kdf_t),
                kdf_p: Set(row.kdf_p),
                kdf_salt: Set(row.kdf_salt),
                keyset: Set(row.keyset),
                keyset_revision: Set(row.keyset_revision),
                updated_at: Set(row.updated_at),
                ..Default::default()
            })
            .filter(account_row::Column::UserId.eq(row.user_id));
        self.run(update, Expect::Rows(1));
    }

    /// Notes or forgets a reset. Guard it with [`vault_confirm`](Self::vault_confirm).
    pub fn vault_reset_put(&mut self, user_id: UserId, reset: Option<Reset>) {
        let requested_at = reset.map(|reset| reset.requested_at.0);
        let update = account_row::Entity::update_many()
            .col_expr(account_row::Column::ResetRequestedAt, Expr::value(requested_at))
            .filter(account_row::Column::UserId.eq(user_id.to_string()));
        self.run(update, Expect::Rows(1));
    }

    /// Deletes the vault with its account, items and devices; the log and the signatures seen stay. Stale when another
    /// change came first.
    pub fn vault_delete(&mut self, seen: VaultSeen) {
        let user_id = seen.user_id.to_string();
        self.run(vault_row::Entity::delete_many().filter(seen.is_current()), Expect::Rows(1));
        self.run(
            account_row::Entity::delete_many().filter(account_row::Column::UserId.eq(user_id.as_str())),
            Expect::Rows(1),
        );
        item::delete_all(self, &user_id);
        device::delete_all(self, &user_id);
    }
}

fn account_row_of(user_id: String, account: &Account) -> account_row::Model {
    account_row::Model {
        user_id,
        account_id: account.account_id.as_str().to_owned(),
        kdf_m: account.kdf.m.cast_signed(),
        kdf_t: account.kdf.t.cast_signed(),
        kdf_p: account.kdf.p.cast_signed(),
        kdf_salt: account.kdf_salt.clone(),
        keyset: account.keyset.as_str().to_owned(),
        keyset_revision: account.keyset_revision,
        encryption_public_key: account.encryption_public_key.clone(),
        signing_public_key: account.signing_key.to_string(),
        reset_requested_at: None,
        created_at: account.created_at.0,
        updated_at: account.updated_at.0,
    }
}

fn vault_row_of(user_id: String, version: i64, record: &VaultRecord) -> vault_row::Model {
    vault_row::Model {
        user_id,
        vault_id: record.vault_id.to_string(),
        version,
        revision: record.revision,
        item_count: record.item_count.cast_signed(),
        created_at: record.created_at.0,
        updated_at: record.updated_at.0,
        attrs_revision: record.attrs_revision,
        attrs: record.attrs.as_str().to_owned(),
        envelope: record.envelope.as_str().to_owned(),
    }
}

fn read(user_id: UserId, account: account_row::Model, vault: vault_row::Model) -> Result<StoredVault, StoreError> {
    let corrupt = |what: &str| StoreError::corrupt(format_args!("{what} of {user_id}"));
    let whole = |number: i64| u64::try_from(number).map_err(|_| corrupt("a number below zero"));
    let signing_key = SigningKey::from_stored(&account.signing_public_key).map_err(|_| corrupt("signing key"))?;
    Ok(StoredVault {
        account: Account {
            account_id: AccountId::from_stored(account.account_id),
            kdf: Kdf { m: whole(account.kdf_m)?, t: whole(account.kdf_t)?, p: whole(account.kdf_p)? },
            kdf_salt: account.kdf_salt,
            keyset: Sealed::from_json_text(account.keyset),
            keyset_revision: account.keyset_revision,
            encryption_public_key: account.encryption_public_key,
            signing_key,
            created_at: Timestamp(account.created_at),
            updated_at: Timestamp(account.updated_at),
        },
        record: VaultRecord {
            vault_id: vault.vault_id.parse().map_err(|_| corrupt("vault id"))?,
            envelope: Sealed::from_json_text(vault.envelope),
            attrs: Sealed::from_json_text(vault.attrs),
            attrs_revision: vault.attrs_revision,
            revision: vault.revision,
            item_count: whole(vault.item_count)?,
            created_at: Timestamp(vault.created_at),
            updated_at: Timestamp(vault.updated_at),
        },
        reset: account.reset_requested_at.map(|at| Reset { requested_at: Timestamp(at) }),
        seen: VaultSeen { user_id, version: vault.version },
    })
}
