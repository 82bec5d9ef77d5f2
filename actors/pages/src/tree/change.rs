//! Changing a page: what it is called, where it lies, whether it is in the trash, what it has as a database or says as a row.

use domain::{
    Result,
    id::{PageId, UserId},
    pages::{Page, PageChange, Parent, TRASH_KEPT, in_the_trash, move_check, not_found},
};
use kernel::{Command, Handle, Turn};
use serde_json::{Value, json};
use store::{Change, Store, pages::SubtreePage};

use super::{
    PageTree, audit,
    database::{self, Relations},
    end_documents,
    place::{self, Place, Spot},
    purge, writer,
};
use crate::{live::TreeChange, session::Ending};

/// Changes a page. One in the trash is restored, or stays as it is.
#[derive(Clone, Debug)]
pub struct ChangePage {
    /// Which.
    pub page_id: PageId,
    /// What changes.
    pub change: PageChange,
}

impl Command for ChangePage {
    type Reply = Page;

    const NAME: &'static str = "change_page";
}

/// What the trash has to do with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trash {
    Untouched,
    Archives,
    /// Takes out what this page's archiving put in.
    Restores(PageId),
}

/// A change as it was decided.
struct Decided {
    before: Page,
    after: Page,
    trash: Trash,
    /// Where the page goes, unless it stays.
    spot: Option<Spot>,
    /// What its relations name from now on.
    relations: Relations,
    /// What goes into the trash or comes out of it, the page first.
    subtree: Vec<SubtreePage>,
}

impl Handle<ChangePage> for PageTree {
    async fn handle(&mut self, command: &ChangePage, turn: &mut Turn<'_, Self>) -> Result<Page> {
        let by = writer(turn).await?;
        let found = turn.services().store.page(*turn.key(), command.page_id).await?;
        let before = found.ok_or_else(not_found)?;
        let trash = match (before.is_archived(), command.change.archived) {
            (false, Some(true)) => Trash::Archives,
            (true, Some(false)) => Trash::Restores(before.archive_group()),
            (true, _) if command.change.edits() => return Err(in_the_trash()),
            (true, _) => return Ok(before),
            (false, _) => Trash::Untouched,
        };
        let decided = decide(turn, before, &command.change, trash).await?;
        if decided.after == decided.before && decided.relations.is_empty() {
            return Ok(decided.before);
        }
        self.write(turn, decided, by).await
    }
}

async fn decide(turn: &Turn<'_, PageTree>, before: Page, change: &PageChange, trash: Trash) -> Result<Decided> {
    let mut after = before.clone();
    if let Some(title) = &change.title {
        after.title.clone_from(title);
    }
    if let Some(icon) = &change.icon {
        after.icon.clone_from(icon);
    }
    after.full_width = change.full_width.or(before.full_width);
    match trash {
        Trash::Untouched => {}
        Trash::Archives => after.archived_at = Some(turn.now()),
        Trash::Restores(_) => (after.archived_at, after.archived_with) = (None, None),
    }
    let spot = settle_place(turn, &before, &mut after, change, trash).await?;
    let store = &turn.services().store;
    database::shape(store, &mut after, change).await?;
    let relations = fill(store, &mut after, change).await?;
    let mut subtree = Vec::new();
    if trash != Trash::Untouched {
        let group = if let Trash::Restores(group) = trash { Some(group) } else { None };
        subtree = turn.services().store.page_subtree(before.id).await?;
        subtree.retain(|page| page.id == before.id || page.archived_with == group);
    }
    Ok(Decided { before, after, trash, spot, relations, subtree })
}

/// Gives a row the values that somebody sent, under the database that it lies in now.
async fn fill(store: &Store, after: &mut Page, change: &PageChange) -> Result<Relations> {
    let mut of = None;
    if let Some(parent) = after.parent_id.filter(|_| after.is_row && change.properties.is_some()) {
        of = store.page(after.org_id, parent).await?;
    }
    database::fill(store, of.as_ref(), after, change.properties.as_ref()).await
}

