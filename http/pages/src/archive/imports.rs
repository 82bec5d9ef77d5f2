//! Imports that go on after their request.

use domain::{
    Timestamp,
    id::PageImportId,
    pages::import::{ImportFault, PageImport},
};
use http_shell::{
    answer::Json, error::Result, org::Org, owned::Owned, path::Path, permission::KnowledgeWrite, state::State,
    wire::Done,
};
use serde::Serialize;
use utoipa::ToSchema;

/// How an import stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportView {
    /// The import.
    import_id: String,
    /// `running`, `done`, `failed` or `cancelled`.
    state: &'static str,
    /// How many pages the archive has.
    pages: u32,
    /// How many of them are ready. They all come at once, when all of them are.
    pages_done: u32,
    /// Why it came to nothing; null where it didn't.
    error: Option<ImportError>,
    /// Files that are no pages and are left out, by name; at most 100.
    skipped: Vec<String>,
    /// The ids of the pages that lie where they were imported, in their order; empty before it is done.
    page_ids: Vec<String>,
    /// When it began.
    created_at: i64,
    /// When it ended; null while it goes on.
    ended_at: Option<i64>,
}

/// Why an import came to nothing.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportError {
    /// What is wrong, as a sentence.
    error: String,
    /// A stable slug.
    code: String,
    /// Files at fault, with what is wrong with each; left out where it isn't files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ImportProblem>,
}

/// What is wrong with a file.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportProblem {
    /// The file.
    path: String,
    /// What is wrong with it.
    message: String,
}

impl From<PageImport> for ImportView {
    fn from(import: PageImport) -> Self {
        Self {
            import_id: import.id.to_string(),
            state: import.state.as_str(),
            pages: import.pages,
            pages_done: import.pages_done,
            error: import.error.map(ImportError::from),
            skipped: import.skipped,
            page_ids: import.made.iter().map(ToString::to_string).collect(),
            created_at: import.created_at.as_millis(),
            ended_at: import.ended_at.map(Timestamp::as_millis),
        }
    }
}

impl From<ImportFault> for ImportError {
    fn from(fault: ImportFault) -> Self {
        let problems = fault.problems.into_iter();
        let problems = problems.map(|problem| ImportProblem { path: problem.path, message: problem.message }).collect();
        Self { error: fault.message, code: fault.code, problems }
    }
}

/// See an import
///
/// Until seven days after its end.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/imports/{importId}")]
pub(crate) async fn pages_import_get(_org: Org<KnowledgeWrite>, import: Owned<PageImport>) -> Result<Json<ImportView>> {
    Ok(Json(import.0.into()))
}

/// Cancel an import
///
/// The import makes no pages then.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/pages/imports/{importId}",
    responses((status = 409, description = "This import is over.")))]
pub(crate) async fn pages_import_cancel(
    org: Org<KnowledgeWrite>,
    id: Path<PageImportId>,
    state: State,
) -> Result<Json<Done>> {
    state.actors.imports.cancel(org.id(), id.0, &org.context()).await?;
    Ok(Json(Done::new()))
}
