//! The documents that are edited together: a history, what was folded of it, and what was written since.
//!
//! `page_docs` has a row for each page that has a shared history, which its `epoch` names. What was written is rows of
//! `page_updates`, the truth until a fold puts them into the snapshot. A fold names the rows that it holds, and the number
//! of folds that it builds on, so that two nodes that fold at once lose nothing. Who ends a history says up to where it has
//! been seen, so that nothing ends unseen.

use domain::{
    Timestamp,
    id::{OrgId, PageId},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

mod document_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_docs")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub page_id: String,
        pub epoch: String,
        pub snapshot: Option<Vec<u8>>,
        pub folds: i64,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod update_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_updates")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub page_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        pub epoch: String,
        pub payload: Vec<u8>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod page_row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "pages")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub archived_at: Option<i64>,
        pub content_version: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What a page's session asks of the page's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHead {
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// Since when it is in the trash.
    pub archived_at: Option<Timestamp>,
    /// The version of its content.
    pub content_version: i64,
}

row! {
    struct HistoryRow {
        epoch: String,
        folds: i64,
    }
}

row! {
    struct UnfoldedRow {
        page_id: String,
    }
}

/// Up to where somebody has seen a page's shared history, all that was written of it being folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHistory {
    /// Names the history.
    pub epoch: String,
    /// How often it was folded.
    pub folds: i64,
}

/// A page's shared history, without what was written since the last fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDocument {
    /// Names the history.
    pub epoch: String,
    /// What was folded.
    pub snapshot: Vec<u8>,
    /// How often.
    pub folds: i64,
}

/// Names a row of what was written, among those of its page. Later ones are larger, as far as clocks agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageUpdateId(pub i64);

/// A row of what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageUpdate {
    /// Its name.
    pub id: PageUpdateId,
    /// What was written.
    pub payload: Vec<u8>,
}

/// A new row of what was written.
#[derive(Clone, Debug)]
pub struct NewPageUpdate<'a> {
    /// The page.
    pub page_id: PageId,
    /// The history that it belongs to.
    pub epoch: &'a str,
    /// Its name.
    pub id: PageUpdateId,
    /// What was written.
    pub payload: Vec<u8>,
    /// When.
    pub now: Timestamp,
}

/// A fold of a page's history.
#[derive(Clone, Debug)]
pub struct PageFold<'a> {
    /// The page.
    pub page_id: PageId,
    /// The history.
    pub epoch: &'a str,
    /// How often it was folded before.
    pub folds: i64,
    /// What holds all that was written.
    pub snapshot: Vec<u8>,
    /// The rows that it holds.
    pub rows: &'a [PageUpdateId],
}

impl Store {
    /// The little of a page's row that its session decides on.
    pub async fn page_head(&self, page_id: PageId) -> Result<Option<PageHead>, StoreError> {
        let found = page_row::Entity::find_by_id(page_id.to_string()).read_one(self.reader()).await?;
        found
            .map(|row| {
                let org_id = row.org_id.parse().map_err(|_| StoreError::corrupt("pages.org_id"))?;
                let archived_at = row.archived_at.map(Timestamp);
                Ok(PageHead { org_id, archived_at, content_version: row.content_version })
            })
            .transpose()
    }

    /// A page's shared history; there is none before anyone opened the page so, and after a write from outside.
    pub async fn page_document(&self, page_id: PageId) -> Result<Option<PageDocument>, StoreError> {
        let found = document_row::Entity::find_by_id(page_id.to_string()).read_one(self.reader()).await?;
        Ok(found.map(|row| PageDocument {
            epoch: row.epoch,
            snapshot: row.snapshot.unwrap_or_default(),
            folds: row.folds,
        }))
    }

    /// A page's shared history, without what it holds.
    pub async fn page_history(&self, page_id: PageId) -> Result<Option<PageHistory>, StoreError> {
        let sql = Sql::new("SELECT epoch, folds FROM page_docs WHERE page_id = $1", [page_id.to_string().into()]);
        let found = self.reader().row::<HistoryRow>(&sql).await?;
        Ok(found.map(|HistoryRow { epoch, folds }| PageHistory { epoch, folds }))
    }

    /// What was written since the last fold.
    pub async fn page_updates(&self, page_id: PageId, epoch: &str) -> Result<Vec<PageUpdate>, StoreError> {
        let rows = of_history(page_id, epoch).order_by_asc(update_row::Column::Id).read_all(self.reader()).await?;
        Ok(rows.into_iter().map(|row| PageUpdate { id: PageUpdateId(row.id), payload: row.payload }).collect())
    }

    /// The names of what was written since the last fold.
    pub async fn page_update_ids(&self, page_id: PageId, epoch: &str) -> Result<Vec<PageUpdateId>, StoreError> {
        let select = of_history(page_id, epoch).select_only().column(update_row::Column::Id);
        let rows: Vec<(i64,)> = select.read_all_columns(self.reader()).await?;
        Ok(rows.into_iter().map(|(id,)| PageUpdateId(id)).collect())
    }

