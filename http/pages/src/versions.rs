//! What a page said once.

use actors::pages::session::{RestoreVersion, version_not_found};
use domain::{id::PageId, pages::Page};
use http_shell::{
    answer::{Json, Object},
    error::Result,
    org::Org,
    owned::Owned,
    paging::PageQuery,
    path::{Path, PathParameter},
    permission::{KnowledgeRead, KnowledgeWrite},
    query::Query,
    state::State,
};
use serde::Serialize;
use store::pages::{PageVersion, PageVersionHead};
use utoipa::ToSchema;

use super::{content::ContentAnswer, page::ContentBody};

/// The name of the list in its cursors.
const LIST: &str = "page-versions";

/// The number of a version.
pub(crate) struct VersionNumber(i64);

impl PathParameter for VersionNumber {
    const NAME: &'static str = "version";
    const DESCRIPTION: &'static str = "The version of the page's content.";
    const EXAMPLE: &'static str = "4";
    const NOT_FOUND: &'static str = "Version not found.";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|version| *version > 0).map(Self)
    }
}

/// A version of what a page says.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "version": 4, "title": "Plans", "createdAt": 1_767_225_600_000_i64, "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "current": false
}))]
pub(crate) struct VersionBody {
    /// The content's version.
    version: i64,
    /// What the page was called then; of the current version, what it is called now.
    title: String,
    /// When it was written.
    created_at: i64,
    /// The person who wrote the version; absent where many did, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by: Option<String>,
    /// Whether the page says it now.
    current: bool,
}

impl VersionBody {
    fn of(head: PageVersionHead, current: i64) -> Self {
        Self {
            current: head.version == current,
            version: head.version,
            title: head.title,
            created_at: head.created_at.as_millis(),
            created_by: head.created_by.map(|id| id.to_string()),
        }
    }
}

/// Versions.
#[derive(Serialize, ToSchema)]
pub(crate) struct VersionsAnswer {
    /// The newest first; the one that the page says now is the first of all.
    versions: Vec<VersionBody>,
    /// Where the next page starts; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// A version with what it says.
#[derive(Serialize, ToSchema)]
pub(crate) struct VersionAnswer {
    /// The version.
    version: VersionBody,
    /// What it says.
    content: ContentBody,
}

/// The history of a page
///
/// What the page says now, and what it said before: of a time of editing, a version every ten minutes and the last one;
/// and whatever a restore replaced or brought. A page keeps its last 1,000 versions.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/{pageId}/versions")]
pub(crate) async fn page_versions_list(
    _: Org<KnowledgeRead>,
    query: Query<PageQuery>,
    of: Owned<Page>,
    state: State,
) -> Result<Json<VersionsAnswer>> {
    let page = query.page::<i64>(LIST)?;
    let found = state.store.page_versions(of.id, page.after, page.read_limit()).await?;
    let (found, cursor) = page.cut(found, |head| head.version);
    let versions = found.into_iter().map(|head| VersionBody::of(head, of.content_version)).collect();
    Ok(Json(VersionsAnswer { versions, cursor }))
}

/// What a page said in a version
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}")]
pub(crate) async fn page_version_get(
    _: Org<KnowledgeRead>,
    Owned(page): Owned<Page>,
    Path(VersionNumber(version)): Path<VersionNumber>,
    state: State,
) -> Result<Object<VersionAnswer>> {
    let written = state.store.page_content_written(page.id).await?.filter(|written| written.content.version == version);
    let current = written.map(|written| PageVersion {
        head: PageVersionHead {
            version,
            title: page.title,
            created_at: written.updated_at,
            created_by: written.updated_by,
        },
        content: written.content,
    });
    let is_current = current.is_some();
    let found = match current {
        Some(current) => Some(current),
        None => state.store.page_version(page.id, version).await?,
    };
    let found = found.ok_or_else(version_not_found)?;
    let version = VersionBody::of(found.head, if is_current { version } else { 0 });
    Ok(Object(VersionAnswer { version, content: found.content.try_into()? }))
}

/// Bring a version back
///
/// The page says again what it said then, under a new version; what it said until now is kept. Whoever edits the page
/// together with others loads it anew.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}/restore",
    responses((status = 409, description = "This page is in the trash. Restore it to edit.")))]
pub(crate) async fn page_version_restore(
    org: Org<KnowledgeWrite>,
    id: Path<PageId>,
    version: Path<VersionNumber>,
    state: State,
) -> Result<Json<ContentAnswer>> {
    let command = RestoreVersion { org_id: org.id(), version: version.0.0 };
    let written = state.actors.page_session.ask(&id, command, org.context()).await??;
    Ok(Json(written.into()))
}
