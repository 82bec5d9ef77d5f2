//! Making a page.

use domain::{
    Result,
    id::PageId,
    pages::{
        Page, PageDraft, PageKind, create_check,
        database::{Schema, Views},
    },
};
use kernel::{Command, Handle, Turn};

use super::{PageTree, audit, database, place, place::Place, writer};
use crate::live::TreeChange;

/// Makes a page, behind those that lie there already.
#[derive(Clone, Debug)]
pub struct CreatePage(pub PageDraft);

impl Command for CreatePage {
    type Reply = Page;

    const NAME: &'static str = "create_page";
}

impl Handle<CreatePage> for PageTree {
    async fn handle(&mut self, CreatePage(draft): &CreatePage, turn: &mut Turn<'_, Self>) -> Result<Page> {
        let by = writer(turn).await?;
        let (org_id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
        let place = Place::find(store, org_id, draft.parent).await?;
        create_check(&place.landing())?;
        let is_database = draft.kind == PageKind::Database;
        let mut page = Page {
            id: PageId::new(now),
            org_id,
            parent_id: place.parent().map(|parent| parent.id),
            kind: draft.kind,
            is_row: place.database().is_some(),
            title: draft.title.clone(),
            icon: draft.icon.clone(),
            full_width: None,
            position: 0.0,
            archived_at: None,
            archived_with: None,
            content_version: 0,
            properties: None,
            schema: is_database.then(Schema::default),
            views: is_database.then(Views::default),
            version: 1,
            created_at: now,
            created_by: by,
            updated_at: now,
            updated_by: None,
        };
        let relations = database::fill(store, place.database(), &mut page, draft.properties.as_ref()).await?;
        let spot = place::put(store, &mut page, None).await?;
        let mut change = self.change();
        change.page_add(&page);
        relations.write(&mut change, page.id);
        spot.settle(&mut change, &mut page);
        audit(&mut change, turn, "page.created", &page, None);
        let told = spot.told(|| TreeChange::Created { page: (&page).into() });
        self.commit(turn, change, Some(by), told).await?;
        Ok(page)
    }
}
