//! Notification protocols, what they are attached to, and the book that an organization's protocols and rotas are
//! decided in.

mod attachments;
mod book;

use std::collections::BTreeMap;

use domain::{
    Timestamp,
    id::{OrgId, ProtocolId, UserId},
    notify::{Attachment, Protocol, ProtocolDraft, ResourceType},
};
use sea_orm::{ActiveModelTrait, ColumnTrait, Condition, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};

pub use self::book::ProtocolBook;
use crate::{
    Change, Expect, Store, StoreError, json,
    reader::{Reader, Reads},
    sql::Sql,
};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "protocols")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: String,
        pub name: String,
        pub description: Option<String>,
        pub enabled: bool,
        pub rules: String,
        pub created_by: String,
        pub created_at: i64,
        pub updated_at: i64,
        pub warned_at: Option<i64>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A protocol that may have to be warned of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedProtocol {
    /// The protocol.
    pub protocol: Protocol,
    /// When its organization's owners last heard that it reaches nobody.
    pub warned_at: Option<Timestamp>,
}

impl row::Model {
    fn of(protocol: &Protocol) -> Self {
        Self {
            id: protocol.id.to_string(),
            org_id: protocol.org_id.to_string(),
            name: protocol.draft.name.clone(),
            description: protocol.draft.description.clone(),
            enabled: protocol.draft.enabled,
            rules: json::text(&protocol.draft.rules),
            created_by: protocol.created_by.to_string(),
            created_at: protocol.created_at.0,
            updated_at: protocol.updated_at.0,
            warned_at: None,
        }
    }

    fn read(self, attachments: Vec<Attachment>) -> Result<Protocol, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("protocols {}", self.id));
        let draft = ProtocolDraft {
            rules: serde_json::from_str(&self.rules).map_err(|_| corrupt())?,
            name: self.name.clone(),
            description: self.description.clone(),
            enabled: self.enabled,
        };
        Ok(Protocol {
            id: self.id.parse::<ProtocolId>().map_err(|_| corrupt())?,
            org_id: self.org_id.parse::<OrgId>().map_err(|_| corrupt())?,
            draft,
            created_by: self.created_by.parse::<UserId>().map_err(|_| corrupt())?,
            created_at: Timestamp(self.created_at),
            updated_at: Timestamp(self.updated_at),
            attachments,
        })
    }
}

impl Change {
    /// Adds a protocol; what it is attached to is added on its own.
    pub fn protocol_add(&mut self, protocol: &Protocol) {
        self.insert(row::Model::of(protocol).into_active_model());
    }

    /// Writes what the protocol says, and when it last changed.
    pub fn protocol_set(&mut self, protocol: &Protocol) {
        let mut whole = row::Model::of(protocol).into_active_model().reset_all();
        whole.warned_at = sea_orm::ActiveValue::NotSet;
        let update = row::Entity::update_many().set(whole).filter(row::Column::Id.eq(protocol.id.to_string()));
        self.run(update, Expect::Rows(1));
    }

    /// Removes the protocol from all that it is attached to, and itself.
    pub fn protocol_remove(&mut self, id: ProtocolId) {
        let id = id.to_string();
        self.run_statement(Sql::new("DELETE FROM protocols WHERE id = $1", [id.as_str().into()]), Expect::Rows(1));
        let attachments = "DELETE FROM protocol_attachments WHERE protocol_id = $1";
        self.run_statement(Sql::new(attachments, [id.into()]), Expect::Any);
    }

    /// Notes that the owners heard that the protocol reaches nobody.
    pub fn protocol_warned(&mut self, id: ProtocolId, now: Timestamp) {
        let statement = "UPDATE protocols SET warned_at = $2 WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into()]), Expect::Any);
    }

    /// Removes everything that stands in the organization's book, and the book.
    pub fn protocol_book_remove(&mut self, org_id: OrgId) {
        for statement in [
            "DELETE FROM protocols WHERE org_id = $1",
            "DELETE FROM protocol_attachments WHERE org_id = $1",
            "DELETE FROM rotas WHERE org_id = $1",
            "DELETE FROM protocol_books WHERE org_id = $1",
        ] {
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
    }
}

impl Store {
    /// The organization's protocol with this id.
    pub async fn protocol(&self, org_id: OrgId, id: ProtocolId) -> Result<Option<Protocol>, StoreError> {
        let found = of_organization(org_id).add(row::Column::Id.eq(id.to_string()));
        Ok(self.protocols_where(found).await?.into_iter().next().map(|watched| watched.protocol))
    }

    /// The organization's protocols, oldest first.
    pub async fn protocols(&self, org_id: OrgId) -> Result<Vec<Protocol>, StoreError> {
        let found = self.protocols_where(of_organization(org_id)).await?;
        Ok(found.into_iter().map(|watched| watched.protocol).collect())
    }

    /// The same, with when they were last warned of.
    pub async fn protocols_watched(&self, org_id: OrgId) -> Result<Vec<WatchedProtocol>, StoreError> {
        self.protocols_where(of_organization(org_id)).await
    }

    /// The enabled protocols that are attached to the organization or to one of `within`, oldest first.
    pub async fn protocols_attached(
        &self,
        org_id: OrgId,
        within: &[(ResourceType, String)],
    ) -> Result<Vec<Protocol>, StoreError> {
        let ids = attachments::attached(self.reader(), org_id, within).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let found = of_organization(org_id).add(row::Column::Enabled.eq(true)).add(row::Column::Id.is_in(ids));
        Ok(self.protocols_where(found).await?.into_iter().map(|watched| watched.protocol).collect())
    }

    async fn protocols_where(&self, condition: Condition) -> Result<Vec<WatchedProtocol>, StoreError> {
        let rows = row::Entity::find().filter(condition).order_by_asc(row::Column::Id).read_all(self.reader()).await?;
        let mut attachments = of_protocols(self.reader(), &rows).await?;
        rows.into_iter()
            .map(|row| {
                let warned_at = row.warned_at.map(Timestamp);
                let attachments = attachments.remove(&row.id).unwrap_or_default();
                Ok(WatchedProtocol { protocol: row.read(attachments)?, warned_at })
            })
            .collect()
    }
}

fn of_organization(org_id: OrgId) -> Condition {
    Condition::all().add(row::Column::OrgId.eq(org_id.to_string()))
}

async fn of_protocols(reader: &Reader, rows: &[row::Model]) -> Result<BTreeMap<String, Vec<Attachment>>, StoreError> {
    if rows.is_empty() {
        return Ok(BTreeMap::new());
    }
    attachments::of(reader, rows.iter().map(|row| row.id.clone())).await
}
