//! Who was granted a part in a repository.

use std::str::FromStr;

use domain::{
    Timestamp,
    git::{AccessLevel, GRANTS_MAX, Principal},
    id::{OrgId, UserId},
    resource::Resource,
};

use super::RepositoryNo;
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// A grant, with who it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryGrant {
    /// Whom it is for.
    pub principal: Principal,
    /// What they may do.
    pub level: AccessLevel,
    /// The person's, or the team's, name.
    pub name: String,
    /// The person's address.
    pub email: Option<String>,
    /// Who granted it last.
    pub granted_by: UserId,
    /// When.
    pub granted_at: Timestamp,
}

row! {
    struct LevelRow {
        level: String,
    }
}

row! {
    struct GrantRow {
        principal: String,
        level: String,
        granted_by: String,
        granted_at: i64,
        name: String,
        email: Option<String>,
    }
}

impl TryFrom<GrantRow> for RepositoryGrant {
    type Error = StoreError;

    fn try_from(row: GrantRow) -> Result<Self, StoreError> {
        Ok(Self {
            principal: parsed("repository_grants.principal", &row.principal)?,
            level: level(&row.level)?,
            name: row.name,
            email: row.email,
            granted_by: parsed("repository_grants.granted_by", &row.granted_by)?,
            granted_at: Timestamp(row.granted_at),
        })
    }
}

fn parsed<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(column))
}

fn level(name: &str) -> Result<AccessLevel, StoreError> {
    AccessLevel::from_name(name).ok_or_else(|| StoreError::corrupt("repository_grants.level"))
}

impl Store {
    /// The most that the person was granted in the organization's repository, themselves or through a team.
    pub async fn repository_granted(
        &self,
        no: RepositoryNo,
        org_id: OrgId,
        user_id: UserId,
    ) -> Result<Option<AccessLevel>, StoreError> {
        let sql = Sql::new(
            "SELECT level FROM repository_grants WHERE repo_no = $1 AND (principal = $3 OR principal IN \
             (SELECT team_id FROM team_members WHERE org_id = $2 AND user_id = $3))",
            [no.0.into(), org_id.to_string().into(), user_id.to_string().into()],
        );
        let rows: Vec<LevelRow> = self.reader().rows(&sql).await?;
        let levels = rows.iter().map(|row| level(&row.level)).collect::<Result<Vec<_>, _>>()?;
        Ok(levels.into_iter().max())
    }

    /// What was granted to this person or team.
    pub async fn repository_grant(
        &self,
        no: RepositoryNo,
        principal: Principal,
    ) -> Result<Option<AccessLevel>, StoreError> {
        let sql = Sql::new(
            "SELECT level FROM repository_grants WHERE repo_no = $1 AND principal = $2",
            [no.0.into(), principal.to_string().into()],
        );
        self.reader().row::<LevelRow>(&sql).await?.map(|row| level(&row.level)).transpose()
    }

    /// Every grant of the repository, in the order of whom they are for; at most as many as there may be.
    pub async fn repository_grants(&self, no: RepositoryNo) -> Result<Vec<RepositoryGrant>, StoreError> {
        let sql = Sql::new(
            "SELECT g.principal, g.level, g.granted_by, g.granted_at, COALESCE(p.name, t.name, '') AS name, p.email \
             FROM repository_grants g LEFT JOIN people p ON p.id = g.principal LEFT JOIN teams t ON t.id = g.principal \
             WHERE g.repo_no = $1 ORDER BY g.principal LIMIT $2",
            [no.0.into(), i64::try_from(GRANTS_MAX).unwrap_or(i64::MAX).into()],
        );
        let rows: Vec<GrantRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(RepositoryGrant::try_from).collect()
    }
}

impl Change {
    /// Grants this person or team a part in the repository, or another one than before.
    pub fn repository_grant_put(
        &mut self,
        (no, org_id): (RepositoryNo, OrgId),
        (principal, level): (Principal, AccessLevel),
        by: UserId,
        now: Timestamp,
    ) {
        let statement = "INSERT INTO repository_grants (repo_no, principal, org_id, level, granted_by, granted_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (repo_no, principal) DO UPDATE \
                         SET level = excluded.level, granted_by = excluded.granted_by, granted_at = excluded.granted_at";
        let values = [
            no.0.into(),
            principal.to_string().into(),
            org_id.to_string().into(),
            level.as_str().into(),
            by.to_string().into(),
            now.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Grants who makes a repository the administration of it, in the commit that makes it.
    pub fn repository_maker_grant(&mut self, resource: &Resource) {
        let statement = "INSERT INTO repository_grants (repo_no, principal, org_id, level, granted_by, granted_at) \
                         SELECT repo_no, $2, org_id, $3, $2, $4 FROM repositories WHERE id = $1";
        let values = [
            resource.id.to_string().into(),
            resource.created_by.to_string().into(),
            AccessLevel::Admin.as_str().into(),
            resource.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Takes back what was granted; stale where nothing was.
    pub fn repository_grant_remove(&mut self, no: RepositoryNo, principal: Principal) {
        let statement = "DELETE FROM repository_grants WHERE repo_no = $1 AND principal = $2";
        self.run_statement(Sql::new(statement, [no.0.into(), principal.to_string().into()]), Expect::Rows(1));
    }

    /// Takes back whatever a person or a team that leaves the organization was granted there.
    pub(crate) fn repository_grants_forget(&mut self, org_id: OrgId, principal: Principal) {
        let statement = "DELETE FROM repository_grants WHERE org_id = $1 AND principal = $2";
        let values = [org_id.to_string().into(), principal.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }
}
