//! An organization's notification protocols and on-call rotas.
//!
//! Everything about them is decided here, one change after the other, and each commit turns a page of the organization's
//! book; so two nodes never both decide on one state: no organization gets more protocols than it may have, and no rota
//! goes away that a protocol has just begun to use. Who asks is looked at again here, because their role may have changed
//! since the request came in.

mod attach;
mod change;
mod check;
mod rotas;

use actors_base::Services;
use domain::{
    Authority, Error, Result, Scope,
    id::{OrgId, ProtocolId, UserId},
    notify::Protocol,
};
use kernel::{Resource, Turn};
use serde_json::Value;
use store::{
    Change,
    audit::{AuditEntry, AuditTarget},
    notify::ProtocolBook,
};

pub use self::{
    attach::{AttachProtocol, DetachProtocol},
    change::{ChangeProtocol, DeleteProtocol, MakeProtocol},
    rotas::{AddOverride, ChangeRota, DeleteRota, MakeRota, OverrideWindow, RemoveOverride},
};

/// The message of the 403 that keys read.
pub const PEOPLE_ONLY: &str = "Notifications belong to people.";

/// An organization's protocols and rotas. It holds nothing in memory: each command reads what it decides on.
#[derive(Debug)]
pub struct Protocols;

impl Resource for Protocols {
    type Key = OrgId;
    type Services = Services;

    const KIND: &'static str = "protocols";

    async fn load(_: &OrgId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// What a command of somebody who may write is decided on.
struct WriteContext {
    book: ProtocolBook,
    /// Who asks, or made the key that does.
    user_id: UserId,
}

impl WriteContext {
    /// Opens the book for whoever asks: an owner or admin, or a key of theirs that may write.
    async fn open(turn: &Turn<'_, Protocols>) -> Result<Self> {
        Self::open_if(turn, |_| Ok(())).await
    }

    /// The same for what is for people only, whatever scopes a key has.
    async fn open_to_people(turn: &Turn<'_, Protocols>) -> Result<Self> {
        Self::open_if(turn, |authority| authority.person(PEOPLE_ONLY).map(drop)).await
    }

    async fn open_if(turn: &Turn<'_, Protocols>, check: impl FnOnce(&Authority) -> Result<()>) -> Result<Self> {
        // The book comes first: whatever changes after it was read makes the commit stale.
        let book = turn.services().store.protocol_book(*turn.key()).await?;
        let authority = turn.authority(*turn.key()).await?;
        check(&authority)?;
        authority.require(Scope::OrgWrite)?;
        Ok(Self { book, user_id: authority.on_behalf_of()? })
    }

    /// A change of the book, with its audit entry.
    fn write(&self, turn: &Turn<'_, Protocols>, action: &str, target: AuditTarget, about: Option<Value>) -> Change {
        let mut change = Change::new();
        change.protocol_book_turn(&self.book);
        let entry = AuditEntry::new(turn.context(), action, target).in_org(*turn.key());
        change.audit_add(turn.now(), AuditEntry { metadata: about, ..entry });
        change
    }
}

/// The organization's protocol with this id.
async fn protocol(turn: &Turn<'_, Protocols>, id: ProtocolId) -> Result<Protocol> {
    let found = turn.services().store.protocol(*turn.key(), id).await?;
    found.ok_or_else(|| Error::not_found("Protocol not found."))
}

fn target(protocol: &Protocol) -> AuditTarget {
    AuditTarget::new("protocol", protocol.id).labelled(&protocol.draft.name)
}

/// 400: `whose` has as many `what` as it may have.
fn full(whose: &str, limit: usize, what: &str) -> Error {
    Error::bad_request("limit_reached", format!("{whose} has at most {limit} {what}."))
}
