//! Who takes part in a request.

use actors::issues::portal::{AddParticipant, RemoveParticipant};
use domain::{
    id::UserId,
    issues::portal::{PARTICIPANT_LEN, PARTICIPANT_NOT_FOUND},
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    path::concat_example,
    state::State,
    wire::Done,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::argument::HelpRequest;

/// The person who shall take part.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"email": "grace@example.org"}))]
pub(crate) struct HelpParticipantAdd {
    /// The person's address, 3 to 320 characters.
    #[schema(min_length = 3, max_length = 320)]
    email: String,
}

impl RequestBody for HelpParticipantAdd {
    fn check(&self, problems: &mut Problems) {
        let fits = PARTICIPANT_LEN.contains(&self.email.trim().chars().count());
        problems.require(fits, "email", "Use 3 to 320 characters.");
    }
}

/// The participant whom the path names: by their id or their address.
pub(crate) struct Who(String);

impl Argument for Who {
    fn describe(facts: &mut Facts) {
        facts.path_parameter("who", "A participant: their id or their address.", concat_example(UserId::PREFIX));
        facts.error(404, PARTICIPANT_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self(call.path_value("who")?.to_owned()))
    }
}

/// Have somebody take part in your request
///
/// The person must have an account, and the help center must be open to them. Twice is once.
#[utoipa::path(post, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/participants", responses(
    (status = 400, description = "That address can't be added."),
))]
pub(crate) async fn help_participant_add(
    of: HelpRequest,
    body: Body<HelpParticipantAdd>,
    state: State,
) -> Result<Created<Done>> {
    let command = AddParticipant { org_id: of.center.org_id(), email: body.into_inner().email };
    state.actors.issue.ask(&of.issue_id(), command, of.center.context()).await?;
    Ok(Created(Done::new()))
}

/// Have somebody take part no more
///
/// Yourself, or others where you raised the request.
#[utoipa::path(delete, path = "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/participants/{who}", responses(
    (status = 403, description = "Only the person who raised the request can remove others."),
))]
pub(crate) async fn help_participant_remove(of: HelpRequest, who: Who, state: State) -> Result<Json<Done>> {
    let command = RemoveParticipant { org_id: of.center.org_id(), who: who.0 };
    state.actors.issue.ask(&of.issue_id(), command, of.center.context()).await?;
    Ok(Json(Done::new()))
}
