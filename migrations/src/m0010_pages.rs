//! Notes pages (contract B 2.6): the tree, content and its versions, comments, relations between rows of databases, and
//! the documents that are edited together.
//!
//! `page_trees` has a row for each organization that ever had a page. Whatever changes about the tree counts its
//! `revision` up, so that two nodes never both decide on one state. A page's content lies apart from its row, so that
//! lists never read it.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, blob_null, boolean, boolean_null, double, integer, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in
            [trees(), pages(), contents(), versions(), comments(), relations(), live_documents(), live_updates()]
        {
            schema.create_table(table).await?;
        }
        for index in indices() {
            schema.create_index(index).await?;
        }
        Ok(())
    }
}

fn trees() -> TableCreateStatement {
    Table::create().table("page_trees").col(text("org_id").primary_key()).col(big_integer("revision")).take()
}

/// `is_row` says whether the parent is a database. `archived_with` is the page whose archiving took this one along, none
/// for a page that was archived itself.
fn pages() -> TableCreateStatement {
    Table::create()
        .table("pages")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text_null("parent_id"))
        .col(text("kind"))
        .col(boolean("is_row"))
        .col(text("title"))
        .col(text_null("icon"))
        .col(boolean_null("full_width"))
        .col(double("position"))
        .col(big_integer_null("archived_at"))
        .col(text_null("archived_with"))
        .col(big_integer("content_version"))
        .col(text_null("properties"))
        .col(text_null("schema"))
        .col(text_null("views"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .col(text("created_by"))
        .col(big_integer("updated_at"))
        .col(text_null("updated_by"))
        .take()
}

/// What a page says now; there is none before the first time that somebody wrote it.
fn contents() -> TableCreateStatement {
    Table::create()
        .table("page_contents")
        .col(text("page_id").primary_key())
        .col(big_integer("version"))
        .col(text_null("blocks"))
        .col(text("markdown"))
        .col(big_integer("updated_at"))
        .col(text_null("updated_by"))
        .take()
}

/// What a page said once: written at `created_at`, and kept at `kept_at` because something else took its place.
fn versions() -> TableCreateStatement {
    Table::create()
        .table("page_versions")
        .col(text("page_id"))
        .col(big_integer("version"))
        .col(text("title"))
        .col(text_null("blocks"))
        .col(text("markdown"))
        .col(big_integer("created_at"))
        .col(text_null("created_by"))
        .col(big_integer("kept_at"))
        .primary_key(Index::create().col("page_id").col("version"))
        .take()
}

/// `thread_id` is the comment that this one answers, none for one that begins a thread.
fn comments() -> TableCreateStatement {
    Table::create()
        .table("page_comments")
        .col(text("id").primary_key())
        .col(text("page_id"))
        .col(text("org_id"))
        .col(text_null("block_id"))
        .col(text_null("thread_id"))
        .col(text("body"))
        .col(text("mentions"))
        .col(text("created_by"))
        .col(big_integer("created_at"))
        .col(big_integer_null("edited_at"))
        .col(big_integer_null("resolved_at"))
        .col(text_null("resolved_by"))
        .col(big_integer("version"))
        .take()
}

/// That the row `row_id` names `target_id` in the property `property_id` of its database, at `place` among others.
fn relations() -> TableCreateStatement {
    Table::create()
        .table("page_relations")
        .col(text("database_id"))
        .col(text("property_id"))
        .col(text("row_id"))
        .col(text("target_id"))
        .col(integer("place").default(0))
        .primary_key(Index::create().col("row_id").col("property_id").col("target_id"))
        .take()
}

/// The document that is edited together: `epoch` names its history, `snapshot` holds what was folded `folds` times.
fn live_documents() -> TableCreateStatement {
    Table::create()
        .table("page_docs")
        .col(text("page_id").primary_key())
        .col(text("epoch"))
        .col(blob_null("snapshot"))
        .col(big_integer("folds"))
        .col(big_integer("created_at"))
        .take()
}

/// What was written since; whoever writes a row names it.
fn live_updates() -> TableCreateStatement {
    Table::create()
        .table("page_updates")
        .col(text("page_id"))
        .col(big_integer("id"))
        .col(text("epoch"))
        .col(blob("payload"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("page_id").col("id"))
        .take()
}

fn indices() -> Vec<IndexCreateStatement> {
    let active = || Expr::col("archived_at").is_null();
    vec![
        Index::create().name("pages_parent").table("pages").col("org_id").col("parent_id").col("position").take(),
        // Subpages of a page whose organization nobody asks for: what recursive queries follow.
        Index::create().name("pages_children").table("pages").col("parent_id").take(),
        Index::create()
            .name("pages_list")
            .table("pages")
            .col("org_id")
            .col("is_row")
            .col("id")
            .cond_where(active())
            .take(),
        Index::create()
            .name("pages_trash")
            .table("pages")
            .col("org_id")
            .col("archived_at")
            .cond_where(active().not())
            .take(),
        Index::create().name("page_comments_page").table("page_comments").col("page_id").col("id").take(),
        Index::create()
            .name("page_relations_targets")
            .table("page_relations")
            .col("target_id")
            .col("database_id")
            .take(),
        Index::create()
            .name("page_relations_properties")
            .table("page_relations")
            .col("database_id")
            .col("property_id")
            .take(),
    ]
}
