//! `GET /v1/me/live`, and the socket that it leads to: all that is live for a person (decisions, "Sockets").

use std::time::Duration;

use actix_web::HttpResponse;
use actors::live::{Feed, LiveFrame};
use bytestring::ByteString;
use domain::id::UserId;
use http_shell::{
    answer::Json,
    call::Call,
    caller::Person,
    error::Result,
    query::{Query, RequestQuery},
    socket::{Farewell, Opening, Outgoing, SocketAddress, SocketKind, Source},
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Store;
use utoipa::{IntoParams, ToSchema};

/// What a ticket for this socket is bound to.
const RESOURCE: &str = "live";
/// Where it is.
const PATH: &str = "/v1/sockets/live";
/// How long to wait for a store that is away.
const PAUSE: Duration = Duration::from_millis(500);

/// Where the socket is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LiveView {
    /// Open it with a WebSocket client.
    pub(crate) socket: SocketAddress,
}

/// Find the socket for all that is live for you
///
/// One socket per device: notices, vault revisions, counts. Open `url?ticket=…`. A client that has seen messages before
/// adds `&seq=` with the last number that it saw, and misses nothing of the last hour.
#[utoipa::path(get, path = "/v1/me/live")]
pub(crate) async fn live_get(person: Person, state: State) -> Result<Json<LiveView>> {
    let socket = SocketAddress::issue(&state, &person, PATH, RESOURCE.to_owned(), Value::Null).await?;
    Ok(Json(LiveView { socket }))
}

/// The socket of a person.
pub(crate) struct Live;

impl SocketKind for Live {
    fn resource(_: &Call) -> Result<String> {
        Ok(RESOURCE.to_owned())
    }
}

/// Where to go on.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct LiveQuery {
    /// The number of the last message that the client saw. Without it, only what happens from now on is sent.
    seq: Option<i64>,
}

impl RequestQuery for LiveQuery {}

/// Open the socket for all that is live for you
///
/// Messages are JSON `{type, …, seq}`. What was missed after `seq` comes first, in order; then `{"type": "ready", "seq"}`;
/// then what happens. When what was missed is no longer kept, the first message is `{"type": "reset", "seq"}`: fetch
/// anew what you show. What a client sends is not read.
#[utoipa::path(get, path = "/v1/sockets/live", responses((status = 101, description = "The socket is open.")))]
pub(crate) async fn live_socket(opening: Opening<Live>, query: Query<LiveQuery>, state: State) -> Result<HttpResponse> {
    let user_id = opening.ticket().user_id;
    let source = LiveSource::open(&state, user_id, query.seq).await?;
    opening.serve(source).await
}

/// A person's feed, with the words around it.
struct LiveSource {
    feed: Feed,
    reset: bool,
    /// The newest message when the socket opened; once it is sent, the client is up to date.
    newest: i64,
    ready: bool,
}

impl LiveSource {
    async fn open(state: &State, user_id: UserId, seen: Option<i64>) -> Result<Self> {
        let store: &Store = &state.store;
        let newest = store.live_seq(user_id).await?;
        let mut feed = Feed::open(store, &state.hub, user_id, seen).await?;
        // A number beyond the newest is of another store, perhaps of one before a restored back-up.
        let reset = feed.has_missed() || seen.is_some_and(|seen| seen > feed.last().max(newest));
        if reset {
            feed = Feed::open(store, &state.hub, user_id, None).await?;
        }
        Ok(Self { feed, reset, newest, ready: false })
    }

    /// What is said before the next message, if anything.
    fn word(&mut self) -> Option<Outgoing> {
        let seq = self.feed.last();
        let word = if std::mem::take(&mut self.reset) {
            "reset"
        } else if !self.ready && seq >= self.newest {
            self.ready = true;
            "ready"
        } else {
            return None;
        };
        Some(Outgoing::Text(json!({"type": word, "seq": seq}).to_string().into()))
    }
}

impl Source for LiveSource {
    fn is_catching_up(&self) -> bool {
        !self.ready
    }

    async fn next(&mut self) -> Result<Outgoing, Farewell> {
        if let Some(word) = self.word() {
            return Ok(word);
        }
        loop {
            match self.feed.next().await {
                Ok(LiveFrame { text, .. }) => {
                    return ByteString::try_from(text).map(Outgoing::Text).map_err(|_| Farewell::Failed);
                }
                Err(error) => {
                    tracing::warn!(%error, "live messages can't be read; trying again");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}
