//! What hangs on pages without a row: of pages that are gone, and of pages that an import is about to make.
//!
//! A page's row makes it visible, and takes all that hangs on it out of sight when it goes. So pages come and go in a small
//! commit, and what is large about them is written before and deleted after it, at most 1,000 rows at a time.

use domain::{
    Timestamp,
    id::{OrgId, PageId, PageImportId, UserId},
    pages::content::ContentDraft,
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{content, row};
use crate::{Change, Expect, Purge, Store, StoreError, reader::Reads, sql::Sql};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_remains")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub page_id: String,
        pub org_id: String,
        pub due: i64,
        pub import_id: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// From when on what is staged may be deleted: not as long as its import is under way.
const STAGED: Timestamp = Timestamp(i64::MAX);
/// Ids that one statement names.
const IDS_MAX: usize = 500;

/// Contents and versions that one commit deletes: each may be a megabyte.
const LARGE_ROWS_MAX: u32 = 100;

/// That a row hangs on one of those pages of the organization `$1` whose turn it is at `$2`: fifty at a time.
macro_rules! of_the_next {
    ($page_id:literal) => {
        concat!(
            $page_id,
            " IN (SELECT page_id FROM page_remains WHERE org_id = $1 AND due <= $2 ORDER BY due, page_id LIMIT 50)"
        )
    };
}

/// That nothing hangs on the page any more that it has many of. What it has one of goes in the same commit, before it.
const IS_BARE: &str = concat!(
    of_the_next!("page_id"),
    " AND NOT EXISTS (SELECT 1 FROM page_versions WHERE page_versions.page_id = page_remains.page_id) \
     AND NOT EXISTS (SELECT 1 FROM page_updates WHERE page_updates.page_id = page_remains.page_id) \
     AND NOT EXISTS (SELECT 1 FROM page_comments WHERE page_comments.page_id = page_remains.page_id) \
     AND NOT EXISTS (SELECT 1 FROM page_relations WHERE page_relations.row_id = page_remains.page_id) \
     AND NOT EXISTS (SELECT 1 FROM page_relations WHERE page_relations.target_id = page_remains.page_id)"
);

/// Takes so many pages of an organization that is gone out of sight, and ends their shared documents: three rows for each,
/// at most.
const TAKE: [&str; 3] = [
    "INSERT INTO page_remains (page_id, org_id, due) SELECT id, org_id, CAST($2 AS BIGINT) FROM pages WHERE org_id = $1 LIMIT 300 \
     ON CONFLICT (page_id) DO NOTHING",
    "DELETE FROM page_docs WHERE page_id IN (SELECT page_id FROM page_remains WHERE org_id = $1 AND due = $2)",
    "DELETE FROM pages WHERE id IN (SELECT page_id FROM page_remains WHERE org_id = $1 AND due = $2)",
];

impl Purge {
    /// What hangs on the next pages of the organization that are gone, and then those pages, on which nothing hangs any more.
    pub fn page_remains(org_id: OrgId, now: Timestamp) -> Vec<Self> {
        let relations = "row_id, property_id, target_id";
        let purge = |what, names| Self::within(what, names, vec![org_id.to_string().into(), now.0.into()]);
        vec![
            purge("page words", ["page_texts", "page_id", of_the_next!("page_id")]),
            purge("page contents", ["page_contents", "page_id", of_the_next!("page_id")]).at_once(LARGE_ROWS_MAX),
            purge("page documents", ["page_docs", "page_id", of_the_next!("page_id")]),
            purge("page versions", ["page_versions", "page_id, version", of_the_next!("page_id")])
                .at_once(LARGE_ROWS_MAX),
            purge("page updates", ["page_updates", "page_id, id", of_the_next!("page_id")]).at_once(5 * LARGE_ROWS_MAX),
            purge("page comments", ["page_comments", "id", of_the_next!("page_id")]),
            purge("page relations", ["page_relations", relations, of_the_next!("row_id")]),
            purge("page relations", ["page_relations", relations, of_the_next!("target_id")]),
            purge("pages", ["page_remains", "page_id", IS_BARE]),
        ]
    }
}

/// A page that is about to be made: what it is called, and what it says, if anything.
#[derive(Clone, Debug, PartialEq)]
pub struct StagedPage {
    /// Its id.
    pub id: PageId,
    /// What it is called.
    pub title: String,
    /// What it says.
    pub content: Option<ContentDraft>,
}

/// For which import pages are staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    /// The organization that the pages will be in.
    pub org_id: OrgId,
    /// Who makes them.
    pub by: UserId,
    /// When their contents are written.
    pub now: Timestamp,
    /// The import.
    pub import_id: PageImportId,
}

