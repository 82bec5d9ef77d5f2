//! The one conversion from an error to an answer.
//!
//! The client reads the error's message and code, and what the endpoint adds beside them. What went wrong inside is
//! for the log, under the request id that the client has too.

use std::time::Duration;

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{Method, StatusCode, header},
};
use domain::{Error, Problem, Scope};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What handlers and their arguments return.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// Why a request was not answered with what it asked for.
#[derive(Clone, Debug)]
pub enum ApiError {
    /// The rules, the store or an owner said no.
    Domain(Error),
    /// 404 `no_route`: no endpoint has this path.
    NoRoute,
    /// 405: the path is served, with these methods.
    WrongMethod(Vec<Method>),
    /// 415: the body is not what the endpoint takes.
    UnsupportedMediaType(&'static str),
    /// 409 `idempotency_in_progress`: the first request with the same `Idempotency-Key` is still under way.
    InProgress {
        /// When repeating makes sense.
        retry_after: Duration,
    },
}

impl<E: Into<Error>> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self::Domain(error.into())
    }
}

/// An error as it is written: [`ErrorBody`], and what the endpoint adds.
#[derive(Serialize)]
struct Shown<'e> {
    error: String,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<&'e [Problem]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    #[serde(flatten)]
    adds: Option<&'e Map<String, Value>>,
}

/// What a client reads when something was not done. Some answers add fields beside these.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"error": "Sign in to continue.", "code": "unauthenticated"}))]
pub struct ErrorBody {
    /// A sentence for people.
    pub error: String,
    /// A stable slug for programs.
    pub code: String,
    /// One entry per field at fault, on a 400 `invalid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<ProblemBody>>,
    /// The permission that is missing, on a 403 `missing_scope`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// What Git LFS reads and writes.
pub const LFS_TYPE: &str = "application/vnd.git-lfs+json";

/// A refusal as Git LFS reads it, beside what other clients read.
#[derive(Serialize)]
struct ShownToLfs<'e> {
    #[serde(flatten)]
    shown: Shown<'e>,
    message: String,
    request_id: &'e str,
}

/// What Git LFS is told of a refusal, beside what other clients are.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "error": "Repository not found", "code": "not_found", "message": "Repository not found", "request_id": "d028b5d80d70018d-676"
}))]
pub struct LfsErrorBody {
    #[serde(flatten)]
    body: ErrorBody,
    /// A sentence for people.
    pub message: String,
    /// The request's id, which stands in the log.
    pub request_id: String,
}

