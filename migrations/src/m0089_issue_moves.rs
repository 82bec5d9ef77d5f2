//! Moves of issues between spaces: the keys that they had before still find them. What kind of request an issue is, how it came
//! in and who takes part in it stand among its terms, so that queries find it.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let connection = schema.get_connection();
        for statement in [
            "CREATE TABLE issue_former_keys (space_id TEXT NOT NULL, number BIGINT NOT NULL, issue_id TEXT NOT NULL, \
             PRIMARY KEY (space_id, number))",
            "CREATE INDEX issue_former_keys_of ON issue_former_keys (issue_id)",
        ] {
            connection.execute_unprepared(statement).await?;
        }
        for (field, name) in [("requestType", "requestTypeId"), ("channel", "channel")] {
            let value = match schema.get_database_backend() {
                DbBackend::Postgres => format!("(d.doc::json ->> '{name}')"),
                _ => format!("json_extract(d.doc, '$.{name}')"),
            };
            let known = format!(
                "INSERT INTO issue_values (org_id, kind, value, label) SELECT DISTINCT d.org_id, '{field}', {value}, '' \
                 FROM issue_docs d WHERE {value} IS NOT NULL ON CONFLICT (org_id, kind, value) DO NOTHING"
            );
            let terms = format!(
                "INSERT INTO issue_terms (value_no, field, seq) SELECT v.no, '{field}', i.seq FROM issue_docs d \
                 JOIN issues i ON i.id = d.id JOIN issue_values v ON v.org_id = d.org_id AND v.kind = '{field}' \
                 AND v.value = {value} WHERE {value} IS NOT NULL ON CONFLICT (value_no, field, seq) DO NOTHING"
            );
            connection.execute_unprepared(&known).await?;
            connection.execute_unprepared(&terms).await?;
        }
        for statement in [
            "INSERT INTO issue_values (org_id, kind, value, label) SELECT DISTINCT d.org_id, 'person', p.person_id, '' \
             FROM issue_participants p JOIN issue_docs d ON d.id = p.issue_id WHERE p.person_id <> '' \
             ON CONFLICT (org_id, kind, value) DO NOTHING",
            "INSERT INTO issue_terms (value_no, field, seq) SELECT v.no, 'participants', i.seq FROM issue_participants p \
             JOIN issue_docs d ON d.id = p.issue_id JOIN issues i ON i.id = p.issue_id JOIN issue_values v \
             ON v.org_id = d.org_id AND v.kind = 'person' AND v.value = p.person_id WHERE p.person_id <> '' \
             ON CONFLICT (value_no, field, seq) DO NOTHING",
        ] {
            connection.execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
