//! Comments on pages.

use domain::{
    Timestamp,
    id::{OrgId, PageCommentId, PageId, UserId},
    pages::comment::Comment,
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
};

use crate::{Change, Expect, Store, StoreError, json, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_comments")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub page_id: String,
        pub org_id: String,
        pub block_id: Option<String>,
        pub thread_id: Option<String>,
        pub body: String,
        pub mentions: String,
        pub created_by: String,
        pub created_at: i64,
        pub edited_at: Option<i64>,
        pub resolved_at: Option<i64>,
        pub resolved_by: Option<String>,
        pub version: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Which comments of a page are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentFilter {
    /// Those that begin or belong to this thread.
    pub thread: Option<PageCommentId>,
    /// Those on this block.
    pub block_id: Option<String>,
    /// Those whose thread is resolved, or is not.
    pub resolved: Option<bool>,
}

impl row::Model {
    fn of(comment: &Comment) -> Self {
        Self {
            id: comment.id.to_string(),
            page_id: comment.page_id.to_string(),
            org_id: comment.org_id.to_string(),
            block_id: comment.block_id.clone(),
            thread_id: comment.thread_id.map(|id| id.to_string()),
            // A comment says something, so that an empty body stands for one that was deleted.
            body: comment.body.clone().unwrap_or_default(),
            mentions: json::text(&comment.mentions),
            created_by: comment.created_by.to_string(),
            created_at: comment.created_at.0,
            edited_at: comment.edited_at.map(Timestamp::as_millis),
            resolved_at: comment.resolved.map(|(at, _)| at.0),
            resolved_by: comment.resolved.map(|(_, by)| by.to_string()),
            version: comment.version,
        }
    }

    fn read(self) -> Option<Comment> {
        let resolved_by = self.resolved_by.as_deref().map(str::parse::<UserId>).transpose().ok()?;
        Some(Comment {
            id: self.id.parse().ok()?,
            page_id: self.page_id.parse::<PageId>().ok()?,
            org_id: self.org_id.parse::<OrgId>().ok()?,
            block_id: self.block_id,
            thread_id: self.thread_id.as_deref().map(str::parse).transpose().ok()?,
            body: Some(self.body).filter(|body| !body.is_empty()),
            mentions: serde_json::from_str(&self.mentions).ok()?,
            created_by: self.created_by.parse().ok()?,
            created_at: Timestamp(self.created_at),
            edited_at: self.edited_at.map(Timestamp),
            resolved: self.resolved_at.map(Timestamp).zip(resolved_by),
            version: self.version,
        })
    }
}

impl TryFrom<row::Model> for Comment {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let id = row.id.clone();
        row.read().ok_or_else(|| StoreError::corrupt(format_args!("page_comments {id}")))
    }
}

impl Store {
    /// The page's comment with this id.
    pub async fn page_comment(&self, page_id: PageId, id: PageCommentId) -> Result<Option<Comment>, StoreError> {
        let select = of_page(page_id).filter(row::Column::Id.eq(id.to_string()));
        select.read_one(self.reader()).await?.map(Comment::try_from).transpose()
    }

    /// Up to `limit` comments of a page, the oldest first, after the one with the id `after`.
    pub async fn page_comments(
        &self,
        page_id: PageId,
        filter: &CommentFilter,
        after: Option<PageCommentId>,
        limit: u64,
    ) -> Result<Vec<Comment>, StoreError> {
        let mut select = of_page(page_id);
        if let Some(after) = after {
            select = select.filter(row::Column::Id.gt(after.to_string()));
        }
        if let Some(thread) = filter.thread.map(|id| id.to_string()) {
            select = select.filter(row::Column::Id.eq(thread.as_str()).or(row::Column::ThreadId.eq(thread.as_str())));
        }
        if let Some(block_id) = &filter.block_id {
            select = select.filter(row::Column::BlockId.eq(block_id.as_str()));
        }
        match filter.resolved {
            // An answer is marked with its thread.
            Some(true) => select = select.filter(row::Column::ResolvedAt.is_not_null()),
            Some(false) => select = select.filter(row::Column::ResolvedAt.is_null()),
            None => {}
        }
        let rows = select.order_by_asc(row::Column::Id).limit(limit).read_all(self.reader()).await?;
        rows.into_iter().map(Comment::try_from).collect()
    }

    /// How many comments a page has, answers included.
    pub async fn page_comments_count(&self, page_id: PageId) -> Result<u64, StoreError> {
        of_page(page_id).read_count(self.reader()).await
    }

    /// How many answers a thread has.
    pub async fn page_answers_count(&self, page_id: PageId, thread: PageCommentId) -> Result<u64, StoreError> {
        of_page(page_id).filter(row::Column::ThreadId.eq(thread.to_string())).read_count(self.reader()).await
    }
}

fn of_page(page_id: PageId) -> sea_orm::Select<row::Entity> {
    row::Entity::find().filter(row::Column::PageId.eq(page_id.to_string()))
}

impl Change {
    /// Stale when the page is gone or in the trash by then.
    pub fn page_confirm_active(&mut self, page_id: PageId) {
        let statement = "UPDATE pages SET version = version WHERE id = $1 AND archived_at IS NULL";
        self.run_statement(Sql::new(statement, [page_id.to_string().into()]), Expect::Rows(1));
    }

    /// Passes while the page has fewer comments than `max`, counted once the page is [held](Self::page_confirm_active); stale
    /// otherwise.
    pub fn page_comments_room(&mut self, page_id: PageId, max: u64) {
        let statement = "UPDATE pages SET version = version WHERE id = $1 \
                         AND (SELECT COUNT(*) FROM page_comments WHERE page_id = $1) < $2";
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        self.run_statement(Sql::new(statement, [page_id.to_string().into(), max.into()]), Expect::Rows(1));
    }

    /// Adds a comment.
    pub fn page_comment_add(&mut self, comment: &Comment) {
        self.insert(row::Model::of(comment).into_active_model());
    }

    /// Writes a comment as it is now, under the next version; stale when it has another version than it was read with.
    pub fn page_comment_set(&mut self, comment: &Comment) {
        let next = row::Model { version: comment.version + 1, ..row::Model::of(comment) };
        let at_version = row::Column::Id.eq(comment.id.to_string()).and(row::Column::Version.eq(comment.version));
        let update = row::Entity::update_many().set(next.into_active_model().reset_all()).filter(at_version);
        self.run(update, Expect::Rows(1));
    }

    /// Marks the answers of a thread as the comment that begins it.
    pub fn page_answers_resolve(&mut self, thread: &Comment) {
        let statement =
            "UPDATE page_comments SET resolved_at = $2, resolved_by = $3 WHERE page_id = $1 AND thread_id = $4";
        let resolved_at = thread.resolved.map(|(at, _)| at.0);
        let resolved_by = thread.resolved.map(|(_, by)| by.to_string());
        let values =
            [thread.page_id.to_string().into(), resolved_at.into(), resolved_by.into(), thread.id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Removes a comment; stale when it has another version than it was read with.
    pub fn page_comment_remove(&mut self, comment: &Comment) {
        let statement = "DELETE FROM page_comments WHERE id = $1 AND version = $2";
        self.run_statement(
            Sql::new(statement, [comment.id.to_string().into(), comment.version.into()]),
            Expect::Rows(1),
        );
    }
}
