//! What a page said once.

use domain::{
    Timestamp,
    id::{PageId, UserId},
    pages::{PageContent, history::VERSIONS_MAX},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::content::written_by;
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_versions")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub page_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub version: i64,
        pub title: String,
        pub blocks: Option<String>,
        pub markdown: String,
        pub created_at: i64,
        pub created_by: Option<String>,
        pub kept_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A version, without what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageVersionHead {
    /// The content's version.
    pub version: i64,
    /// What the page was called when it was replaced.
    pub title: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// By whom; none where many wrote it together.
    pub created_by: Option<UserId>,
}

/// A version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageVersion {
    /// Which.
    pub head: PageVersionHead,
    /// What it says.
    pub content: PageContent,
}

row! {
    struct HeadRow {
        version: i64,
        title: String,
        created_at: i64,
        created_by: Option<String>,
    }
}

impl TryFrom<HeadRow> for PageVersionHead {
    type Error = StoreError;

    fn try_from(row: HeadRow) -> Result<Self, StoreError> {
        let HeadRow { version, title, created_at, created_by } = row;
        let created_by = written_by(created_by.as_deref())?;
        Ok(Self { version, title, created_at: Timestamp(created_at), created_by })
    }
}

impl Store {
    /// Up to `limit` versions of a page, the newest first, older than `before`. The content that the page has now is the
    /// newest; of a page that nobody wrote there is none.
    pub async fn page_versions(
        &self,
        page_id: PageId,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<PageVersionHead>, StoreError> {
        let statement = "SELECT version, title, created_at, created_by FROM (\
             SELECT version, title, created_at, created_by FROM page_versions WHERE page_id = $1 AND version < $2 \
             AND version <> (SELECT content_version FROM pages WHERE id = $1) \
             UNION ALL SELECT page_contents.version, pages.title, page_contents.updated_at, page_contents.updated_by \
             FROM page_contents JOIN pages ON pages.id = page_contents.page_id \
             WHERE page_contents.page_id = $1 AND page_contents.version < $2) AS known ORDER BY version DESC LIMIT $3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [page_id.to_string().into(), before.unwrap_or(i64::MAX).into(), limit.into()];
        let rows: Vec<HeadRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(PageVersionHead::try_from).collect()
    }

    /// A version that was kept.
    pub async fn page_version(&self, page_id: PageId, version: i64) -> Result<Option<PageVersion>, StoreError> {
        let found = row::Entity::find_by_id((page_id.to_string(), version)).read_one(self.reader()).await?;
        found
            .map(|row| {
                let row::Model { version, title, blocks, markdown, created_at, created_by, .. } = row;
                let created_by = written_by(created_by.as_deref())?;
                let head = PageVersionHead { version, title, created_at: Timestamp(created_at), created_by };
                Ok(PageVersion { head, content: PageContent { version, blocks, markdown } })
            })
            .transpose()
    }

    /// The newest version that was kept, and when it was.
    pub async fn page_version_kept(&self, page_id: PageId) -> Result<Option<(i64, Timestamp)>, StoreError> {
        let newest: Option<(i64, i64)> = row::Entity::find()
            .filter(row::Column::PageId.eq(page_id.to_string()))
            .select_only()
            .columns([row::Column::Version, row::Column::KeptAt])
            .order_by_desc(row::Column::Version)
            .read_columns(self.reader())
            .await?;
        Ok(newest.map(|(version, at)| (version, Timestamp(at))))
    }
}

impl Change {
    /// Keeps the content that the page has at that moment as a version, if it is the content's `version` and is not kept
    /// yet; the oldest beyond the limit go.
    pub fn page_version_keep(&mut self, page_id: PageId, version: i64, now: Timestamp) {
        let page_id = page_id.to_string();
        let keep = "INSERT INTO page_versions (page_id, version, title, blocks, markdown, created_at, created_by, kept_at) \
             SELECT page_contents.page_id, page_contents.version, pages.title, page_contents.blocks, \
             page_contents.markdown, page_contents.updated_at, page_contents.updated_by, $3 \
             FROM page_contents JOIN pages ON pages.id = page_contents.page_id \
             WHERE page_contents.page_id = $1 AND page_contents.version = $2 ON CONFLICT DO NOTHING";
        let values = [page_id.clone().into(), version.into(), now.0.into()];
        self.run_statement(Sql::new(keep, values), Expect::Any);
        let forget = "DELETE FROM page_versions WHERE page_id = $1 AND version <= (\
             SELECT version FROM page_versions WHERE page_id = $1 ORDER BY version DESC LIMIT 1 OFFSET $2)";
        let most = i64::try_from(VERSIONS_MAX).unwrap_or(i64::MAX);
        self.run_statement(Sql::new(forget, [page_id.into(), most.into()]), Expect::Any);
    }
}
