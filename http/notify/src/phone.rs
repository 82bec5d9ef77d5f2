//! The person's telephone number.

use actors::person::{ConfirmPhone, SendPhoneCode};
use domain::{account::phone_check, notify::phone::ConfirmationCode};
use http_shell::{
    answer::{Accepted, Json},
    body::{Body, RequestBody},
    error::Result,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::NotifyPerson;

/// The number that is to be confirmed.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"phone": "+43 1 234567"}))]
pub(crate) struct PhonePost {
    /// With its country code.
    phone: String,
}

impl RequestBody for PhonePost {}

/// A code is on its way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"phone": "+431234567", "expiresAt": 1_767_226_200_000_i64}))]
pub(crate) struct PhoneCodeSent {
    /// The number that it goes to.
    phone: String,
    /// When it can no longer be typed back.
    expires_at: i64,
}

/// Have a code texted to your telephone number
///
/// Nothing else is texted or called before the code was typed back. At most five codes an hour, and five tries each.
#[utoipa::path(post, path = "/v1/me/phone", responses((status = 409, description = "This server can't send texts.")))]
pub(crate) async fn phone_post(
    person: NotifyPerson,
    body: Body<PhonePost>,
    state: State,
) -> Result<Accepted<PhoneCodeSent>> {
    let command = SendPhoneCode { phone: phone_check("phone", &body.phone)? };
    let sent = state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    Ok(Accepted(PhoneCodeSent { phone: sent.phone, expires_at: sent.expires_at.as_millis() }))
}

/// The code that came.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"code": "417296"}))]
pub(crate) struct PhoneConfirm {
    /// The code's six digits.
    code: String,
}

impl RequestBody for PhoneConfirm {}

/// A number that is the person's.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"phone": "+431234567", "confirmed": true}))]
pub(crate) struct PhoneConfirmed {
    /// The number.
    phone: String,
    /// Always true.
    confirmed: bool,
}

/// Confirm your telephone number
///
/// The number becomes that of the account. Changing the account's number otherwise takes the confirmation away.
#[utoipa::path(post, path = "/v1/me/phone/confirm", responses(
    (status = 403, description = "That code is wrong."),
    (status = 409, description = "That code has expired. Ask for a new one."),
))]
pub(crate) async fn phone_confirm(
    person: NotifyPerson,
    body: Body<PhoneConfirm>,
    state: State,
) -> Result<Json<PhoneConfirmed>> {
    let command = ConfirmPhone(ConfirmationCode::parse("code", &body.code)?);
    let phone = state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(PhoneConfirmed { phone, confirmed: true }))
}
