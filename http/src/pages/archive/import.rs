//! Pages out of a ZIP of Markdown files, or out of one such file.

use std::{
    fs::File,
    io::{Read, Seek},
    time::{Duration, Instant},
};

use actix_web::http::header;
use actors::{
    kernel::CpuKind,
    pages::import::{ArchiveContents, Import, import},
};
use domain::{
    Context, Error, Timestamp,
    id::OrgId,
    pages::{
        Parent,
        archive::{ArchiveFile, ArchivePlan, IMPORT_BYTES_MAX, Links, PlannedPage, plan_file, planned_content},
        content::{CONTENT_TOO_LARGE, ContentDraft},
        title_check,
    },
    problems::Problems,
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::unpack::{FILE_BYTES_MAX, Unpacker};
use crate::{
    answer::Created,
    argument::Argument,
    call::Call,
    error::{ApiError, Result},
    facts::Facts,
    org::{NOT_FOUND, Org},
    pages::page::PageBody,
    permission::KnowledgeWrite,
    query::{Query, RequestQuery},
    spool::SpoolPlace,
    state::State,
};

/// How long an import may take once the upload is there.
const IMPORT_TIME_MAX: Duration = Duration::from_mins(15);
/// When whoever's import took too long may try again.
const LATE_RETRY: Duration = Duration::from_secs(60);
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
    file: File,
    kind: ImportKind,
    /// Counts the import among those that are under way.
    place: SpoolPlace,
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
        if call.announced_length().is_some_and(|announced| announced > IMPORT_BYTES_MAX) {
            return Err(Error::too_large(TOO_LARGE).into());
        }
        let org_id = call.path_value("orgId")?.parse::<OrgId>().map_err(|_| Error::not_found(NOT_FOUND))?;
        let place = call.state.spool.place(org_id)?;
        let file = place.receive(&mut call.payload, IMPORT_BYTES_MAX as u64, TOO_LARGE).await?;
        Ok(Self { file, kind, place })
    }
}

impl ImportKind {
    /// What becomes of the file, and where what it says is read from.
    fn plan(self, mut file: File, title: &str, now: Timestamp) -> Result<(ArchivePlan, Contents), Error> {
        if self == Self::Zip {
            let mut zip = Unpacker::open(file)?;
            return Ok((zip.plan(now)?, Contents::Zip(zip)));
        }
        let mut text = Vec::new();
        let read = file.rewind().and_then(|()| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut text));
        read.map_err(Error::internal)?;
        if text.len() > FILE_BYTES_MAX {
            return Err(Error::invalid("file", CONTENT_TOO_LARGE));
        }
        Ok((plan_file(title, &text, now)?, Contents::File(text)))
    }
}

/// Where what an import says is read from.
enum Contents {
    Zip(Unpacker<File>),
    /// The one Markdown file.
    File(Vec<u8>),
}

impl Contents {
    fn file(&mut self, place: usize) -> Result<ArchiveFile, Error> {
        match self {
            Self::Zip(zip) => zip.again(place),
            Self::File(text) => Ok(ArchiveFile { name: "file".to_owned(), bytes: text.clone() }),
        }
    }
}

impl ArchiveContents for Contents {
    fn read(&mut self, page: &PlannedPage, links: &Links) -> Result<ContentDraft, Error> {
        let markdown = page.source.markdown.map(|place| self.file(place)).transpose()?;
        let blocks = page.source.blocks.map(|place| self.file(place)).transpose()?;
        planned_content(links, markdown, blocks)
    }
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
/// nothing. At most 5,000 pages, 48 MB, and as much unpacked; two at once for an organization, beyond which it is 503.
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
    let (org_id, now) = (org.id(), state.store.now());
    let ImportUpload { file, kind, place } = upload;
    let planning = move || kind.plan(file, &title, now);
    let (mut plan, contents) = state.actors.kernel.cpu().run(org_id.into(), CpuKind::Archive, planning).await??;
    let (imported, mut skipped) = (plan.pages.len(), std::mem::take(&mut plan.skipped));
    skipped.truncate(SKIPPED_MAX);
    // The upload took as long as bytes kept coming; each step of the import has the usual time.
    let context = || Context { deadline: Instant::now() + state.options.request_timeout, ..org.context() };
    let importing = import(&state.actors, org_id, Import { parent, plan, contents: Box::new(contents) }, now, &context);
    let made = timeout(IMPORT_TIME_MAX, importing).await.map_err(|_elapsed| Error::busy(LATE_RETRY))??;
    drop(place);
    Ok(Created(ImportAnswer { pages: made.into_iter().map(PageBody::from).collect(), imported, skipped }))
}
