//! Mailboxes of organizations (contract B 2.7): their addresses, and who opens them.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        for mut table in [directories(), mailboxes(), members()] {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE UNIQUE INDEX mailboxes_addresses ON mailboxes (address) WHERE deleted_at IS NULL",
            "CREATE INDEX mailboxes_of_org ON mailboxes (org_id, id)",
            "CREATE INDEX mail_members_of_person ON mail_members (org_id, user_id, mailbox_id)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// Each commit counts the `revision` up, so that two nodes never both decide on one state.
fn directories() -> TableCreateStatement {
    Table::create().table("mail_directories").col(text("org_id").primary_key()).col(big_integer("revision")).take()
}

/// A mailbox that is `deleted_at` some time is out of sight, and its address is free; what is in it is deleted afterwards.
fn mailboxes() -> TableCreateStatement {
    Table::create()
        .table("mailboxes")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("address"))
        .col(text("display_name"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .col(big_integer_null("deleted_at"))
        .take()
}

/// `place` is the member's in the list that was sent.
fn members() -> TableCreateStatement {
    Table::create()
        .table("mail_members")
        .col(text("mailbox_id"))
        .col(text("user_id"))
        .col(text("org_id"))
        .col(big_integer("place"))
        .primary_key(Index::create().col("mailbox_id").col("user_id"))
        .take()
}
