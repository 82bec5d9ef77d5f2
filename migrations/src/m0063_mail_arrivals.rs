//! Mail that came in and is not filed yet, and the bytes of messages as they came.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob_null, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let mut arrivals = arrivals();
        if schema.get_database_backend() == DbBackend::Sqlite {
            arrivals.extra("WITHOUT ROWID");
        }
        schema.create_table(raw()).await?;
        schema.create_table(arrivals).await?;
        for statement in [
            "CREATE INDEX mail_raw_loose ON mail_raw (loose_at) WHERE loose_at IS NOT NULL",
            "CREATE INDEX mail_arrivals_of_mailbox ON mail_arrivals (mailbox_id, arrival_id)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// The bytes of a message, by their SHA-256: in the row, or above 128 KB in a blob. `refs` counts the arrivals and messages that
/// name them; `loose_at` is since when none does.
fn raw() -> TableCreateStatement {
    Table::create()
        .table("mail_raw")
        .col(text("raw_id").primary_key())
        .col(big_integer("size"))
        .col(blob_null("bytes"))
        .col(text_null("blob_key"))
        .col(big_integer("created_at"))
        .col(big_integer("refs"))
        .col(big_integer_null("loose_at"))
        .take()
}

/// A message on its way into a mailbox. `envelope_from` is empty for the null sender, `head` are the lines that stand before the
/// bytes when they are read, `verdict` is JSON.
fn arrivals() -> TableCreateStatement {
    Table::create()
        .table("mail_arrivals")
        .col(text("arrival_id").primary_key())
        .col(text("org_id"))
        .col(text("mailbox_id"))
        .col(text("raw_id"))
        .col(text("envelope_from"))
        .col(text("envelope_to"))
        .col(big_integer("received_at"))
        .col(text("head"))
        .col(text("verdict"))
        .col(big_integer("tries").default(0))
        .take()
}
