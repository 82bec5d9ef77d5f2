//! Threads on lines of pull requests.

use domain::{
    Timestamp,
    git::{LinePlace, LineSide, PullComment, PullNumber, PullThread, ThreadState, objects::RepositoryPath},
    id::{PullThreadId, UserId},
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};

use crate::{
    Change, Expect, Store, StoreError,
    git::{RepositoryNo, refs::oid_of},
    reader::{Reads, row},
    sql::Sql,
};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "pull_threads")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub path: String,
        pub line: i64,
        pub side: String,
        pub commit_oid: Vec<u8>,
        pub review_id: Option<String>,
        pub author: String,
        pub created_at: i64,
        pub resolved_by: Option<String>,
        pub resolved_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod comment {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "pull_comments")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub thread_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub author: String,
        pub body: String,
        pub created_at: i64,
        pub edited_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

row! {
    struct CountRow {
        count: i64,
    }
}

row! {
    struct SizeRow {
        thread_id: String,
        size: i64,
    }
}

/// Which threads of a pull request are listed.
#[derive(Clone, Debug, Default)]
pub struct ThreadList {
    /// Those that are open, or those that are resolved.
    pub state: Option<ThreadState>,
    /// Those of this file.
    pub path: Option<RepositoryPath>,
    /// Those after this one.
    pub after: Option<PullThreadId>,
    /// How many at most.
    pub limit: u64,
}

impl entity::Model {
    fn of(no: RepositoryNo, number: PullNumber, thread: &PullThread) -> Self {
        Self {
            repo_no: no.0,
            number: number.get().into(),
            id: thread.id.to_string(),
            path: thread.place.path.as_str().to_owned(),
            line: thread.place.line.into(),
            side: thread.place.side.as_str().to_owned(),
            commit_oid: thread.commit.as_bytes().to_vec(),
            review_id: thread.review.map(|id| id.to_string()),
            author: thread.author.to_string(),
            created_at: thread.created_at.0,
            resolved_by: thread.resolved.map(|(by, _)| by.to_string()),
            resolved_at: thread.resolved.map(|(_, at)| at.0),
        }
    }

    fn place(&self) -> Option<LinePlace> {
        Some(LinePlace {
            path: RepositoryPath::parse("path", &self.path).ok()?,
            line: u32::try_from(self.line).ok()?,
            side: LineSide::from_name(&self.side)?,
        })
    }
}

impl TryFrom<entity::Model> for PullThread {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let corrupt = |_| StoreError::corrupt("an id of pull_threads");
        let resolved_by = row.resolved_by.as_deref().map(str::parse::<UserId>).transpose().map_err(corrupt)?;
        Ok(Self {
            id: row.id.parse().map_err(corrupt)?,
            place: row.place().ok_or_else(|| StoreError::corrupt("the place of a row of pull_threads"))?,
            review: row.review_id.as_deref().map(str::parse).transpose().map_err(corrupt)?,
            author: row.author.parse().map_err(corrupt)?,
            commit: oid_of(row.commit_oid)?,
            created_at: Timestamp(row.created_at),
            resolved: resolved_by.zip(row.resolved_at.map(Timestamp)),
        })
    }
}

impl TryFrom<comment::Model> for PullComment {
    type Error = StoreError;

    fn try_from(row: comment::Model) -> Result<Self, StoreError> {
        let corrupt = |_| StoreError::corrupt("an id of pull_comments");
        Ok(Self {
            id: row.id.parse().map_err(corrupt)?,
            thread: row.thread_id.parse().map_err(corrupt)?,
            author: row.author.parse().map_err(corrupt)?,
            body: row.body,
            created_at: Timestamp(row.created_at),
            edited_at: row.edited_at.map(Timestamp),
        })
    }
}

impl Store {
    /// Threads of a pull request, the oldest first.
    pub async fn pull_threads(
        &self,
        no: RepositoryNo,
        number: PullNumber,
        list: &ThreadList,
    ) -> Result<Vec<PullThread>, StoreError> {
        use entity::Column;
        let mut select = of_pull(no, number);
        match list.state {
            Some(ThreadState::Open) => select = select.filter(Column::ResolvedAt.is_null()),
            Some(ThreadState::Resolved) => select = select.filter(Column::ResolvedAt.is_not_null()),
            None => {}
        }
        if let Some(path) = &list.path {
            select = select.filter(Column::Path.eq(path.as_str()));
        }
        if let Some(after) = list.after {
            select = select.filter(Column::Id.gt(after.to_string()));
        }
        let rows = select.order_by_asc(Column::Id).limit(list.limit).read_list(self.reader()).await?;
        rows.into_iter().map(PullThread::try_from).collect()
    }

    /// The pull request's thread with this id.
    pub async fn pull_thread(
        &self,
        no: RepositoryNo,
        number: PullNumber,
        id: PullThreadId,
    ) -> Result<Option<PullThread>, StoreError> {
        let select = of_pull(no, number).filter(entity::Column::Id.eq(id.to_string()));
        select.read_one(self.reader()).await?.map(PullThread::try_from).transpose()
    }

