//! `GET …/pages/{pageId}/collab`, and the socket that it leads to: a page that people edit together.

use actix_web::HttpResponse;
use actors::pages::session::{Connection, Ending, JoinPage, StoredHistory, stored_history};
use base64::{Engine, prelude::BASE64_STANDARD};
use domain::{
    Error, Scope,
    id::{OrgId, PageId},
    pages::{Page, not_found},
    problems::Problems,
};
use futures::future::LocalBoxFuture;
use http_shell::{
    answer::Json,
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    owned::Owned,
    permission::KnowledgeRead,
    query::{Query, RequestQuery},
    socket::{Farewell, Incoming, Opening, Outgoing, SocketAddress, SocketKind, Source},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::Store;
use utoipa::{IntoParams, ToSchema};

use super::socket_right::SocketRight;

/// Whether a ticket is wanted.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct CollabQuery {
    /// `1` for a socket with its ticket; otherwise `0`.
    #[param(example = "1")]
    ticket: Option<String>,
}

impl RequestQuery for CollabQuery {
    fn check(&self, problems: &mut Problems) {
        let holds = self.ticket.as_deref().is_none_or(|text| matches!(text, "0" | "1"));
        problems.require(holds, "ticket", "Use 0 or 1.");
    }
}

/// How a page is edited together.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "contentVersion": 4, "canWrite": true, "epoch": "pge_01jd7rt4m5e9fv2w8x3c6k0hqz", "seq": 1_767_229_200_000_i64,
    "state": "AAA=", "socket": {
        "url": "wss://troupe.example.com/v1/sockets/pages/doc_01jd7rt4m5e9fv2w8x3c6k0hqz",
        "ticket": "mJ0p1zYkq3c7W2n9s5v8x1b4d6f0h2j4l6n8p0r2t4U"
    }
}))]
pub(crate) struct CollabAnswer {
    /// Counts how often the page's content was written.
    content_version: i64,
    /// Whether the caller's updates are taken.
    can_write: bool,
    /// Names the shared history; null before anyone opened the page this way, and after a write from outside.
    epoch: Option<String>,
    /// Rises with everything that is written in the history.
    seq: i64,
    /// The shared document, as a Yjs update (format 1) in base64.
    state: String,
    /// Where it is edited; null where no ticket was asked for, or for a key, which is no person.
    socket: Option<SocketAddress>,
}

/// What a ticket says.
#[derive(Debug, Deserialize, Serialize)]
struct Rights {
    write: bool,
    epoch: Option<String>,
}

/// How a page is edited together
///
/// The socket speaks the protocol of y-websocket, so that a stock Yjs provider connects with `params: {ticket}`. Without
/// `knowledge:write` one sees what others do, and one's own updates are refused.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/{pageId}/collab")]
pub(crate) async fn page_collab(
    org: Org<KnowledgeRead>,
    query: Query<CollabQuery>,
    page: Owned<Page>,
    state: State,
) -> Result<Json<CollabAnswer>> {
    let history = stored_history(&state.actors.kernel, &state.store, &page).await?;
    let can_write = org.authority().has(Scope::KnowledgeWrite) && page.archived_at.is_none();
    let (epoch, seq, document) = match history {
        Some(StoredHistory { epoch, seq, state }) => (Some(epoch), seq, state),
        None => (None, 0, EMPTY_UPDATE.to_vec()),
    };
    let socket = if query.ticket.as_deref() == Some("1") {
        let rights = Rights { write: can_write, epoch: epoch.clone() };
        let rights = serde_json::to_value(rights).map_err(Error::internal)?;
        SocketAddress::issue_in(&state, &org, &format!("/v1/sockets/pages/{}", page.id), resource(page.id), rights)
            .await?
    } else {
        None
    };
    let content_version = page.content_version;
    let state = BASE64_STANDARD.encode(document);
    Ok(Json(CollabAnswer { content_version, can_write, epoch, seq, state, socket }))
}

/// What it takes to see what others do.
const READS: &[Scope] = &[Scope::KnowledgeRead];
/// What it takes to do something too.
const WRITES: &[Scope] = &[Scope::KnowledgeRead, Scope::KnowledgeWrite];

