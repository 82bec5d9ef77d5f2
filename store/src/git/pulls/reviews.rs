//! Reviews of pull requests, and who is asked for them.

use std::str::FromStr;

use domain::{
    Timestamp,
    git::{AskedReviewer, Dismissal, Principal, PullNumber, PullReview, ReviewState, ReviewVerdict, StandingReview},
    id::{PullReviewId, UserId},
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
    #[sea_orm(table_name = "pull_reviews")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub number: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub author: String,
        pub verdict: String,
        pub body: String,
        pub commit_oid: Vec<u8>,
        pub state: String,
        pub created_at: i64,
        pub dismissed_by: Option<String>,
        pub dismissed_at: Option<i64>,
        pub dismissed_reason: Option<String>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

row! {
    struct StandingRow {
        id: String,
        author: String,
        verdict: String,
        commit_oid: Vec<u8>,
    }
}

row! {
    struct AskedRow {
        principal: String,
        asked_by: String,
        asked_at: i64,
    }
}

fn parsed<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(column))
}

fn verdict_of(name: &str) -> Result<ReviewVerdict, StoreError> {
    ReviewVerdict::from_name(name).ok_or_else(|| StoreError::corrupt("pull_reviews.verdict"))
}

impl TryFrom<entity::Model> for PullReview {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let by = row.dismissed_by.as_deref().map(|id| parsed("pull_reviews.dismissed_by", id)).transpose()?;
        let dismissed = by.zip(row.dismissed_at.map(Timestamp));
        Ok(Self {
            id: parsed("pull_reviews.id", &row.id)?,
            author: parsed("pull_reviews.author", &row.author)?,
            verdict: verdict_of(&row.verdict)?,
            body: row.body,
            commit: oid_of(row.commit_oid)?,
            state: ReviewState::from_name(&row.state).ok_or_else(|| StoreError::corrupt("pull_reviews.state"))?,
            created_at: Timestamp(row.created_at),
            dismissed: dismissed.map(|(by, at)| Dismissal { by, at, reason: row.dismissed_reason.unwrap_or_default() }),
        })
    }
}

impl TryFrom<StandingRow> for StandingReview {
    type Error = StoreError;

    fn try_from(row: StandingRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: parsed("pull_reviews.id", &row.id)?,
            author: parsed("pull_reviews.author", &row.author)?,
            approves: verdict_of(&row.verdict)? == ReviewVerdict::Approve,
            commit: oid_of(row.commit_oid)?,
        })
    }
}

impl TryFrom<AskedRow> for AskedReviewer {
    type Error = StoreError;

    fn try_from(row: AskedRow) -> Result<Self, StoreError> {
        Ok(Self {
            principal: parsed("pull_reviewers.principal", &row.principal)?,
            asked_by: parsed("pull_reviewers.asked_by", &row.asked_by)?,
            asked_at: Timestamp(row.asked_at),
        })
    }
}

fn of_pull(no: RepositoryNo, number: PullNumber) -> sea_orm::Select<entity::Entity> {
    entity::Entity::find()
        .filter(entity::Column::RepoNo.eq(no.0))
        .filter(entity::Column::Number.eq(i64::from(number.get())))
}

impl Store {
    /// Reviews of a pull request, the oldest first, after the one with the id `after`.
    pub async fn pull_reviews(
        &self,
        no: RepositoryNo,
        number: PullNumber,
        after: Option<PullReviewId>,
        limit: u64,
    ) -> Result<Vec<PullReview>, StoreError> {
        let mut select = of_pull(no, number);
        if let Some(after) = after {
            select = select.filter(entity::Column::Id.gt(after.to_string()));
        }
        let rows = select.order_by_asc(entity::Column::Id).limit(limit).read_list(self.reader()).await?;
        rows.into_iter().map(PullReview::try_from).collect()
    }

    /// The pull request's review with this id.
    pub async fn pull_review(
        &self,
        no: RepositoryNo,
        number: PullNumber,
        id: PullReviewId,
    ) -> Result<Option<PullReview>, StoreError> {
        let select = of_pull(no, number).filter(entity::Column::Id.eq(id.to_string()));
        select.read_one(self.reader()).await?.map(PullReview::try_from).transpose()
    }

