//! A page's content, and the document that people edit together (decisions, "Notes pages").
//!
//! A session owns what one page says. While people have the page open together, it holds their shared document
//! ([`live`]): what a client writes comes in at the door ([`door`]), is taken in at the next turn with all that came
//! meanwhile ([`flush`]), goes out to everybody as one update, and is written down by the page's writer
//! ([`update_writer`]), which is at most 50 ms behind. Rows are folded into a snapshot every now and then ([`settle`]), and
//! the shared text `markdown` becomes the page's content with that.
//!
//! A history has an *epoch*. Whoever opens a page that has none begins one, from the page's content as it stands; a write
//! from outside ends it ([`PageSession::end_history`]), and clients start over. On several nodes each has its own session
//! for a page; updates travel over the hub and merge, and whose history is over is found out at the next commit.

mod awareness;
mod connection;
mod content;
mod document;
mod door;
mod ending;
mod flush;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod join;
mod live;
mod newcomers;
mod node;
mod outbox;
mod prescan;
mod settle;
mod snapshot;
mod stranded;
mod update_writer;
mod wire;

use std::time::Duration;

use actors_base::Services;
use domain::{Result, id::PageId};
use kernel::{Policy, Resource};
use store::{Change, pages::PageHistory};

use self::live::Live;
pub use self::{
    awareness::{STATE_LEN_MAX as AWARENESS_LEN_MAX, STATES_LEN_PER_CONNECTION_MAX, STATES_PER_CONNECTION_MAX},
    connection::Connection,
    content::{ContentWritten, PutContent, RestoreVersion, version_not_found},
    document::{SHARED_TEXT, STATE_LEN_MAX, TEXT_LEN_MAX},
    ending::Ending,
    flush::Flush,
    join::JoinPage,
    node::publish_ending,
    settle::{HistoryOver, Settle},
    snapshot::{StoredHistory, stored_history},
    stranded::StrandedLooker,
    update_writer::UpdateWriters,
};

/// How many commands may wait for one page: a room full of people may open it at once.
const QUEUE_LEN_MAX: u32 = 4_096;
/// How long a page that nobody has open stays in memory.
const IDLE_AFTER: Duration = Duration::from_secs(30);

/// What page sessions work with.
#[derive(Clone)]
pub struct PageServices {
    /// What every actor works with.
    pub services: Services,
    /// Who writes updates down.
    pub update_writers: UpdateWriters,
}

/// One page's content, and its shared document while there is one in memory.
pub struct PageSession {
    live: Option<Live>,
}

impl Resource for PageSession {
    type Key = PageId;
    type Services = PageServices;

    const KIND: &'static str = "page_session";

    fn policy() -> Policy {
        Policy { queue_len_max: QUEUE_LEN_MAX, idle_after: IDLE_AFTER, ..Policy::default() }
    }

    /// Reads nothing: content is decided on as it is stored, and the shared document is loaded when somebody joins.
    async fn load(_: &PageId, _: &PageServices) -> Result<Self> {
        Ok(Self { live: None })
    }

    fn is_in_use(&self) -> bool {
        self.live.as_ref().is_some_and(Live::has_clients)
    }
}

impl PageSession {
    /// Has `change`, which writes the content from outside, end the page's shared history, which was stored up to `seen`.
    /// Comes after what else the change does to the page's row. Once it is committed, [`close_live`](Self::close_live)
    /// follows.
    fn end_history(page_id: PageId, seen: Option<&PageHistory>, change: &mut Change) {
        change.page_document_end(page_id, seen);
    }

    /// Ends the live document on every node, and tells its clients why.
    pub fn close_live(&mut self, page_id: PageId, services: &PageServices, ending: Ending) {
        self.drop_live(ending);
        publish_ending(&services.services.hub, page_id, ending);
    }

    /// The name of the history that is open here.
    pub fn live_epoch(&self) -> Option<&str> {
        self.live.as_ref().map(Live::epoch)
    }

    /// Ends the live document here.
    fn drop_live(&mut self, ending: Ending) {
        if let Some(mut live) = self.live.take() {
            live.end(ending);
        }
    }
}
