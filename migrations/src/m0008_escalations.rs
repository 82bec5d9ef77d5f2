//! Escalations: what protocols do about events, and who was told when, over what, and why not.
//!
//! `open_key` is set while events with the same `dedupKey` belong to the escalation, and unique, so that two nodes never
//! start two for one alarm. `source` names the event, so that none is escalated twice.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in [escalations(), tellings()] {
            schema.create_table(table).await?;
        }
        let indexes =
            [open_index(), source_index(), list_index(), state_index(), protocol_index(), dedup_index(), told_index()];
        for index in indexes {
            schema.create_index(index).await?;
        }
        Ok(())
    }
}

fn escalations() -> TableCreateStatement {
    Table::create()
        .table("escalations")
        .col(text("id").primary_key())
        .col(big_integer("version"))
        .col(text("org_id"))
        .col(text("protocol_id"))
        .col(text("protocol_name"))
        .col(text("source"))
        .col(boolean("is_test"))
        .col(text("kind"))
        .col(text("title"))
        .col(text_null("body"))
        .col(text_null("url"))
        .col(text("concerned"))
        .col(text("rules"))
        .col(text("progress"))
        .col(big_integer_null("next_at"))
        .col(text("state"))
        .col(text_null("dedup_key"))
        .col(text_null("open_key"))
        .col(big_integer("event_count"))
        .col(text("last_title"))
        .col(big_integer("last_event_at"))
        .col(text_null("handed_to"))
        .col(text_null("acked_by"))
        .col(text_null("acked_via"))
        .col(big_integer_null("acked_at"))
        .col(text_null("end_reason"))
        .col(big_integer_null("ended_at"))
        .col(big_integer("event_at"))
        .col(big_integer("created_at"))
        .take()
}

fn open_index() -> IndexCreateStatement {
    Index::create().name("escalations_open").table("escalations").col("open_key").unique().take()
}

fn source_index() -> IndexCreateStatement {
    Index::create().name("escalations_source").table("escalations").col("source").col("protocol_id").unique().take()
}

fn list_index() -> IndexCreateStatement {
    Index::create().name("escalations_org").table("escalations").col("org_id").col("id").take()
}

fn state_index() -> IndexCreateStatement {
    Index::create().name("escalations_state").table("escalations").col("org_id").col("state").col("id").take()
}

fn protocol_index() -> IndexCreateStatement {
    Index::create().name("escalations_protocol").table("escalations").col("protocol_id").col("state").take()
}

fn dedup_index() -> IndexCreateStatement {
    Index::create().name("escalations_dedup").table("escalations").col("dedup_key").col("org_id").take()
}

/// One row for each channel over which somebody was told, or would have been. `place` is the step's place in the plan;
/// none for what came between steps.
fn tellings() -> TableCreateStatement {
    Table::create()
        .table("escalation_tellings")
        .col(big_integer("seq").primary_key().auto_increment())
        .col(text("escalation_id"))
        .col(text("occasion"))
        .col(big_integer_null("place"))
        .col(text_null("user_id"))
        .col(text_null("channel"))
        .col(text_null("delivery_id"))
        .col(big_integer_null("held_until"))
        .col(text_null("why_not"))
        .col(big_integer("at"))
        .take()
}

fn told_index() -> IndexCreateStatement {
    Index::create().name("escalation_tellings_of").table("escalation_tellings").col("escalation_id").col("seq").take()
}
