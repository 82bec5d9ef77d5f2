//! Writes that meet many pages: into the trash and back, numbering anew, and deletion for good.
//!
//! Each is a few statements however many pages there are. What they find is what was decided on, because the commit turns
//! the tree ([`Change::page_tree_turn`]).

use domain::{
    Timestamp,
    id::{OrgId, PageId},
};

use crate::{Change, Expect, Purge, sql::Sql};

/// A statement about the page `$1` and everything below it.
macro_rules! subtree {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " IN (WITH RECURSIVE down(id, depth) AS (SELECT id, 1 FROM pages WHERE id = $1 UNION ALL \
             SELECT pages.id, down.depth + 1 FROM pages JOIN down ON pages.parent_id = down.id WHERE down.depth < 64) \
             SELECT id FROM down)",
            $after
        )
    };
}

/// What hangs on a page, and then its row.
const SUBTREE_REMOVE: [&str; 9] = [
    subtree!("DELETE FROM page_texts WHERE page_id", ""),
    subtree!("DELETE FROM page_contents WHERE page_id", ""),
    subtree!("DELETE FROM page_versions WHERE page_id", ""),
    subtree!("DELETE FROM page_comments WHERE page_id", ""),
    subtree!("DELETE FROM page_relations WHERE row_id", ""),
    subtree!("DELETE FROM page_relations WHERE target_id", ""),
    subtree!("DELETE FROM page_docs WHERE page_id", ""),
    subtree!("DELETE FROM page_updates WHERE page_id", ""),
    subtree!("DELETE FROM pages WHERE id", ""),
];

/// The same for every page of an organization.
const ORGANIZATION_REMOVE: [&str; 10] = [
    "DELETE FROM page_texts WHERE org_id = $1",
    "DELETE FROM page_contents WHERE page_id IN (SELECT id FROM pages WHERE org_id = $1)",
    "DELETE FROM page_versions WHERE page_id IN (SELECT id FROM pages WHERE org_id = $1)",
    "DELETE FROM page_comments WHERE org_id = $1",
    "DELETE FROM page_relations WHERE row_id IN (SELECT id FROM pages WHERE org_id = $1)",
    "DELETE FROM page_relations WHERE target_id IN (SELECT id FROM pages WHERE org_id = $1)",
    "DELETE FROM page_docs WHERE page_id IN (SELECT id FROM pages WHERE org_id = $1)",
    "DELETE FROM page_updates WHERE page_id IN (SELECT id FROM pages WHERE org_id = $1)",
    "DELETE FROM pages WHERE org_id = $1",
    "DELETE FROM page_trees WHERE org_id = $1",
];

/// The tables of an organization's pages: what hangs on a page stands before its row, which it is found by.
const OF_ORGANIZATION: [[&str; 3]; 9] = [
    ["page_texts", "page_id", "org_id = $1"],
    ["page_contents", "page_id", "page_id IN (SELECT id FROM pages WHERE org_id = $1)"],
    ["page_versions", "page_id, version", "page_id IN (SELECT id FROM pages WHERE org_id = $1)"],
    ["page_comments", "id", "org_id = $1"],
    ["page_relations", "row_id, property_id, target_id", "row_id IN (SELECT id FROM pages WHERE org_id = $1)"],
    ["page_docs", "page_id", "page_id IN (SELECT id FROM pages WHERE org_id = $1)"],
    ["page_updates", "page_id, id", "page_id IN (SELECT id FROM pages WHERE org_id = $1)"],
    ["pages", "id", "org_id = $1"],
    ["page_trees", "org_id", "org_id = $1"],
];

impl Purge {
    /// All pages of an organization that is no more, to be thrown away in this order, each to its end.
    pub fn pages_of(org_id: OrgId) -> Vec<Self> {
        OF_ORGANIZATION.map(|table| Self::new("pages of a deleted organization", table, org_id.to_string())).into()
    }
}

impl Change {
    /// Puts what lies below the page into the trash with it; the page itself is written on its own.
    pub fn page_archive_below(&mut self, id: PageId, now: Timestamp) {
        let statement = subtree!(
            "UPDATE pages SET archived_at = $2, archived_with = $1, version = version + 1 WHERE id",
            " AND id <> $1 AND archived_at IS NULL"
        );
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into()]), Expect::Any);
    }

    /// Takes what came into the trash together with the page, and lies below it, out again. `group` is whose archiving that
    /// was; the page itself is written on its own.
    pub fn page_restore_below(&mut self, id: PageId, group: PageId) {
        let statement = subtree!(
            "UPDATE pages SET archived_at = NULL, archived_with = NULL, version = version + 1 WHERE id",
            " AND id <> $1 AND archived_with = $2"
        );
        self.run_statement(Sql::new(statement, [id.to_string().into(), group.to_string().into()]), Expect::Any);
    }

    /// Numbers the pages under `parent` anew: 1, 2, 3, … in their order; of two at the same position `first` goes first.
    pub fn page_renumber(&mut self, org_id: OrgId, parent: Option<PageId>, first: PageId) {
        let statement = "UPDATE pages SET position = ordered.place, version = version + 1 FROM (\
             SELECT id AS sibling, CAST(ROW_NUMBER() OVER (\
             ORDER BY position, CASE WHEN id = $3 THEN 0 ELSE 1 END, id) AS DOUBLE PRECISION) AS place \
             FROM pages WHERE org_id = $1 AND COALESCE(parent_id, '') = $2) AS ordered WHERE pages.id = ordered.sibling";
        let parent = parent.map(|id| id.to_string()).unwrap_or_default();
        let values = [org_id.to_string().into(), parent.into(), first.to_string().into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Deletes the page and everything below it for good, with all that hangs on them.
    pub fn page_remove(&mut self, id: PageId) {
        for statement in SUBTREE_REMOVE {
            self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Any);
        }
    }

    /// Deletes all of the organization's pages, and its tree.
    pub fn pages_remove(&mut self, org_id: OrgId) {
        for statement in ORGANIZATION_REMOVE {
            self.run_statement(Sql::new(statement, [org_id.to_string().into()]), Expect::Any);
        }
    }
}
