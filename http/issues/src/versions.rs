//! Versions of a space.

use actors::issues::{
    Asked, ChangeVersion, CreateVersion, ReleaseVersion, RemoveVersion, VersionPatch, search as search_issues,
};
use domain::{
    Timestamp,
    id::IssueVersionId,
    issues::{jql::meaning::Fallback, limits::NOTES_MAX, parts::Version},
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::argument::{SpaceOf, VersionOf};

/// A version of a space.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueVersionBody {
    version_id: String,
    space_id: String,
    name: String,
    description: String,
    /// The day on which work on it begins, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_date: Option<String>,
    /// The day on which it is to come out, or came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    release_date: Option<String>,
    /// Whether it came out.
    released: bool,
    /// When it was released.
    #[serde(skip_serializing_if = "Option::is_none")]
    released_at: Option<i64>,
    /// Whether no more issues come to it.
    archived: bool,
    /// Counts its changes.
    version: i64,
    created_at: i64,
}

impl From<Version> for IssueVersionBody {
    fn from(version: Version) -> Self {
        Self {
            version_id: version.id.to_string(),
            space_id: version.space_id.to_string(),
            released: version.is_released(),
            released_at: version.released_at.map(Timestamp::as_millis),
            name: version.name,
            description: version.description,
            start_date: version.start_date,
            release_date: version.release_date,
            archived: version.archived,
            version: version.version,
            created_at: version.created_at.as_millis(),
        }
    }
}

/// One version.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueVersionAnswer {
    /// The version.
    version: IssueVersionBody,
}

/// The versions of a space.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueVersionsAnswer {
    /// In their order, by which queries compare them.
    versions: Vec<IssueVersionBody>,
}

/// A version that was released.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueVersionReleased {
    /// The version.
    version: IssueVersionBody,
    /// How many issues that are to be fixed in it aren't done.
    unresolved: i64,
}

/// The notes of a version.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueVersionNotes {
    /// Markdown: the issues that were fixed in it, by their types; at most 1,000.
    notes: String,
    /// Whether some are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// A version that is to be made, behind the others of its space.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"name": "2.0", "releaseDate": "2027-03-01"}))]
pub(crate) struct IssueVersionCreate {
    /// 1 to 100 characters; no two of a space differ by case only.
    name: String,
    /// At most 1,000 characters.
    description: Option<String>,
    /// `YYYY-MM-DD`.
    start_date: Option<String>,
    /// `YYYY-MM-DD`.
    release_date: Option<String>,
}

impl RequestBody for IssueVersionCreate {}

/// What is to be changed of a version; null clears.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"archived": true, "version": 1}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct IssueVersionPatchBody {
    /// 1 to 100 characters; no two of a space differ by case only.
    name: Option<String>,
    /// At most 1,000 characters.
    description: Option<String>,
    /// `YYYY-MM-DD`.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    start_date: Option<Option<String>>,
    /// `YYYY-MM-DD`.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    release_date: Option<Option<String>>,
    /// Whether no more issues come to it. Those that have it keep it.
    archived: Option<bool>,
    /// The place among the versions of the space, from 0.
    #[schema(minimum = 0, maximum = 500)]
    position: Option<u32>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueVersionPatchBody {}

/// Whether a version is to be released.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"released": true}))]
pub(crate) struct IssueVersionRelease {
    /// False takes it back.
    released: bool,
}

impl RequestBody for IssueVersionRelease {}

/// The versions of a space of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions")]
pub(crate) async fn issue_versions_list(of: SpaceOf<IssuesRead>, state: State) -> Result<Json<IssueVersionsAnswer>> {
    let found = state.store.issue_versions(of.org.id(), Some(of.space.space_id)).await?;
    Ok(Json(IssueVersionsAnswer { versions: found.into_iter().map(IssueVersionBody::from).collect() }))
}