impl Store {
    /// From when on something of the organization's gone pages may be deleted; none when nothing is left of them.
    pub async fn page_remains_next(&self, org_id: OrgId) -> Result<Option<Timestamp>, StoreError> {
        let next = entity::Entity::find()
            .filter(entity::Column::OrgId.eq(org_id.to_string()))
            .select_only()
            .column(entity::Column::Due)
            .order_by_asc(entity::Column::Due)
            .read_columns(self.reader())
            .await?;
        Ok(next.map(|(due,): (i64,)| Timestamp(due)))
    }

    /// Whether anything is staged for the import that was not let go of.
    pub async fn page_import_has_staged(&self, id: PageImportId) -> Result<bool, StoreError> {
        let one: Option<(String,)> = entity::Entity::find()
            .filter(entity::Column::ImportId.eq(id.to_string()))
            .filter(entity::Column::Due.eq(STAGED.0))
            .select_only()
            .column(entity::Column::PageId)
            .read_columns(self.reader())
            .await?;
        Ok(one.is_some())
    }

    /// Whether the organization has any page.
    pub async fn has_pages(&self, org_id: OrgId) -> Result<bool, StoreError> {
        let one: Option<(String,)> = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .select_only()
            .column(row::Column::Id)
            .read_columns(self.reader())
            .await?;
        Ok(one.is_some())
    }
}

impl Change {
    /// Takes a batch of the pages of an organization that is gone out of sight; what hangs on them may be deleted then.
    pub fn pages_take(&mut self, org_id: OrgId, now: Timestamp) {
        for statement in TAKE {
            self.run_statement(Sql::new(statement, [org_id.to_string().into(), now.0.into()]), Expect::Any);
        }
    }

    /// Has the words and contents of pages be there before the pages are. They stay until the pages come, or the import came
    /// to nothing ([`page_import_release`](Self::page_import_release)).
    pub fn pages_stage(&mut self, staging: Staging, pages: &[StagedPage]) {
        let Staging { org_id, by, now, import_id } = staging;
        for StagedPage { id, title, content } in pages.iter().cloned() {
            self.insert(entity::ActiveModel {
                page_id: Set(id.to_string()),
                org_id: Set(org_id.to_string()),
                due: Set(STAGED.0),
                import_id: Set(Some(import_id.to_string())),
            });
            self.page_title_save(id, org_id, &title);
            if let Some(draft) = content {
                self.page_text_save(id, &draft.markdown);
                self.insert(content::row::ActiveModel {
                    page_id: Set(id.to_string()),
                    version: Set(1),
                    blocks: Set(draft.blocks.map(String::from)),
                    markdown: Set(draft.markdown),
                    updated_at: Set(now.0),
                    updated_by: Set(Some(by.to_string())),
                });
            }
        }
    }

    /// Lets go of what was staged for an import that came to nothing, of so many pages at a time: it may be deleted from `now`
    /// on.
    pub fn page_import_release(&mut self, id: PageImportId, now: Timestamp) {
        let statement = "UPDATE page_remains SET due = $2 WHERE page_id IN \
                         (SELECT page_id FROM page_remains WHERE import_id = $1 AND due = $3 LIMIT 1000)";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into(), STAGED.0.into()]), Expect::Any);
    }

    /// Notes that staged pages have come, with all that hangs on them; stale when some were let go of, because that may be
    /// being deleted.
    pub fn pages_staged_stay(&mut self, ids: &[PageId]) {
        for ids in ids.chunks(IDS_MAX) {
            let named = entity::Column::PageId.is_in(ids.iter().map(PageId::to_string));
            let staged = entity::Entity::delete_many().filter(named).filter(entity::Column::Due.eq(STAGED.0));
            self.run(staged, Expect::Rows(ids.len() as u64));
        }
    }
}
