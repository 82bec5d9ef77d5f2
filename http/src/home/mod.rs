//! What a browser finds: at `/` a page that says what this is, and at the addresses that messages link to a page that says
//! what they name.
//!
//! Links are opened by whoever has them, signed in or not. So such a page is made of its own address alone: it shows which
//! kind of thing an id is of and where the API has it, and reads nothing from the store. What is there and what isn't read
//! the same.

use std::sync::LazyLock;

use actix_web::{HttpResponse, http::header};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    id::{EscalationId, OrgId, PageId, ProtocolId},
    issues::{key::IssueKey, limits::ISSUE_NOT_FOUND},
};
use http_shell::{
    argument::Argument,
    call::Call,
    caller::Anyone,
    error::{ApiError, Result},
    facts::Facts,
    path::{Path, PathParameter},
    state::State,
};
use sha2::{Digest, Sha256};

use crate::reference::escape;

const STYLE: &str = include_str!("style.css");
const HOME: &str = include_str!("home.html");
/// How long browsers may keep a page.
const CACHE: &str = "public, max-age=300";

/// What a page may load and run: its own style, and nothing else.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

/// A browser: whoever takes HTML. To anything else there is nothing at this address.
pub(crate) struct Browser;

impl Argument for Browser {
    fn describe(facts: &mut Facts) {
        facts.error(404, "There is nothing at this address.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let accepted = call.header(header::ACCEPT).unwrap_or_default();
        let takes_html = accepted.split([',', ';']).any(|kind| kind.trim().eq_ignore_ascii_case("text/html"));
        if takes_html { Ok(Self) } else { Err(ApiError::NoRoute) }
    }
}

/// Find out what this is
///
/// A page for browsers, which leads to this reference, to the operators' console and to co-editing.
#[utoipa::path(get, path = "/", responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn home_get(_: Anyone, _: Browser) -> HttpResponse {
    page("Troupe", HOME)
}

/// Follow a link to an organization
///
/// A page for people that names the organization's id and its address in the API.
#[utoipa::path(get, path = "/orgs/{orgId}", responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn org_link(_: Anyone, org_id: Path<OrgId>, state: State) -> HttpResponse {
    linked(&state, "Organization", &org_id.to_string(), &format!("/v1/orgs/{}", *org_id))
}

/// Follow a link to a notes page
///
/// A page for people that names the notes page's id and its address in the API.
#[utoipa::path(get, path = "/orgs/{orgId}/pages/{pageId}",
    responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn page_link(_: Anyone, org_id: Path<OrgId>, id: Path<PageId>, state: State) -> HttpResponse {
    linked(&state, "Notes page", &id.to_string(), &format!("/v1/orgs/{}/pages/{}", *org_id, *id))
}

/// An issue, as a link names it.
pub(crate) struct LinkedIssue(IssueKey);

impl PathParameter for LinkedIssue {
    const NAME: &'static str = "issueKey";
    const DESCRIPTION: &'static str = "An issue.";
    const EXAMPLE: &'static str = "WEB-12";
    const NOT_FOUND: &'static str = ISSUE_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// Follow a link to an issue
///
/// A page for people that names the issue's key and its address in the API.
#[utoipa::path(get, path = "/orgs/{orgId}/issues/{issueKey}",
    responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn issue_link(
    _: Anyone,
    org_id: Path<OrgId>,
    Path(LinkedIssue(key)): Path<LinkedIssue>,
    state: State,
) -> HttpResponse {
    linked(&state, "Issue", &key.to_string(), &format!("/v1/orgs/{}/issues/{key}", *org_id))
}

/// Follow a link to an escalation
///
/// A page for people that names the escalation's id and its address in the API.
#[utoipa::path(get, path = "/orgs/{orgId}/notify/escalations/{escalationId}",
    responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn escalation_link(
    _: Anyone,
    org_id: Path<OrgId>,
    id: Path<EscalationId>,
    state: State,
) -> HttpResponse {
    linked(&state, "Escalation", &id.to_string(), &format!("/v1/orgs/{}/notify/escalations/{}", *org_id, *id))
}

/// Follow a link to a notification protocol
///
/// A page for people that names the protocol's id and its address in the API.
#[utoipa::path(get, path = "/orgs/{orgId}/notify/protocols/{protocolId}",
    responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn protocol_link(_: Anyone, org_id: Path<OrgId>, id: Path<ProtocolId>, state: State) -> HttpResponse {
    linked(&state, "Notification protocol", &id.to_string(), &format!("/v1/orgs/{}/notify/protocols/{}", *org_id, *id))
}

/// The page for a thing of this kind, which the API has at `address`.
fn linked(state: &State, kind: &str, id: &str, address: &str) -> HttpResponse {
    let (id, address) = (escape(id), escape(&format!("{}{address}", state.options.public_url)));
    let body = format!(
        "<main><h1>{kind}</h1><p class=\"id\">{id}</p>\
         <p>Apps show it to whoever is signed in and may see it. The API has it at</p>\
         <p class=\"id\"><a href=\"{address}\">{address}</a></p>\
         <p><a href=\"/\">What this is</a> · <a href=\"/docs\">Reference</a> · \
         <a href=\"/docs/co-editing\">Write pages together</a></p></main>"
    );
    page(kind, &body)
}

fn page(title: &str, body: &str) -> HttpResponse {
    let text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title><style>{STYLE}</style></head>\
         <body>{body}</body></html>\n"
    );
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .insert_header((header::CACHE_CONTROL, CACHE))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY.as_str()))
        .insert_header((header::VARY, "Accept"))
        .body(text)
}