    /// How many threads a pull request has.
    pub async fn pull_threads_count(&self, no: RepositoryNo, number: PullNumber) -> Result<u64, StoreError> {
        of_pull(no, number).read_count(self.reader()).await
    }

    /// How many of them aren't resolved.
    pub async fn pull_threads_open(&self, no: RepositoryNo, number: PullNumber) -> Result<u32, StoreError> {
        let sql = Sql::new(
            "SELECT COUNT(*) AS count FROM pull_threads WHERE repo_no = $1 AND number = $2 AND resolved_at IS NULL",
            [no.0.into(), i64::from(number.get()).into()],
        );
        let count = self.reader().row::<CountRow>(&sql).await?.map_or(0, |row| row.count);
        u32::try_from(count).map_err(StoreError::corrupt)
    }

    /// How many characters the comments of each of these threads have.
    pub async fn pull_thread_sizes(
        &self,
        no: RepositoryNo,
        threads: &[PullThread],
    ) -> Result<Vec<(PullThreadId, u64)>, StoreError> {
        if threads.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<String> = (2..threads.len() + 2).map(|at| format!("${at}")).collect();
        let statement = format!(
            "SELECT thread_id, SUM(LENGTH(body)) AS size FROM pull_comments WHERE repo_no = $1 AND thread_id IN ({}) \
             GROUP BY thread_id",
            places.join(", ")
        );
        let ids = threads.iter().map(|thread| thread.id.to_string().into());
        let sql = Sql::new(statement, std::iter::once(no.0.into()).chain(ids).collect::<Vec<_>>());
        let rows: Vec<SizeRow> = self.reader().rows(&sql).await?;
        let size = |row: SizeRow| {
            let id = row.thread_id.parse().map_err(|_| StoreError::corrupt("pull_comments.thread_id"))?;
            Ok((id, u64::try_from(row.size).map_err(StoreError::corrupt)?))
        };
        rows.into_iter().map(size).collect()
    }

    /// The comments of these threads, by the threads' ids, the oldest of each first.
    pub async fn pull_comments(
        &self,
        no: RepositoryNo,
        threads: &[PullThreadId],
    ) -> Result<Vec<PullComment>, StoreError> {
        let select = comment::Entity::find()
            .filter(comment::Column::RepoNo.eq(no.0))
            .filter(comment::Column::ThreadId.is_in(threads.iter().map(ToString::to_string)))
            .order_by_asc(comment::Column::ThreadId)
            .order_by_asc(comment::Column::Id);
        let rows = select.read_list(self.reader()).await?;
        rows.into_iter().map(PullComment::try_from).collect()
    }
}

fn of_pull(no: RepositoryNo, number: PullNumber) -> sea_orm::Select<entity::Entity> {
    entity::Entity::find()
        .filter(entity::Column::RepoNo.eq(no.0))
        .filter(entity::Column::Number.eq(i64::from(number.get())))
}

impl Change {
    /// Adds a thread.
    pub fn pull_thread_add(&mut self, no: RepositoryNo, number: PullNumber, thread: &PullThread) {
        self.insert(entity::Model::of(no, number, thread).into_active_model());
    }

    /// Says that a thread is done, or isn't; stale where it is gone.
    pub fn pull_thread_settle(&mut self, no: RepositoryNo, number: PullNumber, thread: &PullThread) {
        let statement = "UPDATE pull_threads SET resolved_by = $4, resolved_at = $5 \
                         WHERE repo_no = $1 AND number = $2 AND id = $3";
        let row = entity::Model::of(no, number, thread);
        let values =
            [row.repo_no.into(), row.number.into(), row.id.into(), row.resolved_by.into(), row.resolved_at.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes a thread away that has no comments any more; stale where it is gone.
    pub fn pull_thread_remove(&mut self, no: RepositoryNo, number: PullNumber, id: PullThreadId) {
        let statement = "DELETE FROM pull_threads WHERE repo_no = $1 AND number = $2 AND id = $3";
        let values = [no.0.into(), i64::from(number.get()).into(), id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Adds a comment.
    pub fn pull_comment_add(&mut self, no: RepositoryNo, it: &PullComment) {
        let row = comment::Model {
            repo_no: no.0,
            thread_id: it.thread.to_string(),
            id: it.id.to_string(),
            author: it.author.to_string(),
            body: it.body.clone(),
            created_at: it.created_at.0,
            edited_at: it.edited_at.map(|at| at.0),
        };
        self.insert(row.into_active_model());
    }

    /// Writes what a comment says; stale where it is gone.
    pub fn pull_comment_set(&mut self, no: RepositoryNo, it: &PullComment) {
        let statement = "UPDATE pull_comments SET body = $4, edited_at = $5 \
                         WHERE repo_no = $1 AND thread_id = $2 AND id = $3";
        let values = [
            no.0.into(),
            it.thread.to_string().into(),
            it.id.to_string().into(),
            it.body.as_str().into(),
            it.edited_at.map(|at| at.0).into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes a comment away; stale where it is gone.
    pub fn pull_comment_remove(&mut self, no: RepositoryNo, it: &PullComment) {
        let statement = "DELETE FROM pull_comments WHERE repo_no = $1 AND thread_id = $2 AND id = $3";
        let values = [no.0.into(), it.thread.to_string().into(), it.id.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
