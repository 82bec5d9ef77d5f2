//! Alerts that go on, which are told once until they are over; and what an organization has spent on texts and calls.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, boolean, text},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(alerts()).await?;
        schema.create_index(alerts_index()).await?;
        schema.create_table(text_budgets()).await
    }
}

/// `org_id` is empty for an alert of no organization. `told` are the people who have heard of it, as JSON.
fn alerts() -> TableCreateStatement {
    Table::create()
        .table("alerts")
        .col(text("org_id"))
        .col(text("dedup_key"))
        .col(big_integer("version"))
        .col(text("told"))
        .col(big_integer("opened_at"))
        .col(big_integer("last_at"))
        .primary_key(Index::create().col("org_id").col("dedup_key"))
        .take()
}

fn alerts_index() -> IndexCreateStatement {
    Index::create().name("alerts_last").table("alerts").col("last_at").take()
}

/// `day` counts from the Unix epoch. `told_most` and `told_all` say whether the owners have heard that 80 and 100 % of it
/// are spent.
fn text_budgets() -> TableCreateStatement {
    Table::create()
        .table("text_budgets")
        .col(text("org_id"))
        .col(big_integer("day"))
        .col(text("channel"))
        .col(big_integer("spent"))
        .col(boolean("told_most"))
        .col(boolean("told_all"))
        .primary_key(Index::create().col("org_id").col("day").col("channel"))
        .take()
}
