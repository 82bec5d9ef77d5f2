//! Signing in to the console, and who is signed in.

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderMap, HeaderName},
};
use actors::{person::EndSignIn, sign_in::OpenSignIn};
use domain::{
    App, Caller, Context, Email, Error, PersonCaller, Platform, Scope, Token, account::PASSWORD_LEN, problems::Problems,
};
use http_shell::{
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    caller::Anyone,
    error::Result,
    facts::Facts,
    origin,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::RevocationKind;
use utoipa::ToSchema;

use crate::admit;

/// The cookie that holds the token.
pub const COOKIE: &str = "troupe_console";
/// Where browsers send it to.
const COOKIE_PATH: &str = "/console";
/// How long a browser keeps it, in seconds. The sign-in itself lasts as long as any.
const COOKIE_LASTS: u32 = 12 * 60 * 60;
/// What whoever is signed in to the console may do.
const SCOPE: Scope = Scope::PlatformInfra;
/// What a page of elsewhere reads.
const ELSEWHERE: &str = "The console answers its own pages only.";

/// Somebody who is signed in to the console, and has the permission for it now.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) caller: PersonCaller,
    pub(crate) context: Context,
    token: Token,
}

impl Session {
    /// Whoever the cookie stands for; 401 without a good one, 403 without the permission.
    async fn of(call: &Call) -> Result<Self> {
        let token = cookie(call.request.headers()).ok_or(Error::Unauthenticated)?;
        let token: Token = token.parse().map_err(|_| Error::Unauthenticated)?;
        let caller = look_up(&call.state, &token).await?;
        let context = Context { caller: Caller::Person(caller.clone()), ..call.context.clone() };
        Ok(Self { caller, context, token })
    }

    /// Whether it still counts: the sign-in may have ended, and the permission may be gone.
    pub(crate) async fn still_counts(&self, state: &State) -> Result<()> {
        look_up(state, &self.token).await.map(drop)
    }
}

async fn look_up(state: &State, token: &Token) -> Result<PersonCaller> {
    let caller = state.credentials.caller_by_token(token, &state.store).await?;
    admit(state, &caller, &[SCOPE]).await?;
    match caller {
        Caller::Person(caller) => Ok(caller),
        Caller::Key(_)
        | Caller::AccessKey(_)
        | Caller::Job(_)
        | Caller::AppPassword(_)
        | Caller::Nobody
        | Caller::System => Err(Error::Unauthenticated.into()),
    }
}

/// The value of the console's cookie.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(name, _)| *name == COOKIE).map(|(_, value)| value.to_owned())
}

impl Argument for Session {
    fn describe(facts: &mut Facts) {
        facts.console();
        facts.scope(SCOPE);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let session = Self::of(call).await?;
        // A browser names the origin of whatever page it sends a request for that changes something, and of any page of
        // elsewhere that wants to read the answer.
        let is_own_page = origin::is_own_page(&call.state, call.request.headers());
        if is_own_page.unwrap_or_else(|| call.request.method().is_safe()) {
            Ok(session)
        } else {
            Err(Error::forbidden("other_origin", ELSEWHERE).into())
        }
    }
}

/// Whoever opens the console from a page of this server, or from no page at all.
pub(crate) struct FromOwnPage {
    caller: Anyone,
    is_secure: bool,
}

impl Argument for FromOwnPage {
    fn describe(facts: &mut Facts) {
        Anyone::describe(facts);
        facts.error(403, ELSEWHERE);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let headers = call.request.headers();
        if origin::is_own_page(&call.state, headers) == Some(false) {
            return Err(Error::forbidden("other_origin", ELSEWHERE).into());
        }
        let is_secure = origin::is_secure(&call.state, headers);
        Ok(Self { caller: Anyone::take(call).await?, is_secure })
    }
}

/// The person who opens the console.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"email": "owner@example.com", "password": "correct horse battery", "otp": "492039"}))]
pub(crate) struct ConsoleSignInBody {
    /// The address.
    email: String,
    /// The password.
    password: String,
    /// A code of the authenticator app, or a recovery code, for whoever has a second factor.
    otp: Option<String>,
}

impl RequestBody for ConsoleSignInBody {
    const LIMIT: usize = 16 * 1024;

