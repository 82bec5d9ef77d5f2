//! Invitations into organizations. One that was accepted or cancelled has no row.

use domain::{
    Email, Role, Timestamp, TokenHash,
    account::Invitation,
    id::{InviteId, OrgId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{named, parsed};
use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "invites")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub email: String,
        pub role: String,
        pub token_hash: Vec<u8>,
        pub invited_by: Option<String>,
        pub created_at: i64,
        pub expires_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// An invitation.
#[derive(Clone, Debug, PartialEq)]
pub struct Invite {
    /// Its id.
    pub id: InviteId,
    /// The organization that it leads into.
    pub org_id: OrgId,
    /// What accepting it goes by.
    pub invitation: Invitation,
    /// Who invited, or made the key that did; nobody when it was Troupe.
    pub invited_by: Option<UserId>,
    /// When.
    pub created_at: Timestamp,
}

impl TryFrom<row::Model> for Invite {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: parsed("invites.id", &row.id)?,
            org_id: parsed("invites.org_id", &row.org_id)?,
            invitation: Invitation {
                email: parsed("invites.email", &row.email)?,
                role: named("invites.role", Role::from_name(&row.role))?,
                expires_at: Timestamp(row.expires_at),
            },
            invited_by: row.invited_by.as_deref().map(|id| parsed("invites.invited_by", id)).transpose()?,
            created_at: Timestamp(row.created_at),
        })
    }
}

impl Change {
    /// Adds an invitation whose token has this hash.
    pub fn invite_add(&mut self, invite: &Invite, token_hash: TokenHash) {
        self.insert(row::ActiveModel {
            id: Set(invite.id.to_string()),
            org_id: Set(invite.org_id.to_string()),
            email: Set(invite.invitation.email.to_string()),
            role: Set(invite.invitation.role.to_string()),
            token_hash: Set(token_hash.0.to_vec()),
            invited_by: Set(invite.invited_by.map(|by| by.to_string())),
            created_at: Set(invite.created_at.0),
            expires_at: Set(invite.invitation.expires_at.0),
        });
    }

    /// Removes an invitation; stale when it is gone.
    pub fn invite_remove(&mut self, id: InviteId) {
        self.run_statement(Sql::new("DELETE FROM invites WHERE id = $1", [id.to_string().into()]), Expect::Rows(1));
    }

    /// Removes the person's open invitations to these roles.
    pub fn invites_withdraw(&mut self, org_id: OrgId, invited_by: UserId, roles: impl IntoIterator<Item = Role>) {
        for role in roles {
            self.run_statement(
                Sql::new(
                    "DELETE FROM invites WHERE org_id = $1 AND invited_by = $2 AND role = $3",
                    [org_id.to_string().into(), invited_by.to_string().into(), role.as_str().into()],
                ),
                Expect::Any,
            );
        }
    }

    /// Removes the organization's invitations that expired before `before`.
    pub fn invites_purge(&mut self, org_id: OrgId, before: Timestamp) {
        self.run_statement(
            Sql::new(
                "DELETE FROM invites WHERE org_id = $1 AND expires_at <= $2",
                [org_id.to_string().into(), before.0.into()],
            ),
            Expect::Any,
        );
    }
}

impl Store {
    /// The invitation whose token has this hash, expired or not.
    pub async fn invite_by_token(&self, token_hash: TokenHash) -> Result<Option<Invite>, StoreError> {
        let row = row::Entity::find()
            .filter(row::Column::TokenHash.eq(token_hash.0.to_vec()))
            .read_one(self.reader())
            .await?;
        row.map(Invite::try_from).transpose()
    }

    /// The organization's invitation with this id.
    pub async fn invite(&self, org_id: OrgId, id: InviteId) -> Result<Option<Invite>, StoreError> {
        let row = row::Entity::find_by_id(id.to_string())
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .read_one(self.reader())
            .await?;
        row.map(Invite::try_from).transpose()
    }

    /// The organization's invitation of this address, expired or not.
    pub async fn invite_by_email(&self, org_id: OrgId, email: &Email) -> Result<Option<Invite>, StoreError> {
        let row = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::Email.eq(email.as_str()))
            .read_one(self.reader())
            .await?;
        row.map(Invite::try_from).transpose()
    }

    /// Up to `limit` invitations that can be accepted at `now`, oldest first, after the one with the id `after`.
    pub async fn invites(
        &self,
        org_id: OrgId,
        now: Timestamp,
        after: Option<InviteId>,
        limit: u64,
    ) -> Result<Vec<Invite>, StoreError> {
        let mut select = row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::ExpiresAt.gt(now.0));
        if let Some(after) = after {
            select = select.filter(row::Column::Id.gt(after.to_string()));
        }
        let rows = select.order_by_asc(row::Column::Id).limit(limit).read_all(self.reader()).await?;
        rows.into_iter().map(Invite::try_from).collect()
    }

    /// How many of the organization's invitations can be accepted at `now`.
    pub async fn invites_count(&self, org_id: OrgId, now: Timestamp) -> Result<u64, StoreError> {
        row::Entity::find()
            .filter(row::Column::OrgId.eq(org_id.to_string()))
            .filter(row::Column::ExpiresAt.gt(now.0))
            .read_count(self.reader())
            .await
    }
}
