//! Pages as a ZIP of Markdown files.

use std::{collections::HashMap, io};

use actix_web::{HttpResponse, http::header};
use actors::pages::archive::Packer;
use bytes::Bytes;
use domain::{
    Error,
    id::{OrgId, PageId},
    pages::{
        Page,
        archive::{ARCHIVE_PAGES_MAX, ArchivePath, ArchivedPage, EXPORT_BYTES_MAX, LaidOut, layout, page_files},
        content::{Blocks, ContentDraft},
    },
    problems::Problems,
};
use http_shell::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    owned::Owned,
    permission::KnowledgeRead,
    query::{Query, RequestQuery},
    state::State,
};
use kernel::{Cpu, CpuKind};
use serde::{Deserialize, Serialize};
use store::Store;
use utoipa::IntoParams;

/// Pages whose contents are in memory at once.
const PAGES_AT_ONCE: usize = 16;

/// What goes with the page.
#[derive(Deserialize, IntoParams)]
pub(crate) struct ExportQuery {
    /// `0` for the page alone; otherwise `1`, for everything below it too.
    #[param(example = "1")]
    subpages: Option<String>,
}

impl RequestQuery for ExportQuery {
    fn check(&self, problems: &mut Problems) {
        let holds = self.subpages.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(holds, "subpages", "Use 0 or 1.");
    }
}

/// The answer is sent as it is made.
pub(crate) struct Streamed;

impl Argument for Streamed {
    fn describe(facts: &mut Facts) {
        facts.streams = true;
    }

    async fn take(_: &mut Call) -> Result<Self> {
        Ok(Self)
    }
}

/// Export all pages
///
/// A ZIP of all pages outside of the trash: each page a Markdown file with front matter, what is below it in a folder of
/// its name, and an editor's blocks beside it. At most 5,000 pages of 32 MB. An import takes it as it is.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/export", responses(
    (status = 200, description = "The ZIP.", content_type = "application/zip"),
    (status = 400, description = "An archive has at most 5000 pages.\n\nAn archive has at most 32 MB. Export a part.")))]
pub(crate) async fn pages_export(org: Org<KnowledgeRead>, _: Streamed, state: State) -> Result<HttpResponse> {
    let list = state.store.pages(org.id()).await?;
    if list.truncated {
        return Err(too_many().into());
    }
    answer(&state, org.id(), "pages", list.pages).await
}

/// Export a page
///
/// A ZIP of the page and, unless `subpages` is `0`, of everything below it, as the export of all pages has them. Of a page
/// that is not in the trash, what is in the trash below it is left out.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/{pageId}/export", responses(
    (status = 200, description = "The ZIP.", content_type = "application/zip"),
    (status = 400, description = "An archive has at most 5000 pages.\n\nAn archive has at most 32 MB. Export a part.")))]
pub(crate) async fn page_export(
    org: Org<KnowledgeRead>,
    query: Query<ExportQuery>,
    Owned(top): Owned<Page>,
    _: Streamed,
    state: State,
) -> Result<HttpResponse> {
    let name = format!("{}", top.id);
    if query.subpages.as_deref() == Some("0") {
        return answer(&state, org.id(), &name, vec![top]).await;
    }
    let ids: Vec<PageId> = state.store.page_subtree(top.id).await?.into_iter().map(|page| page.id).collect();
    let mut pages = state.store.pages_by_id(org.id(), &ids).await?;
    pages.retain(|page| top.is_archived() || !page.is_archived());
    if pages.len() > ARCHIVE_PAGES_MAX {
        return Err(too_many().into());
    }
    pages.sort_by(|one, other| one.position.total_cmp(&other.position).then(one.id.cmp(&other.id)));
    answer(&state, org.id(), &name, pages).await
}

fn too_many() -> Error {
    Error::bad_request("too_many_pages", format!("An archive has at most {ARCHIVE_PAGES_MAX} pages."))
}