/// Finds the page's place where it goes elsewhere.
async fn settle_place(
    turn: &Turn<'_, PageTree>,
    before: &Page,
    after: &mut Page,
    change: &PageChange,
    trash: Trash,
) -> Result<Option<Spot>> {
    let store = &turn.services().store;
    let is_there = Parent::from(before.parent_id);
    let mut parent = change.parent.unwrap_or(is_there);
    if parent == is_there && matches!(trash, Trash::Restores(_)) && !can_return(turn, before).await? {
        parent = Parent::Root;
    }
    let moves = parent != is_there;
    if moves {
        let place = Place::find(store, before.org_id, parent).await?;
        move_check(before.id, store.page_height(before.id).await?, &place.landing())?;
        after.parent_id = place.parent().map(|parent| parent.id);
        after.is_row = place.database().is_some();
    }
    if !moves && change.position.is_none_or(|asked| asked.total_cmp(&before.position).is_eq()) {
        return Ok(None);
    }
    place::put(store, after, change.position).await.map(Some)
}

/// Whether a page from the trash can lie where it lay: its parent is there, and not in the trash itself.
async fn can_return(turn: &Turn<'_, PageTree>, page: &Page) -> Result<bool> {
    let Some(parent) = page.parent_id else { return Ok(true) };
    let parent = turn.services().store.page(page.org_id, parent).await?;
    Ok(parent.is_some_and(|parent| !parent.is_archived()))
}

impl PageTree {
    async fn write(&mut self, turn: &mut Turn<'_, Self>, decided: Decided, by: UserId) -> Result<Page> {
        let Decided { before, mut after, trash, spot, relations, subtree } = decided;
        after.updated_at = turn.now();
        after.updated_by = Some(by);
        let mut change = self.change();
        change.page_set(&after);
        relations.write(&mut change, after.id);
        match trash {
            Trash::Untouched => {}
            Trash::Archives => {
                change.page_archive_below(after.id, turn.now());
                purge::arm(&mut change, turn, turn.now().after(TRASH_KEPT)).await?;
            }
            Trash::Restores(group) => change.page_restore_below(after.id, group),
        }
        if let Some(spot) = &spot {
            spot.settle(&mut change, &mut after);
        }
        record(&mut change, turn, &before, &after, subtree.len());
        record_parts(&mut change, turn, &before, &after, &relations);
        let told = told(trash, spot.as_ref(), &after, &subtree);
        self.commit(turn, change, Some(by), told).await?;
        after.version += 1;
        if trash == Trash::Archives {
            end_documents(turn, &subtree, Ending::InTrash);
        }
        Ok(after)
    }
}

/// What whoever looks at the tree hears.
fn told(trash: Trash, spot: Option<&Spot>, after: &Page, subtree: &[SubtreePage]) -> TreeChange {
    let page_ids = || subtree.iter().map(|page| page.id).collect();
    let change = || match trash {
        Trash::Archives => TreeChange::Archived { page_ids: page_ids() },
        Trash::Restores(_) => TreeChange::Restored { page_ids: page_ids() },
        Trash::Untouched if spot.is_some() => TreeChange::Moved { page: after.into() },
        Trash::Untouched => TreeChange::Changed { page: after.into() },
    };
    match spot {
        Some(spot) => spot.told(change),
        None => change(),
    }
}

/// Adds an entry to the audit trail for each kind of thing that was done.
fn record(change: &mut Change, turn: &Turn<'_, PageTree>, before: &Page, after: &Page, trash: usize) {
    let (from, to) = (described(before), described(after));
    if from != to {
        audit(change, turn, "page.changed", after, Some(json!({ "from": from, "to": to })));
    }
    let (from, to) = (place_described(before), place_described(after));
    if from != to {
        audit(change, turn, "page.moved", after, Some(json!({ "from": from, "to": to })));
    }
    match (before.is_archived(), after.is_archived()) {
        (false, true) => audit(change, turn, "page.archived", after, Some(json!({ "pages": trash }))),
        (true, false) => audit(change, turn, "page.restored", after, Some(json!({ "pages": trash }))),
        _ => {}
    }
}

/// Adds an entry for what a database has or a row says; what that is stands in neither, because it may be long.
fn record_parts(change: &mut Change, turn: &Turn<'_, PageTree>, before: &Page, after: &Page, relations: &Relations) {
    let parts = [
        ("schema", before.schema != after.schema),
        ("views", before.views != after.views),
        ("properties", before.properties != after.properties || !relations.is_empty()),
    ];
    let changed: Vec<_> = parts.iter().filter(|(_, changed)| *changed).map(|(part, _)| *part).collect();
    if !changed.is_empty() {
        audit(change, turn, "page.changed", after, Some(json!({ "parts": changed })));
    }
}

fn described(page: &Page) -> Value {
    json!({ "title": page.title, "icon": page.icon, "fullWidth": page.full_width })
}

fn place_described(page: &Page) -> Value {
    json!({ "parentId": page.parent_text(), "position": page.position })
}
