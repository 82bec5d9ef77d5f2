//! Deliveries of notices: one row per message, channel and address (decisions, "Notifications", "Deliveries").
//!
//! `lane` names whom a row waits for: the hands of its channel, `held` while quiet hours hold it back, nobody once it is
//! settled. `wake_at` says when it is to be looked at next: when it is due, or when the lease of who claimed it ends.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, integer, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(deliveries()).await?;
        // Most rows are settled and most have no code: none of these indices holds more than what is looked for in it.
        for index in [
            "CREATE INDEX deliveries_waiting ON deliveries (lane, wake_at) WHERE lane IS NOT NULL",
            "CREATE INDEX deliveries_held ON deliveries (user_id, wake_at) WHERE lane = 'held'",
            "CREATE INDEX deliveries_notice ON deliveries (notice_id) WHERE notice_id IS NOT NULL",
            "CREATE INDEX deliveries_escalation ON deliveries (escalation_id) WHERE escalation_id IS NOT NULL",
            "CREATE INDEX deliveries_code ON deliveries (ack_code, address) WHERE ack_code IS NOT NULL",
            "CREATE INDEX deliveries_created ON deliveries (created_at)",
        ] {
            schema.get_connection().execute_unprepared(index).await?;
        }
        Ok(())
    }
}

fn deliveries() -> TableCreateStatement {
    Table::create()
        .table("deliveries")
        .col(text("id").primary_key())
        .col(text("user_id"))
        .col(text_null("notice_id"))
        .col(text_null("escalation_id"))
        .col(text("channel"))
        .col(text_null("address"))
        .col(text_null("platform"))
        .col(text_null("app"))
        .col(text("state"))
        .col(text_null("lane"))
        .col(big_integer("wake_at"))
        .col(text_null("claimed_by"))
        .col(big_integer_null("hold_until"))
        .col(integer("attempts").default(0))
        .col(text_null("error"))
        .col(text_null("provider_id"))
        .col(text_null("ack_code"))
        .col(boolean("urgent"))
        .col(text("title"))
        .col(text_null("body"))
        .col(text_null("url"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .col(big_integer_null("delivered_at"))
        .take()
}