    /// Pages whose history has a row of before `before` that nobody folded.
    pub async fn pages_unfolded(&self, before: Timestamp, limit: u64) -> Result<Vec<PageId>, StoreError> {
        let statement = "SELECT DISTINCT page_updates.page_id FROM page_updates \
                         JOIN page_docs ON page_docs.page_id = page_updates.page_id AND page_docs.epoch = page_updates.epoch \
                         JOIN pages ON pages.id = page_updates.page_id AND pages.archived_at IS NULL \
                         WHERE page_updates.created_at < $1 LIMIT $2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.reader().rows::<UnfoldedRow>(&Sql::new(statement, [before.0.into(), limit.into()])).await?;
        rows.iter().map(|row| row.page_id.parse().map_err(|_| StoreError::corrupt("page_updates.page_id"))).collect()
    }
}

fn of_history(page_id: PageId, epoch: &str) -> sea_orm::Select<update_row::Entity> {
    update_row::Entity::find()
        .filter(update_row::Column::PageId.eq(page_id.to_string()))
        .filter(update_row::Column::Epoch.eq(epoch))
}

impl Change {
    /// Begins a shared history from the content of this version. Stale when the page has another version by now, or is in
    /// the trash; a duplicate when somebody else began one.
    pub fn page_document_begin(&mut self, page_id: PageId, document: &PageDocument, version: i64, now: Timestamp) {
        let page_id = page_id.to_string();
        // Waits for whoever is writing the content right now, and has them wait.
        let guard = "UPDATE pages SET content_version = content_version WHERE id = $1 AND content_version = $2 \
                     AND archived_at IS NULL";
        self.run_statement(Sql::new(guard, [page_id.clone().into(), version.into()]), Expect::Rows(1));
        let insert = "INSERT INTO page_docs (page_id, epoch, snapshot, folds, created_at) VALUES ($1, $2, $3, $4, $5)";
        let PageDocument { epoch, snapshot, folds } = document.clone();
        let values = [page_id.into(), epoch.into(), snapshot.into(), folds.into(), now.0.into()];
        self.run_statement(Sql::new(insert, values), Expect::Rows(1));
    }

    /// Ends a page's shared history, of which all that was `seen` is in the page's content. Comes after what else the change
    /// does to the page's row.
    ///
    /// Stale when somebody folded, wrote or began what was not seen; `None` has seen that there is no history.
    pub fn page_document_end(&mut self, page_id: PageId, seen: Option<&PageHistory>) {
        let page_id = page_id.to_string();
        let Some(PageHistory { epoch, folds }) = seen else {
            let begun = Sql::new("DELETE FROM page_docs WHERE page_id = $1", [page_id.into()]);
            return self.run_statement(begun, Expect::Rows(0));
        };
        let seen = "DELETE FROM page_docs WHERE page_id = $1 AND epoch = $2 AND folds = $3";
        let values = [page_id.clone().into(), epoch.clone().into(), (*folds).into()];
        self.run_statement(Sql::new(seen, values), Expect::Rows(1));
        let unseen = "DELETE FROM page_updates WHERE page_id = $1 AND epoch = $2";
        self.run_statement(Sql::new(unseen, [page_id.into(), epoch.clone().into()]), Expect::Rows(0));
    }

    /// Adds what was written. Stale when the history is no longer the page's, or the page is in the trash. Until the commit,
    /// nobody ends the history: whoever does so afterwards finds the row.
    pub fn page_update_add(&mut self, update: NewPageUpdate<'_>) {
        let NewPageUpdate { page_id, epoch, id, payload, now } = update;
        let statement = "INSERT INTO page_updates (page_id, id, epoch, payload, created_at) \
                         SELECT page_docs.page_id, $2, page_docs.epoch, $4, $5 \
                         FROM page_docs JOIN pages ON pages.id = page_docs.page_id \
                         WHERE page_docs.page_id = $1 AND page_docs.epoch = $3 AND pages.archived_at IS NULL \
                         /*document stays*/";
        let values = [page_id.to_string().into(), id.0.into(), epoch.to_owned().into(), payload.into(), now.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Folds what was written. Stale when somebody else folded first, or the history is over.
    pub fn page_document_fold(&mut self, fold: PageFold<'_>) {
        let PageFold { page_id, epoch, folds, snapshot, rows } = fold;
        let statement = "UPDATE page_docs SET snapshot = $4, folds = folds + 1 \
                         WHERE page_id = $1 AND epoch = $2 AND folds = $3";
        let values = [page_id.to_string().into(), epoch.to_owned().into(), folds.into(), snapshot.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        for rows in rows.chunks(FOLDED_ROWS_MAX) {
            let delete = update_row::Entity::delete_many()
                .filter(update_row::Column::PageId.eq(page_id.to_string()))
                .filter(update_row::Column::Id.is_in(rows.iter().map(|row| row.0)));
            self.run(delete, Expect::Any);
        }
    }
}

/// Rows that one statement deletes.
const FOLDED_ROWS_MAX: usize = 500;
