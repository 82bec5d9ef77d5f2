//! What an organization's protocols and rotas are decided in.

use domain::id::OrgId;
use sea_orm::EntityTrait;

use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "protocol_books")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        pub version: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The state of an organization's protocols and rotas that something is decided on. Read it before what is decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolBook {
    org_id: OrgId,
    /// None while there never was anything in it.
    version: Option<i64>,
}

impl Store {
    /// The organization's book.
    pub async fn protocol_book(&self, org_id: OrgId) -> Result<ProtocolBook, StoreError> {
        let row = row::Entity::find_by_id(org_id.to_string()).read_one(self.reader()).await?;
        Ok(ProtocolBook { org_id, version: row.map(|row| row.version) })
    }
}

impl Change {
    /// Turns the book's page; stale when somebody else has since it was read.
    pub fn protocol_book_turn(&mut self, book: &ProtocolBook) {
        let org_id = book.org_id.to_string();
        match book.version {
            None => self.insert(row::ActiveModel {
                org_id: sea_orm::ActiveValue::Set(org_id),
                version: sea_orm::ActiveValue::Set(1),
            }),
            Some(version) => {
                let statement = "UPDATE protocol_books SET version = version + 1 WHERE org_id = $1 AND version = $2";
                self.run_statement(Sql::new(statement, [org_id.into(), version.into()]), Expect::Rows(1));
            }
        }
    }
}
