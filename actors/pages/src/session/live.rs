//! A shared document in memory, with the clients that have it open on this node.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use domain::id::{OrgId, PageId, UserId};
use store::PageUpdateId;
use yrs::StateVector;

use super::{
    awareness::Awareness, connection::ConnectionId, document::SharedDocument, door::Door, ending::Ending,
    flush::Applying, node::Others, outbox::Outbox, update_writer::UpdateWriter,
};

/// What a page's session holds while people have the page open together.
pub(super) struct Live {
    pub(super) page_id: PageId,
    pub(super) org_id: OrgId,
    pub(super) epoch: String,
    pub(super) document: SharedDocument,
    pub(super) awareness: Awareness,
    pub(super) clients: BTreeMap<ConnectionId, Client>,
    /// Clients that are still to be shown the document, in the order in which they asked.
    pub(super) newcomers: VecDeque<ConnectionId>,
    pub(super) door: Arc<Door>,
    pub(super) update_writer: Arc<UpdateWriter>,
    /// The same document on other nodes.
    pub(super) others: Others,
    /// Whether other nodes may have written what was not heard of here.
    pub(super) has_missed: bool,
    /// How often the history was folded.
    pub(super) folds: i64,
    /// Of the shared text that the page's content was last made from.
    pub(super) text_hash: u64,
    /// The newest row that is folded.
    pub(super) newest: PageUpdateId,
    /// Whether there is something to fold.
    pub(super) is_dirty: bool,
    /// Who wrote last.
    pub(super) writer: Option<UserId>,
    /// When the last turn began, and how much it carried.
    pub(super) last_turn: Option<(Instant, usize)>,
    /// How far updates are apart, on the average of the last turns.
    pub(super) apart: Duration,
    /// What is being taken in.
    pub(super) applying: Applying,
}

/// A client of a live document.
pub(super) struct Client {
    pub(super) outbox: Arc<Outbox>,
    pub(super) user_id: UserId,
    pub(super) shown: Shown,
    /// When it was last told who is there, because it asked.
    pub(super) told_who_at: Option<Instant>,
}

/// How much of the document a client was shown.
pub(super) enum Shown {
    /// Nothing, and it didn't ask.
    Nothing,
    /// It waits for what it is missing. It asked so often, and had this much the last time.
    Waits { times: u32, state_vector: StateVector },
    /// All of it, and since then it is told of all that is new.
    All,
}

impl Client {
    pub(super) fn new(outbox: Arc<Outbox>, user_id: UserId) -> Self {
        Self { outbox, user_id, shown: Shown::Nothing, told_who_at: None }
    }
}

impl Live {
    pub(super) fn epoch(&self) -> &str {
        &self.epoch
    }

    pub(super) fn has_clients(&self) -> bool {
        !self.clients.is_empty()
    }

    /// Tells everybody but `except`.
    pub(super) fn broadcast(&self, message: &Bytes, except: Option<ConnectionId>) {
        for (id, client) in &self.clients {
            if Some(*id) != except {
                client.outbox.push(message.clone());
            }
        }
    }

    /// Ends it: nobody's updates are taken any more, and everybody is told why.
    pub(super) fn end(&mut self, ending: Ending) {
        if matches!(ending, Ending::ChangedElsewhere | Ending::InTrash | Ending::Deleted) {
            self.update_writer.give_up();
        }
        self.close(ending);
    }

    fn close(&mut self, ending: Ending) {
        self.door.close();
        for client in std::mem::take(&mut self.clients).into_values() {
            client.outbox.end(ending);
        }
    }
}

impl Drop for Live {
    /// Whatever takes a live document out of memory, its clients connect again, and its writer finishes.
    fn drop(&mut self) {
        self.close(Ending::Failed);
        self.update_writer.leave();
    }
}
