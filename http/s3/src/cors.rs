//! Browsers use buckets from the origins that the buckets' CORS rules name. A preflight isn't signed, so it finds a bucket
//! by the name that no other has, or by its own one where the address names a key; the answer to a signed request follows the
//! bucket that it is for.

use domain::{
    id::OrgId,
    storage::{CorsMethod, CorsRequest, CorsRule},
};
use hyper::{
    HeaderMap, Method, Response, StatusCode, Uri,
    header::{self, HeaderName, HeaderValue},
    http::request,
};
use s3s::{Body, S3Error, S3ErrorCode, S3Result};

use crate::{
    error::refusal,
    service::Door,
    visit::{Visit, Visitor},
};

/// What the answer of a preflight depends on.
const VARY: HeaderValue =
    HeaderValue::from_static("Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
/// Headers that a preflight names, at most: more than a rule can.
const HEADERS_MAX: usize = 101;

/// What a page asks of the answer to its request.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    origin: HeaderValue,
    method: CorsMethod,
}

impl Asking {
    /// What a request's headers say; none where no page asks.
    pub fn of(head: &request::Parts) -> Option<Self> {
        let origin = head.headers.get(header::ORIGIN)?.clone();
        Some(Self { origin, method: CorsMethod::from_name(head.method.as_str())? })
    }
}

impl Door {
    /// The answer to a browser that asks beforehand; none for any other request.
    pub(crate) async fn preflight(&self, visit: &Visit, head: &request::Parts) -> Option<S3Result<Response<Body>>> {
        if head.method != Method::OPTIONS {
            return None;
        }
        visit.is_for("Preflight");
        let own = self.organization_named(&head.uri).await;
        Some(self.preflight_answer(visit, &head.headers, own).await)
    }

    /// The organization of the key that an address names which is signed in advance. Whether it is signed nobody has looked at,
    /// and nothing rests on that: the request that follows is.
    async fn organization_named(&self, uri: &Uri) -> Option<OrgId> {
        let mut query = form_urlencoded::parse(uri.query()?.as_bytes());
        let (_, credential) = query.find(|(name, _)| name == "X-Amz-Credential")?;
        let id = credential.split('/').next().unwrap_or_default();
        Some(self.keys.find(id).await.ok()??.caller.org_id)
    }

    async fn preflight_answer(
        &self,
        visit: &Visit,
        headers: &HeaderMap,
        own: Option<OrgId>,
    ) -> S3Result<Response<Body>> {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let bad = || {
            S3Error::with_message(
                S3ErrorCode::InvalidRequest,
                "Insufficient information. Origin request header needed.",
            )
        };
        let origin = text(header::ORIGIN).ok_or_else(bad)?;
        let method = text(header::ACCESS_CONTROL_REQUEST_METHOD).and_then(CorsMethod::from_name).ok_or_else(bad)?;
        let names = text(header::ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|it| !it.is_empty()).take(HEADERS_MAX).collect();
        let rule = self.cors_rule(visit, own, &CorsRequest { origin, method, headers: &names }).await?;
        let message = "CORSResponse: This CORS request is not allowed.";
        let rule = rule.ok_or_else(|| S3Error::with_message(S3ErrorCode::AccessDenied, message))?;
        let methods: Vec<&str> = rule.methods.iter().map(|method| method.as_str()).collect();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(header::VARY, VARY);
        put(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, if rule.is_for_everybody() { "*" } else { origin });
        put(headers, header::ACCESS_CONTROL_ALLOW_METHODS, &methods.join(", "));
        if !names.is_empty() {
            put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, &names.join(", "));
        }
        put(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &rule.expose.join(", "));
        if let Some(max_age) = rule.max_age {
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(max_age));
        }
        Ok(response)
    }

    /// Lets a page read an answer, where a rule of the bucket says so.
    pub(crate) async fn cors_allow(&self, visit: &Visit, asking: &Asking, headers: &mut HeaderMap) {
        let own = match visit.visitor() {
            Visitor::Key(key) => Some(key.caller.org_id),
            Visitor::Stranger => None,
        };
        let Ok(origin) = asking.origin.to_str() else { return };
        let request = CorsRequest { origin, method: asking.method, headers: &[] };
        // Without the rules no page reads the answer, which is there all the same.
        let Ok(Some(rule)) = self.cors_rule(visit, own, &request).await else { return };
        headers.insert(header::VARY, VARY);
        put(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, if rule.is_for_everybody() { "*" } else { origin });
        put(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &rule.expose.join(", "));
    }

    async fn cors_rule(
        &self,
        visit: &Visit,
        own: Option<OrgId>,
        request: &CorsRequest<'_>,
    ) -> S3Result<Option<CorsRule>> {
        let Some(name) = &visit.place.bucket else { return Ok(None) };
        let Some(bucket) = self.store.bucket_called(own, name).await.map_err(refusal)? else { return Ok(None) };
        let rules = self.store.bucket_cors(bucket.seen.no).await.map_err(refusal)?;
        Ok(rules.find(request).cloned())
    }
}

/// Adds a header, unless it says nothing.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value)
        && !value.is_empty()
    {
        headers.insert(name, value);
    }
}
