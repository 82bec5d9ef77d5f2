//! Members of organizations.

use domain::{
    Authority, Caller, Email, Membership, OrgKind, Role, Timestamp,
    git::Principal,
    id::{OrgId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder};

use super::{Organization, named, organizations, parsed};
use crate::{
    Change, Expect, Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

pub(super) mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "members")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_id: String,
        pub role: String,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A member with who they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The person.
    pub user_id: UserId,
    /// What they are called.
    pub name: String,
    /// Their address.
    pub email: Email,
    /// What they may do.
    pub role: Role,
    /// Since when they belong to the organization.
    pub created_at: Timestamp,
}

row! {
    struct MembershipRow {
        role: String,
        kind: String,
    }
}

row! {
    struct PartRow {
        id: String,
        name: String,
        slug: String,
        kind: String,
        version: i64,
        created_at: i64,
        updated_at: i64,
        role: String,
    }
}

row! {
    struct MemberRow {
        user_id: String,
        name: String,
        email: String,
        role: String,
        created_at: i64,
    }
}

impl TryFrom<MemberRow> for Member {
    type Error = StoreError;

    fn try_from(row: MemberRow) -> Result<Self, StoreError> {
        Ok(Self {
            user_id: parsed("members.user_id", &row.user_id)?,
            name: row.name,
            email: parsed("people.email", &row.email)?,
            role: named("members.role", Role::from_name(&row.role))?,
            created_at: Timestamp(row.created_at),
        })
    }
}

impl Change {
    /// Makes the person a member; fails when they are one.
    pub fn member_add(&mut self, now: Timestamp, org_id: OrgId, user_id: UserId, role: Role) {
        self.insert(row::ActiveModel {
            org_id: Set(org_id.to_string()),
            user_id: Set(user_id.to_string()),
            role: Set(role.to_string()),
            created_at: Set(now.0),
            updated_at: Set(now.0),
        });
    }

    /// Gives the member another role.
    pub fn member_set(&mut self, now: Timestamp, org_id: OrgId, user_id: UserId, role: Role) {
        self.run_statement(
            Sql::new(
                "UPDATE members SET role = $3, updated_at = $4 WHERE org_id = $1 AND user_id = $2",
                [org_id.to_string().into(), user_id.to_string().into(), role.as_str().into(), now.0.into()],
            ),
            Expect::Rows(1),
        );
    }

    /// Takes the member out of the organization, its teams and its mailboxes, with what they were granted in
    /// repositories and their app passwords.
    pub fn member_remove(&mut self, org_id: OrgId, user_id: UserId) {
        let key = || [org_id.to_string().into(), user_id.to_string().into()];
        self.run_statement(Sql::new("DELETE FROM members WHERE org_id = $1 AND user_id = $2", key()), Expect::Rows(1));
        self.run_statement(Sql::new("DELETE FROM team_members WHERE org_id = $1 AND user_id = $2", key()), Expect::Any);
        self.repository_grants_forget(org_id, Principal::Person(user_id));
        self.mail_members_forget(org_id, user_id);
        self.app_passwords_forget(org_id, user_id);
    }
}

impl Store {
    /// What the caller may do in the organization now.
    ///
    /// # Errors
    /// As [`Authority::of`] says.
    pub async fn authority(&self, org_id: OrgId, caller: &Caller) -> domain::Result<Authority> {
        let membership = match Authority::rests_on(caller, org_id) {
            Some(user_id) => self.membership(org_id, user_id).await?,
            None => None,
        };
        Authority::of(caller, org_id, membership)
    }

    /// What the person may do in the organization now, whoever asks.
    ///
    /// # Errors
    /// As [`Authority::of_person`] says.
    pub async fn authority_of_person(&self, org_id: OrgId, user_id: UserId) -> domain::Result<Authority> {
        Authority::of_person(self.membership(org_id, user_id).await?)
    }

    /// The person's part in the organization; none for a stranger and for an organization that doesn't exist.
    pub async fn membership(&self, org_id: OrgId, user_id: UserId) -> Result<Option<Membership>, StoreError> {
        let sql = Sql::new(
            "SELECT m.role, o.kind FROM members m JOIN organizations o ON o.id = m.org_id \
             WHERE m.org_id = $1 AND m.user_id = $2",
            [org_id.to_string().into(), user_id.to_string().into()],
        );
        let row: Option<MembershipRow> = self.reader().row(&sql).await?;
        row.map(|row| {
            let role = named("members.role", Role::from_name(&row.role))?;
            let kind = named("organizations.kind", OrgKind::from_name(&row.kind))?;
            Ok(Membership { org_id, user_id, role, kind })
        })
        .transpose()
    }