    /// How many reviews a pull request has.
    pub async fn pull_reviews_count(&self, no: RepositoryNo, number: PullNumber) -> Result<u64, StoreError> {
        of_pull(no, number).read_count(self.reader()).await
    }

    /// What people decided on a pull request, at most one review of each.
    pub async fn pull_reviews_standing(
        &self,
        no: RepositoryNo,
        number: PullNumber,
    ) -> Result<Vec<StandingReview>, StoreError> {
        let sql = Sql::new(
            "SELECT id, author, verdict, commit_oid FROM pull_reviews WHERE repo_no = $1 AND number = $2 \
             AND state = 'current' AND verdict <> 'comment' ORDER BY id",
            [no.0.into(), i64::from(number.get()).into()],
        );
        let rows: Vec<StandingRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(StandingReview::try_from).collect()
    }

    /// Whoever is asked for a review of a pull request and hasn't given one, in the order of their ids.
    pub async fn pull_reviewers(&self, no: RepositoryNo, number: PullNumber) -> Result<Vec<AskedReviewer>, StoreError> {
        let sql = Sql::new(
            "SELECT principal, asked_by, asked_at FROM pull_reviewers WHERE repo_no = $1 AND number = $2 \
             ORDER BY principal",
            [no.0.into(), i64::from(number.get()).into()],
        );
        let rows: Vec<AskedRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(AskedReviewer::try_from).collect()
    }
}

impl Change {
    /// Adds a review. One that decides replaces what its author decided before.
    pub fn pull_review_add(&mut self, no: RepositoryNo, number: PullNumber, review: &PullReview) {
        let (pull, author) = (i64::from(number.get()), review.author.to_string());
        if review.verdict != ReviewVerdict::Comment {
            let statement = "UPDATE pull_reviews SET state = 'replaced' WHERE repo_no = $1 AND number = $2 \
                             AND author = $3 AND id <> $4 AND state = 'current' AND verdict <> 'comment'";
            let values = [no.0.into(), pull.into(), author.as_str().into(), review.id.to_string().into()];
            self.run_statement(Sql::new(statement, values), Expect::Any);
        }
        let dismissed = review.dismissed.as_ref();
        let row = entity::Model {
            repo_no: no.0,
            number: pull,
            id: review.id.to_string(),
            author,
            verdict: review.verdict.as_str().to_owned(),
            body: review.body.clone(),
            commit_oid: review.commit.as_bytes().to_vec(),
            state: review.state.as_str().to_owned(),
            created_at: review.created_at.0,
            dismissed_by: dismissed.map(|it| it.by.to_string()),
            dismissed_at: dismissed.map(|it| it.at.0),
            dismissed_reason: dismissed.map(|it| it.reason.clone()),
        };
        self.insert(row.into_active_model());
    }

    /// Dismisses a review; stale where it doesn't decide anything.
    pub fn pull_review_dismiss(
        &mut self,
        no: RepositoryNo,
        number: PullNumber,
        id: PullReviewId,
        dismissal: &Dismissal,
    ) {
        let statement = "UPDATE pull_reviews SET state = 'dismissed', dismissed_by = $4, dismissed_at = $5, \
                         dismissed_reason = $6 WHERE repo_no = $1 AND number = $2 AND id = $3 AND state = 'current'";
        let values = [
            no.0.into(),
            i64::from(number.get()).into(),
            id.to_string().into(),
            dismissal.by.to_string().into(),
            dismissal.at.0.into(),
            dismissal.reason.as_str().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Asks somebody for a review.
    pub fn pull_reviewer_add(
        &mut self,
        no: RepositoryNo,
        number: PullNumber,
        (principal, by): (Principal, UserId),
        now: Timestamp,
    ) {
        let statement = "INSERT INTO pull_reviewers (repo_no, number, principal, asked_by, asked_at) \
                         VALUES ($1, $2, $3, $4, $5)";
        let values = [
            no.0.into(),
            i64::from(number.get()).into(),
            principal.to_string().into(),
            by.to_string().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Asks somebody no longer; stale where they aren't asked.
    pub fn pull_reviewer_remove(&mut self, no: RepositoryNo, number: PullNumber, principal: Principal) {
        let statement = "DELETE FROM pull_reviewers WHERE repo_no = $1 AND number = $2 AND principal = $3";
        let values = [no.0.into(), i64::from(number.get()).into(), principal.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
