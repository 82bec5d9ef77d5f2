//! What an organization has spent on texts and calls, by day.

use domain::{id::OrgId, notify::Channel};
use sea_orm::EntityTrait;

use crate::{Change, Expect, Purge, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "text_budgets")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub channel: String,
        pub spent: i64,
        pub told_most: bool,
        pub told_all: bool,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// Which budget: an organization's, of one day, for texts or for calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextBudget {
    /// Whose.
    pub org_id: OrgId,
    /// The day, counted from the Unix epoch, UTC.
    pub day: i64,
    /// What it is for.
    pub channel: Channel,
}

/// How much of a budget is gone, and what the owners have heard of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentBudget {
    /// How many texts or calls.
    pub spent: u64,
    /// Whether the owners have heard that most of it is spent.
    pub told_most: bool,
    /// Whether they have heard that all of it is.
    pub told_all: bool,
}

impl TextBudget {
    fn key(&self) -> [sea_orm::Value; 3] {
        [self.org_id.to_string().into(), self.day.into(), self.channel.as_str().into()]
    }
}

impl Change {
    /// Spends one of the `most` that the budget has; stale when all are spent.
    pub fn text_budget_spend(&mut self, budget: &TextBudget, most: u64) {
        let [org_id, day, channel] = budget.key();
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let statement = "INSERT INTO text_budgets (org_id, day, channel, spent, told_most, told_all) \
                         SELECT $1, $2, $3, 1, $5, $5 WHERE $4 > 0 \
                         ON CONFLICT (org_id, day, channel) DO UPDATE SET spent = text_budgets.spent + 1 \
                         WHERE text_budgets.spent < $4";
        let values = [org_id, day, channel, most.into(), false.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that the owners hear that most of the budget is spent; stale when they have heard of it.
    pub fn text_budget_told_most(&mut self, budget: &TextBudget) {
        self.text_budget_told(
            budget,
            "UPDATE text_budgets SET told_most = $4 WHERE org_id = $1 AND day = $2 AND channel = $3 AND told_most <> $4",
        );
    }

    /// Notes that the owners hear that the budget is spent; stale when they have heard of it.
    pub fn text_budget_told_all(&mut self, budget: &TextBudget) {
        self.text_budget_told(
            budget,
            "UPDATE text_budgets SET told_all = $4 WHERE org_id = $1 AND day = $2 AND channel = $3 AND told_all <> $4",
        );
    }

    fn text_budget_told(&mut self, budget: &TextBudget, statement: &'static str) {
        let [org_id, day, channel] = budget.key();
        self.run_statement(Sql::new(statement, [org_id, day, channel, true.into()]), Expect::Rows(1));
    }
}

impl Purge {
    /// The budgets of the days before `day`.
    pub fn text_budgets(day: i64) -> Self {
        Self::new("budgets of texts", ["text_budgets", "org_id, day, channel", "day < $1"], day)
    }
}

impl Store {
    /// How much of the budget is gone.
    pub async fn text_budget(&self, budget: &TextBudget) -> Result<SpentBudget, StoreError> {
        let id = (budget.org_id.to_string(), budget.day, budget.channel.to_string());
        let row = row::Entity::find_by_id(id).read_one(self.reader()).await?;
        Ok(row.map_or_else(SpentBudget::default, |row| SpentBudget {
            spent: u64::try_from(row.spent).unwrap_or_default(),
            told_most: row.told_most,
            told_all: row.told_all,
        }))
    }
}
