//! Imports: how far they are, and what came of them.

use std::str::FromStr;

use domain::{
    Timestamp,
    id::{OrgId, PageId, PageImportId},
    pages::import::{ImportFault, ImportState, PageImport},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use serde::de::DeserializeOwned;

use crate::{Change, Expect, Purge, Store, StoreError, json, reader::Reads, sql::Sql};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_imports")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub created_by: String,
        pub key_id: Option<String>,
        pub parent_id: Option<String>,
        pub state: String,
        pub pages: i32,
        pub pages_done: i32,
        pub skipped: String,
        pub made: String,
        pub error: Option<String>,
        pub created_at: i64,
        pub ended_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl TryFrom<entity::Model> for PageImport {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let pages = |count: i32| u32::try_from(count).unwrap_or_default();
        Ok(Self {
            id: id("page_imports.id", &row.id)?,
            org_id: id("page_imports.org_id", &row.org_id)?,
            created_by: id("page_imports.created_by", &row.created_by)?,
            key_id: row.key_id.map(|key| id("page_imports.key_id", &key)).transpose()?,
            parent_id: row.parent_id.map(|parent| id("page_imports.parent_id", &parent)).transpose()?,
            state: ImportState::parse(&row.state).ok_or_else(|| StoreError::corrupt("page_imports.state"))?,
            pages: pages(row.pages),
            pages_done: pages(row.pages_done),
            skipped: read("page_imports.skipped", &row.skipped)?,
            made: read("page_imports.made", &row.made)?,
            error: row.error.map(|error| read("page_imports.error", &error)).transpose()?,
            created_at: Timestamp(row.created_at),
            ended_at: row.ended_at.map(Timestamp),
        })
    }
}

fn id<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(column))
}

fn read<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::corrupt(column))
}

impl Change {
    /// Adds an import.
    pub fn page_import_add(&mut self, import: &PageImport) {
        let count = |pages: u32| i32::try_from(pages).unwrap_or(i32::MAX);
        self.insert(entity::ActiveModel {
            id: Set(import.id.to_string()),
            org_id: Set(import.org_id.to_string()),
            created_by: Set(import.created_by.to_string()),
            key_id: Set(import.key_id.map(|id| id.to_string())),
            parent_id: Set(import.parent_id.map(|id| id.to_string())),
            state: Set(import.state.as_str().to_owned()),
            pages: Set(count(import.pages)),
            pages_done: Set(count(import.pages_done)),
            skipped: Set(json::text(&import.skipped)),
            made: Set(json::text(&import.made)),
            error: Set(import.error.as_ref().map(json::text)),
            created_at: Set(import.created_at.0),
            ended_at: Set(import.ended_at.map(|at| at.0)),
        });
    }

    /// Notes how many of its pages are ready; stale once it is over.
    pub fn page_import_advance(&mut self, id: PageImportId, pages_done: u32) {
        let values = [id.to_string().into(), i64::from(pages_done).into()];
        let statement = "UPDATE page_imports SET pages_done = $2 WHERE id = $1 AND ended_at IS NULL";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that its pages were made, `made` where they were imported; stale once it is over.
    pub fn page_import_done(&mut self, id: PageImportId, made: &[PageId], now: Timestamp) {
        let values = [id.to_string().into(), ImportState::Done.as_str().into(), json::text(&made).into(), now.0.into()];
        let statement = "UPDATE page_imports SET state = $2, pages_done = pages, made = $3, ended_at = $4 \
                         WHERE id = $1 AND ended_at IS NULL";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that it came to nothing; stale once it is over.
    pub fn page_import_fail(&mut self, id: PageImportId, fault: &ImportFault, now: Timestamp) {
        let values =
            [id.to_string().into(), ImportState::Failed.as_str().into(), json::text(fault).into(), now.0.into()];
        let statement =
            "UPDATE page_imports SET state = $2, error = $3, ended_at = $4 WHERE id = $1 AND ended_at IS NULL";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that it was called off; stale once it is over.
    pub fn page_import_cancel(&mut self, id: PageImportId, now: Timestamp) {
        let values = [id.to_string().into(), ImportState::Cancelled.as_str().into(), now.0.into()];
        let statement = "UPDATE page_imports SET state = $2, ended_at = $3 WHERE id = $1 AND ended_at IS NULL";
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}

impl Purge {
    /// Imports that ended before `before`.
    pub fn page_imports(before: Timestamp) -> Self {
        Self::new("page imports", ["page_imports", "id", "ended_at IS NOT NULL AND ended_at < $1"], before.0)
    }
}

impl Store {
    /// The organization's import, as long as it is known.
    pub async fn page_import(&self, org_id: OrgId, id: PageImportId) -> Result<Option<PageImport>, StoreError> {
        let select = entity::Entity::find_by_id(id.to_string()).filter(entity::Column::OrgId.eq(org_id.to_string()));
        select.read_one(self.reader()).await?.map(PageImport::try_from).transpose()
    }

    /// How many imports of the organization are under way.
    pub async fn page_imports_running(&self, org_id: OrgId) -> Result<u64, StoreError> {
        entity::Entity::find()
            .filter(entity::Column::OrgId.eq(org_id.to_string()))
            .filter(entity::Column::EndedAt.is_null())
            .read_count(self.reader())
            .await
    }
}
