//! What a page says.

use domain::{
    Timestamp,
    id::{PageId, UserId},
    pages::{PageContent, content::ContentDraft},
};
use sea_orm::{ActiveValue::Set, EntityTrait};

use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

pub(super) mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_contents")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub page_id: String,
        pub version: i64,
        pub blocks: Option<String>,
        pub markdown: String,
        pub updated_at: i64,
        pub updated_by: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A content with when it was written, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenContent {
    /// The content.
    pub content: PageContent,
    /// When it was written.
    pub updated_at: Timestamp,
    /// By whom; none where many wrote it together.
    pub updated_by: Option<UserId>,
}

/// A content that takes the place of another.
#[derive(Clone, Debug)]
pub struct PageContentWrite {
    /// The page.
    pub page_id: PageId,
    /// The version of the content that goes; 0 for a page that nobody wrote yet.
    pub replaces: i64,
    /// What the page is to say.
    pub draft: ContentDraft,
    /// When.
    pub now: Timestamp,
    /// Who wrote it; none where many wrote it together.
    pub by: Option<UserId>,
}

row! {
    struct EpochRow {
        epoch: String,
    }
}

pub(super) fn written_by(text: Option<&str>) -> Result<Option<UserId>, StoreError> {
    text.map(|text| text.parse().map_err(|_| StoreError::corrupt(format_args!("person {text}")))).transpose()
}

impl Store {
    /// What the page says now.
    pub async fn page_content(&self, id: PageId) -> Result<PageContent, StoreError> {
        Ok(self.page_content_written(id).await?.map(|written| written.content).unwrap_or_default())
    }

    /// What the page says now, with when it was written; none where nobody wrote it yet.
    pub async fn page_content_written(&self, id: PageId) -> Result<Option<WrittenContent>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string()).read_one(self.reader()).await?;
        row.map(|row| {
            Ok(WrittenContent {
                updated_by: written_by(row.updated_by.as_deref())?,
                updated_at: Timestamp(row.updated_at),
                content: PageContent { version: row.version, blocks: row.blocks, markdown: row.markdown },
            })
        })
        .transpose()
    }

    /// The name of the page's shared history; none before anyone opened it to edit it together.
    pub async fn page_epoch(&self, id: PageId) -> Result<Option<String>, StoreError> {
        let sql = Sql::new("SELECT epoch FROM page_docs WHERE page_id = $1", [id.to_string().into()]);
        Ok(self.reader().row::<EpochRow>(&sql).await?.map(|row| row.epoch))
    }
}

impl Change {
    /// Has the page say something else, under the next version. Stale when its content has another version than the write
    /// replaces, and when the page is gone or in the trash.
    pub fn page_content_write(&mut self, write: PageContentWrite) {
        let PageContentWrite { page_id, replaces, draft, now, by } = write;
        self.page_text_save(page_id, &draft.markdown);
        let (page_id, by, version) = (page_id.to_string(), by.map(|by| by.to_string()), replaces + 1);
        let page = "UPDATE pages SET content_version = $2, updated_at = $3, updated_by = $4 \
                    WHERE id = $1 AND content_version = $5 AND archived_at IS NULL";
        let values = [page_id.clone().into(), version.into(), now.0.into(), by.clone().into(), replaces.into()];
        self.run_statement(Sql::new(page, values), Expect::Rows(1));
        let blocks = draft.blocks.map(String::from);
        if replaces == 0 {
            self.insert(row::ActiveModel {
                page_id: Set(page_id),
                version: Set(version),
                blocks: Set(blocks),
                markdown: Set(draft.markdown),
                updated_at: Set(now.0),
                updated_by: Set(by),
            });
            return;
        }
        let content = "UPDATE page_contents SET version = $2, blocks = $3, markdown = $4, updated_at = $5, updated_by = $6 \
                       WHERE page_id = $1 AND version = $7";
        let values = [
            page_id.into(),
            version.into(),
            blocks.into(),
            draft.markdown.into(),
            now.0.into(),
            by.into(),
            replaces.into(),
        ];
        self.run_statement(Sql::new(content, values), Expect::Rows(1));
    }
}
