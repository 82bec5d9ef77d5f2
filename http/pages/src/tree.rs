//! The tree: listing, making and reading pages.

use actors::pages::tree::CreatePage;
use domain::{
    pages::{Page, PageDraft, PageKind, Parent, icon_check, not_found, title_check},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Created, Json, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    owned::Owned,
    permission::{KnowledgeRead, KnowledgeWrite},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::{
    database::read_properties,
    page::{ContentBody, PageBody},
};

/// Which pages.
#[derive(Deserialize, IntoParams)]
pub(crate) struct PagesQuery {
    /// `1` for the trash; otherwise `0`.
    #[param(example = "0")]
    archived: Option<String>,
}

impl RequestQuery for PagesQuery {
    fn check(&self, problems: &mut Problems) {
        let holds = self.archived.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(holds, "archived", "Use 0 or 1.");
    }
}

/// Pages.
#[derive(Serialize, ToSchema)]
pub(crate) struct PagesAnswer {
    /// At most 5,000. Siblings stand in their order; in the trash, what came there last stands first.
    pages: Vec<PageBody>,
    /// Whether there are more.
    truncated: bool,
}

/// The pages
///
/// All pages outside of the trash, or the trash. Beyond 5,000, rows of databases are left out first.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages")]
pub(crate) async fn pages_list(
    org: Org<KnowledgeRead>,
    query: Query<PagesQuery>,
    state: State,
) -> Result<Json<PagesAnswer>> {
    let is_trash = query.archived.as_deref() == Some("1");
    let list = if is_trash { state.store.pages_archived(org.id()).await? } else { state.store.pages(org.id()).await? };
    let pages = state.store.pages_shown(org.id(), list.pages).await?.into_iter().map(PageBody::from).collect();
    Ok(Json(PagesAnswer { pages, truncated: list.truncated }))
}

/// A new page.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"parentId": "root", "title": "Onboarding", "icon": "🚀", "kind": "doc"}))]
pub(crate) struct PageCreate {
    /// The id of what it lies under, or `root`, which holds where it isn't said.
    parent_id: Option<String>,
    /// What it is called: up to 200 characters.
    title: Option<String>,
    /// An emoji or the name of a picture: up to 16 characters.
    icon: Option<String>,
    /// `doc`, which holds where it isn't said, or `database`.
    kind: Option<String>,
    /// Of a row: what it says under its database's properties, by their ids.
    properties: Option<Map<String, Value>>,
}

impl RequestBody for PageCreate {}

impl PageCreate {
    pub(crate) fn draft(self) -> domain::Result<PageDraft> {
        let kind = self.kind.as_deref().map_or(Some(PageKind::Doc), PageKind::from_name);
        let kind = kind.ok_or_else(|| domain::Error::invalid("kind", "Use one of: doc, database."));
        let (parent, title, icon, kind) = all((
            Parent::parse("parentId", self.parent_id.as_deref().unwrap_or(Parent::ROOT)),
            title_check("title", self.title.as_deref().unwrap_or_default()),
            icon_check("icon", self.icon.as_deref().unwrap_or_default()),
            kind,
        ))?;
        let mut problems = Problems::new();
        let properties = self.properties.map(|values| read_properties(values, &mut problems));
        problems.into_result()?;
        Ok(PageDraft { parent, kind, title, icon, properties })
    }
}

/// One page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageAnswer {
    /// The page.
    pub(super) page: PageBody,
}

/// Make a page
///
/// The page comes behind those that lie there. Under a database it is a row.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/pages", responses(
    (status = 400, description = "Parent page not found.\n\nThe parent page is in the trash.\n\nUnknown property.\n\n\
        Only database rows have property values.\n\nPages are nested too deeply.")
))]
pub(crate) async fn page_create(
    org: Org<KnowledgeWrite>,
    body: Body<PageCreate>,
    state: State,
) -> Result<Created<PageAnswer>> {
    let command = CreatePage(body.into_inner().draft()?);
    let made = state.actors.page_tree.ask(&org.id(), command, org.context()).await?;
    Ok(Created(PageAnswer { page: shown(&state, made).await? }))
}

/// A page with what it says.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageDetails {
    /// The page.
    page: PageBody,
    /// What it says.
    content: ContentBody,
    /// Of a database: its rows by position, at most 5,000. `GET …/rows` answers them filtered, sorted and in pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<PageBody>>,
    /// Of a row: its database.
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<PageBody>,
    /// Whether there are more rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

/// A page with what it says
///
/// A page in the trash too. A database comes with its rows, a row with its database.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/{pageId}")]
pub(crate) async fn page_get(
    org: Org<KnowledgeRead>,
    Owned(page): Owned<Page>,
    state: State,
) -> Result<Object<PageDetails>> {
    let content = state.store.page_content(page.id).await?.try_into()?;
    let (mut rows, mut truncated, mut database) = (None, None, None);
    if page.kind == PageKind::Database {
        let list = state.store.page_rows_all(&page).await?;
        rows = Some(list.pages.into_iter().map(PageBody::from).collect());
        truncated = list.truncated.then_some(true);
    }
    if let Some(parent) = page.parent_id.filter(|_| page.is_row) {
        database = state.store.page(org.id(), parent).await?.map(PageBody::from);
    }
    let page = shown(&state, page).await?;
    Ok(Object(PageDetails { page, content, rows, database, truncated }))
}

/// A page as it is answered: a row with the values that it shows.
pub(super) async fn shown(state: &State, page: Page) -> Result<PageBody> {
    if !page.is_row {
        return Ok(page.into());
    }
    let pages = state.store.pages_shown(page.org_id, vec![page]).await?;
    pages.into_iter().next().map(PageBody::from).ok_or_else(|| not_found().into())
}
