//! Organizations.

use domain::{
    OrgKind, Slug, Timestamp,
    id::{OrgId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{members, named, parsed};
use crate::{Change, Expect, Purge, Store, StoreError, reader::Reads, sql::Sql};

pub(super) mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "organizations")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub name: String,
        pub slug: String,
        pub kind: String,
        pub version: i64,
        pub created_at: i64,
        pub updated_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// An organization.
#[derive(Clone, Debug, PartialEq)]
pub struct Organization {
    /// Its id.
    pub id: OrgId,
    /// What it is called.
    pub name: String,
    /// The last part of its addresses, unique.
    pub slug: Slug,
    /// What it is to the platform.
    pub kind: OrgKind,
    /// Counts changes of the organization and of everything decided about it: members, invitations, teams, keys.
    pub version: i64,
    /// Since when it exists.
    pub created_at: Timestamp,
    /// When its name or slug last changed.
    pub updated_at: Timestamp,
}

impl TryFrom<row::Model> for Organization {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: parsed("organizations.id", &row.id)?,
            name: row.name,
            slug: Slug::parse(&row.slug).map_err(|_| StoreError::corrupt("organizations.slug"))?,
            kind: named("organizations.kind", OrgKind::from_name(&row.kind))?,
            version: row.version,
            created_at: Timestamp(row.created_at),
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Change {
    /// Adds an organization; fails when the slug is taken, and for a second platform organization.
    pub fn organization_add(&mut self, organization: &Organization) {
        self.insert(row::ActiveModel {
            id: Set(organization.id.to_string()),
            name: Set(organization.name.clone()),
            slug: Set(organization.slug.as_str().to_owned()),
            kind: Set(organization.kind.to_string()),
            version: Set(organization.version),
            created_at: Set(organization.created_at.0),
            updated_at: Set(organization.updated_at.0),
        });
    }

    /// Writes the name, the slug and the next version; stale when `organization.version` is no longer the row's.
    ///
    /// Whatever changes about an organization goes through here, so that two nodes never both decide on one state.
    pub fn organization_set(&mut self, organization: &Organization) {
        self.run_statement(
            Sql::new(
                "UPDATE organizations SET name = $3, slug = $4, updated_at = $5, version = version + 1 \
                 WHERE id = $1 AND version = $2",
                [
                    organization.id.to_string().into(),
                    organization.version.into(),
                    organization.name.as_str().into(),
                    organization.slug.as_str().into(),
                    organization.updated_at.0.into(),
                ],
            ),
            Expect::Rows(1),
        );
    }

    /// Removes the organization and what may do something in its name; stale as [`Self::organization_set`]. Its members stay,
    /// unseen, until they are thrown away ([`Purge::organization_remains`]).
    pub fn organization_remove(&mut self, id: OrgId, version: i64) {
        let org_id = id.to_string();
        self.run_statement(
            Sql::new(
                "DELETE FROM organizations WHERE id = $1 AND version = $2",
                [org_id.as_str().into(), version.into()],
            ),
            Expect::Rows(1),
        );
        for statement in [
            "DELETE FROM invites WHERE org_id = $1",
            "DELETE FROM teams WHERE org_id = $1",
            "DELETE FROM api_keys WHERE org_id = $1",
            "DELETE FROM access_keys WHERE org_id = $1",
            "DELETE FROM alarm_hooks WHERE org_id = $1",
            "DELETE FROM resource_books WHERE org_id = $1",
        ] {
            self.run_statement(Sql::new(statement, [org_id.as_str().into()]), Expect::Any);
        }
    }
}

impl Purge {
    /// The members of an organization that is gone, its teams' members, and the app passwords of both.
    pub fn organization_remains(id: OrgId) -> [Self; 3] {
        const IS_GONE: &str = "org_id = $1 AND NOT EXISTS (SELECT 1 FROM organizations WHERE id = $1)";
        let purge = |what, names| Self::new(what, names, id.to_string());
        [
            purge("members", ["members", "org_id, user_id", IS_GONE]),
            purge("team members", ["team_members", "team_id, user_id", IS_GONE]),
            purge("app passwords", ["app_passwords", "id", IS_GONE]),
        ]
    }
}

impl Store {
    /// The organization with this id.
    pub async fn organization(&self, id: OrgId) -> Result<Option<Organization>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string()).read_one(self.reader()).await?;
        row.map(Organization::try_from).transpose()
    }

    /// The organization with this slug.
    pub async fn organization_by_slug(&self, slug: &Slug) -> Result<Option<Organization>, StoreError> {
        let row = row::Entity::find().filter(row::Column::Slug.eq(slug.as_str())).read_one(self.reader()).await?;
        row.map(Organization::try_from).transpose()
    }

    /// The platform's own organization: the one that first-start set-up makes.
    pub async fn platform_organization(&self) -> Result<Option<Organization>, StoreError> {
        let row = row::Entity::find()
            .filter(row::Column::Kind.eq(OrgKind::Platform.as_str()))
            .read_one(self.reader())
            .await?;
        row.map(Organization::try_from).transpose()
    }

    /// Up to `limit` organizations in the order of their ids, after the one with the id `after`.
    pub async fn organizations(&self, after: Option<OrgId>, limit: u64) -> Result<Vec<Organization>, StoreError> {
        let mut select = row::Entity::find();
        if let Some(after) = after {
            select = select.filter(row::Column::Id.gt(after.to_string()));
        }
        let rows = select.order_by_asc(row::Column::Id).limit(limit).read_all(self.reader()).await?;
        rows.into_iter().map(Organization::try_from).collect()
    }

    /// How many organizations the person owns.
    pub async fn organizations_owned(&self, user_id: UserId) -> Result<u64, StoreError> {
        members::row::Entity::find()
            .filter(members::row::Column::UserId.eq(user_id.to_string()))
            .filter(members::row::Column::Role.eq(domain::Role::Owner.as_str()))
            .read_count(self.reader())
            .await
    }
}
