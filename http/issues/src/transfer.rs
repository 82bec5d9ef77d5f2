//! Issues out to a file, and in from one (contract B 4.1).

use std::collections::BTreeMap;

use actix_web::{HttpResponse, http::header};
use actors::issues::{Export, ImportIssues, ImportOutcome, ImportedRow, NoteExport, sight};
use bytes::Bytes;
use domain::{
    Error,
    id::SpaceId,
    issues::{
        jql::JQL_LEN_MAX,
        limits::SPACE_NOT_FOUND,
        transfer::{FileFormat, IMPORT_LEN_MAX, IMPORT_TOO_LARGE, SOURCE_KEY_LEN_MAX},
    },
    problems::Problems,
    token::sha256_hex,
};
use futures::stream;
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    permission::{IssuesRead, IssuesWrite},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Characters of what names a space (contract B 4.1).
const SPACE_LEN: std::ops::RangeInclusive<usize> = 1..=64;
/// Characters of a file (contract B 4.1), and so rows.
const CONTENT_LEN_MAX: usize = 5_242_880;
/// Says that there is more than is in the file.
const TRUNCATED: &str = "x-service-truncated";

/// The form of a file.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileFormatBody {
    #[default]
    Csv,
    Json,
}

impl From<FileFormatBody> for FileFormat {
    fn from(format: FileFormatBody) -> Self {
        match format {
            FileFormatBody::Csv => Self::Csv,
            FileFormatBody::Json => Self::Json,
        }
    }
}

/// What goes out.
#[derive(Deserialize, IntoParams)]
pub(crate) struct ExportQuery {
    /// The query: at most 10,000 characters; all issues where there is none.
    #[serde(default)]
    #[param(max_length = 10_000)]
    jql: String,
    /// The form of the file.
    #[serde(default)]
    #[param(inline)]
    format: FileFormatBody,
}

impl RequestQuery for ExportQuery {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.jql.chars().count() <= JQL_LEN_MAX, "jql", "Use at most 10000 characters.");
    }
}

/// Issues as a file has them, with their descriptions, comments, links and histories.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the file is written piece by piece; this describes it")]
pub(crate) struct IssuesFile {
    /// The issues, in the order of the query.
    #[schema(value_type = Vec<Object>)]
    issues: (),
}

/// Export issues
///
/// As CSV, which spreadsheets and Jira read, or as JSON with all that hangs on them: what the query finds, in its order, up to
/// 10,000 issues. Where there are more, the header `x-service-truncated` says so. The address's line holds 64 KB.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/export", responses(
    (status = 200, description = "The file.", content((String = "text/csv"), (inline(IssuesFile) = "application/json", example = json!({ "issues": [] })))),
    (status = 400, description = "Field 'x' does not exist or you do not have permission to view it. (line 1, character 1)"),
))]
pub(crate) async fn issue_export(
    org: Org<IssuesRead>,
    query: Query<ExportQuery>,
    state: State,
) -> Result<HttpResponse> {
    let export = Export::open(&state.store, org.authority(), &query.jql, query.format.into()).await?;
    let note = NoteExport { jql: query.jql.clone(), issues: export.len() };
    state.actors.issue_catalog.ask(&org.id(), note, org.context()).await?;
    let (kind, name) = match query.format {
        FileFormatBody::Csv => ("text/csv; charset=utf-8; header=present", "issues.csv"),
        FileFormatBody::Json => ("application/json", "issues.json"),
    };
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, kind))
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .insert_header((header::CACHE_CONTROL, "private, no-store"));
    if export.is_cut() {
        response.insert_header((TRUNCATED, "true"));
    }
    let parts = stream::try_unfold(export, |mut export| async move {
        let part = export.next().await.inspect_err(|error| tracing::warn!(%error, "an export of issues broke off"))?;
        Ok::<_, Error>(part.map(|part| (Bytes::from(part), export)))
    });
    Ok(response.streaming(Box::pin(futures::TryStreamExt::map_err(parts, std::io::Error::other))))
}

