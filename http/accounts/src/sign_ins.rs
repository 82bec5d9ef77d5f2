//! Where a person is signed in.

use actors::person::EndSignIn;
use domain::id::SignInId;
use http_shell::{answer::Json, caller::Person, error::Result, path::Path, state::State, wire::Done};
use serde::Serialize;
use store::{RevocationKind, accounts::SignIn};
use utoipa::ToSchema;

/// A sign-in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "signInId": "sgn_01jd7rt4m5e9fv2w8x3c6k0hqz", "app": "authenticator", "platform": "ios",
    "installId": "6f1c9f3a-0c39-4a53-9d7e-1f0a3a2f1b6c", "ip": "203.0.113.7",
    "userAgent": "Authenticator/2.1 (iPhone)", "createdAt": 1_767_225_600_000_i64,
    "lastSeenAt": 1_767_312_000_000_i64, "expiresAt": 1_775_088_000_000_i64, "current": true
}))]
pub(crate) struct SignInItem {
    /// The sign-in's id.
    sign_in_id: String,
    /// The app that it is bound to.
    app: &'static str,
    /// The platform that it is bound to.
    platform: &'static str,
    /// The app's install, where the app said so.
    install_id: Option<String>,
    /// The address that it was made from.
    ip: Option<String>,
    /// The program that it was made with.
    user_agent: Option<String>,
    /// When it was made.
    created_at: i64,
    /// When its token was last used, to the hour.
    last_seen_at: i64,
    /// When it ends unless its token is used.
    expires_at: i64,
    /// Whether it is the one that asks.
    current: bool,
}

impl SignInItem {
    fn new(sign_in: SignIn, current: SignInId) -> Self {
        Self {
            sign_in_id: sign_in.id.to_string(),
            app: sign_in.app.as_str(),
            platform: sign_in.platform.as_str(),
            install_id: sign_in.install_id,
            ip: sign_in.ip.map(|ip| ip.to_string()),
            user_agent: sign_in.user_agent,
            created_at: sign_in.created_at.as_millis(),
            last_seen_at: sign_in.last_seen_at.as_millis(),
            expires_at: sign_in.expires_at.as_millis(),
            current: sign_in.id == current,
        }
    }
}

/// Where a person is signed in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignInsAnswer {
    /// The newest first; there are at most 100.
    sign_ins: Vec<SignInItem>,
}

/// Where you are signed in
#[utoipa::path(get, path = "/v1/me/sign-ins")]
pub(crate) async fn sign_ins_list(person: Person, state: State) -> Result<Json<SignInsAnswer>> {
    let (now, current) = (state.store.now(), person.sign_in_id());
    let sign_ins = state.store.sign_ins(person.user_id()).await?;
    let alive = sign_ins.into_iter().filter(|sign_in| sign_in.expires_at > now);
    Ok(Json(SignInsAnswer { sign_ins: alive.map(|sign_in| SignInItem::new(sign_in, current)).collect() }))
}

/// End a sign-in
///
/// The sign-in's token is dead on every node within a second.
#[utoipa::path(delete, path = "/v1/me/sign-ins/{signInId}")]
pub(crate) async fn sign_in_delete(person: Person, id: Path<SignInId>, state: State) -> Result<Json<Done>> {
    state.actors.person.ask(&person.user_id(), EndSignIn(*id), person.context()).await?;
    state.credentials.refresh(RevocationKind::SignIn, *id);
    Ok(Json(Done::new()))
}
