//! Teams of organizations.

use domain::{
    Email, Timestamp,
    git::Principal,
    id::{OrgId, TeamId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::parsed;
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "teams")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub name: String,
        pub name_key: String,
        pub description: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod member {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "team_members")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub team_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub org_id: String,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A team.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// Its id.
    pub id: TeamId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// What it is called; unique in the organization, whatever the case.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Since when it exists.
    pub created_at: Timestamp,
    /// When its name or description last changed.
    pub updated_at: Timestamp,
}

/// A member of a team with who they are.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamMember {
    /// The person.
    pub user_id: UserId,
    /// What they are called.
    pub name: String,
    /// Their address.
    pub email: Email,
    /// Since when they are in the team.
    pub created_at: Timestamp,
}

row! {
    struct TeamMemberRow {
        user_id: String,
        name: String,
        email: String,
        created_at: i64,
    }
}

impl TryFrom<row::Model> for Team {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: parsed("teams.id", &row.id)?,
            org_id: parsed("teams.org_id", &row.org_id)?,
            name: row.name,
            description: row.description,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl TryFrom<TeamMemberRow> for TeamMember {
    type Error = StoreError;

    fn try_from(row: TeamMemberRow) -> Result<Self, StoreError> {
        Ok(Self {
            user_id: parsed("team_members.user_id", &row.user_id)?,
            name: row.name,
            email: parsed("people.email", &row.email)?,
            created_at: Timestamp(row.created_at),
        })
    }
}

/// What team names are compared by.
fn name_key(name: &str) -> String {
    name.to_lowercase()
}

impl Change {
    /// Adds a team; fails when its name is taken.
    pub fn team_add(&mut self, team: &Team) {
        self.insert(row::ActiveModel {
            id: Set(team.id.to_string()),
            org_id: Set(team.org_id.to_string()),
            name: Set(team.name.clone()),
            name_key: Set(name_key(&team.name)),
            description: Set(team.description.clone()),
            created_at: Set(team.created_at.0),
            updated_at: Set(team.updated_at.0),
        });
    }

    /// Writes the team's name and description.
    pub fn team_set(&mut self, team: &Team) {
        self.run_statement(
            Sql::new(
                "UPDATE teams SET name = $2, name_key = $3, description = $4, updated_at = $5 WHERE id = $1",
                [
                    team.id.to_string().into(),
                    team.name.as_str().into(),
                    name_key(&team.name).into(),
                    team.description.as_str().into(),
                    team.updated_at.0.into(),
                ],
            ),
            Expect::Rows(1),
        );
    }

    /// Removes a team with what it was granted in repositories; its members stay in the organization.
    pub fn team_remove(&mut self, org_id: OrgId, id: TeamId) {
        self.repository_grants_forget(org_id, Principal::Team(id));
        let id = id.to_string();
        self.run_statement(Sql::new("DELETE FROM teams WHERE id = $1", [id.as_str().into()]), Expect::Rows(1));
        self.run_statement(Sql::new("DELETE FROM team_members WHERE team_id = $1", [id.into()]), Expect::Any);
    }

    /// Puts a member of the organization into the team; fails when they are in it.
    pub fn team_member_add(&mut self, now: Timestamp, team: &Team, user_id: UserId) {
        self.insert(member::ActiveModel {
            team_id: Set(team.id.to_string()),
            user_id: Set(user_id.to_string()),
            org_id: Set(team.org_id.to_string()),
            created_at: Set(now.0),
        });
    }

    /// Takes a member out of the team.
    pub fn team_member_remove(&mut self, team_id: TeamId, user_id: UserId) {
        self.run_statement(
            Sql::new(
                "DELETE FROM team_members WHERE team_id = $1 AND user_id = $2",
                [team_id.to_string().into(), user_id.to_string().into()],
            ),
            Expect::Rows(1),
        );
    }
}

impl Store {
    /// The organization's team with this id.
    pub async fn team(&self, org_id: OrgId, id: TeamId) -> Result<Option<Team>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .read_one(self.reader())
            .await?;
        row.map(Team::try_from).transpose()
    }

    /// The organization's team of this name, whatever the case.
    pub async fn team_by_name(&self, org_id: OrgId, name: &str) -> Result<Option<Team>, StoreError> {
        let row = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::NameKey.eq(name_key(name)))
            .read_one(self.reader())
            .await?;
        row.map(Team::try_from).transpose()
    }

    /// Up to `limit` teams, oldest first, after the one with the id `after`.
    pub async fn teams(&self, org_id: OrgId, after: Option<TeamId>, limit: u64) -> Result<Vec<Team>, StoreError> {
        let mut select = row::Entity::find().filter(row::Column::OrgId.eq(org_id.to_string()));
        if let Some(after) = after {
            select = select.filter(row::Column::Id.gt(after.to_string()));
        }
        let rows = select.order_by_asc(row::Column::Id).limit(limit).read_all(self.reader()).await?;
        rows.into_iter().map(Team::try_from).collect()
    }

    /// How many teams the organization has.
    pub async fn teams_count(&self, org_id: OrgId) -> Result<u64, StoreError> {
        row::Entity::find().filter(row::Column::OrgId.eq(org_id.to_string())).read_count(self.reader()).await
    }

    /// The members of a team, in the order of their ids.
    pub async fn team_members(&self, team_id: TeamId) -> Result<Vec<TeamMember>, StoreError> {
        let sql = Sql::new(
            "SELECT t.user_id, p.name, p.email, t.created_at FROM team_members t JOIN people p ON p.id = t.user_id \
             WHERE t.team_id = $1 ORDER BY t.user_id",
            [team_id.to_string().into()],
        );
        let rows: Vec<TeamMemberRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(TeamMember::try_from).collect()
    }

    /// How many members the team has.
    pub async fn team_members_count(&self, team_id: TeamId) -> Result<u64, StoreError> {
        member::Entity::find().filter(member::Column::TeamId.eq(team_id.to_string())).read_count(self.reader()).await
    }

    /// Whether the person is in the team.
    pub async fn team_has(&self, team_id: TeamId, user_id: UserId) -> Result<bool, StoreError> {
        let key = (team_id.to_string(), user_id.to_string());
        Ok(member::Entity::find_by_id(key).read_one(self.reader()).await?.is_some())
    }
}
