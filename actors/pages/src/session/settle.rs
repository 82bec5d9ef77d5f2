//! Folding what was written into a snapshot, and making the page's content from the shared text.

use std::{collections::HashSet, sync::Arc, time::Duration};

use domain::{Error, Result, id::PageId, pages::content::ContentDraft};
use kernel::{Command, Handle, Turn};
use store::{
    Change, CommitError, PageFold, PageUpdateId, Store,
    faults::{Place, Stage},
    pages::PageHistory,
};

use super::{
    PageSession,
    content::{self, Writing},
    document::{LARGE, text_hash},
    ending::Ending,
    join::open,
    live::Live,
    snapshot::{self, Snapshot},
    update_writer::{FOLD_AFTER, UpdateWriter},
};

/// What the commit of a fold is called where faults are injected.
const FOLD: &str = "page_fold";
/// How often a fold is tried again because another node folded first.
const FOLDS_MAX: u32 = 3;
/// What `Retry-After` says to a write that waits for what was edited together to be stored.
const STORED_RETRY: Duration = Duration::from_secs(1);

/// Fold what was written, and store the shared text as the page's content.
#[derive(Clone, Copy, Debug)]
pub struct Settle;

impl Command for Settle {
    type Reply = ();

    const NAME: &'static str = "settle";
}

impl Handle<Settle> for PageSession {
    async fn handle(&mut self, _: &Settle, turn: &mut Turn<'_, Self>) -> Result<()> {
        self.settle(turn).await;
        Ok(())
    }
}

/// The writer found the history to be over.
#[derive(Clone, Debug)]
pub struct HistoryOver {
    /// Which.
    pub epoch: String,
}

impl Command for HistoryOver {
    type Reply = ();

    const NAME: &'static str = "history_over";
}

impl Handle<HistoryOver> for PageSession {
    async fn handle(&mut self, over: &HistoryOver, turn: &mut Turn<'_, Self>) -> Result<()> {
        if self.live_epoch() == Some(&over.epoch) {
            let ending = why_over(&turn.services().services.store, *turn.key()).await;
            self.drop_live(ending);
        }
        Ok(())
    }
}

/// What clients of a history that is over are told.
async fn why_over(store: &Store, page_id: PageId) -> Ending {
    match store.page_head(page_id).await {
        Ok(None) => Ending::Deleted,
        Ok(Some(page)) if page.archived_at.is_some() => Ending::InTrash,
        Ok(Some(_)) => Ending::ChangedElsewhere,
        Err(_) => Ending::Failed,
    }
}

impl PageSession {
    /// Has what was edited together become the page's content, so that a write from outside is decided on that; up to where
    /// the history was seen with that, which the write's commit ends it at.
    ///
    /// `busy` when what was edited can't be stored, so that the write isn't made; `Stale` when others are at it.
    pub(super) async fn settle_before_write(&mut self, turn: &mut Turn<'_, Self>) -> Result<Option<PageHistory>> {
        let page_id = *turn.key();
        let store = turn.services().services.store.clone();
        let Some(stored) = store.page_history(page_id).await? else {
            // Whoever has one open here hears that it is over.
            self.leave_history(turn).await;
            return Ok(None);
        };
        if self.live_epoch().is_some_and(|epoch| epoch != stored.epoch) {
            self.leave_history(turn).await;
        }
        if self.live.is_none() {
            let Some(page) = store.page_head(page_id).await? else { return Ok(None) };
            self.live = Some(open(turn, page).await?);
        }
        let live = self.live.as_mut().ok_or(Error::Stale)?;
        let writer = Arc::clone(&live.update_writer);
        match self.settle_whole(&writer, turn).await {
            Ok(Some(seen)) => Ok(Some(seen)),
            Ok(None) => {
                self.leave_history(turn).await;
                Err(Error::Stale)
            }
            Err(Error::Stale) => Err(Error::Stale),
            Err(error) => {
                tracing::warn!(%error, page = %page_id, "a write waits: what was edited together can't be stored");
                Err(Error::busy(STORED_RETRY))
            }
        }
    }