/// One field at fault.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"path": "changes[3].itemId", "message": "Use 22 base64url characters."}))]
pub struct ProblemBody {
    /// Where the field stands, as `kdf.m` or `changes[3].itemId`; empty for the body itself.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl ApiError {
    /// The status that it answers with.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Domain(error) => StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            Self::NoRoute => StatusCode::NOT_FOUND,
            Self::WrongMethod(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::InProgress { .. } => StatusCode::CONFLICT,
        }
    }

    /// The stable slug.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Domain(error) => error.code(),
            Self::NoRoute => "no_route",
            Self::WrongMethod(_) => "wrong_method",
            Self::UnsupportedMediaType(_) => "unsupported_media_type",
            Self::InProgress { .. } => "idempotency_in_progress",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Domain(error) => error.to_string(),
            Self::NoRoute => "There is nothing at this address.".to_owned(),
            Self::WrongMethod(allowed) => {
                let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
                format!("Use {} here.", names.join(", "))
            }
            Self::UnsupportedMediaType(wanted) => format!("Send the body as {wanted}."),
            Self::InProgress { .. } => "The first request with this Idempotency-Key is still under way.".to_owned(),
        }
    }

    /// The answer. Failures inside are logged with `request_id`.
    pub fn response(&self, request_id: &str) -> HttpResponse {
        self.log(request_id);
        let mut response = HttpResponse::build(self.status());
        self.headers(&mut response);
        response.json(self.body())
    }

    /// The answer to git, which shows its people a text.
    pub(crate) fn response_to_git(&self, request_id: &str) -> HttpResponse {
        self.log(request_id);
        let mut response = HttpResponse::build(self.status());
        self.headers(&mut response);
        if self.status() == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Basic realm=\"Troupe\", charset=\"UTF-8\""));
        }
        response.content_type("text/plain; charset=utf-8").body(format!("{}\n", self.message()))
    }

    /// The answer to Git LFS.
    pub(crate) fn response_to_lfs(&self, request_id: &str) -> HttpResponse {
        self.log(request_id);
        let mut response = HttpResponse::build(self.status());
        self.headers(&mut response);
        if self.status() == StatusCode::UNAUTHORIZED {
            response.insert_header(("LFS-Authenticate", "Basic realm=\"Troupe\", charset=\"UTF-8\""));
        }
        let shown = ShownToLfs { shown: self.body(), message: self.message(), request_id };
        response.content_type(LFS_TYPE).body(serde_json::to_vec(&shown).unwrap_or_default())
    }

    fn body(&self) -> Shown<'_> {
        let (problems, scope, adds) = match self {
            Self::Domain(Error::Invalid { problems }) => (Some(problems.as_slice()), None, None),
            Self::Domain(Error::MissingScope(scope)) => (None, Some(*scope), None),
            Self::Domain(
                Error::BadRequest { adds, .. }
                | Error::Conflict { adds, .. }
                | Error::Forbidden { adds, .. }
                | Error::Unprocessable { adds, .. },
            ) => (None, None, Some(adds)),
            _ => (None, None, None),
        };
        Shown { error: self.message(), code: self.code(), problems, scope, adds }
    }

    fn headers(&self, response: &mut HttpResponseBuilder) {
        if let Self::WrongMethod(allowed) = self {
            let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
            response.insert_header((header::ALLOW, names.join(", ")));
        }
        if let Some(span) = self.retry_after() {
            let seconds = span.as_millis().div_ceil(1000).max(1);
            response.insert_header((header::RETRY_AFTER, seconds.to_string()));
        }
        if matches!(self, Self::Domain(Error::Unauthenticated | Error::SignedOut { .. })) {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Domain(error) => error.retry_after(),
            Self::InProgress { retry_after } => Some(*retry_after),
            _ => None,
        }
    }

    fn log(&self, request_id: &str) {
        match self {
            Self::Domain(Error::Internal { log }) => tracing::error!(request_id, error = %log, "a request failed"),
            Self::Domain(error @ (Error::Busy { .. } | Error::Stale)) => {
                tracing::warn!(request_id, code = error.code(), "a request was turned away");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actix_web::body::{MessageBody, to_bytes};
    use serde_json::json;

    use super::*;

    async fn shown(error: impl Into<ApiError>) -> (u16, Value, actix_web::http::header::HeaderMap) {
        let response = error.into().response("req");
        let headers = response.headers().clone();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body().boxed()).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap(), headers)
    }

    #[actix_web::test]
    async fn a_missing_credential_says_how_to_sign_in() {
        let (status, body, headers) = shown(Error::Unauthenticated).await;
        assert_eq!(status, 401);
        assert_eq!(body, json!({"error": "Sign in to continue.", "code": "unauthenticated"}));
        assert_eq!(headers.get("www-authenticate").unwrap(), "Bearer");
    }

    #[actix_web::test]
    async fn a_missing_scope_is_named_beside_the_sentence() {
        let (status, body, _) = shown(Error::MissingScope(Scope::OrgWrite)).await;
        assert_eq!(status, 403);
        assert_eq!(
            body,
            json!({"error": "This needs the org:write permission.", "code": "missing_scope", "scope": "org:write"})
        );
    }

    #[actix_web::test]
    async fn every_field_at_fault_is_listed() {
        let problems = vec![Problem { path: "kdf.m".into(), message: "Use 8192 or more.".into() }];
        let (status, body, _) = shown(Error::Invalid { problems }).await;
        assert_eq!(status, 400);
        assert_eq!(body["code"], "invalid");
        assert_eq!(body["problems"], json!([{"path": "kdf.m", "message": "Use 8192 or more."}]));
    }

    #[actix_web::test]
    async fn a_conflict_shows_the_state_that_is_there() {
        let mut adds = Map::new();
        adds.insert("vault".into(), Value::Null);
        let (status, body, _) =
            shown(Error::Conflict { code: "stale_revision", message: "It changed.".into(), adds }).await;
        assert_eq!(status, 409);
        assert_eq!(body, json!({"error": "It changed.", "code": "stale_revision", "vault": null}));
    }

    #[actix_web::test]
    async fn trying_again_is_told_in_whole_seconds_and_at_least_one() {
        for (millis, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2")] {
            let (status, _, headers) = shown(Error::busy(Duration::from_millis(millis))).await;
            assert_eq!(status, 503);
            assert_eq!(headers.get("retry-after").unwrap(), seconds, "{millis} ms");
        }
    }

    #[actix_web::test]
    async fn what_failed_inside_stays_inside() {
        let (status, body, _) = shown(Error::internal("disk /dev/sda1 is full")).await;
        assert_eq!(status, 500);
        assert_eq!(body, json!({"error": "Something went wrong on the server.", "code": "internal"}));
    }

    #[actix_web::test]
    async fn a_wrong_method_lists_the_right_ones() {
        let response = ApiError::WrongMethod(vec![Method::GET, Method::PUT]).response("req");
        assert_eq!(response.status(), 405);
        assert_eq!(response.headers().get("allow").unwrap(), "GET, PUT");
    }
}
