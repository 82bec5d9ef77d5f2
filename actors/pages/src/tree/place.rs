//! Where a page is to lie, as the tree is now.

use domain::{
    Result,
    id::{OrgId, PageId},
    pages::{
        Landing, Page, PageKind, Parent,
        position::{MAX, at_place, behind, is_crowded},
    },
};
use store::{Change, Store};

use crate::live::TreeChange;

/// A place in the tree.
pub(super) enum Place {
    Root,
    /// With the way from the page up to the root, itself included.
    Under(Box<Page>, Vec<PageId>),
    Nowhere,
}

impl Place {
    /// What `parent` names now.
    pub async fn find(store: &Store, org_id: OrgId, parent: Parent) -> Result<Self> {
        let id = match parent {
            Parent::Root => return Ok(Self::Root),
            Parent::Nowhere => return Ok(Self::Nowhere),
            Parent::Page(id) => id,
        };
        let Some(page) = store.page(org_id, id).await? else { return Ok(Self::Nowhere) };
        Ok(Self::Under(Box::new(page), store.page_path(org_id, id).await?))
    }

    /// The same for the rules.
    pub fn landing(&self) -> Landing<'_> {
        match self {
            Self::Root => Landing::Root,
            Self::Under(parent, path) => Landing::Under { parent, path },
            Self::Nowhere => Landing::Nowhere,
        }
    }

    /// The page that is the parent there.
    pub fn parent(&self) -> Option<&Page> {
        if let Self::Under(page, _) = self { Some(page) } else { None }
    }

    /// The database whose row a page is there.
    pub fn database(&self) -> Option<&Page> {
        self.parent().filter(|page| page.kind == PageKind::Database)
    }
}

/// Where among its siblings a page comes to lie.
pub(super) struct Spot {
    /// Where it lies once the siblings were numbered anew; none where they keep their positions.
    renumbered: Option<f64>,
}

/// Gives `page` its position among the pages beside it: the one asked for, or else behind all of them.
pub(super) async fn put(store: &Store, page: &mut Page, asked: Option<f64>) -> Result<Spot> {
    page.position = match asked {
        Some(position) => position,
        None => behind(store.page_last_position(page.org_id, page.parent_id).await?),
    };
    if asked.is_none() && page.position <= MAX {
        return Ok(Spot { renumbered: None });
    }
    let siblings = store.page_siblings(page.org_id, page.parent_id, page.position, page.id).await?;
    let is_crowded = is_crowded(page.position, siblings.around);
    Ok(Spot { renumbered: is_crowded.then(|| at_place(siblings.place)) })
}

impl Spot {
    /// Numbers the page and those beside it anew, where that must be. The page is in the change already.
    pub fn settle(&self, change: &mut Change, page: &mut Page) {
        if let Some(position) = self.renumbered {
            change.page_renumber(page.org_id, page.parent_id, page.id);
            page.position = position;
        }
    }

    /// What is told of it: `change`, or more than can be listed.
    pub fn told(&self, change: impl FnOnce() -> TreeChange) -> TreeChange {
        if self.renumbered.is_some() { TreeChange::Reset } else { change() }
    }
}
