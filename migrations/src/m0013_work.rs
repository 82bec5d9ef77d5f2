//! The work queue: what is to be done once, under a lease, in turns by tenant.
//!
//! `wake_at` says when a row is to be looked at next: when it is due, the end of the lease once somebody claimed it, the
//! end of time once it was given up. `tenant` is the id of the organization or the person whose work it is, or empty for
//! Troupe's own. Deliveries and timers are claimed by the same statement as `work`, and get the same columns.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, boolean, integer, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(work()).await?;
        for statement in [
            "INSERT INTO work (seq, topic, tenant, payload, wake_at, attempts, last_error, created_at) \
             SELECT seq, topic, COALESCE(user_id, ''), payload, not_before, attempts, last_error, created_at FROM outbox",
            "DELETE FROM outbox",
            "CREATE INDEX work_due ON work (topic, wake_at, seq)",
            "CREATE INDEX work_turns ON work (topic, tenant, wake_at, seq)",
            "CREATE INDEX work_dead ON work (created_at) WHERE wake_at = 9223372036854775807",
            "CREATE UNIQUE INDEX work_key ON work (topic, key) WHERE key IS NOT NULL",
            "ALTER TABLE deliveries ADD COLUMN tenant TEXT NOT NULL DEFAULT ''",
            "CREATE INDEX deliveries_turns ON deliveries (lane, tenant, wake_at) WHERE lane IS NOT NULL",
            "ALTER TABLE timers ADD COLUMN tenant TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE timers ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0",
            "UPDATE timers SET tenant = key WHERE key LIKE 'org!_%' ESCAPE '!' OR key LIKE 'usr!_%' ESCAPE '!'",
            "UPDATE timers SET tenant = COALESCE((SELECT org_id FROM escalations WHERE id = timers.key), '') \
             WHERE kind = 'escalation'",
            "CREATE INDEX timers_due ON timers (kind, wake_at)",
            "CREATE INDEX timers_turns ON timers (kind, tenant, wake_at)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        schema.get_connection().execute_unprepared(going_on(schema.get_database_backend())).await?;
        Ok(())
    }
}

/// Has `seq` go on far behind the outbox's: live messages remember which entry they came from, and what an older node still
/// writes into the outbox must not carry the number of another entry.
fn going_on(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "SELECT setval(pg_get_serial_sequence('work', 'seq'), last_value + 1000000000) \
             FROM outbox_seq_seq WHERE is_called"
        }
        _ => {
            "DELETE FROM sqlite_sequence WHERE name = 'work'; \
             INSERT INTO sqlite_sequence (name, seq) \
             SELECT 'work', seq + 1000000000 FROM sqlite_sequence WHERE name = 'outbox'"
        }
    }
}

/// `seq` orders what is dispatched; AUTOINCREMENT, because a number must never come again. `fence` counts the claims of a
/// row and is never set back, unlike `attempts`.
fn work() -> TableCreateStatement {
    Table::create()
        .table("work")
        .col(big_integer("seq").primary_key().auto_increment())
        .col(text("topic"))
        .col(text("tenant"))
        .col(text_null("key"))
        .col(text("payload"))
        .col(big_integer("wake_at").default(0))
        .col(text_null("claimed_by"))
        .col(integer("attempts").default(0))
        .col(big_integer("fence").default(0))
        .col(text_null("progress"))
        .col(boolean("cancelled").default(false))
        .col(text_null("last_error"))
        .col(big_integer("created_at"))
        .take()
}
