//! The tree of an organization's pages.
//!
//! Everything about the pages' rows is decided here, one change after the other: where they lie, what they are called,
//! what is in the trash, what a database has and a row says. Each commit counts the tree's revision up, so that two nodes
//! never both decide on one tree: no two moves, each of them fine, ever make a circle. What a page says belongs to its
//! session.
//!
//! Nothing but the revision is kept in memory: a command reads the few rows that it decides on, and the revision was read
//! before them. What was done is told to whoever looks at the tree, after the commit.

mod begin_import;
mod change;
mod create;
mod database;
mod delete;
mod import;
mod place;
mod purge;
mod removal;

use actors_base::Services;
use domain::{
    Result,
    id::{OrgId, UserId},
    pages::{Page, author},
};
use kernel::{Resource, Turn};
use serde_json::Value;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    pages::{SubtreePage, Tree},
};

pub(crate) use self::{
    begin_import::BeginImport,
    import::ImportPages,
    removal::{delete_pages_after, delete_staged_after},
};
pub use self::{
    change::ChangePage,
    create::CreatePage,
    delete::DeletePage,
    removal::{PAGES_REMOVAL, PagesRemoval},
};
use super::{
    live::{TreeChange, TreeMessage},
    session::{Ending, publish_ending},
};

/// An organization's tree of pages.
#[derive(Debug)]
pub struct PageTree {
    tree: Tree,
}

impl Resource for PageTree {
    type Key = OrgId;
    type Services = Services;

    const KIND: &'static str = "page_tree";

    async fn load(org_id: &OrgId, services: &Services) -> Result<Self> {
        Ok(Self { tree: services.store.page_tree(*org_id).await? })
    }
}

impl PageTree {
    /// A change of the tree as it was read.
    fn change(&self) -> Change {
        let mut change = Change::new();
        change.page_tree_turn(self.tree);
        change
    }

    /// Commits, and tells whoever looks at the tree.
    async fn commit(
        &mut self,
        turn: &mut Turn<'_, Self>,
        change: Change,
        by: Option<UserId>,
        told: TreeChange,
    ) -> Result<()> {
        turn.commit(change).await?;
        self.tree = self.tree.turned();
        TreeMessage { revision: self.tree.revision, by, change: told }.publish(&turn.services().hub, *turn.key());
        Ok(())
    }
}

/// Ends the shared documents of those pages that have one. After the commit.
fn end_documents(turn: &Turn<'_, PageTree>, pages: &[SubtreePage], ending: Ending) {
    for page in pages.iter().filter(|page| page.has_document) {
        publish_ending(&turn.services().hub, page.id, ending);
    }
}

/// The person who asks, as long as they may write the organization's pages now.
async fn writer(turn: &Turn<'_, PageTree>) -> Result<UserId> {
    author(&turn.authority(*turn.key()).await?)
}

/// Adds what was done to the page to the audit trail.
fn audit(change: &mut Change, turn: &Turn<'_, PageTree>, action: &str, page: &Page, about: Option<Value>) {
    let target = AuditTarget::new("page", page.id).labelled(&page.title);
    let entry = AuditEntry::new(turn.context(), action, target).in_org(page.org_id);
    change.audit_add(turn.now(), AuditEntry { metadata: about, ..entry });
}
