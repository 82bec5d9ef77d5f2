//! The sign-in that each device of a vault syncs over; and why sign-ins were ended, for whoever still shows their tokens.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, blob, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let column = Table::alter().table("vault_devices").add_column(text_null("sign_in_id")).take();
        schema.alter_table(column).await?;
        schema.create_table(ended_sign_ins()).await?;
        let index = Index::create().name("ended_sign_ins_at").table("ended_sign_ins").col("ended_at").take();
        schema.create_index(index).await
    }
}

/// A sign-in that ended has no row of its own; this one is found by what its token's hash was.
fn ended_sign_ins() -> TableCreateStatement {
    Table::create()
        .table("ended_sign_ins")
        .col(blob("token_hash").primary_key())
        .col(text("reason"))
        .col(big_integer("ended_at"))
        .take()
}
