//! Indexes for what is looked for by time, and for the filters of an organization's audit trail.
//!
//! People's own entries of the trail are found by nobody's filter, and so stand in none of its indexes.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_postgres = schema.get_database_backend() == DbBackend::Postgres;
        let area = if is_postgres { AUDIT_AREA_ON_POSTGRES } else { AUDIT_AREA_ON_SQLITE };
        for statement in INDEXES.iter().chain([&area]) {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

const INDEXES: &[&str] = &[
    "CREATE INDEX sign_ins_expiry ON sign_ins (expires_at)",
    "CREATE INDEX phone_codes_expiry ON phone_codes (expires_at)",
    "CREATE INDEX vault_signatures_age ON vault_signatures (signed_at)",
    "CREATE INDEX audit_action ON audit (org_id, action, id) WHERE org_id IS NOT NULL",
    "CREATE INDEX audit_actor ON audit (org_id, actor_id, id) WHERE org_id IS NOT NULL",
    "CREATE INDEX audit_target ON audit (org_id, target_id, id) WHERE org_id IS NOT NULL",
];

/// What stands before the dot of an action.
const AUDIT_AREA_ON_SQLITE: &str = "CREATE INDEX audit_area \
     ON audit (org_id, substr(action, 1, instr(action || '.', '.') - 1), id) WHERE org_id IS NOT NULL";
const AUDIT_AREA_ON_POSTGRES: &str =
    "CREATE INDEX audit_area ON audit (org_id, split_part(action, '.', 1), id) WHERE org_id IS NOT NULL";
