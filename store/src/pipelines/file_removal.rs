//! What is kept in contents for a repository's pipelines, or for one run, and let go of with it.

use domain::{
    Timestamp,
    id::{ContentId, OrgId, RunId},
};
use sea_orm::Value;

use crate::{
    Expect, PurgeBatch, Store, StoreError,
    git::{RepositoryNo, RepositoryRest},
    reader::row,
    sql::Sql,
};

/// Rows whose contents one commit lets go of.
const LET_GO_MAX: i64 = 200;

row! {
    struct KeptRow {
        id: String,
        content_id: Option<String>,
    }
}

/// A table whose rows may have contents.
struct Keeps {
    what: &'static str,
    table: &'static str,
    key: &'static str,
}

const ALL: [Keeps; 3] = [
    Keeps { what: "artifacts", table: "artifacts", key: "id" },
    Keeps { what: "caches", table: "caches", key: "id" },
    Keeps { what: "logs", table: "job_logs", key: "job_id" },
];

impl Store {
    /// Whether a repository has artifacts or caches, uploads included.
    pub async fn has_job_files(&self, no: RepositoryNo) -> Result<bool, StoreError> {
        for table in ["artifacts", "caches"] {
            let statement = format!("SELECT id, content_id FROM {table} WHERE repo_no = $1 LIMIT 1");
            if self.reader().row::<KeptRow>(&Sql::new(statement, [no.0.into()])).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lets go of the next artifacts, caches and logs of a repository that is deleted for good.
    pub(crate) async fn job_files_next(&self, rest: RepositoryRest) -> Result<PurgeBatch, StoreError> {
        for keeps in ALL {
            let Keeps { table, key, .. } = keeps;
            let statement = format!("SELECT {key} AS id, content_id FROM {table} WHERE repo_no = $1 LIMIT $2");
            let sql = Sql::new(statement, [rest.no.0.into(), LET_GO_MAX.into()]);
            let rows: Vec<KeptRow> = self.reader().rows(&sql).await?;
            if !rows.is_empty() {
                return self.let_go(rest.org_id, &keeps, rows);
            }
        }
        Ok(PurgeBatch::default())
    }

    /// Lets go of the next artifacts and logs of a run that is deleted.
    pub async fn run_files_next(&self, org_id: OrgId, run_id: RunId) -> Result<PurgeBatch, StoreError> {
        let [artifacts, _, logs] = ALL;
        for (keeps, condition) in
            [(artifacts, "run_id = $1"), (logs, "job_id IN (SELECT id FROM jobs WHERE run_id = $1)")]
        {
            let Keeps { table, key, .. } = keeps;
            let statement = format!("SELECT {key} AS id, content_id FROM {table} WHERE {condition} LIMIT $2");
            let sql = Sql::new(statement, [run_id.to_string().into(), LET_GO_MAX.into()]);
            let rows: Vec<KeptRow> = self.reader().rows(&sql).await?;
            if !rows.is_empty() {
                return self.let_go(org_id, &keeps, rows);
            }
        }
        Ok(PurgeBatch::default())
    }

    fn let_go(&self, org_id: OrgId, keeps: &Keeps, rows: Vec<KeptRow>) -> Result<PurgeBatch, StoreError> {
        let Keeps { what, table, key } = keeps;
        let mut batch = PurgeBatch::default();
        batch.rows.push((what, u32::try_from(rows.len()).unwrap_or(u32::MAX)));
        let mut contents: Vec<ContentId> = Vec::new();
        for KeptRow { id, content_id } in rows {
            // Stale where a log was sealed meanwhile, so that its content is let go of, too.
            let (condition, values): (_, Vec<Value>) = match &content_id {
                Some(content) => ("content_id = $2", vec![id.as_str().into(), content.as_str().into()]),
                None => ("content_id IS NULL", vec![id.as_str().into()]),
            };
            let statement = format!("DELETE FROM {table} WHERE {key} = $1 AND {condition}");
            batch.change.run_statement(Sql::new(statement, values), Expect::Rows(1));
            if let Some(content) = content_id {
                contents.push(content.parse().map_err(|_| StoreError::corrupt("content_id"))?);
            }
            if *table == "job_logs" {
                let statement = "DELETE FROM job_log_chunks WHERE job_id = $1";
                batch.change.run_statement(Sql::new(statement, [id.into()]), Expect::Any);
            }
        }
        let now: Timestamp = self.now();
        batch.change.contents_unref(now, org_id, contents);
        Ok(batch)
    }
}
