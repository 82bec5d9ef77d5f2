//! The app passwords of a person.

use actors::person::{MakeAppPassword, RevokeAppPassword};
use domain::{
    Timestamp,
    account::name_check,
    app_password::{AppPasswordUse, app_password_uses},
    id::{AppPasswordId, OrgId},
    problems::all,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    caller::Person,
    error::Result,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::accounts::AppPassword;
use utoipa::ToSchema;

/// What an app password opens.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AppPasswordUseBody {
    /// Reading mail.
    Imap,
    /// Sending mail.
    Smtp,
    /// Calendars and contacts.
    Dav,
}

impl From<AppPasswordUse> for AppPasswordUseBody {
    fn from(it: AppPasswordUse) -> Self {
        match it {
            AppPasswordUse::Imap => Self::Imap,
            AppPasswordUse::Smtp => Self::Smtp,
            AppPasswordUse::Dav => Self::Dav,
        }
    }
}

impl From<AppPasswordUseBody> for AppPasswordUse {
    fn from(it: AppPasswordUseBody) -> Self {
        match it {
            AppPasswordUseBody::Imap => Self::Imap,
            AppPasswordUseBody::Smtp => Self::Smtp,
            AppPasswordUseBody::Dav => Self::Dav,
        }
    }
}

/// An app password, without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "appPasswordId": "apw_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Thunderbird",
    "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "uses": ["imap", "smtp"], "createdAt": 1_767_225_600_000_i64,
    "lastUsedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct AppPasswordBody {
    /// The app password's id.
    app_password_id: String,
    /// What it is called.
    name: String,
    /// The organization whose mailboxes it opens, those that its person is a member of.
    org_id: String,
    /// What it is for.
    uses: Vec<AppPasswordUseBody>,
    /// When it was made.
    created_at: i64,
    /// When it was last used, to the hour.
    last_used_at: Option<i64>,
}

impl From<AppPassword> for AppPasswordBody {
    fn from(password: AppPassword) -> Self {
        Self {
            app_password_id: password.id.to_string(),
            name: password.name,
            org_id: password.org_id.to_string(),
            uses: password.uses.into_iter().map(AppPasswordUseBody::from).collect(),
            created_at: password.created_at.as_millis(),
            last_used_at: password.last_used_at.map(Timestamp::as_millis),
        }
    }
}

/// The app passwords of a person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppPasswordsAnswer {
    /// All of them, the oldest first; there are at most 20.
    app_passwords: Vec<AppPasswordBody>,
}

/// Your app passwords
///
/// What mail clients sign in with that can't ask for a second factor.
#[utoipa::path(get, path = "/v1/me/app-passwords")]
pub(crate) async fn app_passwords_list(person: Person, state: State) -> Result<Json<AppPasswordsAnswer>> {
    let found = state.store.app_passwords(person.user_id()).await?;
    Ok(Json(AppPasswordsAnswer { app_passwords: found.into_iter().map(AppPasswordBody::from).collect() }))
}

/// A new app password.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "name": "Thunderbird", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "uses": ["imap", "smtp"]
}))]
pub(crate) struct AppPasswordCreate {
    /// What it is called: 1 to 80 characters.
    name: String,
    /// The organization whose mailboxes it shall open.
    org_id: String,
    /// What it is for: at least one use.
    uses: Vec<AppPasswordUseBody>,
}

impl RequestBody for AppPasswordCreate {}

impl AppPasswordCreate {
    fn command(self) -> domain::Result<MakeAppPassword> {
        let org_id = self.org_id.parse::<OrgId>();
        let org_id = org_id.map_err(|_| domain::Error::invalid("orgId", "You have no organization with this id."));
        let uses: Vec<AppPasswordUse> = self.uses.into_iter().map(AppPasswordUse::from).collect();
        let (name, org_id, uses) = all((name_check("name", &self.name), org_id, app_password_uses(&uses)))?;
        Ok(MakeAppPassword { org_id, name, uses })
    }
}

/// A new app password with its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppPasswordAnswer {
    /// The app password.
    app_password: AppPasswordBody,
    /// The secret, shown once. The user name beside it is the address of a mailbox.
    #[schema(example = "trp_a_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2")]
    secret: String,
}

/// Make an app password
///
/// People with a second factor must have shown it within the last ten minutes: at sign-in, or to `POST /v1/auth/step-up`. The
/// secret is shown once and not kept, so a lost answer can't be repeated: revoke the app password and make another. It ends
/// with its person's part in the organization, and when their password changes.
#[utoipa::path(post, path = "/v1/me/app-passwords", responses(
    (status = 400, description = "A person has at most 20 app passwords."),
    (status = 403, description = "Confirm with your second factor first."),
    (status = 404, description = "Organization not found."),
))]
pub(crate) async fn app_password_create(
    person: Person,
    body: Body<AppPasswordCreate>,
    state: State,
) -> Result<Created<AppPasswordAnswer>> {
    let command = body.into_inner().command()?;
    let (password, token) = state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    Ok(Created(AppPasswordAnswer { app_password: password.into(), secret: token.reveal().to_owned() }))
}

/// Revoke an app password
///
/// The secret opens nothing from that moment on.
#[utoipa::path(delete, path = "/v1/me/app-passwords/{appPasswordId}")]
pub(crate) async fn app_password_revoke(person: Person, id: Path<AppPasswordId>, state: State) -> Result<NoContent> {
    state.actors.person.ask(&person.user_id(), RevokeAppPassword(*id), person.context()).await?;
    Ok(NoContent)
}
