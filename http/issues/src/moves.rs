//! Moving issues to other spaces.

use actors::issues::{Destination, IssueFields, MoveIssue};
use domain::problems::Problems;
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    permission::IssuesWrite,
    state::State,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    argument::IssueOf,
    one::{IssueAnswer, IssuePatchBody},
};

/// Characters of what names a space, a type or a status.
const NAMED_LEN: std::ops::RangeInclusive<usize> = 1..=80;

/// Where an issue goes.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"space": "OPS", "status": "To do"}))]
pub(crate) struct IssueMoveBody {
    /// The other space: its key or id.
    #[schema(min_length = 1, max_length = 80)]
    space: String,
    /// A type of the other space; the issue's own where it isn't said.
    #[serde(rename = "type")]
    #[schema(max_length = 80)]
    kind: Option<String>,
    /// A status of the workflow there; the issue's own where it isn't said.
    #[schema(max_length = 80)]
    status: Option<String>,
    /// What else is to be changed, as the other space has it.
    fields: Option<IssuePatchBody>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueMoveBody {
    fn check(&self, problems: &mut Problems) {
        let all = [("space", Some(&self.space)), ("type", self.kind.as_ref()), ("status", self.status.as_ref())];
        for (path, text) in all {
            let fits = text.is_none_or(|text| NAMED_LEN.contains(&text.chars().count()));
            problems.require(fits, path, "Use 1 to 80 characters.");
        }
    }
}

/// Move an issue to another space
///
/// All that hangs on it stays, its subtasks go along, and its former key finds it. Components and versions become those of the same
/// name there; what the space doesn't have is left out.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/move", responses(
    (status = 400, description = "Space not found.\n\nThe space has no such type.\n\nThe workflow there doesn't have the \
     status. Say which one it gets."),
    (status = 403, description = "You can't move issues in this space.\n\nYou can't create issues in this space."),
    (status = 409, description = "The issue changed. Load it again.\n\nThis space is archived.\n\nNobody can approve this."),
))]
pub(crate) async fn issue_move(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueMoveBody>,
    state: State,
) -> Result<Json<IssueAnswer>> {
    let IssueMoveBody { space, kind, status, fields, version } = body.into_inner();
    let fields = fields.as_ref().map(IssuePatchBody::fields).unwrap_or_default();
    let fields = IssueFields { version, ..fields };
    let command = MoveIssue { org_id: of.org_id(), to: Destination { space, kind, status }, fields };
    let moved = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Json(IssueAnswer::new(moved.issue)))
}