async fn answer(state: &State, org_id: OrgId, name: &str, pages: Vec<Page>) -> Result<HttpResponse> {
    let store = &state.store;
    let pages = store.pages_shown(org_id, pages).await?;
    let ids: Vec<PageId> = pages.iter().map(|page| page.id).collect();
    let around: usize = pages.iter().map(bytes_around).sum();
    if store.page_contents_bytes(&ids).await? + around as u64 > EXPORT_BYTES_MAX {
        let most = EXPORT_BYTES_MAX / 1024 / 1024;
        let message = format!("An archive has at most {most} MB. Export a part.");
        return Err(Error::bad_request("archive_too_large", message).into());
    }
    let laid_out: Vec<LaidOut> = pages
        .iter()
        .map(|page| LaidOut { id: page.id, parent_id: page.parent_id, title: page.title.clone() })
        .collect();
    let export = Export {
        store: store.clone(),
        cpu: state.actors.kernel.cpu().clone(),
        org_id,
        paths: layout(&laid_out).into_iter(),
        pages: pages.into_iter().map(|page| (page.id, page)).collect(),
        packer: Packer::begin(),
    };
    let pieces = futures::stream::try_unfold(Some(export), next);
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/zip"))
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.zip\"")))
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .streaming(pieces))
}

/// Bytes of what is large about a page beside its content.
fn bytes_around(page: &Page) -> usize {
    let bytes = |json: Option<String>| json.map_or(0, |json| json.len());
    bytes(page.properties.as_ref().map(json))
        + bytes(page.schema.as_ref().map(json))
        + bytes(page.views.as_ref().map(json))
}

/// JSON text of something of ours, which always has one.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// An export under way.
struct Export {
    store: Store,
    cpu: Cpu,
    org_id: OrgId,
    paths: std::vec::IntoIter<ArchivePath>,
    pages: HashMap<PageId, Page>,
    packer: Packer,
}

/// The next piece of the ZIP, and what is left to do.
async fn next(export: Option<Export>) -> io::Result<Option<(Bytes, Option<Export>)>> {
    let Some(mut export) = export else { return Ok(None) };
    let paths: Vec<ArchivePath> = export.paths.by_ref().take(PAGES_AT_ONCE).collect();
    if paths.is_empty() {
        return Ok(Some((export.packer.finish().map_err(|error| broken_off(&error))?, None)));
    }
    let ids: Vec<PageId> = paths.iter().map(|at| at.id).collect();
    let contents = export.store.page_contents(&ids).await.map_err(|error| broken_off(&error))?;
    let mut contents: HashMap<_, _> = contents.into_iter().collect();
    let mut files = Vec::new();
    for at in &paths {
        let Some(page) = export.pages.remove(&at.id) else { continue };
        let content = contents.remove(&at.id).unwrap_or_default();
        let draft = ContentDraft { blocks: content.blocks.map(Blocks::from_json_text), markdown: content.markdown };
        files.extend(page_files(at, &archived(page, draft)));
    }
    let (cpu, org_id, mut export) = (export.cpu.clone(), export.org_id, Box::new(export));
    let packed = cpu.run(org_id.into(), CpuKind::Archive, move || {
        let bytes = export.packer.add(files);
        (export, bytes)
    });
    let (export, bytes) = packed.await.map_err(|error| broken_off(&error))?;
    Ok(Some((bytes.map_err(|error| broken_off(&error))?, Some(*export))))
}

fn broken_off(error: &dyn std::fmt::Display) -> io::Error {
    tracing::warn!(%error, "an export broke off");
    io::Error::other("the export broke off")
}

fn archived(page: Page, content: ContentDraft) -> ArchivedPage {
    ArchivedPage {
        id: Some(page.id),
        kind: page.kind,
        schema: page.schema.as_ref().map(json),
        views: page.views.as_ref().map(json),
        properties: page.properties.as_ref().filter(|_| page.is_row).map(json),
        title: page.title,
        icon: page.icon,
        full_width: page.full_width,
        position: Some(page.position),
        content,
    }
}
