//! Notices: what a person was told, newest first.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use domain::{
    App, Timestamp,
    id::{EscalationId, NoticeId, OrgId, UserId},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::{Expr, ExprTrait, OnConflict, SimpleExpr},
};

use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

/// Notices in one statement: SQLite takes 32,766 values in one.
const ROWS_PER_STATEMENT: usize = 500;

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "notices")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub seq: i64,
        pub id: String,
        pub user_id: String,
        pub org_id: Option<String>,
        pub event: String,
        pub app: String,
        pub title: String,
        pub body: Option<String>,
        pub url: Option<String>,
        pub is_read: bool,
        pub require_ack: bool,
        pub acked_at: Option<i64>,
        pub escalation_id: Option<String>,
        pub source: String,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A notice that a person has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its id.
    pub id: NoticeId,
    /// Whose it is.
    pub user_id: UserId,
    /// The organization that it comes from.
    pub org_id: Option<OrgId>,
    /// The type of what happened.
    pub event: String,
    /// The app that it is about.
    pub app: App,
    /// The headline.
    pub title: String,
    /// What happened.
    pub body: Option<String>,
    /// Where more about it is shown.
    pub url: Option<String>,
    /// Whether the person has read it.
    pub is_read: bool,
    /// Whether somebody is to acknowledge it.
    pub require_ack: bool,
    /// When somebody did.
    pub acked_at: Option<Timestamp>,
    /// The escalation that an acknowledgement ends.
    pub escalation_id: Option<EscalationId>,
    /// When it came.
    pub created_at: Timestamp,
}

/// A notice to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNotice {
    /// Its id.
    pub id: NoticeId,
    /// Whom it is for.
    pub user_id: UserId,
    /// The organization that it comes from.
    pub org_id: Option<OrgId>,
    /// The type of what happened.
    pub event: String,
    /// The app that it is about.
    pub app: App,
    /// The headline.
    pub title: String,
    /// What happened.
    pub body: Option<String>,
    /// Where more about it is shown.
    pub url: Option<String>,
    /// Whether somebody is to acknowledge it.
    pub require_ack: bool,
    /// The escalation that an acknowledgement ends.
    pub escalation_id: Option<EscalationId>,
    /// Whether it comes as one that is read, because the person wants none of its kind in the app.
    pub is_read: bool,
    /// When it comes.
    pub created_at: Timestamp,
    /// What it comes from; the same comes to one person once.
    pub source: String,
}

impl NewNotice {
    /// The notice that it becomes.
    pub fn to_notice(&self) -> Notice {
        Notice {
            id: self.id,
            user_id: self.user_id,
            org_id: self.org_id,
            event: self.event.clone(),
            app: self.app,
            title: self.title.clone(),
            body: self.body.clone(),
            url: self.url.clone(),
            is_read: self.is_read,
            require_ack: self.require_ack,
            acked_at: None,
            escalation_id: self.escalation_id,
            created_at: self.created_at,
        }
    }
}

impl From<NewNotice> for row::ActiveModel {
    fn from(notice: NewNotice) -> Self {
        Self {
            id: Set(notice.id.to_string()),
            user_id: Set(notice.user_id.to_string()),
            org_id: Set(notice.org_id.map(|id| id.to_string())),
            event: Set(notice.event),
            app: Set(notice.app.to_string()),
            title: Set(notice.title),
            body: Set(notice.body),
            url: Set(notice.url),
            is_read: Set(notice.is_read),
            require_ack: Set(notice.require_ack),
            acked_at: Set(None),
            escalation_id: Set(notice.escalation_id.map(|id| id.to_string())),
            source: Set(notice.source),
            created_at: Set(notice.created_at.0),
            ..Default::default()
        }
    }
}

impl TryFrom<row::Model> for Notice {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("notice {}", row.id));
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            user_id: row.user_id.parse().map_err(|_| corrupt())?,
            org_id: row.org_id.as_deref().map(str::parse).transpose().map_err(|_| corrupt())?,
            app: App::from_name(&row.app).ok_or_else(corrupt)?,
            escalation_id: row.escalation_id.as_deref().map(str::parse).transpose().map_err(|_| corrupt())?,
            event: row.event,
            title: row.title,
            body: row.body,
            url: row.url,
            is_read: row.is_read,
            require_ack: row.require_ack,
            acked_at: row.acked_at.map(Timestamp),
            created_at: Timestamp(row.created_at),
        })
    }
}

/// Which notices are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticesQuery {
    /// Whose.
    pub user_id: UserId,
    /// Of this app only.
    pub app: Option<App>,
    /// The `next_before` of the page before.
    pub before: Option<i64>,
    /// How many at most.
    pub limit: u64,
}

