//! Changing a page, and deleting it for good.

use actors::pages::tree::{ChangePage, DeletePage};
use domain::{
    Error,
    id::PageId,
    pages::{PageChange, Parent, icon_check, title_check},
    problems::{Problems, all},
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::KnowledgeWrite,
    state::State,
    wire::{Done, nullable},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    database::{PropertyBody, ViewBody, read_properties, read_schema, read_views},
    tree::{PageAnswer, shown},
};

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"title": "Onboarding", "parentId": "root", "position": 1.5}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct PagePatch {
    /// What it is called: up to 200 characters.
    title: Option<String>,
    /// An emoji or the name of a picture: up to 16 characters; null takes it away.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    icon: Option<Option<String>>,
    /// Whether it takes the whole width of the window.
    full_width: Option<bool>,
    /// The id of what it lies under, or `root`.
    parent_id: Option<String>,
    /// Orders it among its siblings, the lower first: from 0 up. Halfway between two is between them. Where siblings come
    /// too close, all of them are numbered anew.
    position: Option<f64>,
    /// true puts it into the trash, with everything below it; false takes it out again, with what came there together with
    /// it, to the root where its parent is in the trash.
    archived: Option<bool>,
    /// Of a database: the properties that its rows have, up to 50. Values of a property that goes come back with it.
    schema: Option<Vec<PropertyBody>>,
    /// Of a database: the ways in which it is looked at, up to 20.
    views: Option<Vec<ViewBody>>,
    /// Of a row: values by the ids of its database's properties. Null clears one; those that are not named stay.
    properties: Option<Map<String, Value>>,
}

impl RequestBody for PagePatch {}

impl PagePatch {
    pub(crate) fn change(self) -> domain::Result<PageChange> {
        let icon = self.icon.map(|icon| icon.as_deref().map_or(Ok(None), |icon| icon_check("icon", icon)));
        let (title, icon, parent) = all((
            self.title.as_deref().map(|title| title_check("title", title)).transpose(),
            icon.transpose(),
            self.parent_id.as_deref().map(|parent| Parent::parse("parentId", parent)).transpose(),
        ))?;
        let mut problems = Problems::new();
        let change = PageChange {
            schema: self.schema.map(|schema| read_schema(schema, &mut problems)),
            views: self.views.map(|views| read_views(views, &mut problems)),
            properties: self.properties.map(|values| read_properties(values, &mut problems)),
            title,
            icon,
            full_width: self.full_width,
            parent,
            position: self.position,
            archived: self.archived,
        };
        change.position_check(&mut problems);
        problems.into_result().map(|()| change)
    }
}

/// Change a page
///
/// A page in the trash is restored with `archived: false`; before that nothing else about it changes.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/pages/{pageId}", responses(
    (status = 400, description = "A page can't be moved into itself.\n\nTarget page not found.\n\n\
        The target page is in the trash.\n\nA page can't be moved into one of its subpages.\n\n\
        Pages are nested too deeply.\n\nOnly databases have properties.\n\nOnly databases have views.\n\n\
        Only database rows have property values.\n\nUnknown property."),
    (status = 409, description = "This page is in the trash. Restore it to edit.\n\nThe page changed. Try again."),
))]
pub(crate) async fn page_patch(
    org: Org<KnowledgeWrite>,
    id: Path<PageId>,
    body: Body<PagePatch>,
    state: State,
) -> Result<Json<PageAnswer>> {
    let command = ChangePage { page_id: *id, change: body.into_inner().change()? };
    let changed = state.actors.page_tree.ask(&org.id(), command, org.context()).await.map_err(lost)?;
    Ok(Json(PageAnswer { page: shown(&state, changed).await? }))
}

/// Who loses every round against other nodes reads that the page changed.
fn lost(error: Error) -> Error {
    match error {
        Error::Stale => Error::conflict("page_changed", "The page changed. Try again."),
        other => other,
    }
}

/// Delete a page for good
///
/// With everything below it. Only a page in the trash can be deleted; after 30 days there it is deleted by itself.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/pages/{pageId}", responses(
    (status = 409, description = "Only pages in the trash can be deleted.")
))]
pub(crate) async fn page_delete(org: Org<KnowledgeWrite>, id: Path<PageId>, state: State) -> Result<Json<Done>> {
    state.actors.page_tree.ask(&org.id(), DeletePage(*id), org.context()).await?;
    Ok(Json(Done::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_loses_every_round_reads_that_the_page_changed() {
        let error = lost(Error::Stale);
        assert_eq!((error.status(), error.to_string().as_str()), (409, "The page changed. Try again."));
        assert_eq!(lost(Error::Unauthenticated).status(), 401);
    }
}
