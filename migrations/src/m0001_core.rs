//! What every area uses: timers, outbox, live messages, audit trail, idempotency keys, revocations, kept messages.
//!
//! Times are milliseconds since the Unix epoch. `wake_at` and `not_before` say when a row is to be looked at next: what
//! it is due at first, the end of the lease once somebody claimed it. One index then serves every question about it.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, blob_null, integer, integer_null, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for mut table in
            [timers(), outbox(), live_messages(), live_cursors(), audit(), idempotency(), revocations(), kept()]
        {
            schema.create_table(table.take()).await?;
        }
        for mut index in indices() {
            schema.create_index(index.take()).await?;
        }
        Ok(())
    }
}

fn timers() -> TableCreateStatement {
    Table::create()
        .table("timers")
        .col(text("kind"))
        .col(text("key"))
        .col(text("name"))
        .col(big_integer("due"))
        .col(big_integer("wake_at"))
        .col(text_null("claimed_by"))
        .primary_key(Index::create().col("kind").col("key").col("name"))
        .take()
}

/// `seq` orders what is dispatched; AUTOINCREMENT, because a number must never come again. `user_id` is set where the
/// entries of one person keep their order.
fn outbox() -> TableCreateStatement {
    Table::create()
        .table("outbox")
        .col(big_integer("seq").primary_key().auto_increment())
        .col(text("topic"))
        .col(text("lane"))
        .col(text_null("user_id"))
        .col(text("payload"))
        .col(big_integer("created_at"))
        .col(integer("attempts").default(0))
        .col(big_integer("not_before").default(0))
        .col(text_null("claimed_by"))
        .col(text_null("last_error"))
        .take()
}

/// `source` is the outbox entry that a message came from, so that none is appended twice.
fn live_messages() -> TableCreateStatement {
    Table::create()
        .table("live_messages")
        .col(text("user_id"))
        .col(big_integer("seq"))
        .col(text("body"))
        .col(big_integer("created_at"))
        .col(big_integer("source"))
        .primary_key(Index::create().col("user_id").col("seq"))
        .take()
}

fn live_cursors() -> TableCreateStatement {
    Table::create().table("live_cursors").col(text("user_id").primary_key()).col(big_integer("seq")).take()
}

/// The columns of the contract's `AuditEvent` (contract A 2.4).
fn audit() -> TableCreateStatement {
    Table::create()
        .table("audit")
        .col(text("id").primary_key())
        .col(text_null("org_id"))
        .col(text("action"))
        .col(text("actor_type"))
        .col(text("actor_id"))
        .col(text_null("actor_label"))
        .col(text("target_type"))
        .col(text("target_id"))
        .col(text_null("target_label"))
        .col(text_null("metadata"))
        .col(text_null("ip"))
        .col(text_null("user_agent"))
        .col(big_integer("created_at"))
        .take()
}

fn idempotency() -> TableCreateStatement {
    Table::create()
        .table("idempotency")
        .col(text("id").primary_key())
        .col(text("caller"))
        .col(text("key"))
        .col(text("fingerprint"))
        .col(text("state"))
        .col(integer_null("status"))
        .col(text_null("headers"))
        .col(blob_null("body"))
        .col(big_integer("created_at"))
        .col(big_integer("claimed_until"))
        .take()
}

fn revocations() -> TableCreateStatement {
    Table::create()
        .table("revocations")
        .col(big_integer("seq").primary_key().auto_increment())
        .col(text("kind"))
        .col(text("target_id"))
        .col(big_integer("at"))
        .take()
}

fn kept() -> TableCreateStatement {
    Table::create()
        .table("kept_messages")
        .col(text("id").primary_key())
        .col(text("gateway"))
        .col(text("channel"))
        .col(text("recipient"))
        .col(text_null("subject"))
        .col(text("body"))
        .col(big_integer("created_at"))
        .take()
}

fn indices() -> Vec<IndexCreateStatement> {
    let index = |table: &'static str, columns: &[&'static str]| {
        let mut index = Index::create();
        index.name(format!("{table}_{}", columns.join("_"))).table(table);
        for column in columns {
            index.col(*column);
        }
        index.take()
    };
    vec![
        index("timers", &["wake_at"]),
        index("outbox", &["lane", "not_before", "seq"]),
        index("outbox", &["user_id", "seq"]),
        index("live_messages", &["source"]).unique().take(),
        index("live_messages", &["created_at"]),
        index("audit", &["org_id", "id"]),
        index("idempotency", &["caller", "key"]).unique().take(),
        index("idempotency", &["created_at"]),
        index("revocations", &["at"]),
        index("kept_messages", &["created_at"]),
    ]
}
