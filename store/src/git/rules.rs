//! Rules of repositories' branches and tags.

use domain::{
    Timestamp,
    git::rules::{BranchRule, RULES_MAX, RuleDraft, RuleSet, RuleTarget},
    id::{BranchRuleId, OrgId, TeamId, UserId},
};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};

use super::RepositoryNo;
use crate::{
    Change, Expect, Store, StoreError, json,
    reader::{Reads, row},
    sql::Sql,
};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "branch_rules")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub repo_no: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub name: String,
        pub target: String,
        pub patterns: String,
        pub enabled: bool,
        pub requires: String,
        pub bypass: String,
        pub created_by: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

impl entity::Model {
    fn of(no: RepositoryNo, rule: &BranchRule) -> Self {
        let BranchRule { id, draft, created_by, created_at, updated_at } = rule;
        Self {
            repo_no: no.0,
            id: id.to_string(),
            name: draft.name.clone(),
            target: draft.target.as_str().to_owned(),
            patterns: json::text(&draft.patterns),
            enabled: draft.enabled,
            requires: json::text(&draft.requires),
            bypass: json::text(&draft.bypass),
            created_by: created_by.to_string(),
            created_at: created_at.0,
            updated_at: updated_at.0,
        }
    }
}

impl TryFrom<entity::Model> for BranchRule {
    type Error = StoreError;

    fn try_from(row: entity::Model) -> Result<Self, StoreError> {
        let target = RuleTarget::from_name(&row.target).ok_or_else(|| StoreError::corrupt("branch_rules.target"))?;
        Ok(Self {
            id: row.id.parse().map_err(|_| StoreError::corrupt("branch_rules.id"))?,
            draft: RuleDraft {
                name: row.name,
                target,
                patterns: json::read("branch_rules.patterns", &row.patterns)?,
                enabled: row.enabled,
                requires: json::read("branch_rules.requires", &row.requires)?,
                bypass: json::read("branch_rules.bypass", &row.bypass)?,
            },
            created_by: row.created_by.parse().map_err(|_| StoreError::corrupt("branch_rules.created_by"))?,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Store {
    /// The rules of a repository, the oldest first.
    pub async fn branch_rules(&self, no: RepositoryNo) -> Result<RuleSet, StoreError> {
        let select = entity::Entity::find()
            .filter(entity::Column::RepoNo.eq(no.0))
            .order_by_asc(entity::Column::Id)
            .limit(RULES_MAX as u64);
        let rows = select.read_list(self.reader()).await?;
        rows.into_iter().map(BranchRule::try_from).collect::<Result<_, _>>().map(RuleSet)
    }

    /// The repository's rule with this id.
    pub async fn branch_rule(&self, no: RepositoryNo, id: BranchRuleId) -> Result<Option<BranchRule>, StoreError> {
        let select = entity::Entity::find()
            .filter(entity::Column::RepoNo.eq(no.0))
            .filter(entity::Column::Id.eq(id.to_string()));
        select.read_one(self.reader()).await?.map(BranchRule::try_from).transpose()
    }

    /// The teams of the organization that the person is in.
    pub async fn teams_with(&self, org_id: OrgId, user_id: UserId) -> Result<Vec<TeamId>, StoreError> {
        row! {
            struct TeamRow {
                team_id: String,
            }
        }
        let sql = Sql::new(
            "SELECT team_id FROM team_members WHERE org_id = $1 AND user_id = $2",
            [org_id.to_string().into(), user_id.to_string().into()],
        );
        let rows: Vec<TeamRow> = self.reader().rows(&sql).await?;
        let team = |row: &TeamRow| row.team_id.parse().map_err(|_| StoreError::corrupt("team_members.team_id"));
        rows.iter().map(team).collect()
    }
}

impl Change {
    /// Adds a rule.
    pub fn branch_rule_add(&mut self, no: RepositoryNo, rule: &BranchRule) {
        self.insert(entity::Model::of(no, rule).into_active_model());
    }

    /// Writes what a rule says; stale where it is gone.
    pub fn branch_rule_set(&mut self, no: RepositoryNo, rule: &BranchRule) {
        let row = entity::Model::of(no, rule);
        let statement = "UPDATE branch_rules SET name = $3, target = $4, patterns = $5, enabled = $6, requires = $7, \
                         bypass = $8, updated_at = $9 WHERE repo_no = $1 AND id = $2";
        let values = [
            row.repo_no.into(),
            row.id.into(),
            row.name.into(),
            row.target.into(),
            row.patterns.into(),
            row.enabled.into(),
            row.requires.into(),
            row.bypass.into(),
            row.updated_at.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes a rule away; stale where it is gone.
    pub fn branch_rule_remove(&mut self, no: RepositoryNo, id: BranchRuleId) {
        let statement = "DELETE FROM branch_rules WHERE repo_no = $1 AND id = $2";
        self.run_statement(Sql::new(statement, [no.0.into(), id.to_string().into()]), Expect::Rows(1));
    }
}
