//! Pull requests, with what people say of them.

mod reviews;
mod threads;
mod timeline;
mod waiting;

use std::collections::HashMap;

use domain::{
    Timestamp,
    git::{BranchName, ObjectId, OpenPull, Pull, PullNumber, PullState},
    id::UserId,
};
use sea_orm::{
    ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait, LikeExpr},
};

pub use self::{
    threads::ThreadList,
    waiting::{MERGE_TIMER, MERGES_WANTED, MergeWanted, REPOSITORY_KIND, Waiting},
};
use super::{RepositoryNo, list::containing, refs::oid_of};
use crate::{
    Change, Expect, Store, StoreError, json,
    reader::{Reads, row},
    sql::Sql,
};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "pulls")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i64,
        pub title: String,
        pub title_key: String,
        pub body: String,
        pub head: String,
        pub base: String,
        pub state: String,
        pub draft: bool,
        pub author: String,
        pub version: i64,
        pub opened_head: Vec<u8>,
        pub opened_base: Vec<u8>,
        pub head_oid: Vec<u8>,
        pub base_oid: Vec<u8>,
        pub merge_commit: Option<Vec<u8>>,
        pub created_at: i64,
        pub updated_at: i64,
        pub ended_by: Option<String>,
        pub ended_at: Option<i64>,
        pub auto_merge: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

row! {
    struct OpenRow {
        number: i64,
        head: String,
        base: String,
        head_oid: Vec<u8>,
    }
}

/// Which pull requests are listed.
#[derive(Clone, Debug, Default)]
pub struct PullList {
    /// Those in this state.
    pub state: Option<PullState>,
    /// Those of this branch.
    pub head: Option<BranchName>,
    /// Those into this branch.
    pub base: Option<BranchName>,
    /// Those that this person opened.
    pub author: Option<UserId>,
    /// Those whose titles have this part, regardless of case.
    pub part: Option<String>,
    /// Those before this one.
    pub before: Option<PullNumber>,
    /// How many at most.
    pub limit: u64,
}

fn number_of(number: i64) -> Result<PullNumber, StoreError> {
    let number = u32::try_from(number).ok().and_then(PullNumber::new);
    number.ok_or_else(|| StoreError::corrupt("pulls.number"))
}

fn branch_of(name: &str) -> Result<BranchName, StoreError> {
    BranchName::parse("name", name).map_err(|_| StoreError::corrupt("a branch of pulls"))
}

impl entity::Model {
    fn of(no: RepositoryNo, pull: &Pull) -> Self {
        let bytes = |oid: ObjectId| oid.as_bytes().to_vec();
        Self {
            repo_no: no.0,
            number: pull.number.get().into(),
            title: pull.title.clone(),
            title_key: pull.title.to_lowercase(),
            body: pull.body.clone(),
            head: pull.head.as_str().to_owned(),
            base: pull.base.as_str().to_owned(),
            state: pull.state.as_str().to_owned(),
            draft: pull.is_draft,
            author: pull.author.to_string(),
            version: pull.version,
            opened_head: bytes(pull.opened_with.0),
            opened_base: bytes(pull.opened_with.1),
            head_oid: bytes(pull.head_oid),
            base_oid: bytes(pull.base_oid),
            merge_commit: pull.merge_commit.map(bytes),
            created_at: pull.created_at.0,
            updated_at: pull.updated_at.0,
            ended_by: pull.ended.map(|(by, _)| by.to_string()),
            ended_at: pull.ended.map(|(_, at)| at.0),
            auto_merge: pull.auto_merge.as_ref().map(json::text),
        }
    }
}

impl TryFrom<entity::Model> for Pull {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let person = |id: &str| id.parse().map_err(|_| StoreError::corrupt("a person of pulls"));
        let ended_by = row.ended_by.as_deref().map(person).transpose()?;
        Ok(Self {
            number: number_of(row.number)?,
            title: row.title,
            body: row.body,
            head: branch_of(&row.head)?,
            base: branch_of(&row.base)?,
            state: PullState::from_name(&row.state).ok_or_else(|| StoreError::corrupt("pulls.state"))?,
            is_draft: row.draft,
            author: person(&row.author)?,
            version: row.version,
            opened_with: (oid_of(row.opened_head)?, oid_of(row.opened_base)?),
            head_oid: oid_of(row.head_oid)?,
            base_oid: oid_of(row.base_oid)?,
            merge_commit: row.merge_commit.map(oid_of).transpose()?,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
            ended: ended_by.zip(row.ended_at.map(Timestamp)),
            auto_merge: row.auto_merge.map(|wish| json::read("pulls.auto_merge", &wish)).transpose()?,
        })
    }
}

impl TryFrom<OpenRow> for OpenPull {
    type Error = StoreError;

    fn try_from(row: OpenRow) -> Result<Self, StoreError> {
        Ok(Self {
            number: number_of(row.number)?,
            head: branch_of(&row.head)?,
            base: branch_of(&row.base)?,
            head_oid: oid_of(row.head_oid)?,
        })
    }
}

