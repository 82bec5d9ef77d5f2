//! Where a page may lie.

use super::{DEPTH_MAX, page::Page};
use crate::{Error, Result, id::PageId};

/// Where a page is to lie, as the tree is now.
#[derive(Clone, Debug)]
pub enum Landing<'a> {
    /// At the root.
    Root,
    /// Under a page.
    Under {
        /// It.
        parent: &'a Page,
        /// It and everything above it, up to the root.
        path: &'a [PageId],
    },
    /// Under something that isn't there.
    Nowhere,
}

impl Landing<'_> {
    /// How deep a page lies there; at the root, 1.
    fn depth(&self) -> u32 {
        let above = match self {
            Self::Root | Self::Nowhere => 0,
            Self::Under { path, .. } => path.len(),
        };
        u32::try_from(above).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// Whether a page may be made there (contract B 4.6).
pub fn create_check(landing: &Landing<'_>) -> Result<()> {
    match landing {
        Landing::Nowhere => Err(Error::bad_request("parent_not_found", "Parent page not found.")),
        Landing::Under { parent, .. } if parent.is_archived() => {
            Err(Error::bad_request("parent_in_trash", "The parent page is in the trash."))
        }
        _ => depth_check(landing.depth()),
    }
}

/// Whether pages that lie `height` deep in one another may be made there.
pub fn import_check(height: u32, landing: &Landing<'_>) -> Result<()> {
    create_check(landing)?;
    depth_check(landing.depth().saturating_add(height.saturating_sub(1)))
}

/// Whether the page `id`, below which pages lie `height` deep (1 where there are none), may move there (contract B 4.6).
pub fn move_check(id: PageId, height: u32, landing: &Landing<'_>) -> Result<()> {
    match landing {
        Landing::Nowhere => return Err(Error::bad_request("target_not_found", "Target page not found.")),
        Landing::Under { parent, .. } if parent.id == id => {
            return Err(Error::bad_request("into_itself", "A page can't be moved into itself."));
        }
        Landing::Under { parent, .. } if parent.is_archived() => {
            return Err(Error::bad_request("target_in_trash", "The target page is in the trash."));
        }
        Landing::Under { path, .. } if path.contains(&id) => {
            return Err(Error::bad_request("into_subpage", "A page can't be moved into one of its subpages."));
        }
        _ => {}
    }
    depth_check(landing.depth().saturating_add(height.saturating_sub(1)))
}

/// The deepest page may lie at [`DEPTH_MAX`].
fn depth_check(deepest: u32) -> Result<()> {
    if deepest > DEPTH_MAX {
        return Err(Error::bad_request("too_deep", "Pages are nested too deeply."));
    }
    Ok(())
}

/// 404: the organization has no such page.
pub fn not_found() -> Error {
    Error::not_found("Page not found")
}

/// 409: a page in the trash is not edited.
pub fn in_the_trash() -> Error {
    Error::conflict("in_trash", "This page is in the trash. Restore it to edit.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Timestamp,
        id::{OrgId, UserId},
        pages::PageKind,
    };

    fn page(archived: bool) -> Page {
        Page {
            id: PageId::new(Timestamp(1)),
            org_id: OrgId::new(Timestamp(1)),
            parent_id: None,
            kind: PageKind::Doc,
            is_row: false,
            title: String::new(),
            icon: None,
            full_width: None,
            position: 1.0,
            archived_at: archived.then_some(Timestamp(2)),
            archived_with: None,
            content_version: 0,
            properties: None,
            schema: None,
            views: None,
            version: 1,
            created_at: Timestamp(1),
            created_by: UserId::new(Timestamp(1)),
            updated_at: Timestamp(1),
            updated_by: None,
        }
    }

    /// A path of so many pages, of which the last is the root's.
    fn path(parent: &Page, depth: usize) -> Vec<PageId> {
        let above = (1..depth).map(|_| PageId::new(Timestamp(1)));
        std::iter::once(parent.id).chain(above).collect()
    }

    fn message(outcome: Result<()>) -> String {
        outcome.map_or_else(|error| error.to_string(), |()| "fine".into())
    }

    #[test]
    fn a_page_is_made_up_to_the_twentieth_level() {
        let parent = page(false);
        for (depth, told) in [(1, "fine"), (18, "fine"), (19, "fine"), (20, "Pages are nested too deeply.")] {
            let path = path(&parent, depth);
            let landing = Landing::Under { parent: &parent, path: &path };
            assert_eq!(message(create_check(&landing)), told, "{depth}");
        }
        assert_eq!(message(create_check(&Landing::Root)), "fine");
    }

    #[test]
    fn an_import_counts_what_it_brings() {
        let parent = page(false);
        for (depth, height, told) in
            [(1, 19, "fine"), (1, 20, "Pages are nested too deeply."), (20, 1, "Pages are nested too deeply.")]
        {
            let path = path(&parent, depth);
            let landing = Landing::Under { parent: &parent, path: &path };
            assert_eq!(message(import_check(height, &landing)), told, "{depth} {height}");
        }
        assert_eq!(message(import_check(20, &Landing::Root)), "fine");
        assert_eq!(message(import_check(21, &Landing::Root)), "Pages are nested too deeply.");
        assert_eq!(message(import_check(1, &Landing::Nowhere)), "Parent page not found.");
    }

    #[test]
    fn no_page_is_made_in_the_trash_or_nowhere() {
        let parent = page(true);
        let path = path(&parent, 1);
        let landing = Landing::Under { parent: &parent, path: &path };
        assert_eq!(message(create_check(&landing)), "The parent page is in the trash.");
        assert_eq!(message(create_check(&Landing::Nowhere)), "Parent page not found.");
    }

    #[test]
    fn a_move_counts_what_lies_below() {
        let (moved, parent) = (PageId::new(Timestamp(3)), page(false));
        for (depth, height, told) in
            [(10, 10, "fine"), (19, 1, "fine"), (11, 10, "Pages are nested too deeply."), (0, 20, "fine")]
        {
            let path = path(&parent, depth);
            let landing = if depth == 0 { Landing::Root } else { Landing::Under { parent: &parent, path: &path } };
            assert_eq!(message(move_check(moved, height, &landing)), told, "{depth} {height}");
        }
    }

    #[test]
    fn a_page_moves_neither_into_itself_nor_below_nor_into_the_trash() {
        let moved = page(false);
        let own = [moved.id];
        let into_itself = Landing::Under { parent: &moved, path: &own };
        assert_eq!(message(move_check(moved.id, 1, &into_itself)), "A page can't be moved into itself.");
        let below = page(false);
        let path = [below.id, moved.id];
        let into_subpage = Landing::Under { parent: &below, path: &path };
        let told = "A page can't be moved into one of its subpages.";
        assert_eq!(message(move_check(moved.id, 2, &into_subpage)), told);
        let trash = page(true);
        let path = [trash.id];
        let into_trash = Landing::Under { parent: &trash, path: &path };
        assert_eq!(message(move_check(moved.id, 1, &into_trash)), "The target page is in the trash.");
        assert_eq!(message(move_check(moved.id, 1, &Landing::Nowhere)), "Target page not found.");
    }
}