/// A page of notices, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticesPage {
    /// The notices.
    pub notices: Vec<Notice>,
    /// What the next page starts below, where there is one.
    pub next_before: Option<i64>,
}

row! {
    struct UnreadRow {
        app: String,
        unread: i64,
    }
}

impl Store {
    /// A person's notice.
    pub async fn notice(&self, user_id: UserId, id: NoticeId) -> Result<Option<Notice>, StoreError> {
        let row = row::Entity::find()
            .filter(row::Column::Id.eq(id.to_string()))
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .read_one(self.reader())
            .await?;
        row.map(Notice::try_from).transpose()
    }

    /// A page of a person's notices.
    pub async fn notices_page(&self, query: NoticesQuery) -> Result<NoticesPage, StoreError> {
        let mut select = row::Entity::find().filter(row::Column::UserId.eq(query.user_id.to_string()));
        if let Some(app) = query.app {
            select = select.filter(row::Column::App.eq(app.as_str()));
        }
        if let Some(before) = query.before {
            select = select.filter(row::Column::Seq.lt(before));
        }
        let mut rows = select.order_by_desc(row::Column::Seq).limit(query.limit + 1).read_all(self.reader()).await?;
        let has_more = rows.len() as u64 > query.limit;
        if has_more {
            rows.pop();
        }
        let next_before = rows.last().filter(|_| has_more).map(|row| row.seq);
        let notices = rows.into_iter().map(Notice::try_from).collect::<Result<_, _>>()?;
        Ok(NoticesPage { notices, next_before })
    }

    /// Those of these notices that a person has and has not read.
    pub async fn notices_unread(&self, user_id: UserId, ids: &[NoticeId]) -> Result<Vec<NoticeId>, StoreError> {
        let rows: Vec<(String,)> = row::Entity::find()
            .select_only()
            .column(row::Column::Id)
            .filter(unread(user_id))
            .filter(row::Column::Id.is_in(ids.iter().map(NoticeId::to_string)))
            .read_all_columns(self.reader())
            .await?;
        let id = |(id,): (String,)| id.parse().map_err(|_| StoreError::corrupt("notices.id"));
        rows.into_iter().map(id).collect()
    }

    /// How many notices a person has not read, by app; apps without one are left out.
    pub async fn notices_unread_by_app(&self, user_id: UserId) -> Result<Vec<(App, u64)>, StoreError> {
        let sql = Sql::new(
            "SELECT app, COUNT(*) AS unread FROM notices WHERE user_id = $1 AND is_read = $2 GROUP BY app ORDER BY app",
            [user_id.to_string().into(), false.into()],
        );
        let rows: Vec<UnreadRow> = self.reader().rows(&sql).await?;
        let counted = |row: UnreadRow| {
            let app = App::from_name(&row.app).ok_or_else(|| StoreError::corrupt("notices.app"))?;
            Ok((app, u64::try_from(row.unread).map_err(StoreError::corrupt)?))
        };
        rows.into_iter().map(counted).collect()
    }

    /// How many notices each of these people has not read; who has none is left out.
    pub async fn notices_unread_counts(&self, people: &BTreeSet<UserId>) -> Result<BTreeMap<UserId, u64>, StoreError> {
        let mut counts = BTreeMap::new();
        let people: Vec<_> = people.iter().map(UserId::to_string).collect();
        for some in people.chunks(ROWS_PER_STATEMENT) {
            let rows: Vec<(String, i64)> = row::Entity::find()
                .select_only()
                .column(row::Column::UserId)
                .column_as(row::Column::Seq.count(), "unread")
                .filter(row::Column::UserId.is_in(some))
                .filter(row::Column::IsRead.eq(false))
                .group_by(row::Column::UserId)
                .read_all_columns(self.reader())
                .await?;
            for (user_id, unread) in rows {
                let user_id = user_id.parse().map_err(|_| StoreError::corrupt("notices.user_id"))?;
                counts.insert(user_id, u64::try_from(unread).map_err(StoreError::corrupt)?);
            }
        }
        Ok(counts)
    }

    /// The notices that these people have of one event.
    pub async fn notices_of_source(&self, source: &str, people: &[UserId]) -> Result<Vec<Notice>, StoreError> {
        let mut notices = Vec::new();
        for some in people.chunks(ROWS_PER_STATEMENT) {
            let select = row::Entity::find()
                .filter(row::Column::UserId.is_in(some.iter().map(UserId::to_string)))
                .filter(row::Column::Source.eq(source));
            notices.append(&mut select.read_all(self.reader()).await?);
        }
        notices.into_iter().map(Notice::try_from).collect()
    }

    /// How many notices a person has not read.
    pub async fn notices_unread_count(&self, user_id: UserId) -> Result<u64, StoreError> {
        row::Entity::find().filter(unread(user_id)).read_count(self.reader()).await
    }
}

