//! Pages out of a ZIP of Markdown files, or out of one such file.

use std::time::{Duration, Instant};

use actix_web::http::header;
use actors::{kernel::CpuKind, pages::tree::ImportPages};
use bytes::{Bytes, BytesMut};
use domain::{
    Context, Error,
    pages::{
        Parent,
        archive::{ArchivePlan, IMPORT_BYTES_MAX, plan, plan_file},
        title_check,
    },
    problems::Problems,
};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::unpack::unpack;
use crate::{
    answer::Created,
    argument::Argument,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
    org::Org,
    pages::page::PageBody,
    permission::KnowledgeWrite,
    query::{Query, RequestQuery},
    state::State,
};

/// How long the next bytes of an upload may take.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How much of an upload there is room for before any of it came, in bytes.
const UPLOAD_LEN_EXPECTED: usize = 1024 * 1024;
/// Files that were left out and are named.
const SKIPPED_MAX: usize = 100;
const TOO_LARGE: &str = "An import has up to 48 MB.";

/// Where the pages come to lie.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct ImportQuery {
    /// The id of what they lie under, or `root`, which holds where it isn't said.
    #[param(example = "root")]
    parent_id: Option<String>,
    /// What the page of a single Markdown file is called, unless its front matter says so: up to 200 characters.
    title: Option<String>,
}

impl RequestQuery for ImportQuery {
    fn check(&self, problems: &mut Problems) {
        let title = self.title.as_deref().is_none_or(|title| title_check("title", title).is_ok());
        problems.require(title, "title", "Must have up to 200 characters, none of them control characters.");
    }
}

/// What is uploaded.
pub(crate) struct ImportUpload {
    bytes: Bytes,
    kind: ImportKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImportKind {
    Zip,
    Markdown,
}

impl Argument for ImportUpload {
    fn describe(facts: &mut Facts) {
        facts.stream(&["application/zip", "text/markdown"]);
        facts.error(413, TOO_LARGE);
        facts.error(415, "Send the body as application/zip or text/markdown.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let content_type = call.header(header::CONTENT_TYPE).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let kind = match essence.as_str() {
            "application/zip" | "application/x-zip-compressed" => ImportKind::Zip,
            "text/markdown" => ImportKind::Markdown,
            _ => return Err(ApiError::UnsupportedMediaType("application/zip or text/markdown")),
        };
        if call.request.headers().contains_key(header::CONTENT_ENCODING) {
            return Err(ApiError::UnsupportedMediaType("plain bytes, without a content encoding"));
        }
        Ok(Self { bytes: upload(call).await?, kind })
    }
}

async fn upload(call: &mut Call) -> Result<Bytes> {
    let announced = call.announced_length().unwrap_or(0);
    if announced > IMPORT_BYTES_MAX {
        return Err(Error::too_large(TOO_LARGE).into());
    }
    let mut body = BytesMut::with_capacity(announced.min(UPLOAD_LEN_EXPECTED));
    let malformed = || Error::bad_request("malformed", "The body broke off.");
    while let Some(chunk) = timeout(SILENCE_MAX, call.payload.next()).await.map_err(|_| malformed())? {
        let chunk = chunk.map_err(|_| malformed())?;
        if body.len() + chunk.len() > IMPORT_BYTES_MAX {
            return Err(Error::too_large(TOO_LARGE).into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// What was imported.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportAnswer {
    /// The pages that lie where they were imported, in their order; those below them are not among them.
    pages: Vec<PageBody>,
    /// How many pages were made.
    imported: usize,
    /// Files that are no pages and were left out, by name; at most 100.
    skipped: Vec<String>,
}

/// Import pages
///
/// A ZIP of Markdown files, as an export makes it or as others do, or one such file (`text/markdown`). A file is a page,
/// and what lies in the folder of its name lies below it; a folder without a file is an empty page. Front matter of an
/// export gives a page its title, icon, schema, views and values; other front matter stays in the text and may give the
/// title. Pages are new; where one names another of the same ZIP by its id, it names the new one. All of it is imported, or
/// nothing. At most 5,000 pages, 48 MB, and as much unpacked.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/pages/import", responses((status = 400, description =
    "Parent page not found.\n\nThe parent page is in the trash.\n\nPages are nested too deeply.\n\nThere is no Markdown file \
     in it.\n\nAn archive has at most 5000 pages.\n\nThis is no ZIP, or a damaged one.\n\nThe ZIP is encrypted.\n\nThe ZIP is \
     compressed in a way that is not read here; use Deflate.\n\nThe ZIP has two files of one name.\n\nThe ZIP has a file with \
     too long a name.\n\nA ZIP may have 15000 files and folders."),
    (status = 413, description = "An import has up to 48 MB.\n\nA ZIP may unpack to 48 MB.")))]
pub(crate) async fn pages_import(
    org: Org<KnowledgeWrite>,
    query: Query<ImportQuery>,
    upload: ImportUpload,
    state: State,
) -> Result<Created<ImportAnswer>> {
    let parent = Parent::parse("parentId", query.parent_id.as_deref().unwrap_or(Parent::ROOT))?;
    let title = query.title.clone().unwrap_or_default().trim().to_owned();
    let now = state.store.now();
    let planned = state.actors.kernel.cpu().run(org.id().into(), CpuKind::Archive, move || match upload.kind {
        ImportKind::Zip => plan(unpack(&upload.bytes)?, now),
        ImportKind::Markdown => plan_file(&title, &upload.bytes, now),
    });
    let ArchivePlan { pages, mut skipped } = planned.await??;
    skipped.truncate(SKIPPED_MAX);
    let imported = pages.len();
    // The upload took as long as bytes kept coming; the import itself has the usual time.
    let context = Context { deadline: Instant::now() + state.options.request_timeout, ..org.context() };
    let made = state.actors.page_tree.ask(&org.id(), ImportPages { parent, pages }, context).await?;
    Ok(Created(ImportAnswer { pages: made.into_iter().map(PageBody::from).collect(), imported, skipped }))
}