    /// Folds all that anybody wrote, so that no row is left; up to where the history was seen then, and `None` when it is
    /// over.
    async fn settle_whole(&mut self, writer: &UpdateWriter, turn: &mut Turn<'_, Self>) -> Result<Option<PageHistory>> {
        // No turn takes more in meanwhile, so that the writer adds no row behind this.
        match tokio::time::timeout_at(turn.context().deadline.into(), writer.all_written()).await {
            Ok(Ok(())) => {}
            Ok(Err(_over)) => return Ok(None),
            Err(_elapsed) => return Err(Error::busy(STORED_RETRY)),
        }
        if !self.catch_up(turn).await? {
            return Ok(None);
        }
        self.take_rows_of_others(turn).await?;
        let live = self.live.as_ref().ok_or(Error::Stale)?;
        if (live.is_dirty || writer.has_rows()) && !self.fold_with_others(turn).await? {
            return Ok(None);
        }
        let live = self.live.as_ref().ok_or(Error::Stale)?;
        Ok(Some(PageHistory { epoch: live.epoch.clone(), folds: live.folds }))
    }

    /// Folds, if there is something to fold. What fails is tried again with the next occasion: the rows are the truth.
    pub(super) async fn settle(&mut self, turn: &mut Turn<'_, Self>) {
        let Some(live) = &mut self.live else { return };
        live.update_writer.fold_tried();
        if !live.is_dirty && !live.update_writer.has_rows() {
            return;
        }
        match self.fold_with_others(turn).await {
            Ok(true) => {}
            Ok(false) => self.leave_history(turn).await,
            Err(error) => tracing::warn!(%error, page = %turn.key(), "a page was not folded"),
        }
    }

