//! Making many pages at once, as an archive has them.

use std::{collections::HashMap, sync::Arc};

use domain::{
    Error, Result, Timestamp,
    id::{PageId, PageImportId},
    pages::{
        Page, PageKind, Parent,
        archive::{ArchivedPage, PlannedPage},
        database::{Properties, PropertiesChange, PropertiesDraft, Schema, Views},
        import::PageImport,
        import_check, position,
    },
};
use kernel::{Command, Handle, Turn};
use serde::de::DeserializeOwned;
use serde_json::json;
use store::{AuditEntry, AuditTarget, Change, Store};

use super::{PageTree, place::Place};
use crate::{
    imports::{importer, is_over},
    live::TreeChange,
};

/// Makes the pages of an archive, behind those that lie there already: all of them, or none. What they say was staged. With
/// them the import is done, so that this happens once.
#[derive(Clone, Debug)]
pub(crate) struct ImportPages {
    /// The import.
    pub import_id: PageImportId,
    /// The pages, each after the one that it is under, siblings in their order.
    pub pages: Arc<Vec<PlannedPage>>,
}

impl Command for ImportPages {
    type Reply = ();

    const NAME: &'static str = "import_pages";
}

impl Handle<ImportPages> for PageTree {
    async fn handle(&mut self, command: &ImportPages, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (org_id, now, store) = (*turn.key(), turn.now(), &turn.services().store);
        let import = store.page_import(org_id, command.import_id).await?;
        let import = import.filter(|import| import.ended_at.is_none()).ok_or_else(is_over)?;
        let actor = importer(store, &import).await?;
        let place = Place::find(store, org_id, import.parent_id.map_or(Parent::Root, Parent::Page)).await?;
        let height = command.pages.iter().map(|planned| planned.depth).max().unwrap_or(1);
        import_check(height, &place.landing())?;
        let target = place.parent().map(|parent| parent.id);
        let mut last = HashMap::from([(target, store.page_last_position(org_id, target).await?)]);
        let mut databases: HashMap<PageId, Page> = place.database().map(|it| (it.id, it.clone())).into_iter().collect();

        let (mut change, mut made, mut rows): (_, Vec<Page>, _) = (self.change(), Vec::new(), Vec::new());
        for planned in command.pages.iter() {
            let parent_id = planned.parent_id.or(target);
            let last = last.entry(parent_id).or_default();
            let position = position::behind(*last);
            *last = Some(position);
            let database = parent_id.and_then(|id| databases.get(&id));
            let page = Page { parent_id, position, is_row: database.is_some(), ..coming(planned, &import, now) };
            let (page, values) = with_values(page, &planned.page, database)?;
            change.page_add_staged(&page);
            if page.kind == PageKind::Database {
                databases.insert(page.id, page.clone());
            }
            if planned.parent_id.is_none() {
                made.push(page.clone());
            }
            if page.is_row {
                rows.push((page, values));
            }
        }
        let ids: Vec<PageId> = command.pages.iter().map(|planned| planned.id).collect();
        change.pages_staged_stay(&ids);
        relate(store, &mut change, &rows, &databases).await?;
        if let Some(first) = made.first() {
            let target = AuditTarget::new("page", first.id).labelled(&first.title);
            let entry = AuditEntry::new(turn.context(), "page.imported", target).in_org(org_id).by(actor);
            change.audit_add(now, entry.with_metadata(json!({ "pages": command.pages.len() })));
        }
        let made: Vec<PageId> = made.iter().map(|page| page.id).collect();
        change.page_import_done(import.id, &made, now);
        self.commit(turn, change, Some(import.created_by), TreeChange::Reset).await
    }
}

/// The page as it comes with the import, at the root.
fn coming(planned: &PlannedPage, import: &PageImport, now: Timestamp) -> Page {
    let ArchivedPage { kind, title, icon, full_width, .. } = &planned.page;
    Page {
        id: planned.id,
        org_id: import.org_id,
        parent_id: None,
        kind: *kind,
        is_row: false,
        title: title.clone(),
        icon: icon.clone(),
        full_width: *full_width,
        position: 0.0,
        archived_at: None,
        archived_with: None,
        content_version: i64::from(planned.source.says_something()),
        properties: None,
        schema: None,
        views: None,
        version: 1,
        created_at: now,
        created_by: import.created_by,
        updated_at: now,
        updated_by: None,
    }
}

/// The page with its schema and views, or with its row's values; and what its relations name.
fn with_values(page: Page, archived: &ArchivedPage, database: Option<&Page>) -> Result<(Page, PropertiesChange)> {
    let (mut page, mut change) = (page, PropertiesChange::default());
    if page.kind == PageKind::Database {
        let schema = Schema::check(read(&page.title, "schema", archived.schema.as_deref())?)?;
        page.views = Some(Views::check(read(&page.title, "views", archived.views.as_deref())?, &schema)?);
        page.schema = Some(schema);
    }
    if let Some(database) = database {
        let values: PropertiesDraft = read(&page.title, "properties", archived.properties.as_deref())?;
        change = database.schema.clone().unwrap_or_default().check_values(values)?;
        page.properties = Some(change.apply(Properties::new()));
    }
    Ok((page, change))
}

/// Has rows name the rows that their relations name, as far as those are there or come with them.
async fn relate(
    store: &Store,
    change: &mut Change,
    rows: &[(Page, PropertiesChange)],
    databases: &HashMap<PageId, Page>,
) -> Result<()> {
    let coming: HashMap<PageId, Option<PageId>> = rows.iter().map(|(row, _)| (row.id, row.parent_id)).collect();
    for (row, values) in rows {
        let Some(database) = row.parent_id.and_then(|id| databases.get(&id)) else { continue };
        let schema = database.schema.clone().unwrap_or_default();
        for (id, named) in values.relations() {
            let Some(relation) = schema.property(id).and_then(|property| property.relation(database.id)) else {
                continue;
            };
            let there = store.page_rows_among(row.org_id, relation.values_of, named).await?;
            let is_row = |id: &PageId| there.contains(id) || coming.get(id) == Some(&Some(relation.values_of));
            let named: Vec<_> = named.iter().copied().filter(is_row).collect();
            if !named.is_empty() {
                change.page_relation_set(&relation, row.id, &named);
            }
        }
    }
    Ok(())
}

fn read<T: DeserializeOwned + Default>(title: &str, what: &str, json: Option<&str>) -> Result<T> {
    let Some(json) = json else { return Ok(T::default()) };
    serde_json::from_str(json)
        .map_err(|error| Error::invalid(format!("{title}: {what}"), format!("Can't be read: {error}.")))
}
