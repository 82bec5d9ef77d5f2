//! The trash of issues.

use actors::issues::{RestoreIssue, Sight, sight};
use domain::{
    Error,
    id::{IssueId, SpaceId},
    issues::{
        access::{Permission, may},
        issue::Issue,
        limits::{SPACE_NOT_FOUND, TRASH_KEPT},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    paging::PageQuery,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::{TrashAsked, TrashPlace, TrashedIssue};
use utoipa::{IntoParams, ToSchema};

use super::one::IssueAnswer;

/// The name of the trash in its cursors.
const LIST: &str = "issue trash";

/// Which page of the trash.
#[derive(Deserialize, IntoParams)]
pub(crate) struct IssueTrashQuery {
    /// A space: its key, in any case, or its id. All that you may browse where none is named.
    #[param(example = "WEB")]
    space: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl IssueTrashQuery {
    fn page(&self) -> PageQuery {
        PageQuery { cursor: self.cursor.clone(), limit: self.limit }
    }

    /// The space that is named, among those that the caller sees.
    fn space_among(&self, seen: &Sight) -> domain::Result<Option<SpaceId>> {
        let Some(text) = &self.space else { return Ok(None) };
        let space = seen.named(text).ok_or_else(|| Error::invalid("space", SPACE_NOT_FOUND))?;
        Ok(Some(space.space_id))
    }
}

impl RequestQuery for IssueTrashQuery {
    fn check(&self, problems: &mut Problems) {
        self.page().check(problems);
    }
}

/// An issue in the trash.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrashedIssueBody {
    /// The issue (contract B 2.1), as it was thrown away.
    #[schema(value_type = Object)]
    issue: Issue,
    /// When that was, in milliseconds since 1970.
    deleted_at: i64,
    /// Until when it can be brought back.
    restorable_until: i64,
}

/// A page of the trash.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueTrashAnswer {
    /// What was thrown away last comes first.
    issues: Vec<TrashedIssueBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

impl From<TrashedIssue> for TrashedIssueBody {
    fn from(trashed: TrashedIssue) -> Self {
        Self {
            issue: trashed.stored.issue,
            deleted_at: trashed.deleted_at.as_millis(),
            restorable_until: trashed.deleted_at.after(TRASH_KEPT).as_millis(),
        }
    }
}

/// The trash of issues
///
/// Issues of the last 30 days that you may bring back: those of spaces that you administer, and others that you made or reported.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/trash",
    responses((status = 400, description = "Invalid cursor\n\nSpace not found.")))]
pub(crate) async fn issue_trash_list(
    org: Org<IssuesRead>,
    query: Query<IssueTrashQuery>,
    state: State,
) -> Result<Json<IssueTrashAnswer>> {
    let page = query.page().page::<TrashPlace>(LIST)?;
    let seen = sight(&state.store, org.authority()).await?;
    let named = query.space_among(&seen)?;
    let (mut whole, mut own): (Vec<SpaceId>, Vec<SpaceId>) = (Vec::new(), Vec::new());
    for (space, role) in seen.spaces.iter().filter(|(space, _)| named.is_none_or(|id| id == space.space_id)) {
        if may(Some(*role), Permission::Delete) {
            whole.push(space.space_id);
        } else if may(Some(*role), Permission::DeleteOwn) {
            own.push(space.space_id);
        }
    }
    let asked = TrashAsked {
        org_id: org.id(),
        whole: &whole,
        own: &own,
        person: org.authority().on_behalf_of()?,
        since: state.store.now().before(TRASH_KEPT),
        after: page.after,
        limit: page.read_limit(),
    };
    let (issues, cursor) = page.cut(state.store.issues_trashed(&asked).await?, |trashed| trashed.place);
    Ok(Json(IssueTrashAnswer { issues: issues.into_iter().map(TrashedIssueBody::from).collect(), cursor }))
}

/// Bring an issue back from the trash
///
/// Comments, links, watchers and history are as they were. One that was brought back already is answered as it is.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/trash/{issueId}/restore", responses(
    (status = 403, description = "You can't delete issues in this space."),
    (status = 409, description = "The issue above this one is in the trash. Restore that one first.\n\nThis space is archived."),
))]
pub(crate) async fn issue_restore(
    org: Org<IssuesWrite>,
    Path(id): Path<IssueId>,
    state: State,
) -> Result<Json<IssueAnswer>> {
    let restored = state.actors.issue.ask(&id, RestoreIssue { org_id: org.id() }, org.context()).await?;
    Ok(Json(IssueAnswer::new(restored.issue)))
}
