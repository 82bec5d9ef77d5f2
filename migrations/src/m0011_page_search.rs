//! Full text of notes pages.
//!
//! `page_texts` holds the words of each page, cut by `domain::pages::search`. On SQLite triggers keep the FTS5 index
//! `page_words` in step with it; on PostgreSQL the indexed columns are generated. In both the organization is a word of each
//! page, so that a search never walks through the pages of others.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        schema.create_table(texts()).await?;
        schema.create_index(recent()).await?;
        let index = if schema.get_database_backend() == DbBackend::Postgres { ON_POSTGRES } else { ON_SQLITE };
        for statement in index {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

fn texts() -> TableCreateStatement {
    Table::create()
        .table("page_texts")
        .col(big_integer("seq").primary_key().auto_increment())
        .col(text("page_id").unique_key())
        .col(text("org_id"))
        .col(text("title_words").default(""))
        .col(text("words").default(""))
        .take()
}

/// The pages that changed last.
fn recent() -> IndexCreateStatement {
    Index::create()
        .name("pages_recent")
        .table("pages")
        .col("org_id")
        .col("updated_at")
        .cond_where(Expr::col("archived_at").is_null())
        .take()
}

/// An id's characters after its prefix and `_`, which stand in the index as one word.
const ON_SQLITE: &[&str] = &[
    "CREATE VIRTUAL TABLE page_words USING fts5(org, title, body, content = '', contentless_delete = 1, \
     tokenize = 'porter unicode61 remove_diacritics 0', prefix = '2 3')",
    "CREATE TRIGGER page_texts_added AFTER INSERT ON page_texts BEGIN \
     INSERT INTO page_words(rowid, org, title, body) VALUES (new.seq, substr(new.org_id, 5), new.title_words, new.words); END",
    "CREATE TRIGGER page_texts_changed AFTER UPDATE ON page_texts BEGIN \
     DELETE FROM page_words WHERE rowid = old.seq; \
     INSERT INTO page_words(rowid, org, title, body) VALUES (new.seq, substr(new.org_id, 5), new.title_words, new.words); END",
    "CREATE TRIGGER page_texts_removed AFTER DELETE ON page_texts BEGIN \
     DELETE FROM page_words WHERE rowid = old.seq; END",
];

/// Stems without a list of words that are left out, so that every word of a title can be found.
const ON_POSTGRES: &[&str] = &[
    "CREATE TEXT SEARCH DICTIONARY page_stem (TEMPLATE = snowball, Language = english)",
    "CREATE TEXT SEARCH CONFIGURATION page_search (COPY = simple)",
    "ALTER TEXT SEARCH CONFIGURATION page_search ALTER MAPPING FOR asciiword, word WITH page_stem",
    "ALTER TABLE page_texts \
     ADD COLUMN title_index tsvector GENERATED ALWAYS AS \
     (array_to_tsvector(ARRAY[substr(org_id, 5)]) || to_tsvector('page_search', title_words)) STORED, \
     ADD COLUMN text_index tsvector GENERATED ALWAYS AS \
     (array_to_tsvector(ARRAY[substr(org_id, 5)]) || setweight(to_tsvector('page_search', title_words), 'A') \
     || to_tsvector('page_search', words)) STORED",
    "CREATE INDEX page_texts_title ON page_texts USING gin (title_index)",
    "CREATE INDEX page_texts_text ON page_texts USING gin (text_index)",
];