impl Store {
    /// Pull requests of a repository, the newest first.
    pub async fn pulls(&self, no: RepositoryNo, list: &PullList) -> Result<Vec<Pull>, StoreError> {
        use entity::Column;
        let mut select = entity::Entity::find().filter(Column::RepoNo.eq(no.0));
        if let Some(state) = list.state {
            select = select.filter(Column::State.eq(state.as_str()));
        }
        for (column, branch) in [(Column::Head, &list.head), (Column::Base, &list.base)] {
            if let Some(branch) = branch {
                select = select.filter(column.eq(branch.as_str()));
            }
        }
        if let Some(author) = list.author {
            select = select.filter(Column::Author.eq(author.to_string()));
        }
        if let Some(part) = &list.part {
            select = select.filter(Expr::col(Column::TitleKey).like(LikeExpr::new(containing(part)).escape('!')));
        }
        if let Some(before) = list.before {
            select = select.filter(Column::Number.lt(i64::from(before.get())));
        }
        let rows = select.order_by_desc(Column::Number).limit(list.limit).read_list(self.reader()).await?;
        rows.into_iter().map(Pull::try_from).collect()
    }

    /// The repository's pull request of this number.
    pub async fn pull(&self, no: RepositoryNo, number: PullNumber) -> Result<Option<Pull>, StoreError> {
        let select = entity::Entity::find_by_id((no.0, i64::from(number.get())));
        select.read_one(self.reader()).await?.map(Pull::try_from).transpose()
    }

    /// The open pull requests of a repository, the newest first.
    pub async fn open_pulls(&self, no: RepositoryNo) -> Result<Vec<OpenPull>, StoreError> {
        let statement = "SELECT number, head, base, head_oid FROM pulls WHERE repo_no = $1 AND state = 'open' \
                         ORDER BY number DESC";
        let rows: Vec<OpenRow> = self.reader().rows(&Sql::new(statement, [no.0.into()])).await?;
        rows.into_iter().map(OpenPull::try_from).collect()
    }

    /// How many open pull requests each of these repositories has; those without any are left out.
    pub async fn open_pull_counts(
        &self,
        repositories: &[RepositoryNo],
    ) -> Result<HashMap<RepositoryNo, u64>, StoreError> {
        row! {
            struct CountRow {
                repo_no: i64,
                count: i64,
            }
        }
        if repositories.is_empty() {
            return Ok(HashMap::new());
        }
        let places: Vec<String> = (1..=repositories.len()).map(|at| format!("${at}")).collect();
        let statement = format!(
            "SELECT repo_no, COUNT(*) AS count FROM pulls WHERE state = 'open' AND repo_no IN ({}) GROUP BY repo_no",
            places.join(", ")
        );
        let values: Vec<_> = repositories.iter().map(|no| no.0.into()).collect();
        let rows: Vec<CountRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let count =
            |row: CountRow| Ok((RepositoryNo(row.repo_no), u64::try_from(row.count).map_err(StoreError::corrupt)?));
        rows.into_iter().map(count).collect()
    }

    /// The number of the newest pull request of a repository; 0 while there is none.
    pub async fn pulls_last(&self, no: RepositoryNo) -> Result<u32, StoreError> {
        let select =
            entity::Entity::find().filter(entity::Column::RepoNo.eq(no.0)).order_by_desc(entity::Column::Number);
        let newest = select.read_one(self.reader()).await?;
        newest.map_or(Ok(0), |row| u32::try_from(row.number).map_err(StoreError::corrupt))
    }
}

impl Change {
    /// Adds a pull request.
    pub fn pull_add(&mut self, no: RepositoryNo, pull: &Pull) {
        self.insert(entity::Model::of(no, pull).into_active_model());
    }

    /// Writes a pull request; stale where it isn't in the version that was read.
    pub fn pull_set(&mut self, no: RepositoryNo, pull: &Pull) {
        let row = entity::Model::of(no, pull);
        let statement = "UPDATE pulls SET title = $4, title_key = $5, body = $6, base = $7, state = $8, draft = $9, \
                         head_oid = $10, base_oid = $11, merge_commit = $12, updated_at = $13, ended_by = $14, \
                         ended_at = $15, head = $16, auto_merge = $17, version = version + 1 WHERE repo_no = $1 AND number = $2 AND version = $3";
        let values = [
            row.repo_no.into(),
            row.number.into(),
            row.version.into(),
            row.title.into(),
            row.title_key.into(),
            row.body.into(),
            row.base.into(),
            row.state.into(),
            row.draft.into(),
            row.head_oid.into(),
            row.base_oid.into(),
            row.merge_commit.into(),
            row.updated_at.into(),
            row.ended_by.into(),
            row.ended_at.into(),
            row.head.into(),
            row.auto_merge.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