impl Change {
    /// Gives a person a notice. Where they have one from the same source, they get no second one; a later one that is
    /// to be acknowledged makes it one that is.
    pub fn notice_add(&mut self, notice: NewNotice) {
        self.notices_add([notice]);
    }

    /// [`notice_add`](Self::notice_add), in as few statements as there can be.
    pub fn notices_add(&mut self, notices: impl IntoIterator<Item = NewNotice>) {
        let (to_acknowledge, plain): (Vec<_>, Vec<_>) =
            notices.into_iter().partition(|notice| notice.escalation_id.is_some());
        let to_acknowledge = last_of_each(to_acknowledge);
        let source = || OnConflict::columns([row::Column::UserId, row::Column::Source]);
        let once = source().do_nothing().to_owned();
        let escalates = source()
            .update_columns([row::Column::EscalationId, row::Column::RequireAck])
            .value(row::Column::AckedAt, Expr::value(None::<i64>))
            .to_owned();
        for (notices, on_conflict) in [(plain, once), (to_acknowledge, escalates)] {
            for rows in notices.chunks(ROWS_PER_STATEMENT) {
                let rows = rows.iter().cloned().map(row::ActiveModel::from);
                self.run(row::Entity::insert_many(rows).on_conflict(on_conflict.clone()), Expect::Any);
            }
        }
    }

    /// Marks these notices of a person as read.
    pub fn notices_read(&mut self, user_id: UserId, ids: &[NoticeId]) {
        let update = row::Entity::update_many()
            .col_expr(row::Column::IsRead, Expr::value(true))
            .filter(unread(user_id))
            .filter(row::Column::Id.is_in(ids.iter().map(NoticeId::to_string)));
        self.run(update, Expect::Any);
    }

    /// Marks all notices of a person as read, or all of one app.
    pub fn notices_read_all(&mut self, user_id: UserId, app: Option<App>) {
        let mut update =
            row::Entity::update_many().col_expr(row::Column::IsRead, Expr::value(true)).filter(unread(user_id));
        if let Some(app) = app {
            update = update.filter(row::Column::App.eq(app.as_str()));
        }
        self.run(update, Expect::Any);
    }

    /// Acknowledges a person's notice, which counts as reading it; stale when it needs none any more.
    pub fn notice_ack(&mut self, user_id: UserId, id: NoticeId, at: Timestamp) {
        let update = row::Entity::update_many()
            .col_expr(row::Column::AckedAt, Expr::value(at.0))
            .col_expr(row::Column::IsRead, Expr::value(true))
            .filter(row::Column::Id.eq(id.to_string()))
            .filter(row::Column::UserId.eq(user_id.to_string()))
            .filter(waiting());
        self.run(update, Expect::Rows(1));
    }

    /// Acknowledges all notices of an escalation, whosever they are; to `by` it counts as reading theirs.
    pub fn notices_ack_of_escalation(&mut self, escalation_id: EscalationId, by: Option<UserId>, at: Timestamp) {
        if let Some(by) = by {
            let read = row::Entity::update_many()
                .col_expr(row::Column::IsRead, Expr::value(true))
                .filter(row::Column::EscalationId.eq(escalation_id.to_string()))
                .filter(unread(by));
            self.run(read, Expect::Any);
        }
        let acknowledged = row::Entity::update_many()
            .col_expr(row::Column::AckedAt, Expr::value(at.0))
            .filter(row::Column::EscalationId.eq(escalation_id.to_string()))
            .filter(waiting());
        self.run(acknowledged, Expect::Any);
    }

    /// Deletes a person's notice; stale when it is gone already.
    pub fn notice_delete(&mut self, user_id: UserId, id: NoticeId) {
        let delete = row::Entity::delete_many()
            .filter(row::Column::Id.eq(id.to_string()))
            .filter(row::Column::UserId.eq(user_id.to_string()));
        self.run(delete, Expect::Rows(1));
    }
}

/// PostgreSQL updates a row once in a statement: of several notices to one person from one source the last counts.
fn last_of_each(notices: Vec<NewNotice>) -> Vec<NewNotice> {
    let mut seen = HashSet::new();
    let mut kept: Vec<_> =
        notices.into_iter().rev().filter(|notice| seen.insert((notice.user_id, notice.source.clone()))).collect();
    kept.reverse();
    kept
}

fn unread(user_id: UserId) -> SimpleExpr {
    row::Column::UserId.eq(user_id.to_string()).and(row::Column::IsRead.eq(false))
}

fn waiting() -> SimpleExpr {
    row::Column::RequireAck.eq(true).and(row::Column::AckedAt.is_null())
}
