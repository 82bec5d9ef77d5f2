//! Notification protocols, what they are attached to, and on-call rotas (contract A 2.3).
//!
//! `protocol_books` has a row for each organization that ever had a protocol or a rota. Whatever changes about them counts
//! its `version` up, so that two nodes never both decide on one state: neither on how many there are, nor on whether a rota
//! is in use.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in [books(), protocols(), attachments(), rotas()] {
            schema.create_table(table).await?;
        }
        for index in [protocols_index(), attachments_index(), rotas_index()] {
            schema.create_index(index).await?;
        }
        Ok(())
    }
}

fn books() -> TableCreateStatement {
    Table::create().table("protocol_books").col(text("org_id").primary_key()).col(big_integer("version")).take()
}

/// `warned_at` is when its organization's owners last heard that it reaches nobody.
fn protocols() -> TableCreateStatement {
    Table::create()
        .table("protocols")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("name"))
        .col(text_null("description"))
        .col(boolean("enabled"))
        .col(text("rules"))
        .col(text("created_by"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .col(big_integer_null("warned_at"))
        .take()
}

fn protocols_index() -> IndexCreateStatement {
    Index::create().name("protocols_org").table("protocols").col("org_id").col("id").take()
}

/// The key starts with what events ask for: the organization and what the event happened in.
fn attachments() -> TableCreateStatement {
    Table::create()
        .table("protocol_attachments")
        .col(text("org_id"))
        .col(text("resource_type"))
        .col(text("resource_id"))
        .col(text("protocol_id"))
        .col(text_null("label"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("org_id").col("resource_type").col("resource_id").col("protocol_id"))
        .take()
}

fn attachments_index() -> IndexCreateStatement {
    Index::create().name("protocol_attachments_of").table("protocol_attachments").col("protocol_id").take()
}

fn rotas() -> TableCreateStatement {
    Table::create()
        .table("rotas")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("name"))
        .col(text("people"))
        .col(text("handover"))
        .col(text("time_zone"))
        .col(big_integer("start_at"))
        .col(big_integer("start_place"))
        .col(text("overrides"))
        .col(text("created_by"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .take()
}

fn rotas_index() -> IndexCreateStatement {
    Index::create().name("rotas_org").table("rotas").col("org_id").col("id").take()
}
