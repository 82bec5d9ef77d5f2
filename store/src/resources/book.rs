//! The state of an organization's resources that something is decided on.

use domain::id::OrgId;
use sea_orm::EntityTrait;

use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod entity {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "resource_books")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        pub revision: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The state of an organization's resources. Read it before what is decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceBook {
    /// Whose.
    pub org_id: OrgId,
    /// How many commits it has seen; 0 while there never was a resource.
    pub revision: i64,
}

impl ResourceBook {
    /// The book after the commit that turned its page.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self { org_id: self.org_id, revision: self.revision + 1 }
    }
}

impl Store {
    /// The organization's book as it is now.
    pub async fn resource_book(&self, org_id: OrgId) -> Result<ResourceBook, StoreError> {
        let row = entity::Entity::find_by_id(org_id.to_string()).read_one(self.reader()).await?;
        Ok(ResourceBook { org_id, revision: row.map_or(0, |row| row.revision) })
    }
}

impl Change {
    /// Counts the book's revision up; stale when somebody else has since it was read, or the organization is gone.
    pub fn resource_book_turn(&mut self, book: ResourceBook) {
        let org_id = book.org_id.to_string();
        let statement = if book.revision == 0 {
            Sql::new(
                "INSERT INTO resource_books (org_id, revision) SELECT id, 1 FROM organizations WHERE id = $1",
                [org_id.into()],
            )
        } else {
            Sql::new(
                "UPDATE resource_books SET revision = revision + 1 WHERE org_id = $1 AND revision = $2",
                [org_id.into(), book.revision.into()],
            )
        };
        self.run_statement(statement, Expect::Rows(1));
    }
}
