//! The person's e-mail address.

use actors::person::{ConfirmEmail, SendEmailCode};
use domain::notify::phone::ConfirmationCode;
use http_shell::{
    answer::{Accepted, Json},
    body::{Body, RequestBody},
    caller::Person,
    error::Result,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A code is on its way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"expiresAt": 1_767_226_200_000_i64}))]
pub(crate) struct EmailCodeSent {
    /// When it can no longer be typed back.
    expires_at: i64,
}

/// Have a code mailed to your address
///
/// Help centers that list their customers know you by your address once you have confirmed it. At most five codes an hour, and five
/// tries each.
#[utoipa::path(post, path = "/v1/me/email/code", responses(
    (status = 429, description = "That was too many codes; try again later."),
))]
pub(crate) async fn email_code(person: Person, state: State) -> Result<Accepted<EmailCodeSent>> {
    let until = state.actors.person.ask(&person.user_id(), SendEmailCode, person.context()).await?;
    Ok(Accepted(EmailCodeSent { expires_at: until.as_millis() }))
}

/// The code that came.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"code": "417296"}))]
pub(crate) struct EmailConfirm {
    /// The code's six digits.
    code: String,
}

impl RequestBody for EmailConfirm {}

/// An address that is the person's.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"email": "ada@example.org", "confirmed": true}))]
pub(crate) struct EmailConfirmed {
    /// The address.
    email: String,
    /// Always true.
    confirmed: bool,
}

/// Confirm your address
#[utoipa::path(post, path = "/v1/me/email/confirm", responses(
    (status = 403, description = "That code is wrong."),
    (status = 409, description = "That code has expired. Ask for a new one."),
))]
pub(crate) async fn email_confirm(
    person: Person,
    body: Body<EmailConfirm>,
    state: State,
) -> Result<Json<EmailConfirmed>> {
    let command = ConfirmEmail(ConfirmationCode::parse("code", &body.code)?);
    let email = state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(EmailConfirmed { email: email.to_string(), confirmed: true }))
}
