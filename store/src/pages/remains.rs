//! What hangs on pages without a row: of pages that are gone, and of pages that an import is about to make.
//!
//! A page's row makes it visible, and takes all that hangs on it out of sight when it goes. So pages come and go in a small
//! commit, and what is large about them is written before and deleted after it, a batch at a time.

use domain::{
    Timestamp,
    id::{OrgId, PageId, UserId},
    pages::content::ContentDraft,
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{content, row};
use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_remains")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub page_id: String,
        pub org_id: String,
        pub due: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Ids that one statement names.
const IDS_MAX: usize = 500;

/// Those pages of the organization `$1` whose turn it is at `$2`: fifty at a time.
macro_rules! of_the_next {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " IN (SELECT page_id FROM page_remains WHERE org_id = $1 AND due <= $2 ORDER BY due, page_id LIMIT 50)",
            $after
        )
    };
}

/// What hangs on the next pages: of what a page has many of, so many rows at a time; then the pages on which nothing hangs
/// any more. Contents and versions are large, and so fewer.
const CLEAR: [&str; 9] = [
    of_the_next!("DELETE FROM page_texts WHERE page_id", ""),
    of_the_next!("DELETE FROM page_contents WHERE page_id", ""),
    of_the_next!("DELETE FROM page_docs WHERE page_id", ""),
    of_the_next!(
        "DELETE FROM page_versions WHERE (page_id, version) IN (SELECT page_id, version FROM page_versions WHERE page_id",
        " LIMIT 100)"
    ),
    of_the_next!(
        "DELETE FROM page_updates WHERE (page_id, id) IN (SELECT page_id, id FROM page_updates WHERE page_id",
        " LIMIT 500)"
    ),
    of_the_next!("DELETE FROM page_comments WHERE id IN (SELECT id FROM page_comments WHERE page_id", " LIMIT 1000)"),
    of_the_next!(
        "DELETE FROM page_relations WHERE (row_id, property_id, target_id) IN \
         (SELECT row_id, property_id, target_id FROM page_relations WHERE row_id",
        " LIMIT 1000)"
    ),
    of_the_next!(
        "DELETE FROM page_relations WHERE (row_id, property_id, target_id) IN \
         (SELECT row_id, property_id, target_id FROM page_relations WHERE target_id",
        " LIMIT 1000)"
    ),
    of_the_next!(
        "DELETE FROM page_remains WHERE page_id",
        " AND NOT EXISTS (SELECT 1 FROM page_versions WHERE page_versions.page_id = page_remains.page_id) \
         AND NOT EXISTS (SELECT 1 FROM page_updates WHERE page_updates.page_id = page_remains.page_id) \
         AND NOT EXISTS (SELECT 1 FROM page_comments WHERE page_comments.page_id = page_remains.page_id) \
         AND NOT EXISTS (SELECT 1 FROM page_relations WHERE page_relations.row_id = page_remains.page_id) \
         AND NOT EXISTS (SELECT 1 FROM page_relations WHERE page_relations.target_id = page_remains.page_id)"
    ),
];

/// Takes so many pages of an organization that is gone out of sight, and ends their shared documents.
const TAKE: [&str; 3] = [
    "INSERT INTO page_remains (page_id, org_id, due) SELECT id, org_id, CAST($2 AS BIGINT) FROM pages WHERE org_id = $1 LIMIT 500 \
     ON CONFLICT (page_id) DO NOTHING",
    "DELETE FROM page_docs WHERE page_id IN (SELECT page_id FROM page_remains WHERE org_id = $1 AND due = $2)",
    "DELETE FROM pages WHERE id IN (SELECT page_id FROM page_remains WHERE org_id = $1 AND due = $2)",
];

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

/// For whom pages are staged, and until when they must have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    /// The organization that the pages will be in.
    pub org_id: OrgId,
    /// Who makes them.
    pub by: UserId,
    /// When their contents are written.
    pub now: Timestamp,
    /// From when on what was staged may be deleted.
    pub due: Timestamp,
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
    /// Deletes a batch of what hangs on those of the organization's gone pages whose time has come.
    pub fn page_remains_clear(&mut self, org_id: OrgId, now: Timestamp) {
        for statement in CLEAR {
            self.run_statement(Sql::new(statement, [org_id.to_string().into(), now.0.into()]), Expect::Any);
        }
    }

    /// Takes a batch of the pages of an organization that is gone out of sight; what hangs on them may be deleted then.
    pub fn pages_take(&mut self, org_id: OrgId, now: Timestamp) {
        for statement in TAKE {
            self.run_statement(Sql::new(statement, [org_id.to_string().into(), now.0.into()]), Expect::Any);
        }
    }

    /// Has the words and contents of pages be there before the pages are.
    pub fn pages_stage(&mut self, staging: Staging, pages: &[StagedPage]) {
        let Staging { org_id, by, now, due } = staging;
        for StagedPage { id, title, content } in pages.iter().cloned() {
            self.insert(entity::ActiveModel {
                page_id: Set(id.to_string()),
                org_id: Set(org_id.to_string()),
                due: Set(due.0),
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

    /// Notes that staged pages have come, with all that hangs on them; stale when any of it is being deleted.
    pub fn pages_staged_stay(&mut self, ids: &[PageId]) {
        for ids in ids.chunks(IDS_MAX) {
            let named = entity::Column::PageId.is_in(ids.iter().map(PageId::to_string));
            self.run(entity::Entity::delete_many().filter(named), Expect::Rows(ids.len() as u64));
        }
    }
}
