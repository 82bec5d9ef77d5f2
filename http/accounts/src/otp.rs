//! A person's second factor.

use actors::person::{ConfirmOtp, EnrolOtp, RemoveOtp};
use domain::otp::RecoveryCode;
use http_shell::{answer::Json, body::Body, caller::Person, error::Result, state::State, wire::Done};
use serde::Serialize;
use store::RevocationKind;
use utoipa::ToSchema;

use crate::auth::OtpBody;

/// What an authenticator app needs.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    "uri": "otpauth://totp/Troupe:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Troupe"
}))]
pub(crate) struct EnrolmentBody {
    /// In base32, to be typed.
    secret: String,
    /// To be scanned.
    uri: String,
}

/// Start to enrol a second factor
///
/// The second factor counts once a code of it was shown to `POST /v1/me/otp/confirm`. Starting again makes another
/// secret.
#[utoipa::path(post, path = "/v1/me/otp", responses(
    (status = 409, description = "You have a second factor already.")
))]
pub(crate) async fn otp_enrol(person: Person, state: State) -> Result<Json<EnrolmentBody>> {
    let enrolment = state.actors.person.ask(&person.user_id(), EnrolOtp, person.context()).await?;
    Ok(Json(EnrolmentBody { secret: enrolment.secret, uri: enrolment.uri }))
}

/// The codes that stand in for the authenticator app, once each.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"recoveryCodes": ["k3v9-0d2x-8m1q-t7zr", "p5w2-6c4h-n0jb-3y9e"]}))]
pub(crate) struct RecoveryCodesBody {
    /// Ten, shown once.
    recovery_codes: Vec<String>,
}

/// Confirm the second factor
///
/// From now on signing in asks for it.
#[utoipa::path(post, path = "/v1/me/otp/confirm", responses(
    (status = 403, description = "That code is wrong."),
    (status = 409, description = "Start with POST /v1/me/otp."),
))]
pub(crate) async fn otp_confirm(person: Person, body: Body<OtpBody>, state: State) -> Result<Json<RecoveryCodesBody>> {
    let command = ConfirmOtp { otp: body.into_inner().otp };
    let codes = state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    state.credentials.refresh(RevocationKind::SignIn, person.sign_in_id());
    Ok(Json(RecoveryCodesBody { recovery_codes: codes.iter().map(RecoveryCode::reveal).collect() }))
}

/// Switch the second factor off
///
/// The second factor must have been shown within the last ten minutes: at sign-in, or to `POST /v1/auth/step-up`.
#[utoipa::path(delete, path = "/v1/me/otp", responses(
    (status = 403, description = "Confirm with your second factor first."),
    (status = 409, description = "You have no second factor yet."),
))]
pub(crate) async fn otp_delete(person: Person, state: State) -> Result<Json<Done>> {
    state.actors.person.ask(&person.user_id(), RemoveOtp, person.context()).await?;
    Ok(Json(Done::new()))
}
