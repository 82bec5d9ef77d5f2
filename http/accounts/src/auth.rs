//! Registering, signing in and out, and showing the second factor again.

use actors::{
    person::{EndSignIn, StepUp},
    sign_in::{OpenSignIn, Register},
};
use domain::{
    App, Email, Error, Platform, Token, TokenKind,
    account::{INSTALL_ID_LEN, PASSWORD_LEN, Password, invitation_gone, name_check, text_check},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    caller::{Anyone, Person},
    error::Result,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::RevocationKind;
use utoipa::ToSchema;

use crate::me::UserBody;

/// The person who wants an account.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({
    "email": "ada@example.com", "password": "correct horse battery", "name": "Ada Lovelace"
}))]
pub(crate) struct RegisterBody {
    /// The address to sign in with, at most 254 characters.
    email: String,
    /// 10 to 1024 characters.
    password: String,
    /// What they are called: 1 to 80 characters.
    name: String,
    /// The invitation from their e-mail.
    invite: Option<String>,
}

impl RequestBody for RegisterBody {}

impl RegisterBody {
    pub(crate) fn read(self) -> domain::Result<(Email, Register)> {
        let (email, password, name) = all((
            Email::parse("email", &self.email),
            Password::parse("password", &self.password),
            name_check("name", &self.name),
        ))?;
        let invite = self.invite.map(|text| invite_token(&text).ok_or_else(invitation_gone)).transpose()?;
        Ok((email, Register { password, name, invite: invite.map(|token| token.hash()) }))
    }
}

/// Reads the token of an invitation.
pub(crate) fn invite_token(text: &str) -> Option<Token> {
    text.trim().parse().ok().filter(|token: &Token| token.kind() == TokenKind::Invite)
}

/// A new account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegisterAnswer {
    /// The person.
    user: UserBody,
    /// The organization that the invitation led into.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "org_01jd7rt4m5e9fv2w8x3c6k0hqz")]
    org_id: Option<String>,
}

/// Make an account
///
/// A setting of the server says who may: anybody, whoever holds an invitation, or nobody. With an invitation, the person
/// joins its organization at once.
#[utoipa::path(post, path = "/v1/auth/register", responses(
    (status = 403, description = "Registration is by invitation.\n\nRegistration is closed.\n\n\
        This invitation was sent to another e-mail address."),
    (status = 404, description = "This invitation doesn't exist or has expired."),
    (status = 409, description = "There is an account with this email already."),
))]
pub(crate) async fn auth_register(
    caller: Anyone,
    body: Body<RegisterBody>,
    state: State,
) -> Result<Created<RegisterAnswer>> {
    let (email, command) = body.into_inner().read()?;
    let registered = state.actors.sign_in.ask(&email, command, caller.context()).await?;
    let org_id = registered.org_id.map(|org_id| org_id.to_string());
    Ok(Created(RegisterAnswer { user: registered.person.into(), org_id }))
}

/// The person who wants to sign in, and where.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "email": "ada@example.com", "password": "correct horse battery", "app": "authenticator", "platform": "ios",
    "installId": "6f1c9f3a-0c39-4a53-9d7e-1f0a3a2f1b6c"
}))]
pub(crate) struct SignInBody {
    /// The address.
    email: String,
    /// The password.
    password: String,
    /// A code of the authenticator app, or a recovery code, for whoever has a second factor.
    otp: Option<String>,
    /// The app that the sign-in is for.
    #[schema(value_type = String, example = "account")]
    app: App,
    /// What the app runs on: `web`, `ios`, `android` or `cli`.
    #[schema(value_type = String, example = "web")]
    platform: Platform,
    /// The app's own id of its install: 1 to 128 characters.
    install_id: Option<String>,
}

impl RequestBody for SignInBody {
    fn check(&self, problems: &mut Problems) {
        let fits = self.password.chars().count() <= *PASSWORD_LEN.end();
        problems.require(fits, "password", "Use at most 1024 characters.");
    }
}

impl SignInBody {
    pub(crate) fn read(self) -> domain::Result<(Email, OpenSignIn)> {
        let install_id = self.install_id.map(|text| text_check("installId", &text, &INSTALL_ID_LEN)).transpose();
        let (email, install_id) = all((Email::parse("email", &self.email), install_id))?;
        let Self { password, otp, app, platform, .. } = self;
        Ok((email, OpenSignIn { password, otp, app, platform, install_id }))
    }
}

/// A new sign-in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignInAnswer {
    /// The credential, shown once.
    #[schema(example = "trp_p_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd3Fy2")]
    token: String,
    /// The sign-in, by which it can be ended.
    #[schema(example = "sgn_01jd7rt4m5e9fv2w8x3c6k0hqz")]
    sign_in_id: String,
    /// The person who signed in.
    user: UserBody,
    /// When the sign-in ends unless its token is used.
    expires_at: i64,
}

/// Sign in
///
/// The sign-in is bound to the app and the platform. Ten failures for one address within 15 minutes lock it for 15,
/// whether there is such an account or not.
#[utoipa::path(post, path = "/v1/auth/sign-in", responses(
    (status = 401, description = "That email or password is wrong.\n\nEnter the code from your authenticator app.\n\n\
        That code is wrong."),
    (status = 429, description = "Too many failed attempts. Try again later."),
))]
pub(crate) async fn auth_sign_in(caller: Anyone, body: Body<SignInBody>, state: State) -> Result<Json<SignInAnswer>> {
    let (email, command) = body.into_inner().read()?;
    let opened = state.actors.sign_in.ask(&email, command, caller.context()).await?;
    Ok(Json(SignInAnswer {
        token: opened.token.reveal().to_owned(),
        sign_in_id: opened.sign_in.id.to_string(),
        user: opened.person.into(),
        expires_at: opened.sign_in.expires_at.as_millis(),
    }))
}

/// Sign out
///
/// Ends the sign-in whose token is shown, and what is tied to it.
#[utoipa::path(post, path = "/v1/auth/sign-out")]
pub(crate) async fn auth_sign_out(person: Person, state: State) -> Result<Json<Done>> {
    let id = person.sign_in_id();
    match state.actors.person.ask(&person.user_id(), EndSignIn(id), person.context()).await {
        // Somebody else was faster; it has ended all the same.
        Ok(()) | Err(Error::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    state.credentials.refresh(RevocationKind::SignIn, id);
    Ok(Json(Done::new()))
}

/// What was typed as the second factor.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"otp": "492039"}))]
pub(crate) struct OtpBody {
    /// A code of the authenticator app.
    pub(crate) otp: String,
}

impl RequestBody for OtpBody {}

/// Until when the second factor counts as just shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"confirmedUntil": 1_767_226_200_000_i64}))]
pub(crate) struct StepUpAnswer {
    /// Ten minutes on.
    confirmed_until: i64,
}

/// Show the second factor again
///
/// Some changes ask for it to be fresh. A recovery code will do, once. Failures count as those of signing in.
#[utoipa::path(post, path = "/v1/auth/step-up", responses(
    (status = 403, description = "That code is wrong."),
    (status = 409, description = "You have no second factor yet."),
    (status = 429, description = "Too many failed attempts. Try again later."),
))]
pub(crate) async fn auth_step_up(person: Person, body: Body<OtpBody>, state: State) -> Result<Json<StepUpAnswer>> {
    let command = StepUp { otp: body.into_inner().otp };
    let until = state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    state.credentials.refresh(RevocationKind::SignIn, person.sign_in_id());
    Ok(Json(StepUpAnswer { confirmed_until: until.as_millis() }))
}
