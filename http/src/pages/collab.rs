//! `GET …/pages/{pageId}/collab`, and the socket that it leads to: a page that people edit together.

use actix_web::HttpResponse;
use actors::pages::session::{Connection, Ending, JoinPage, StoredHistory, stored_history};
use base64::{Engine, prelude::BASE64_STANDARD};
use domain::{
    Error, Scope,
    id::{OrgId, PageId, UserId},
    pages::not_found,
    problems::Problems,
};
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    answer::Json,
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    path::Path,
    permission::KnowledgeRead,
    query::{Query, RequestQuery},
    socket::{Farewell, Incoming, Opening, Outgoing, SocketAddress, SocketKind, Source},
    state::State,
};

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
    id: Path<PageId>,
    query: Query<CollabQuery>,
    state: State,
) -> Result<Json<CollabAnswer>> {
    let page = state.store.page(org.id(), *id).await?.ok_or_else(not_found)?;
    let history = stored_history(&state.actors.kernel, &state.store, &page).await?;
    let can_write = org.scopes().contains(Scope::KnowledgeWrite) && page.archived_at.is_none();
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
    SocketPage(page_id): SocketPage,
    opening: Opening<Collab>,
    query: Query<CollabSocketQuery>,
    state: State,
) -> Result<HttpResponse> {
    let rights: Rights = serde_json::from_value(opening.ticket().rights.clone()).map_err(Error::internal)?;
    let user_id = opening.ticket().user_id;
    let org_id = state.store.page_head(page_id).await?.ok_or_else(not_found)?.org_id;
    let epochs = query.0.epoch.into_iter().chain(rights.epoch).collect();
    let join = JoinPage { user_id, may_write: rights.write, epochs };
    let connection = state.actors.page_session.ask(&page_id, join, opening.context()).await??;
    let source = CollabSource { state: State::clone(&state), org_id, user_id, may_write: rights.write, connection };
    if !source.is_still_allowed().await? {
        return Err(Error::MissingScope(Scope::KnowledgeRead).into());
    }
    opening.serve(source).await
}

/// A client of a page.
struct CollabSource {
    state: State,
    org_id: OrgId,
    user_id: UserId,
    may_write: bool,
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
        let (state, org_id, user_id, may_write) =
            (State::clone(&self.state), self.org_id, self.user_id, self.may_write);
        Box::pin(async move {
            let membership = state.store.membership(org_id, user_id).await?;
            Ok(membership.is_some_and(|membership| {
                let scopes = membership.scopes();
                scopes.contains(Scope::KnowledgeRead) && (!may_write || scopes.contains(Scope::KnowledgeWrite))
            }))
        })
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
