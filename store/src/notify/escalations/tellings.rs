//! Who was told of an escalation when, over what, and why not.

use domain::{
    Timestamp,
    id::{DeliveryId, EscalationId, UserId},
    notify::Channel,
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::{
    Change, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

mod telling {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "escalation_tellings")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub seq: i64,
        pub escalation_id: String,
        pub occasion: String,
        pub place: Option<i64>,
        pub user_id: Option<String>,
        pub channel: Option<String>,
        pub delivery_id: Option<String>,
        pub held_until: Option<i64>,
        pub why_not: Option<String>,
        pub at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// On what occasion somebody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The step at this place of the plan.
    Step(usize),
    /// The escalation was handed to them.
    HandOver,
    /// What it was about is over.
    Resolved,
}

impl Occasion {
    /// The name that it is stored under.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::HandOver => "hand_over",
            Self::Resolved => "resolved",
        }
    }

    fn read(name: &str, place: Option<i64>) -> Option<Self> {
        match (name, place) {
            ("step", Some(place)) => Some(Self::Step(usize::try_from(place).ok()?)),
            ("hand_over", None) => Some(Self::HandOver),
            ("resolved", None) => Some(Self::Resolved),
            _ => None,
        }
    }

    fn place(self) -> Option<i64> {
        match self {
            Self::Step(place) => i64::try_from(place).ok(),
            Self::HandOver | Self::Resolved => None,
        }
    }
}

/// What became of telling one person over one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telling {
    /// On what occasion.
    pub occasion: Occasion,
    /// Whom; nobody when there was nobody to tell.
    pub user_id: Option<UserId>,
    /// Over what; none when the person wasn't to be told at all.
    pub channel: Option<Channel>,
    /// The delivery.
    pub delivery_id: Option<DeliveryId>,
    /// Until when quiet hours hold it back.
    pub held_until: Option<Timestamp>,
    /// Why not, if so.
    pub why_not: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A channel over which somebody was told, or would have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToldOver {
    /// Who.
    pub user_id: UserId,
    /// Over what.
    pub channel: Channel,
}

row! {
    struct ToldRow {
        user_id: String,
        channel: String,
    }
}

impl TryFrom<telling::Model> for Telling {
    type Error = StoreError;

    fn try_from(row: telling::Model) -> Result<Self, StoreError> {
        let channel = row.channel.as_deref().map(channel).transpose()?;
        Ok(Self {
            occasion: Occasion::read(&row.occasion, row.place).ok_or_else(|| corrupt("occasion"))?,
            user_id: row.user_id.as_deref().map(|id| parsed("user_id", id)).transpose()?,
            channel,
            delivery_id: row.delivery_id.as_deref().map(|id| parsed("delivery_id", id)).transpose()?,
            held_until: row.held_until.map(Timestamp),
            why_not: row.why_not,
            at: Timestamp(row.at),
        })
    }
}

fn corrupt(column: &'static str) -> StoreError {
    StoreError::corrupt(format_args!("escalation_tellings.{column}"))
}

fn parsed<T: std::str::FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| corrupt(column))
}

fn channel(name: &str) -> Result<Channel, StoreError> {
    Channel::from_name(name).ok_or_else(|| corrupt("channel"))
}

impl Change {
    /// Notes that somebody was told, or why not.
    pub fn escalation_telling_add(&mut self, id: EscalationId, telling: &Telling) {
        self.insert(telling::ActiveModel {
            escalation_id: Set(id.to_string()),
            occasion: Set(telling.occasion.as_str().to_owned()),
            place: Set(telling.occasion.place()),
            user_id: Set(telling.user_id.map(|id| id.to_string())),
            channel: Set(telling.channel.map(|channel| channel.to_string())),
            delivery_id: Set(telling.delivery_id.map(|id| id.to_string())),
            held_until: Set(telling.held_until.map(|at| at.0)),
            why_not: Set(telling.why_not.clone()),
            at: Set(telling.at.0),
            ..Default::default()
        });
    }
}

impl Store {
    /// Who was told of an escalation when, over what, and why not, in the order of telling.
    pub async fn escalation_tellings(&self, id: EscalationId) -> Result<Vec<Telling>, StoreError> {
        let rows = telling::Entity::find()
            .filter(telling::Column::EscalationId.eq(id.to_string()))
            .order_by_asc(telling::Column::Seq)
            .read_all(self.reader())
            .await?;
        rows.into_iter().map(Telling::try_from).collect()
    }

    /// Who was told of the escalation, and over what they were to be told; in the order of people and channels.
    pub async fn escalation_told(&self, id: EscalationId) -> Result<Vec<ToldOver>, StoreError> {
        let sql = Sql::new(
            "SELECT DISTINCT user_id, channel FROM escalation_tellings WHERE escalation_id = $1 \
             AND user_id IS NOT NULL AND channel IS NOT NULL ORDER BY user_id, channel",
            [id.to_string().into()],
        );
        let rows: Vec<ToldRow> = self.reader().rows(&sql).await?;
        let read =
            |row: ToldRow| Ok(ToldOver { user_id: parsed("user_id", &row.user_id)?, channel: channel(&row.channel)? });
        rows.into_iter().map(read).collect()
    }
}
