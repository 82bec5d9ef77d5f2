//! Domains of organizations for mail (contract B 2.7): claims, the keys that sign, and whose which address is.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let backend = schema.get_database_backend();
        let is_sqlite = backend == DbBackend::Sqlite;
        for mut table in [domains(), keys(), addresses()] {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        let behind_at =
            if is_sqlite { "substr(address, instr(address, '@') + 1)" } else { "split_part(address, '@', 2)" };
        // An address is one of an organization's: whoever merely claims a domain keeps nobody out of it.
        let of_mailboxes = format!(
            "INSERT INTO mail_addresses (org_id, address, mailbox_id, domain, kind, created_at) \
             SELECT org_id, address, id, {behind_at}, 'address', created_at FROM mailboxes WHERE deleted_at IS NULL"
        );
        for statement in [
            "CREATE UNIQUE INDEX mail_domains_of_org ON mail_domains (org_id, domain)",
            "CREATE UNIQUE INDEX mail_domains_owned ON mail_domains (domain) WHERE owned_at IS NOT NULL",
            "CREATE INDEX mail_addresses_of_mailbox ON mail_addresses (mailbox_id)",
            "CREATE INDEX mail_addresses_of_domain ON mail_addresses (org_id, domain)",
            "ALTER TABLE mail_directories ADD COLUMN lent_catch_all text",
            "DROP INDEX mailboxes_addresses",
            &of_mailboxes,
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// A claim to a domain. The organization that proved it first has `owned_at`, and keeps it until another one's proof takes it
/// over. `checks` are the records that were seen, as JSON.
fn domains() -> TableCreateStatement {
    Table::create()
        .table("mail_domains")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("domain"))
        .col(text("status"))
        .col(big_integer_null("owned_at"))
        .col(text_null("zone"))
        .col(text_null("dns_provider"))
        .col(text("note"))
        .col(text("mode"))
        .col(big_integer_null("rotated_at"))
        .col(text_null("spf_before"))
        .col(text("checks"))
        .col(big_integer_null("checked_at"))
        .col(big_integer("looks_from"))
        .col(big_integer("misses"))
        .col(big_integer_null("missed_since"))
        .col(text_null("catch_all"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .take()
}

/// A key that signs what leaves from a domain. `private` is sealed.
fn keys() -> TableCreateStatement {
    Table::create()
        .table("mail_dkim_keys")
        .col(text("domain_id"))
        .col(text("selector"))
        .col(text("kind"))
        .col(text("public"))
        .col(text("place"))
        .col(big_integer("since"))
        .col(blob("private"))
        .primary_key(Index::create().col("domain_id").col("selector"))
        .take()
}

/// Whose an address is; `kind` is `address` or `alias`.
fn addresses() -> TableCreateStatement {
    Table::create()
        .table("mail_addresses")
        .col(text("org_id"))
        .col(text("address"))
        .col(text("mailbox_id"))
        .col(text("domain"))
        .col(text("kind"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("org_id").col("address"))
        .take()
}