/// Make a version of a space of issues
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions", responses(
    (status = 400, description = "A space has at most 500 versions."),
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "Another version of the space has this name.\n\nThis space is archived."),
))]
pub(crate) async fn issue_version_create(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueVersionCreate>,
    state: State,
) -> Result<Created<IssueVersionAnswer>> {
    let IssueVersionCreate { name, description, start_date, release_date } = body.into_inner();
    let patch = VersionPatch {
        name: Some(name),
        description,
        start_date: start_date.map(Some),
        release_date: release_date.map(Some),
        ..VersionPatch::default()
    };
    let command = CreateVersion { org_id: of.org.id(), patch };
    let made = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Created(IssueVersionAnswer { version: made.into() }))
}

/// Change a version of a space of issues
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "Another version of the space has this name.\n\nThe version changed. Load it again.\n\n\
     This space is archived."),
))]
pub(crate) async fn issue_version_patch(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueVersionPatchBody>,
    Path(id): Path<IssueVersionId>,
    state: State,
) -> Result<Json<IssueVersionAnswer>> {
    let IssueVersionPatchBody { name, description, start_date, release_date, archived, position, version } =
        body.into_inner();
    let place = position.map(|place| usize::try_from(place).unwrap_or(usize::MAX));
    let patch = VersionPatch { name, description, start_date, release_date, archived, place, version };
    let command = ChangeVersion { org_id: of.org.id(), id, patch };
    let changed = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(Json(IssueVersionAnswer { version: changed.into() }))
}

/// Release a version of a space of issues
///
/// A version without a release day gets today's. Issues that aren't done stay with it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}/release", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "This space is archived."),
))]
pub(crate) async fn issue_version_release(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueVersionRelease>,
    Path(id): Path<IssueVersionId>,
    state: State,
) -> Result<Json<IssueVersionReleased>> {
    let org_id = of.org.id();
    let command = ReleaseVersion { org_id, id, released: body.released };
    let version = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    let unresolved = state.store.issue_version_open(org_id, &id.to_string()).await?;
    Ok(Json(IssueVersionReleased { version: version.into(), unresolved }))
}

/// Delete a version of a space of issues
///
/// Nothing that an issue has can be deleted, also where that issue is in the trash.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}", responses(
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "\"2.0\" is still used.\n\nThis space is archived."),
))]
pub(crate) async fn issue_version_delete(
    of: SpaceOf<IssuesWrite>,
    Path(id): Path<IssueVersionId>,
    state: State,
) -> Result<NoContent> {
    let command = RemoveVersion { org_id: of.org.id(), id };
    state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(NoContent)
}

/// A text on one line of Markdown, as it stands there.
fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for it in text.chars() {
        if it.is_ascii_punctuation() && !matches!(it, ',' | '.' | ':' | ';' | '-' | '/' | '\'' | '?' | '%' | '"') {
            line.push('\\');
        }
        line.push(if it.is_control() { ' ' } else { it });
    }
    line
}

/// The notes of a version
///
/// Markdown of the issues that are done in it, for whoever tells others what is new.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}/notes")]
pub(crate) async fn issue_version_notes(
    VersionOf { of, version }: VersionOf<IssuesRead>,
    state: State,
) -> Result<Json<IssueVersionNotes>> {
    let (store, org_id) = (&state.store, of.org.id());
    let jql = format!("fixVersion = {} AND statusCategory = Done ORDER BY type, key", version.id);
    let asked = Asked { jql: &jql, fallback: Fallback::Key, start: 0, limit: NOTES_MAX };
    let found = search_issues(store, of.org.authority(), &asked).await?;
    let settings = store.issue_catalog(org_id).await?.settings;
    let mut lines = vec![format!("# {}", escaped(&version.name))];
    let mut type_id = "";
    for issue in &found.issues {
        if issue.type_id != type_id {
            type_id = &issue.type_id;
            let name = settings.issue_type(type_id).map_or(type_id, |kind| kind.name.as_str());
            lines.extend([String::new(), format!("## {}", escaped(name)), String::new()]);
        }
        lines.push(format!("- {}: {}", issue.key, escaped(&issue.summary)));
    }
    let notes = lines.join("\n") + "\n";
    Ok(Json(IssueVersionNotes { notes, truncated: found.total > NOTES_MAX }))
}
