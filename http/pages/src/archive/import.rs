//! Pages out of a ZIP of Markdown files, or out of one such file.

use std::{fs::File, time::Duration};

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use actors::pages::{archive::ArchiveFormat, imports::NewImport};
use domain::{
    Error,
    id::{OrgId, PageImportId},
    pages::{
        Parent,
        archive::IMPORT_BYTES_MAX,
        import::{ImportFault, ImportState, PageImport},
        title_check,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Accepted, Created, Either, written},
    argument::Argument,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
    org::{NOT_FOUND, Org},
    permission::KnowledgeWrite,
    query::{Query, RequestQuery},
    spool::SpoolPlace,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::imports::ImportView;
use crate::page::PageBody;

/// How much of a request's time is waited for the pages, beside what the upload took.
const WAITED_OF_TIME: f64 = 5.0 / 6.0;
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
    file: File,
    format: ArchiveFormat,
    /// Counts the import among those that are under way.
    place: SpoolPlace,
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
        let format = match essence.as_str() {
            "application/zip" | "application/x-zip-compressed" => ArchiveFormat::Zip,
            "text/markdown" => ArchiveFormat::Markdown,
            _ => return Err(ApiError::UnsupportedMediaType("application/zip or text/markdown")),
        };
        if call.request.headers().contains_key(header::CONTENT_ENCODING) {
            return Err(ApiError::UnsupportedMediaType("plain bytes, without a content encoding"));
        }
        if call.announced_length().is_some_and(|announced| announced > IMPORT_BYTES_MAX) {
            return Err(Error::too_large(TOO_LARGE).into());
        }
        let org_id = call.path_value("orgId")?.parse::<OrgId>().map_err(|_| Error::not_found(NOT_FOUND))?;
        let place = call.state.spool.place(org_id)?;
        let file = place.receive(&mut call.payload, IMPORT_BYTES_MAX as u64, TOO_LARGE).await?;
        Ok(Self { file, format, place })
    }
}

/// How the caller wants to be answered.
pub(crate) struct AnswerWish {
    /// Whether at once, however long it takes.
    is_at_once: bool,
}

impl Argument for AnswerWish {
    fn describe(facts: &mut Facts) {
        facts.header("Prefer", "`respond-async` for an answer as soon as the upload is there (RFC 7240).", false);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let wishes = call.request.headers().get_all("prefer").filter_map(|value| value.to_str().ok());
        let is_at_once =
            wishes.flat_map(|value| value.split(',')).any(|wish| wish.trim().eq_ignore_ascii_case("respond-async"));
        Ok(Self { is_at_once })
    }
}

/// What was imported.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportAnswer {
    /// The import.
    import_id: String,
    /// The pages that lie where they were imported, in their order; those below them are not among them.
    pages: Vec<PageBody>,
    /// How many pages were made.
    imported: u32,
    /// Files that are no pages and were left out, by name; at most 100.
    skipped: Vec<String>,
}

/// The pages, or how the import stands that is not done yet, or why it came to nothing.
type Imported = Either<Created<ImportAnswer>, Either<Accepted<ImportView>, HttpResponse>>;

/// Import pages
///
/// A ZIP of Markdown files, as an export makes it or as others do, or one such file (`text/markdown`). A file is a page,
/// and what lies in the folder of its name lies below it; a folder without a file is an empty page. Front matter of an
/// export gives a page its title, icon, schema, views and values; other front matter stays in the text and may give the
/// title. Pages are new; where one names another of the same ZIP by its id, it names the new one. All of it is imported, or
/// nothing. At most 5,000 pages, 48 MB, and as much unpacked; two at once for an organization, beyond which it is 503.
///
/// The import goes on by itself once the upload is there, whatever becomes of the request or of the server. What takes longer
/// than a request may is answered with 202, and can be watched and cancelled.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/pages/import", responses((status = 400, description =
    "Parent page not found.\n\nThe parent page is in the trash.\n\nPages are nested too deeply.\n\nThere is no Markdown file \
     in it.\n\nAn archive has at most 5000 pages.\n\nThis is no ZIP, or a damaged one.\n\nThe ZIP is encrypted.\n\nThe ZIP is \
     compressed in a way that is not read here; use Deflate.\n\nThe ZIP has two files of one name.\n\nThe ZIP has a file with \
     too long a name.\n\nA ZIP may have 15000 files and folders."),
    (status = 413, description = "An import has up to 48 MB.\n\nA ZIP may unpack to 48 MB.")))]
pub(crate) async fn pages_import(
    org: Org<KnowledgeWrite>,
    query: Query<ImportQuery>,
    wish: AnswerWish,
    upload: ImportUpload,
    state: State,
) -> Result<Imported> {
    let parent = Parent::parse("parentId", query.parent_id.as_deref().unwrap_or(Parent::ROOT))?;
    let title = query.title.clone().unwrap_or_default().trim().to_owned();
    let (org_id, id) = (org.id(), PageImportId::new(state.store.now()));
    let ImportUpload { file, format, place } = upload;
    state.actors.imports.begin(org_id, NewImport { id, parent, format, title, file }, org.context(), place).await?;
    // The upload took as long as bytes kept coming; what follows has the usual time.
    let time = state.options.request_timeout.mul_f64(WAITED_OF_TIME);
    let waits = if wish.is_at_once { Duration::ZERO } else { time };
    let import = state.actors.imports.wait(org_id, id, waits).await?;
    answer(&state, import).await
}

async fn answer(state: &State, import: PageImport) -> Result<Imported> {
    if let Some(fault) = import.error {
        return Ok(Either::Right(Either::Right(refusal(&fault)?)));
    }
    if import.state != ImportState::Done {
        return Ok(Either::Right(Either::Left(Accepted(import.into()))));
    }
    // Some may have been changed since, or be gone.
    let mut pages = state.store.pages_by_id(import.org_id, &import.made).await?;
    pages.sort_by_cached_key(|page| import.made.iter().position(|id| *id == page.id));
    Ok(Either::Left(Created(ImportAnswer {
        import_id: import.id.to_string(),
        pages: pages.into_iter().map(PageBody::from).collect(),
        imported: import.pages,
        skipped: import.skipped,
    })))
}

/// Why the import came to nothing, as it would have been answered right away.
fn refusal(fault: &ImportFault) -> Result<HttpResponse> {
    let status = StatusCode::from_u16(fault.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut body = serde_json::json!({ "error": fault.message, "code": fault.code });
    if !fault.problems.is_empty() {
        body["problems"] = serde_json::to_value(&fault.problems).map_err(Error::internal)?;
    }
    Ok(written(status, serde_json::to_vec(&body).map_err(Error::internal)?))
}