    fn check(&self, problems: &mut Problems) {
        let fits = self.password.chars().count() <= *PASSWORD_LEN.end();
        problems.require(fits, "password", "Use at most 1024 characters.");
    }
}

/// The person who is signed in to the console.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "Ada Lovelace", "email": "ada@example.com", "node": "troupe-1-4711", "version": "0.1.0"}))]
pub(crate) struct ConsoleSession {
    /// What they are called.
    name: String,
    /// The address that they sign in with.
    email: String,
    /// The node that answers.
    node: String,
    /// The version of the program.
    version: &'static str,
}

impl ConsoleSession {
    fn new(person: store::accounts::Person, state: &State) -> Self {
        let node = state.actors.platform.node().to_owned();
        Self { name: person.name, email: person.email.to_string(), node, version: env!("CARGO_PKG_VERSION") }
    }
}

/// `Set-Cookie`, for a cookie that is told to this server by its own pages and shown to no script.
fn set_cookie(value: &str, lasts: u32, is_secure: bool) -> (HeaderName, String) {
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={value}; Path={COOKIE_PATH}; Max-Age={lasts}; HttpOnly; SameSite=Strict{secure}");
    (header::SET_COOKIE, cookie)
}

/// Sign in to the operators' console
///
/// As `POST /v1/auth/sign-in`; the token comes as a cookie that scripts can't read and that only the console accepts.
/// Whoever lacks the permission is signed out again.
#[utoipa::path(post, path = "/console/session", responses(
    (status = 200, description = "Signed in.", body = ConsoleSession),
    (status = 401, description = "That email or password is wrong.\n\nEnter the code from your authenticator app.\n\n\
        That code is wrong."),
    (status = 403, description = "This needs the platform:infra permission."),
    (status = 429, description = "Too many failed attempts. Try again later."),
))]
pub(crate) async fn console_sign_in(
    from: FromOwnPage,
    body: Body<ConsoleSignInBody>,
    state: State,
) -> Result<HttpResponse> {
    let ConsoleSignInBody { email, password, otp } = body.into_inner();
    let email = Email::parse("email", &email)?;
    let command = OpenSignIn { password, otp, app: App::Admin, platform: Platform::Web, install_id: None };
    let opened = state.actors.sign_in.ask(&email, command, from.caller.context()).await?;
    if let Err(refusal) = look_up(&state, &opened.token).await {
        state.actors.person.ask(&opened.person.id, EndSignIn(opened.sign_in.id), from.caller.context()).await?;
        state.credentials.refresh(RevocationKind::SignIn, opened.sign_in.id);
        return Err(refusal);
    }
    let cookie = set_cookie(opened.token.reveal(), COOKIE_LASTS, from.is_secure);
    Ok(HttpResponse::Ok().insert_header(cookie).json(ConsoleSession::new(opened.person, &state)))
}

/// See who is signed in to the operators' console
#[utoipa::path(get, path = "/console/session",
    responses((status = 200, description = "Signed in.", body = ConsoleSession)))]
pub(crate) async fn console_session(session: Session, state: State) -> Result<HttpResponse> {
    let person = state.store.person(session.caller.user_id).await?.ok_or(Error::Unauthenticated)?;
    Ok(HttpResponse::Ok().json(ConsoleSession::new(person, &state)))
}

/// Sign out of the operators' console
#[utoipa::path(delete, path = "/console/session", responses((status = 204, description = "Done.")))]
pub(crate) async fn console_sign_out(session: Session, state: State) -> Result<HttpResponse> {
    let id = session.caller.sign_in_id;
    match state.actors.person.ask(&session.caller.user_id, EndSignIn(id), session.context).await {
        // Somebody else was faster; it has ended all the same.
        Ok(()) | Err(Error::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    state.credentials.refresh(RevocationKind::SignIn, id);
    Ok(HttpResponse::NoContent().insert_header(set_cookie("", 0, false)).finish())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        assert_eq!(cookie(&headers), None);
        headers.append(header::COOKIE, HeaderValue::from_static("a=b; other_troupe_console=x"));
        assert_eq!(cookie(&headers), None);
        headers.append(header::COOKIE, HeaderValue::from_static("c=d;troupe_console=token; e=f"));
        assert_eq!(cookie(&headers).as_deref(), Some("token"));
    }
}
