//! Clocks of desks. A step is what a commit of an issue told them; a row of `issue_clocks` is a clock of an issue, its columns those of
//! its newest cycle. `base` is what had counted when it last went on, less what had counted since a fixed instant.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for statement in [
            "CREATE TABLE issue_steps (seq BIGINT NOT NULL, n BIGINT NOT NULL, step TEXT NOT NULL, PRIMARY KEY (seq, n))",
            "CREATE TABLE issue_clocks (seq BIGINT NOT NULL, sla_key TEXT NOT NULL, cycles TEXT NOT NULL, \
             running_since BIGINT, elapsed BIGINT NOT NULL, base BIGINT NOT NULL, business BIGINT NOT NULL, goal BIGINT, \
             stopped_at BIGINT, breached_at BIGINT, breaches_at BIGINT, ever_breached BIGINT NOT NULL, \
             PRIMARY KEY (seq, sla_key))",
            "CREATE INDEX issue_clocks_of ON issue_clocks (sla_key, breaches_at)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
