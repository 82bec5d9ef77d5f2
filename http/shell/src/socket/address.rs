//! Where and with what a client opens a socket.

use domain::PersonCaller;
use gateways::hub::Ticket;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    caller::{Door, Person},
    error::Result,
    org::Org,
    origin::base_url,
    permission::Permission,
    state::AppState,
};

/// Where a client opens a socket: `url?ticket=…`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "url": "wss://troupe.example.com/v1/sockets/live",
    "ticket": "mJ0p1zYkq3c7W2n9s5v8x1b4d6f0h2j4l6n8p0r2t4U"
}))]
pub struct SocketAddress {
    /// The address, without the ticket.
    pub url: String,
    /// Opens the socket once, within two minutes.
    pub ticket: String,
}

impl SocketAddress {
    /// Issues a ticket for the socket `path` of `resource`, with these rights.
    pub async fn issue<D: Door>(
        state: &AppState,
        person: &Person<D>,
        path: &str,
        resource: String,
        rights: Value,
    ) -> Result<Self> {
        Self::issue_to(state, person.caller(), person.host(), path, Ticketed { resource, rights }).await
    }

    /// The same for who asks in an organization. A key gets none: a socket is a person's.
    pub async fn issue_in<P: Permission>(
        state: &AppState,
        org: &Org<P>,
        path: &str,
        resource: String,
        rights: Value,
    ) -> Result<Option<Self>> {
        let Some(person) = org.person_caller() else { return Ok(None) };
        Self::issue_to(state, person, org.host(), path, Ticketed { resource, rights }).await.map(Some)
    }

    async fn issue_to(
        state: &AppState,
        person: &PersonCaller,
        host: Option<&str>,
        path: &str,
        Ticketed { resource, rights }: Ticketed,
    ) -> Result<Self> {
        let ticket = Ticket { user_id: person.user_id, sign_in_id: Some(person.sign_in_id), resource, rights };
        let ticket = state.hub.ticket_issue(ticket, state.store.now()).await?;
        let base = base_url(state, host);
        // http becomes ws, https becomes wss.
        let url = format!("ws{}{path}", base.trim_start_matches("http"));
        Ok(Self { url, ticket })
    }
}

/// What a ticket is for.
struct Ticketed {
    resource: String,
    rights: Value,
}