    /// Folds, after whatever other nodes folded meanwhile; whether the history goes on.
    async fn fold_with_others(&mut self, turn: &mut Turn<'_, Self>) -> Result<bool> {
        for _ in 0..FOLDS_MAX {
            match self.fold(turn).await {
                Ok(()) => return Ok(true),
                Err(Error::Stale) => {
                    if !self.catch_up(turn).await? {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Stale)
    }

    /// Puts all that was written into the snapshot, and the shared text, if it changed, into the page's content.
    async fn fold(&mut self, turn: &mut Turn<'_, Self>) -> Result<()> {
        self.take_rows_of_others(turn).await?;
        let is_much = self.live.as_ref().is_some_and(|live| live.document.is_large());
        let Picture { text, state } = self.work(turn, is_much, Live::picture).await?;
        let live = self.live.as_mut().ok_or(Error::Stale)?;
        let rows = live.update_writer.rows();
        let newest = rows.iter().copied().fold(live.newest, Ord::max);
        let mut change = Change::new();
        let new_hash = live.store_text(&mut change, &text, turn).await?;
        let snapshot = Snapshot { text_hash: new_hash, newest, update: state };
        let (page_id, epoch, folds) = (live.page_id, &*live.epoch, live.folds);
        change.page_document_fold(PageFold { page_id, epoch, folds, snapshot: snapshot.to_bytes(), rows: &rows });
        let place = Place { stage: Stage::Commit, kind: FOLD, command: "", key: &page_id };
        match turn.services().services.store.commit_at(change, place).await {
            Ok(()) => {}
            Err(CommitError::Stale | CommitError::Duplicate { .. }) => return Err(Error::Stale),
            Err(error) => return Err(error.into()),
        }
        live.update_writer.folded(&rows, turn.now());
        (live.folds, live.text_hash, live.newest, live.is_dirty) = (folds + 1, new_hash, newest, false);
        Ok(())
    }

    /// Reads what other nodes may have written unheard; what fails is tried again at the next turn.
    pub(super) async fn read_what_was_missed(&mut self, turn: &Turn<'_, Self>) {
        let read = self.take_rows_of_others(turn).await;
        match (read, &mut self.live) {
            (Ok(()), Some(live)) => live.has_missed = false,
            (Ok(()), None) => {}
            (Err(error), _) => tracing::warn!(%error, page = %turn.key(), "what other nodes wrote can't be read"),
        }
    }

    /// Takes in rows that other nodes wrote and that have not been heard of here.
    async fn take_rows_of_others(&mut self, turn: &Turn<'_, Self>) -> Result<()> {
        let store = &turn.services().services.store;
        let live = self.live.as_ref().ok_or(Error::Stale)?;
        let known: HashSet<PageUpdateId> = live.update_writer.rows().into_iter().collect();
        let stored = store.page_update_ids(live.page_id, &live.epoch).await?;
        if stored.iter().all(|row| known.contains(row)) {
            return Ok(());
        }
        let mut new = store.page_updates(live.page_id, &live.epoch).await?;
        new.retain(|row| !known.contains(&row.id));
        let (rows, fold_at) = (new.iter().map(|row| row.id).collect(), turn.now().after(FOLD_AFTER));
        let is_much = live.document.is_large() || new.iter().map(|row| row.payload.len()).sum::<usize>() >= LARGE;
        let take = move |live: &mut Live| -> Result<()> {
            for row in &new {
                live.take_foreign(snapshot::decode_row(&row.payload)?)?;
            }
            live.update_writer.knows(rows, fold_at);
            Ok(())
        };
        self.work(turn, is_much, take).await?
    }

    /// Takes in what another node folded, if one did; whether the history goes on.
    async fn catch_up(&mut self, turn: &Turn<'_, Self>) -> Result<bool> {
        let store = &turn.services().services.store;
        let live = self.live.as_ref().ok_or(Error::Stale)?;
        let history = store.page_history(live.page_id).await?.filter(|history| history.epoch == live.epoch);
        let Some(history) = history else { return Ok(false) };
        if history.folds == live.folds {
            return Ok(true);
        }
        let stored = store.page_document(live.page_id).await?.filter(|stored| stored.epoch == live.epoch);
        let Some(stored) = stored else { return Ok(false) };
        let snapshot = Snapshot::from_bytes(&stored.snapshot)?;
        let is_much = live.document.is_large() || snapshot.update.len() >= LARGE;
        let take = move |live: &mut Live| -> Result<()> {
            live.take_foreign(vec![snapshot::decode(&snapshot.update)?])?;
            (live.folds, live.text_hash) = (stored.folds, snapshot.text_hash);
            live.newest = live.newest.max(snapshot.newest);
            Ok(())
        };
        self.work(turn, is_much, take).await??;
        Ok(true)
    }

    /// Ends the live document, whose history is over, and tells its clients why.
    async fn leave_history(&mut self, turn: &Turn<'_, Self>) {
        if self.live.is_some() {
            let ending = why_over(&turn.services().services.store, *turn.key()).await;
            self.drop_live(ending);
        }
    }
}

/// What is to be folded of a document.
struct Picture {
    text: String,
    state: Vec<u8>,
}

impl Live {
    fn picture(&mut self) -> Picture {
        let (text, state) = (self.document.text(), self.document.state());
        self.document.measured(state.len());
        Picture { text, state }
    }

    /// Makes the shared text the page's content, if it was edited; the hash of the text that the content is made from then.
    async fn store_text(&self, change: &mut Change, text: &str, turn: &Turn<'_, PageSession>) -> Result<u64> {
        let (page_id, store) = (self.page_id, &turn.services().services.store);
        let hash = text_hash(text);
        if hash == self.text_hash {
            return Ok(hash);
        }
        let head = store.page_head(page_id).await?.ok_or(Error::Stale)?;
        if head.archived_at.is_some() {
            // Nobody edits a page in the trash. It is stored when it has come back and is folded again.
            return Ok(self.text_hash);
        }
        let page = store.page(head.org_id, page_id).await?.ok_or(Error::Stale)?;
        // A client may have stored the same, with blocks of its own.
        if store.page_content(page_id).await?.markdown == text {
            return Ok(hash);
        }
        // Two nodes may each have had room for what together is more than a page may have: it is kept, and can be cut.
        let draft = ContentDraft { blocks: None, markdown: text.replace('\0', "\u{fffd}") };
        content::replace(store, change, &page, Writing { draft, by: self.writer, now: turn.now() }).await?;
        Ok(hash)
    }
}
