//! A person's own account, and their password.

use actors::person::{ChangePassword, ChangeProfile};
use domain::{
    Error,
    account::{PASSWORD_LEN, Password, locale_check, name_check, phone_check, time_zone_check},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Json, Object},
    body::{Body, RequestBody},
    caller::Person,
    error::Result,
    state::State,
    wire::{Done, nullable},
};
use serde::{Deserialize, Serialize};
use store::{RevocationKind, accounts};
use utoipa::ToSchema;

/// A person, as they see themselves.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "userId": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "email": "ada@example.com", "name": "Ada Lovelace", "locale": "en",
    "timeZone": "Europe/London", "phone": null, "otpEnrolled": true, "passwordChangeDue": false,
    "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct UserBody {
    /// The account's id.
    user_id: String,
    /// The address that they sign in with.
    email: String,
    /// What they are called.
    name: String,
    /// The person's language, such as `de-AT`.
    locale: Option<String>,
    /// The person's time zone, such as `Europe/Vienna`.
    time_zone: Option<String>,
    /// The person's telephone number, such as `+431234567`.
    phone: Option<String>,
    /// Whether signing in asks for a second factor.
    otp_enrolled: bool,
    /// Whether somebody else chose the password, so that they should change it.
    password_change_due: bool,
    /// Since when they have an account.
    created_at: i64,
}

impl From<accounts::Person> for UserBody {
    fn from(person: accounts::Person) -> Self {
        Self {
            user_id: person.id.to_string(),
            email: person.email.to_string(),
            name: person.name,
            locale: person.locale,
            time_zone: person.time_zone,
            phone: person.phone,
            otp_enrolled: person.otp_secret.is_some(),
            password_change_due: person.password_change_due,
            created_at: person.created_at.as_millis(),
        }
    }
}

/// The person who asks.
#[derive(Serialize, ToSchema)]
pub(crate) struct UserAnswer {
    /// The account.
    user: UserBody,
}

/// Your account
#[utoipa::path(get, path = "/v1/me")]
pub(crate) async fn me_get(person: Person, state: State) -> Result<Object<UserAnswer>> {
    let found = state.store.person(person.user_id()).await?.ok_or(Error::Unauthenticated)?;
    Ok(Object(UserAnswer { user: found.into() }))
}

/// What to change; what is absent stays as it is, null takes a value away.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Ada King", "locale": "en", "timeZone": "Europe/London", "phone": "+44 20 7946 0018"}))]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct UserPatch {
    /// What they are called: 1 to 80 characters.
    name: Option<String>,
    /// The person's language, such as `de-AT`.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    locale: Option<Option<String>>,
    /// The person's time zone, such as `Europe/Vienna`.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    time_zone: Option<Option<String>>,
    /// The person's telephone number with its country code.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    phone: Option<Option<String>>,
}

impl RequestBody for UserPatch {}

impl UserPatch {
    pub(crate) fn read(self) -> domain::Result<ChangeProfile> {
        let field = |given: Option<Option<String>>, path, check: fn(&str, &str) -> domain::Result<String>| {
            given.map(|value| value.map(|text| check(path, &text)).transpose()).transpose()
        };
        let (name, locale, time_zone, phone) = all((
            self.name.map(|text| name_check("name", &text)).transpose(),
            field(self.locale, "locale", locale_check),
            field(self.time_zone, "timeZone", time_zone_check),
            field(self.phone, "phone", phone_check),
        ))?;
        Ok(ChangeProfile { name, locale, time_zone, phone })
    }
}

/// Change your account
#[utoipa::path(patch, path = "/v1/me")]
pub(crate) async fn me_patch(person: Person, body: Body<UserPatch>, state: State) -> Result<Json<UserAnswer>> {
    let command = body.into_inner().read()?;
    let changed = state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(UserAnswer { user: changed.into() }))
}

/// The password of now and the next one.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"currentPassword": "correct horse battery", "password": "staple of the next year"}))]
pub(crate) struct PasswordBody {
    /// The password of now.
    current_password: String,
    /// The next one: 10 to 1024 characters.
    password: String,
}

impl RequestBody for PasswordBody {
    fn check(&self, problems: &mut Problems) {
        let fits = self.current_password.chars().count() <= *PASSWORD_LEN.end();
        problems.require(fits, "currentPassword", "Use at most 1024 characters.");
    }
}

/// Change your password
///
/// Ends every other sign-in, and all app passwords. Failures count as those of signing in.
#[utoipa::path(post, path = "/v1/me/password", responses(
    (status = 403, description = "That password is wrong."),
    (status = 429, description = "Too many failed attempts. Try again later."),
))]
pub(crate) async fn me_password(person: Person, body: Body<PasswordBody>, state: State) -> Result<Json<Done>> {
    let body = body.into_inner();
    let new = Password::parse("password", &body.password)?;
    let command = ChangePassword { current: body.current_password, new };
    state.actors.person.ask(&person.user_id(), command, person.context()).await?;
    state.credentials.refresh(RevocationKind::User, person.user_id());
    Ok(Json(Done::new()))
}
