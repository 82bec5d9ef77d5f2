//! `GET …/pages/live`, and the socket that it leads to: what happens to the tree of pages, and who is on which page.

use actix_web::HttpResponse;
use actors::pages::live::{Viewer, Visit};
use bytestring::ByteString;
use domain::{
    Error, Scope,
    id::{OrgId, PageId},
    pages::live::{device_holds, tab_holds},
    problems::Problems,
};
use futures::future::LocalBoxFuture;
use http_shell::{
    answer::Json,
    call::Call,
    error::Result,
    org::{NOT_FOUND, Org, org_of},
    permission::KnowledgeRead,
    query::{Query, RequestQuery},
    socket::{Farewell, Incoming, Opening, Outgoing, SocketAddress, SocketKind, Source},
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::socket_right::SocketRight;

/// The end of a socket whose client speaks another language.
const UNREADABLE: Farewell =
    Farewell::Own(4400, "Messages are JSON: {\"type\": \"here\", \"pageId\": \"doc_…\" or null}.");

/// Who opens the socket.
#[derive(Debug, Deserialize, Serialize, IntoParams)]
pub(crate) struct PagesLiveQuery {
    /// Names the tab, for as long as it is open: 8 to 64 letters, digits, `_` and `-`.
    #[param(example = "tab-6f0d1c2e")]
    tab: String,
    /// Names the device to others: up to 60 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
}

impl RequestQuery for PagesLiveQuery {
    fn check(&self, problems: &mut Problems) {
        problems.require(tab_holds(&self.tab), "tab", "Use 8 to 64 letters, digits, _ and -.");
        let device = self.device.as_deref().unwrap_or_default();
        problems.require(device_holds(device), "device", "Use at most 60 characters, and no control characters.");
    }
}

/// Where the socket is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PagesLiveView {
    /// Open it with a WebSocket client; null for a key, which is no person and is never seen.
    socket: Option<SocketAddress>,
}

/// Find the socket of the tree of pages
///
/// One socket for each tab. Open `url?ticket=…` within two minutes.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/live")]
pub(crate) async fn pages_live(
    org: Org<KnowledgeRead>,
    query: Query<PagesLiveQuery>,
    state: State,
) -> Result<Json<PagesLiveView>> {
    let path = format!("/v1/sockets/pages-of/{}", org.id());
    let rights = serde_json::to_value(&query.0).map_err(Error::internal)?;
    let socket = SocketAddress::issue_in(&state, &org, &path, resource(org.id()), rights).await?;
    Ok(Json(PagesLiveView { socket }))
}

fn resource(org_id: OrgId) -> String {
    format!("pages:{org_id}")
}

/// The socket of an organization's pages.
pub(crate) struct PagesLive;

impl SocketKind for PagesLive {
    fn resource(call: &Call) -> Result<String> {
        org_of(call).map(resource)
    }
}

/// The organization that the socket's path names.
pub(crate) struct SocketOrg(OrgId);

impl http_shell::argument::Argument for SocketOrg {
    fn describe(facts: &mut http_shell::facts::Facts) {
        facts.path_parameter("orgId", "The organization.", "org_01jd7rt4m5e9fv2w8x3c6k0hqz");
        facts.error(404, NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        org_of(call).map(Self)
    }
}

/// Open the socket of the tree of pages
///
/// Messages are JSON. The first is `{"type": "ready", "revision", "present": [{userId, name, tab, device?, pageId}]}`: the
/// tree's revision, and who is there. Then come
///
/// - of the tree, each with the `revision` that it made and `by`, who did it: `page.created`, `page.changed`, `page.moved`
///   with the `page`, and `page.archived`, `page.restored`, `page.deleted` with `pageIds`;
/// - of people: `here` with `{userId, name, tab, device?, pageId}` when a tab opens or turns to another page, and `gone` with
///   `{userId, tab}`;
/// - `reset` with `revision`, and with `present` where that may have changed too: fetch the tree anew.
///
/// The client says which page its tab shows with `{"type": "here", "pageId": "doc_…"}`, or null for none. A page that isn't
/// the organization's is answered `{"type": "error", "error", "code"}`; what isn't JSON closes the socket with 4400.
#[utoipa::path(get, path = "/v1/sockets/pages-of/{orgId}",
    responses((status = 101, description = "The socket is open.")))]
pub(crate) async fn pages_live_socket(
    SocketOrg(org_id): SocketOrg,
    opening: Opening<PagesLive>,
    state: State,
) -> Result<HttpResponse> {
    let PagesLiveQuery { tab, device } =
        serde_json::from_value(opening.ticket().rights.clone()).map_err(Error::internal)?;
    let user_id = opening.ticket().user_id;
    let person = state.store.person(user_id).await?.ok_or(Error::Unauthenticated)?;
    let device = device.map(|device| device.trim().to_owned()).filter(|device| !device.is_empty());
    let viewer = Viewer { user_id, name: person.name, tab, device, page_id: None };
    let visit = state.page_rooms.visit(org_id, viewer).await?;
    let right = SocketRight { org_id, user_id, scopes: &[Scope::KnowledgeRead] };
    right.check(&state.store).await?;
    let source = PagesLiveSource { state: State::clone(&state), right, visit, refusal: None };
    opening.serve(source).await
}

/// What a client says.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Said {
    /// The tab shows this page.
    Here { page_id: Option<String> },
    /// What later clients may say.
    #[serde(other)]
    Other,
}

struct PagesLiveSource {
    state: State,
    right: SocketRight,
    visit: Visit,
    /// What the client is to be told of its last message.
    refusal: Option<Error>,
}

impl PagesLiveSource {
    async fn look_at(&mut self, page_id: Option<String>) -> domain::Result<()> {
        let not_found = domain::pages::not_found;
        let page_id = page_id.map(|text| text.parse::<PageId>().map_err(|_| not_found())).transpose()?;
        if let Some(page_id) = page_id {
            self.state.store.page(self.right.org_id, page_id).await?.ok_or_else(not_found)?;
        }
        self.visit.look_at(page_id);
        Ok(())
    }
}

impl Source for PagesLiveSource {
    async fn next(&mut self) -> Result<Outgoing, Farewell> {
        if let Some(error) = self.refusal.take() {
            let text = json!({"type": "error", "error": error.to_string(), "code": error.code()}).to_string();
            return Ok(Outgoing::Text(text.into()));
        }
        ByteString::try_from(self.visit.next().await).map(Outgoing::Text).map_err(|_| Farewell::Failed)
    }

    async fn received(&mut self, message: Incoming) -> Result<(), Farewell> {
        let Incoming::Text(text) = message else { return Err(UNREADABLE) };
        if let Said::Here { page_id } = serde_json::from_str(&text).map_err(|_| UNREADABLE)? {
            self.refusal = self.look_at(page_id).await.err();
        }
        Ok(())
    }

    fn is_still_allowed(&self) -> LocalBoxFuture<'static, domain::Result<bool>> {
        let (state, right) = (State::clone(&self.state), self.right);
        Box::pin(async move { right.holds(&state.store).await })
    }
}