    /// Up to `limit` organizations that the person belongs to, with the role in each, in the order of their ids, after
    /// the one with the id `after`.
    pub async fn memberships(
        &self,
        user_id: UserId,
        after: Option<OrgId>,
        limit: u64,
    ) -> Result<Vec<(Organization, Role)>, StoreError> {
        let after = after.map_or_else(String::new, |after| after.to_string());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = Sql::new(
            "SELECT o.id, o.name, o.slug, o.kind, o.version, o.created_at, o.updated_at, m.role \
             FROM members m JOIN organizations o ON o.id = m.org_id \
             WHERE m.user_id = $1 AND m.org_id > $2 ORDER BY m.org_id LIMIT $3",
            [user_id.to_string().into(), after.into(), limit.into()],
        );
        let rows: Vec<PartRow> = self.reader().rows(&sql).await?;
        rows.into_iter()
            .map(|row| {
                let role = named("members.role", Role::from_name(&row.role))?;
                let PartRow { id, name, slug, kind, version, created_at, updated_at, .. } = row;
                let organization = organizations::row::Model { id, name, slug, kind, version, created_at, updated_at };
                Ok((Organization::try_from(organization)?, role))
            })
            .collect()
    }

    /// Up to `limit` members in the order of their ids, after the one with the id `after`.
    pub async fn members(&self, org_id: OrgId, after: Option<UserId>, limit: u64) -> Result<Vec<Member>, StoreError> {
        let after = after.map_or_else(String::new, |after| after.to_string());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = Sql::new(
            "SELECT m.user_id, p.name, p.email, m.role, m.created_at FROM members m JOIN people p ON p.id = m.user_id \
             WHERE m.org_id = $1 AND m.user_id > $2 ORDER BY m.user_id LIMIT $3",
            [org_id.to_string().into(), after.into(), limit.into()],
        );
        let rows: Vec<MemberRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(Member::try_from).collect()
    }

    /// The member with this id.
    pub async fn member(&self, org_id: OrgId, user_id: UserId) -> Result<Option<Member>, StoreError> {
        let sql = Sql::new(
            "SELECT m.user_id, p.name, p.email, m.role, m.created_at FROM members m JOIN people p ON p.id = m.user_id \
             WHERE m.org_id = $1 AND m.user_id = $2",
            [org_id.to_string().into(), user_id.to_string().into()],
        );
        self.reader().row::<MemberRow>(&sql).await?.map(Member::try_from).transpose()
    }

    /// How many members the organization has.
    pub async fn members_count(&self, org_id: OrgId) -> Result<u64, StoreError> {
        row::Entity::find().filter(row::Column::OrgId.eq(org_id.to_string())).read_count(self.reader()).await
    }

    /// The organization's owners.
    pub async fn owners(&self, org_id: OrgId) -> Result<Vec<UserId>, StoreError> {
        let rows: Vec<row::Model> = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::Role.eq(Role::Owner.as_str()))
            .read_all(self.reader())
            .await?;
        rows.iter().map(|row| parsed("members.user_id", &row.user_id)).collect()
    }

    /// Those of `people` who belong to the organization, and everybody there who has one of `roles`, in the order of
    /// their ids.
    pub async fn members_among(
        &self,
        org_id: OrgId,
        people: &[UserId],
        roles: &[Role],
    ) -> Result<Vec<(UserId, Role)>, StoreError> {
        let any = Condition::any()
            .add(row::Column::UserId.is_in(people.iter().map(UserId::to_string)))
            .add(row::Column::Role.is_in(roles.iter().map(|role| role.as_str())));
        let rows = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(any)
            .order_by_asc(row::Column::UserId)
            .read_all(self.reader())
            .await?;
        let read = |row: row::Model| {
            Ok((parsed("members.user_id", &row.user_id)?, named("members.role", Role::from_name(&row.role))?))
        };
        rows.into_iter().map(read).collect()
    }
}
