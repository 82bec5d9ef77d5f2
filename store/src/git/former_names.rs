//! Names that repositories had before they were renamed.

use domain::{
    git::RepositoryName,
    id::{OrgId, ResourceId},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::{
    StoredRepository,
    row::{Column, Entity},
};
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

row! {
    struct NumberRow {
        repo_no: i64,
    }
}

impl Store {
    /// The organization's repository that had this name last, regardless of case.
    pub async fn repository_formerly(
        &self,
        org_id: OrgId,
        name: &RepositoryName,
    ) -> Result<Option<StoredRepository>, StoreError> {
        let statement = "SELECT repo_no FROM repository_former_names WHERE org_id = $1 AND name_key = $2";
        let sql = Sql::new(statement, [org_id.to_string().into(), name.key().into()]);
        let found: Vec<NumberRow> = self.reader().rows(&sql).await?;
        let Some(NumberRow { repo_no }) = found.first() else { return Ok(None) };
        let select = Entity::find().filter(Column::RepoNo.eq(*repo_no));
        let Some(row) = select.read_one(self.reader()).await? else { return Ok(None) };
        let id: ResourceId = row.id.parse().map_err(|_| StoreError::corrupt("repositories.id"))?;
        self.repository(org_id, id).await
    }
}

impl Change {
    /// Has a repository be found under the name that it has until now.
    pub fn repository_former_name_put(&mut self, repository: &StoredRepository) {
        let statement = "INSERT INTO repository_former_names (org_id, name_key, repo_no) VALUES ($1, $2, $3) \
                         ON CONFLICT (org_id, name_key) DO UPDATE SET repo_no = excluded.repo_no";
        let record = &repository.resource;
        let values = [record.org_id.to_string().into(), record.name_key.as_str().into(), repository.no.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Has nothing be found under a name that it had once: another repository takes it.
    pub fn repository_former_name_remove(&mut self, org_id: OrgId, name_key: &str) {
        let statement = "DELETE FROM repository_former_names WHERE org_id = $1 AND name_key = $2";
        self.run_statement(Sql::new(statement, [org_id.to_string().into(), name_key.into()]), Expect::Any);
    }
}
