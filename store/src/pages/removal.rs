//! Writes that meet many pages: into the trash and back, numbering anew, and out of sight for good.
//!
//! Each is a few statements however many pages there are. What they find is what was decided on, because the commit turns
//! the tree ([`Change::page_tree_turn`]).

use domain::{
    Timestamp,
    id::{OrgId, PageId},
};

use crate::{Change, Expect, sql::Sql};

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

/// Takes the page and everything below it out of sight, and ends their shared documents. The first statement names what
/// hangs on them, to be deleted later.
const SUBTREE_TAKE: [&str; 3] = [
    subtree!(
        "INSERT INTO page_remains (page_id, org_id, due) SELECT id, org_id, CAST($2 AS BIGINT) FROM pages WHERE id",
        " ON CONFLICT (page_id) DO NOTHING"
    ),
    subtree!("DELETE FROM page_docs WHERE page_id", ""),
    subtree!("DELETE FROM pages WHERE id", ""),
];

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

    /// Takes the page and everything below it out of sight for good. What hangs on them may be deleted from `now` on
    /// ([`Purge::page_remains`](crate::Purge::page_remains)).
    pub fn page_remove(&mut self, id: PageId, now: Timestamp) {
        let id = id.to_string();
        let [name, end_documents, remove] = SUBTREE_TAKE;
        self.run_statement(Sql::new(name, [id.as_str().into(), now.0.into()]), Expect::Any);
        for statement in [end_documents, remove] {
            self.run_statement(Sql::new(statement, [id.as_str().into()]), Expect::Any);
        }
    }
}
