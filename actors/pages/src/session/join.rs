//! Opening a page together with others.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use domain::{
    Error, Result,
    id::{PageEpochId, UserId},
};
use kernel::{Command, Handle, Turn};
use store::{Change, PageDocument, PageUpdateId, pages::PageHead};

use super::{
    PageServices, PageSession,
    awareness::Awareness,
    connection::Connection,
    document::{SharedDocument, text_hash},
    door::Door,
    ending::Ending,
    flush::{Applying, QUIET},
    live::{Client, Live},
    node::Others,
    outbox::Outbox,
    snapshot::{self, Loaded, Snapshot},
    wire,
};

/// Open the page together with others.
#[derive(Clone, Debug)]
pub struct JoinPage {
    /// Who.
    pub user_id: UserId,
    /// Whether they may write.
    pub may_write: bool,
    /// The histories that the client knows the page to have, where it knows one: another one ends the connection at once.
    pub epochs: Vec<String>,
}

impl Command for JoinPage {
    /// An error in it leaves the others' document alone.
    type Reply = Result<Connection>;

    const NAME: &'static str = "join_page";
}

impl Handle<JoinPage> for PageSession {
    async fn handle(&mut self, command: &JoinPage, turn: &mut Turn<'_, Self>) -> Result<Result<Connection>> {
        let JoinPage { user_id, may_write, ref epochs } = *command;
        let page_id = *turn.key();
        let page = match turn.services().services.store.page_head(page_id).await {
            Ok(Some(page)) => page,
            Ok(None) => {
                self.drop_live(Ending::Deleted);
                return Ok(Err(Error::not_found("Page not found")));
            }
            Err(error) => return Ok(Err(error.into())),
        };
        if page.archived_at.is_some() {
            self.drop_live(Ending::InTrash);
            return Ok(Ok(Connection::ended(Ending::InTrash, user_id)));
        }
        let live = match &mut self.live {
            Some(live) => live,
            None => self.live.insert(open(turn, page).await?),
        };
        if epochs.iter().any(|known| *known != live.epoch) {
            return Ok(Ok(Connection::ended(Ending::ChangedElsewhere, user_id)));
        }
        Ok(Ok(live.join(user_id, may_write)))
    }
}

impl Live {
    /// A new client: it is told what the server has, so that it sends what is missing, and who is there.
    fn join(&mut self, user_id: UserId, may_write: bool) -> Connection {
        let outbox = Arc::new(Outbox::default());
        outbox.push(wire::has(&self.document.state_vector()));
        if let Some(states) = self.awareness.encode_all() {
            outbox.push(wire::awareness(&states));
        }
        let connection = Connection::new(Arc::clone(&self.door), Arc::clone(&outbox), user_id, may_write);
        self.clients.insert(connection.id, Client::new(outbox, user_id));
        connection
    }
}

/// Brings the shared document to life: from its history, or as a new one from the page's content.
pub(super) async fn open(turn: &Turn<'_, PageSession>, page: PageHead) -> Result<Live> {
    let page_id = *turn.key();
    let PageServices { services, update_writers } = turn.services();
    // What an earlier life of the document left unwritten belongs to it.
    update_writers.written(page_id).await;
    let door = Door::new(turn.self_ref());
    // What other nodes say from here on is heard, so that nothing falls between them and the store.
    let others = Others::listen(&services.hub, page_id, &door).await;
    let loaded = match snapshot::load(turn, page.org_id).await? {
        Some(loaded) => loaded,
        None => begin(turn, page.content_version).await?,
    };
    let Loaded { epoch, folds, text_hash, newest, rows, document } = loaded;
    others.greet(&epoch, &document);
    let update_writer = update_writers.open(&services.store, &turn.self_ref(), page_id, &epoch);
    let is_dirty = !rows.is_empty();
    update_writer.knows(rows, turn.now());
    Ok(Live {
        page_id,
        org_id: page.org_id,
        epoch,
        document,
        awareness: Awareness::default(),
        clients: BTreeMap::new(),
        newcomers: VecDeque::new(),
        door,
        update_writer,
        others,
        has_missed: false,
        folds,
        text_hash,
        newest,
        is_dirty,
        writer: None,
        last_turn: None,
        apart: QUIET,
        applying: Applying::default(),
    })
}

/// A new history. Somebody else's is Stale: then theirs is loaded.
async fn begin(turn: &Turn<'_, PageSession>, content_version: i64) -> Result<Loaded> {
    let (page_id, store) = (*turn.key(), &turn.services().services.store);
    let markdown = store.page_content(page_id).await?.markdown;
    let document = SharedDocument::seeded(&markdown);
    let epoch = PageEpochId::new(turn.now()).to_string();
    let snapshot = Snapshot { text_hash: text_hash(&markdown), newest: PageUpdateId(0), update: document.state() };
    let mut change = Change::new();
    let stored = PageDocument { epoch: epoch.clone(), snapshot: snapshot.to_bytes(), folds: 0 };
    change.page_document_begin(page_id, &stored, content_version, turn.now());
    store.commit(change).await?;
    let Snapshot { text_hash, newest, .. } = snapshot;
    Ok(Loaded { epoch, folds: 0, text_hash, newest, rows: Vec::new(), document })
}