/// A file that comes in.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"space": "WEB", "format": "csv", "content": "Summary,Priority\nThe printer is on fire,High\n"}))]
pub(crate) struct IssueImportBody {
    /// The space: its key or id.
    #[schema(min_length = 1, max_length = 64)]
    space: String,
    /// The form of the file.
    format: FileFormatBody,
    /// The file, which can have up to 5 MB.
    #[schema(min_length = 1, max_length = 5_242_880)]
    content: String,
    /// How many rows earlier calls have taken: `nextRow` of the last one.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 5_242_880)]
    start_row: u32,
    /// What keys of the source became: `keyMap` of the last call.
    #[serde(default)]
    key_map: BTreeMap<String, String>,
    /// Whether labels that nobody has used yet are made.
    #[serde(default)]
    create_missing: bool,
}

impl RequestBody for IssueImportBody {
    const LIMIT: usize = IMPORT_LEN_MAX;
    const TOO_LARGE: &'static str = IMPORT_TOO_LARGE;
    const TAKES_LONG: bool = true;

    fn check(&self, problems: &mut Problems) {
        let fits = SPACE_LEN.contains(&self.space.chars().count());
        problems.require(fits, "space", "Use 1 to 64 characters.");
        problems.require(!self.content.is_empty(), "content", "Use at least 1 character.");
        // A file has no more rows than characters.
        let fits = usize::try_from(self.start_row).is_ok_and(|row| row <= CONTENT_LEN_MAX);
        problems.require(fits, "startRow", "Use a number from 0 to 5242880.");
        let fits = |text: &String| text.chars().count() <= SOURCE_KEY_LEN_MAX && !text.contains('\0');
        let fits = self.key_map.iter().all(|(from, to)| fits(from) && fits(to));
        problems.require(fits, "keyMap", "Use at most 64 characters for each key.");
    }
}

/// What became of a row.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueImportRowBody {
    /// The row's place in the file, from 0.
    row: usize,
    /// The issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// What the source calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl From<ImportedRow> for IssueImportRowBody {
    fn from(ImportedRow { row, key, from, error, warnings }: ImportedRow) -> Self {
        Self { row, key, from, error, warnings }
    }
}

/// What a call came to (contract B 2.2).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueImportAnswer {
    /// Rows of the file.
    total: usize,
    /// Rows that were taken so far.
    processed: usize,
    /// Whether all were.
    done: bool,
    /// `startRow` of the next call; null where all is done.
    next_row: Option<usize>,
    /// `keyMap` of the next call.
    key_map: BTreeMap<String, String>,
    /// The rows of this call.
    results: Vec<IssueImportRowBody>,
}

impl From<ImportOutcome> for IssueImportAnswer {
    fn from(ImportOutcome { total, processed, key_map, results }: ImportOutcome) -> Self {
        Self {
            total,
            processed,
            done: processed >= total,
            next_row: (processed < total).then_some(processed),
            key_map,
            results: results.into_iter().map(IssueImportRowBody::from).collect(),
        }
    }
}

/// Import issues
///
/// For admins of the space. Each call takes 200 rows, parents before what stands below them; call again with `nextRow` and
/// `keyMap` until `done`. A repeated call makes no issue twice. Nobody is notified.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/import", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_import(
    org: Org<IssuesWrite>,
    body: Body<IssueImportBody>,
    state: State,
) -> Result<Json<IssueImportAnswer>> {
    let IssueImportBody { space, format, content, start_row, key_map, create_missing } = body.into_inner();
    let space_id = space_that_is_named(&state, &org, &space).await?;
    let command = ImportIssues {
        org_id: org.id(),
        digest: sha256_hex(content.as_bytes()),
        content: content.into(),
        format: format.into(),
        start: usize::try_from(start_row).unwrap_or(usize::MAX),
        key_map,
        create_missing,
    };
    let outcome = state.actors.issue_space.ask(&space_id, command, org.context()).await?;
    Ok(Json(outcome.into()))
}

/// The space that a body names by its key or id, where the caller may browse it.
async fn space_that_is_named(state: &State, org: &Org<IssuesWrite>, name: &str) -> Result<SpaceId> {
    let seen = sight(&state.store, org.authority()).await?;
    Ok(seen.named(name).ok_or_else(|| Error::invalid("space", SPACE_NOT_FOUND))?.space_id)
}
