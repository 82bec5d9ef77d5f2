//! Many pages at once, as export reads them.

use domain::{
    id::{OrgId, PageId},
    pages::{Page, PageContent},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, sea_query::Expr};

use super::{content::row as content, row};
use crate::{Store, StoreError, reader::Reads};

/// Ids that one statement names.
const IDS_MAX: usize = 500;

impl Store {
    /// Those of the organization's pages that have these ids.
    pub async fn pages_by_id(&self, org_id: OrgId, ids: &[PageId]) -> Result<Vec<Page>, StoreError> {
        let mut pages = Vec::with_capacity(ids.len());
        for ids in ids.chunks(IDS_MAX) {
            let found = row::Entity::find()
                .filter(row::Column::OrgId.eq(org_id.to_string()))
                .filter(row::Column::Id.is_in(ids.iter().map(PageId::to_string)))
                .read_all(self.reader())
                .await?;
            for row in found {
                pages.push(Page::try_from(row)?);
            }
        }
        Ok(pages)
    }

    /// What these pages say, of those that somebody wrote.
    pub async fn page_contents(&self, ids: &[PageId]) -> Result<Vec<(PageId, PageContent)>, StoreError> {
        let found = contents(ids).read_all(self.reader()).await?;
        found
            .into_iter()
            .map(|row| {
                let id = row.page_id.parse().map_err(|_| StoreError::corrupt("page_contents.page_id"))?;
                Ok((id, PageContent { version: row.version, blocks: row.blocks, markdown: row.markdown }))
            })
            .collect()
    }

    /// Bytes of what these pages say.
    pub async fn page_contents_bytes(&self, ids: &[PageId]) -> Result<u64, StoreError> {
        let sum = "CAST(COALESCE(SUM(OCTET_LENGTH(markdown) + COALESCE(OCTET_LENGTH(blocks), 0)), 0) AS BIGINT)";
        let mut bytes = 0;
        for ids in ids.chunks(IDS_MAX) {
            let select = contents(ids).select_only().expr(Expr::cust(sum));
            let (of_these,) = select.read_columns::<(i64,)>(self.reader()).await?.unwrap_or_default();
            bytes += u64::try_from(of_these).map_err(StoreError::corrupt)?;
        }
        Ok(bytes)
    }
}

fn contents(ids: &[PageId]) -> sea_orm::Select<content::Entity> {
    content::Entity::find().filter(content::Column::PageId.is_in(ids.iter().map(PageId::to_string)))
}