/// A Yjs update that says nothing.
const EMPTY_UPDATE: [u8; 2] = [0, 0];

fn resource(page_id: PageId) -> String {
    format!("page:{page_id}")
}

fn page_of(call: &Call) -> Result<PageId> {
    Ok(call.path_value("pageId")?.parse().map_err(|_| not_found())?)
}

/// The socket of a page that people edit together.
pub(crate) struct Collab;

impl SocketKind for Collab {
    fn resource(call: &Call) -> Result<String> {
        page_of(call).map(resource)
    }
}

/// The page that the socket's path names.
pub(crate) struct SocketPage(PageId);

impl SocketPage {
    /// Whose it is. 404 for one that there is no more.
    async fn org_id(&self, store: &Store) -> domain::Result<OrgId> {
        let head = store.page_head(self.0).await?.ok_or_else(not_found)?;
        Ok(head.org_id)
    }
}

impl Argument for SocketPage {
    fn describe(facts: &mut Facts) {
        facts.path_parameter("pageId", "The page.", "doc_01jd7rt4m5e9fv2w8x3c6k0hqz");
        facts.error(404, "Page not found");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        page_of(call).map(Self)
    }
}

/// Which history the client knows.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct CollabSocketQuery {
    /// The history that the client's document belongs to: another one closes the socket at once. Without it, the one that
    /// the ticket was issued for counts.
    epoch: Option<String>,
}

impl RequestQuery for CollabSocketQuery {}

/// Open the socket of a page that people edit together
///
/// Messages are those of y-websocket: sync steps 1 and 2, updates, awareness. A sync answer comes when all that the client
/// said before is kept. The server closes with 4400 (a message that doesn't read), 4401 (sign in again), 4403 (a right is
/// gone; fetch a new ticket), 4404 (the page is in the trash, or deleted), 4409 (the page was changed elsewhere: begin with
/// a new document), 4413 (the page would become larger than 1 MB; the update was not taken).
#[utoipa::path(get, path = "/v1/sockets/pages/{pageId}",
    responses((status = 101, description = "The socket is open.")))]
pub(crate) async fn page_collab_socket(
    page: SocketPage,
    opening: Opening<Collab>,
    query: Query<CollabSocketQuery>,
    state: State,
) -> Result<HttpResponse> {
    let rights: Rights = serde_json::from_value(opening.ticket().rights.clone()).map_err(Error::internal)?;
    let user_id = opening.ticket().user_id;
    let org_id = page.org_id(&state.store).await?;
    let epochs = query.0.epoch.into_iter().chain(rights.epoch).collect();
    let join = JoinPage { user_id, may_write: rights.write, epochs };
    let connection = state.actors.page_session.ask(&page.0, join, opening.context()).await??;
    let right = SocketRight { org_id, user_id, scopes: if rights.write { WRITES } else { READS } };
    right.check(&state.store).await?;
    opening.serve(CollabSource { state: State::clone(&state), right, connection }).await
}

/// A client of a page.
struct CollabSource {
    state: State,
    right: SocketRight,
    connection: Connection,
}

impl Source for CollabSource {
    async fn next(&mut self) -> Result<Outgoing, Farewell> {
        self.connection.next().await.map(Outgoing::Binary).map_err(farewell)
    }

    fn try_next(&mut self) -> Option<Result<Outgoing, Farewell>> {
        self.connection.try_next().map(|next| next.map(Outgoing::Binary).map_err(farewell))
    }

    async fn received(&mut self, message: Incoming) -> Result<(), Farewell> {
        match message {
            Incoming::Binary(bytes) => self.connection.received(&bytes).await.map_err(farewell),
            // The protocol is bytes.
            Incoming::Text(_) => Err(farewell(Ending::Malformed)),
        }
    }

    fn is_still_allowed(&self) -> LocalBoxFuture<'static, domain::Result<bool>> {
        let (state, right) = (State::clone(&self.state), self.right);
        Box::pin(async move { right.holds(&state.store).await })
    }
}

fn farewell(ending: Ending) -> Farewell {
    match ending {
        Ending::Failed => Farewell::Failed,
        Ending::TooSlow => Farewell::TooSlow,
        ending => {
            let (code, reason) = ending.close();
            Farewell::Own(code, reason)
        }
    }
}
