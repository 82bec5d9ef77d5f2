//! Approving requests.

use actors::issues::{DecisionMade, portal::ApproveRequest};
use domain::{
    id::ApprovalId,
    issues::{approval::Decision, portal::REPLY_LEN},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    path::Path,
    state::State,
    wire::Done,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::argument::HelpRequest;

/// What you decide.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"decision": "approved", "comment": "Within the budget."}))]
pub(crate) struct HelpDecision {
    /// `approved` or `declined`.
    #[schema(value_type = String, example = "approved")]
    decision: Decision,
    /// Why, as Markdown of at most 32,000 characters; the people of the request read it.
    #[schema(max_length = 32_000)]
    comment: Option<String>,
}

impl RequestBody for HelpDecision {
    fn check(&self, problems: &mut Problems) {
        let length = self.comment.as_ref().map_or(0, |text| text.trim().chars().count());
        problems.require(length <= *REPLY_LEN.end(), "comment", "Use at most 32000 characters.");
    }
}

/// Decide on an approval of a request
///
/// With the decision that ends it, the request goes on.
#[utoipa::path(post, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/approvals/{approvalId}", responses(
    (status = 400, description = "An issue has at most 5000 comments."),
    (status = 403, description = "You aren't asked to approve this."),
    (status = 409, description = "This approval is over.\n\nYou have decided this.\n\nNobody can approve this."),
))]
pub(crate) async fn help_approval_decide(
    of: HelpRequest,
    body: Body<HelpDecision>,
    Path(id): Path<ApprovalId>,
    state: State,
) -> Result<Json<Done>> {
    let HelpDecision { decision, comment } = body.into_inner();
    let command = ApproveRequest { org_id: of.center.org_id(), made: DecisionMade { id, decision, comment } };
    state.actors.issue.ask(&of.issue_id(), command, of.center.context()).await?;
    Ok(Json(Done::new()))
}
