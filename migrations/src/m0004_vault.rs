//! The passwords vault (contract A 2.2): a person's account, vault, items, devices, log, and the signatures seen.
//!
//! A person has one vault, so everything hangs on the person: a `vaultId` is made on a device and unique for its owner
//! only. `vaults` holds what every change touches, `vault_accounts` what hardly ever changes.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in [accounts(), vaults(), items(), devices(), log(), signatures()] {
            schema.create_table(table).await?;
        }
        for index in [items_index(), log_index()] {
            schema.create_index(index).await?;
        }
        Ok(())
    }
}

fn accounts() -> TableCreateStatement {
    Table::create()
        .table("vault_accounts")
        .col(text("user_id").primary_key())
        .col(text("account_id"))
        .col(big_integer("kdf_m"))
        .col(big_integer("kdf_t"))
        .col(big_integer("kdf_p"))
        .col(text("kdf_salt"))
        .col(text("keyset"))
        .col(big_integer("keyset_revision"))
        .col(text("encryption_public_key"))
        .col(text("signing_public_key"))
        .col(big_integer_null("reset_requested_at"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take()
}

fn vaults() -> TableCreateStatement {
    Table::create()
        .table("vaults")
        .col(text("user_id").primary_key())
        .col(text("vault_id"))
        .col(big_integer("version"))
        .col(big_integer("revision"))
        .col(big_integer("item_count"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .col(big_integer("attrs_revision"))
        .col(text("attrs"))
        .col(text("envelope"))
        .take()
}

fn items() -> TableCreateStatement {
    Table::create()
        .table("vault_items")
        .col(text("user_id"))
        .col(text("item_id"))
        .col(big_integer("revision"))
        .col(boolean("deleted"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .col(text_null("key"))
        .col(text_null("overview"))
        .col(text_null("details"))
        .primary_key(Index::create().col("user_id").col("item_id"))
        .take()
}

/// Holds all that the index of a vault answers, so that reading it never touches a ciphertext.
fn items_index() -> IndexCreateStatement {
    Index::create()
        .name("vault_items_index")
        .table("vault_items")
        .col("user_id")
        .col("item_id")
        .col("revision")
        .col("deleted")
        .col("created_at")
        .take()
}

/// A removed device keeps its row, so that its id is never registered again.
fn devices() -> TableCreateStatement {
    Table::create()
        .table("vault_devices")
        .col(text("user_id"))
        .col(text("device_id"))
        .col(text("name"))
        .col(text("platform"))
        .col(big_integer("created_at"))
        .col(big_integer("last_seen_at"))
        .col(big_integer_null("removed_at"))
        .primary_key(Index::create().col("user_id").col("device_id"))
        .take()
}

/// `seq` orders the entries; AUTOINCREMENT, because cursors name it.
fn log() -> TableCreateStatement {
    Table::create()
        .table("vault_log")
        .col(big_integer("seq").primary_key().auto_increment())
        .col(text("user_id"))
        .col(text("event"))
        .col(big_integer("at"))
        .col(text_null("device_id"))
        .col(text_null("device_name"))
        .col(text_null("ip"))
        .col(text_null("user_agent"))
        .take()
}

fn log_index() -> IndexCreateStatement {
    Index::create().name("vault_log_person").table("vault_log").col("user_id").col("seq").take()
}

/// A signature counts once: its row is inserted in the same commit as what it signed.
fn signatures() -> TableCreateStatement {
    Table::create()
        .table("vault_signatures")
        .col(text("user_id"))
        .col(big_integer("signed_at"))
        .col(ColumnDef::new("signature").blob().not_null())
        .primary_key(Index::create().col("user_id").col("signed_at").col("signature"))
        .take()
}
