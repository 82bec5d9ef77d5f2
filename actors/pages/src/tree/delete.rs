//! Deleting a page for good.

use domain::{
    Error, Result,
    id::PageId,
    pages::{Page, not_found},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{Change, pages::SubtreePage};

use super::{PageTree, audit, end_documents, removal, writer};
use crate::{live::TreeChange, session::Ending};

/// Deletes a page that is in the trash, and everything below it, for good.
#[derive(Clone, Copy, Debug)]
pub struct DeletePage(pub PageId);

impl Command for DeletePage {
    type Reply = ();

    const NAME: &'static str = "delete_page";
}

impl Handle<DeletePage> for PageTree {
    async fn handle(&mut self, DeletePage(id): &DeletePage, turn: &mut Turn<'_, Self>) -> Result<()> {
        let by = writer(turn).await?;
        let page = turn.services().store.page(*turn.key(), *id).await?.ok_or_else(not_found)?;
        if !page.is_archived() {
            return Err(Error::conflict("not_in_trash", "Only pages in the trash can be deleted."));
        }
        let mut change = self.change();
        let gone = remove(&mut change, turn, &page).await?;
        removal::delete_after(&mut change, page.org_id, turn.now());
        let told = TreeChange::Deleted { page_ids: gone.iter().map(|page| page.id).collect() };
        self.commit(turn, change, Some(by), told).await?;
        end_documents(turn, &gone, Ending::Deleted);
        Ok(())
    }
}

/// Has the change take the page and everything below it out of sight; what that is, the page first. The caller has it deleted
/// after the change ([`removal`]).
pub(super) async fn remove(change: &mut Change, turn: &Turn<'_, PageTree>, page: &Page) -> Result<Vec<SubtreePage>> {
    let gone = turn.services().store.page_subtree(page.id).await?;
    change.page_remove(page.id, turn.now());
    audit(change, turn, "page.deleted", page, Some(json!({ "pages": gone.len() })));
    Ok(gone)
}
