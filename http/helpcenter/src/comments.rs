//! The conversation of a request.

use actors::issues::portal::ReplyToRequest;
use domain::{issues::portal::REPLY_LEN, problems::Problems};
use http_shell::{
    answer::Created,
    body::{Body, RequestBody},
    error::Result,
    state::State,
    wire::Done,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::argument::HelpRequest;

/// What you say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"body": "It still burns."}))]
pub(crate) struct HelpCommentCreate {
    /// Markdown, 1 to 32,000 characters.
    #[schema(min_length = 1, max_length = 32_000)]
    body: String,
}

impl RequestBody for HelpCommentCreate {
    fn check(&self, problems: &mut Problems) {
        let fits = REPLY_LEN.contains(&self.body.trim().chars().count());
        problems.require(fits, "body", "Use 1 to 32000 characters.");
    }
}

/// Say something about your request
///
/// A request that waited for you, or ended not long ago, is worked on again.
#[utoipa::path(post, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/comments", responses(
    (status = 409, description = "This request is closed. Raise a new one."),
))]
pub(crate) async fn help_comment_create(
    of: HelpRequest,
    body: Body<HelpCommentCreate>,
    state: State,
) -> Result<Created<Done>> {
    let command = ReplyToRequest { org_id: of.center.org_id(), body: body.into_inner().body };
    state.actors.issue.ask(&of.issue_id(), command, of.center.context()).await?;
    Ok(Created(Done::new()))
}
