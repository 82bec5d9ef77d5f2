//! Where the pages of an archive lie.

use std::collections::HashMap;

use super::names::Taken;
use crate::id::PageId;

/// What laying pages out needs to know of one.
#[derive(Clone, Debug, PartialEq)]
pub struct LaidOut {
    /// Its id.
    pub id: PageId,
    /// What it is under.
    pub parent_id: Option<PageId>,
    /// What it is called.
    pub title: String,
}

/// Where a page lies: the name of its files, with their folders, without an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivePath {
    /// The page.
    pub id: PageId,
    /// Its path.
    pub path: String,
}

/// The paths of the pages, each after the one that it is under; siblings as they came. A page whose parent is not among
/// them lies at the top.
pub fn layout(pages: &[LaidOut]) -> Vec<ArchivePath> {
    let known: HashMap<PageId, usize> = pages.iter().enumerate().map(|(place, page)| (page.id, place)).collect();
    let mut below: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (place, page) in pages.iter().enumerate() {
        let parent = page.parent_id.and_then(|id| known.get(&id).copied());
        below.entry(parent).or_default().push(place);
    }
    let mut paths = Vec::with_capacity(pages.len());
    let mut folders = vec![(None, String::new())];
    while let Some((parent, folder)) = folders.pop() {
        let mut taken = Taken::default();
        for &place in below.get(&parent).map_or(&[][..], Vec::as_slice) {
            let path = format!("{folder}{}", taken.stem(&pages[place].title));
            folders.push((Some(place), format!("{path}/")));
            paths.push(ArchivePath { id: pages[place].id, path });
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn what_is_below_a_page_lies_in_its_folder() {
        let ids: Vec<PageId> = (0..5).map(|at| PageId::new(Timestamp(at))).collect();
        let page = |at: usize, parent: Option<usize>, title: &str| LaidOut {
            id: ids[at],
            parent_id: parent.map(|parent| ids[parent]),
            title: title.to_owned(),
        };
        let pages = [page(1, Some(0), "A"), page(2, Some(1), "B"), page(3, Some(1), "b"), page(4, Some(3), "../C")];
        let paths: Vec<_> = layout(&pages).into_iter().map(|laid| (laid.id, laid.path)).collect();
        let expected = [(1, "A"), (2, "A/B"), (3, "A/b (2)"), (4, "A/b (2)/-C")];
        assert_eq!(paths, expected.map(|(at, path)| (ids[at], path.to_owned())));
    }
}
