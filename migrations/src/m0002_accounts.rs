//! People, sign-ins, organizations, members, teams, invites, keys.
//!
//! There are no foreign keys: what belongs together is written and deleted in one commit by the actor that owns it, and
//! the writer is free to order the statements of a group.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob_null, boolean, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in people_tables().into_iter().chain(organization_tables()) {
            schema.create_table(table).await?;
        }
        for index in indexes() {
            schema.create_index(index).await?;
        }
        // At most one organization is the platform's.
        schema
            .get_connection()
            .execute_unprepared(
                "CREATE UNIQUE INDEX organizations_platform ON organizations (kind) WHERE kind = 'platform'",
            )
            .await?;
        Ok(())
    }
}

fn people_tables() -> Vec<TableCreateStatement> {
    vec![
        Table::create()
            .table("people")
            .col(text("id").primary_key())
            .col(text("email"))
            .col(text("name"))
            .col(text("password_hash"))
            .col(boolean("password_change_due"))
            .col(text_null("locale"))
            .col(text_null("time_zone"))
            .col(text_null("phone"))
            .col(blob_null("otp_secret"))
            .col(blob_null("otp_pending"))
            .col(big_integer("otp_last_step"))
            .col(big_integer("version"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .take(),
        Table::create()
            .table("recovery_codes")
            .col(text("user_id"))
            .col(text("code_hash"))
            .primary_key(Index::create().col("user_id").col("code_hash"))
            .take(),
        Table::create()
            .table("seen_places")
            .col(text("user_id"))
            .col(text("place"))
            .col(big_integer("seen_at"))
            .primary_key(Index::create().col("user_id").col("place"))
            .take(),
        Table::create()
            .table("sign_ins")
            .col(text("id").primary_key())
            .col(text("user_id"))
            .col(hash("token_hash"))
            .col(text("app"))
            .col(text("platform"))
            .col(text_null("install_id"))
            .col(text_null("ip"))
            .col(text_null("user_agent"))
            .col(big_integer("created_at"))
            .col(big_integer("last_seen_at"))
            .col(big_integer("expires_at"))
            .col(big_integer_null("confirmed_until"))
            .take(),
        Table::create()
            .table("attempts")
            .col(text("subject").primary_key())
            .col(text("failures"))
            .col(big_integer_null("locked_until"))
            .col(big_integer("version"))
            .col(big_integer("updated_at"))
            .take(),
    ]
}

fn organization_tables() -> Vec<TableCreateStatement> {
    vec![
        Table::create()
            .table("organizations")
            .col(text("id").primary_key())
            .col(text("name"))
            .col(text("slug"))
            .col(text("kind"))
            .col(big_integer("version"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .take(),
        Table::create()
            .table("members")
            .col(text("org_id"))
            .col(text("user_id"))
            .col(text("role"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .primary_key(Index::create().col("org_id").col("user_id"))
            .take(),
        Table::create()
            .table("invites")
            .col(text("id").primary_key())
            .col(text("org_id"))
            .col(text("email"))
            .col(text("role"))
            .col(hash("token_hash"))
            .col(text_null("invited_by"))
            .col(big_integer("created_at"))
            .col(big_integer("expires_at"))
            .take(),
        Table::create()
            .table("teams")
            .col(text("id").primary_key())
            .col(text("org_id"))
            .col(text("name"))
            .col(text("name_key"))
            .col(text("description"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .take(),
        Table::create()
            .table("team_members")
            .col(text("team_id"))
            .col(text("user_id"))
            .col(text("org_id"))
            .col(big_integer("created_at"))
            .primary_key(Index::create().col("team_id").col("user_id"))
            .take(),
        Table::create()
            .table("api_keys")
            .col(text("id").primary_key())
            .col(text("org_id"))
            .col(text("name"))
            .col(text("kind"))
            .col(text("scopes"))
            .col(hash("token_hash"))
            .col(text("hint"))
            .col(text("maker"))
            .col(big_integer("created_at"))
            .col(big_integer_null("expires_at"))
            .col(big_integer_null("last_used_at"))
            .take(),
    ]
}

/// 32 bytes of SHA-256.
fn hash(name: &'static str) -> ColumnDef {
    ColumnDef::new(name).blob().not_null().take()
}

fn indexes() -> Vec<IndexCreateStatement> {
    vec![
        unique("people_email", "people", &["email"]),
        unique("sign_ins_token", "sign_ins", &["token_hash"]),
        index("sign_ins_person", "sign_ins", &["user_id"]),
        index("attempts_updated", "attempts", &["updated_at"]),
        unique("organizations_slug", "organizations", &["slug"]),
        index("members_person", "members", &["user_id"]),
        unique("invites_token", "invites", &["token_hash"]),
        unique("invites_email", "invites", &["org_id", "email"]),
        unique("teams_name", "teams", &["org_id", "name_key"]),
        index("team_members_person", "team_members", &["org_id", "user_id"]),
        unique("api_keys_token", "api_keys", &["token_hash"]),
        index("api_keys_organization", "api_keys", &["org_id"]),
        index("api_keys_maker", "api_keys", &["maker"]),
    ]
}

fn index(name: &'static str, table: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create().name(name).table(table).take();
    for column in columns {
        index.col(*column);
    }
    index
}

fn unique(name: &'static str, table: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    index(name, table, columns).unique().take()
}
