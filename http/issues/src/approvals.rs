//! Deciding on approvals of issues.

use actors::issues::{DecideApproval, DecisionMade};
use domain::{
    id::ApprovalId,
    issues::{approval::Decision, limits::COMMENT_LEN_MAX},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    permission::IssuesWrite,
    state::State,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{argument::IssueOf, one::IssueAnswer};

/// What you decide.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"decision": "approved", "comment": "Within the budget."}))]
pub(crate) struct IssueDecision {
    /// `approved` or `declined`.
    #[schema(value_type = String, example = "approved")]
    decision: Decision,
    /// Why, as Markdown of at most 32,000 characters; an internal comment.
    #[schema(max_length = 32_000)]
    comment: Option<String>,
}

impl RequestBody for IssueDecision {
    fn check(&self, problems: &mut Problems) {
        let length = self.comment.as_ref().map_or(0, |text| text.trim().chars().count());
        problems.require(length <= COMMENT_LEN_MAX, "comment", "Use at most 32000 characters.");
    }
}

/// Decide on an approval of an issue
///
/// With the decision that ends it, the issue goes on to the status that its request type names for that.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/{issueKey}/approvals/{approvalId}", responses(
    (status = 400, description = "An issue has at most 5000 comments."),
    (status = 403, description = "You aren't asked to approve this."),
    (status = 409, description = "This approval is over.\n\nYou have decided this.\n\nNobody can approve this.\n\n\
     This space is archived."),
))]
pub(crate) async fn issue_approval_decide(
    of: IssueOf<IssuesWrite>,
    body: Body<IssueDecision>,
    Path(id): Path<ApprovalId>,
    state: State,
) -> Result<Json<IssueAnswer>> {
    let IssueDecision { decision, comment } = body.into_inner();
    let command = DecideApproval { org_id: of.org_id(), made: DecisionMade { id, decision, comment } };
    let changed = state.actors.issue.ask(&of.stored.issue.issue_id, command, of.context()).await?;
    Ok(Json(IssueAnswer::new(changed.issue)))
}
