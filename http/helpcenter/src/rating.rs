//! Rating how a request was answered.

use actors::issues::portal::RateRequest;
use domain::{
    issues::portal::{RATING_COMMENT_LEN_MAX, RATINGS},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    state::State,
    wire::Done,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::argument::HelpRequest;

/// How a request was answered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"rating": 5, "comment": "Out within the hour."}))]
pub(crate) struct HelpRating {
    /// 1 to 5, 5 being the best.
    #[schema(minimum = 1, maximum = 5)]
    rating: i64,
    /// Why, in at most 1,000 characters.
    #[schema(max_length = 1_000)]
    comment: Option<String>,
}

impl RequestBody for HelpRating {
    fn check(&self, problems: &mut Problems) {
        problems.require(RATINGS.contains(&self.rating), "rating", "Use 1 to 5.");
        let length = self.comment.as_ref().map_or(0, |text| text.chars().count());
        problems.require(length <= RATING_COMMENT_LEN_MAX, "comment", "Use at most 1000 characters.");
    }
}

/// Rate how your request was answered
///
/// Once, when it is resolved.
#[utoipa::path(post, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/rating", responses(
    (status = 403, description = "Only the person who raised the request can rate it."),
    (status = 409, description = "You can rate a request once it is resolved.\n\nYou have rated this request.\n\nThis help \
     center doesn't take ratings."),
))]
pub(crate) async fn help_request_rate(of: HelpRequest, body: Body<HelpRating>, state: State) -> Result<Json<Done>> {
    let HelpRating { rating, comment } = body.into_inner();
    let command = RateRequest { org_id: of.center.org_id(), rating, comment };
    state.actors.issue.ask(&of.issue_id(), command, of.center.context()).await?;
    Ok(Json(Done::new()))
}
