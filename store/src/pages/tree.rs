//! The state of an organization's tree that something is decided on.

use domain::id::OrgId;
use sea_orm::{ActiveValue::Set, EntityTrait};

use crate::{Change, Expect, Store, StoreError, reader::Reads, sql::Sql};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "page_trees")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub org_id: String,
        pub revision: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The state of an organization's tree. Read it before what is decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Whose.
    pub org_id: OrgId,
    /// How many commits it has seen; 0 while there never was a page.
    pub revision: i64,
}

impl Tree {
    /// The tree after the commit that turned it.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self { org_id: self.org_id, revision: self.revision + 1 }
    }
}

impl Store {
    /// The organization's tree as it is now.
    pub async fn page_tree(&self, org_id: OrgId) -> Result<Tree, StoreError> {
        let row = row::Entity::find_by_id(org_id.to_string()).read_one(self.reader()).await?;
        Ok(Tree { org_id, revision: row.map_or(0, |row| row.revision) })
    }
}

impl Change {
    /// Forgets the tree of an organization that is gone.
    pub fn page_tree_remove(&mut self, org_id: OrgId) {
        let statement = "DELETE FROM page_trees WHERE org_id = $1";
        self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
    }

    /// Counts the tree's revision up; stale when somebody else has since it was read.
    pub fn page_tree_turn(&mut self, tree: Tree) {
        let org_id = tree.org_id.to_string();
        if tree.revision == 0 {
            self.insert(row::ActiveModel { org_id: Set(org_id), revision: Set(1) });
            return;
        }
        let statement = "UPDATE page_trees SET revision = revision + 1 WHERE org_id = $1 AND revision = $2";
        self.run_statement(Sql::new(statement, [org_id.into(), tree.revision.into()]), Expect::Rows(1));
    }
}
