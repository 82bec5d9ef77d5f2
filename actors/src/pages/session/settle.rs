//! Folding what was written into a snapshot, and making the page's content from the shared text.

use std::time::Duration;

use domain::{Error, Result, id::PageId, pages::content::ContentDraft};
use store::{
    Change, CommitError, PageFold, PageUpdateId, Store,
    faults::{Place, Stage},
    pages::PageHistory,
};

use super::{
    PageSession,
    content::{self, Writing},
    document::text_hash,
    ending::Ending,
    join::open,
    live::Live,
    snapshot::{self, Snapshot},
};
use crate::kernel::{Command, Handle, Turn};

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

/// The scribe found the history to be over.
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
            self.live = Some(open(turn, page.content_version).await?);
        }
        let live = self.live.as_mut().ok_or(Error::Stale)?;
        let settled = live.settle_before_write(turn).await;
        let seen = PageHistory { epoch: live.epoch.clone(), folds: live.folds };
        match settled {
            Ok(true) => Ok(Some(seen)),
            Ok(false) => {
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

    /// Folds, if there is something to fold. What fails is tried again with the next occasion: the rows are the truth.
    pub(super) async fn settle(&mut self, turn: &mut Turn<'_, Self>) {
        let Some(live) = &mut self.live else { return };
        live.scribe.fold_tried();
        if !live.is_dirty {
            return;
        }
        match live.fold_with_others(turn).await {
            Ok(true) => {}
            Ok(false) => self.leave_history(turn).await,
            Err(error) => tracing::warn!(%error, page = %turn.key(), "a page was not folded"),
        }
    }

    /// Ends the live document, whose history is over, and tells its clients why.
    async fn leave_history(&mut self, turn: &Turn<'_, Self>) {
        if self.live.is_some() {
            let ending = why_over(&turn.services().services.store, *turn.key()).await;
            self.drop_live(ending);
        }
    }
}

impl Live {
    /// Folds all that anybody wrote, so that no row is left; whether the history goes on.
    async fn settle_before_write(&mut self, turn: &mut Turn<'_, PageSession>) -> Result<bool> {
        let store = turn.services().services.store.clone();
        // No turn takes more in meanwhile, so that the scribe adds no row behind this.
        let written = tokio::time::timeout_at(turn.context().deadline.into(), self.scribe.all_written());
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(_over)) => return Ok(false),
            Err(_elapsed) => return Err(Error::busy(STORED_RETRY)),
        }
        let folds = store.page_history(self.page_id).await?.filter(|stored| stored.epoch == self.epoch);
        if folds.is_some_and(|stored| stored.folds != self.folds) && !self.catch_up(turn).await? {
            return Ok(false);
        }
        self.take_rows_of_others(&store).await?;
        if self.is_dirty || self.scribe.has_rows() { self.fold_with_others(turn).await } else { Ok(true) }
    }

    /// Folds, after whatever other nodes folded meanwhile; whether the history goes on.
    async fn fold_with_others(&mut self, turn: &mut Turn<'_, PageSession>) -> Result<bool> {
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
    async fn fold(&mut self, turn: &mut Turn<'_, PageSession>) -> Result<()> {
        let store = turn.services().services.store.clone();
        self.take_rows_of_others(&store).await?;
        let rows = self.scribe.rows();
        let newest = rows.iter().copied().fold(self.newest, Ord::max);
        let mut change = Change::new();
        let new_hash = self.store_text(&mut change, turn).await?;
        let snapshot = Snapshot { text_hash: new_hash, newest, update: self.document.state() };
        let (page_id, epoch, folds) = (self.page_id, &*self.epoch, self.folds);
        self.document.measured(snapshot.update.len());
        change.page_document_fold(PageFold { page_id, epoch, folds, snapshot: snapshot.to_bytes(), rows: &rows });
        let place = Place { stage: Stage::Commit, kind: FOLD, command: "", key: &page_id };
        match store.commit_at(change, place).await {
            Ok(()) => {}
            Err(CommitError::Stale | CommitError::Duplicate { .. }) => return Err(Error::Stale),
            Err(error) => return Err(error.into()),
        }
        self.scribe.folded(&rows);
        (self.folds, self.text_hash, self.newest, self.is_dirty) = (folds + 1, new_hash, newest, false);
        Ok(())
    }

    /// Reads what other nodes may have written unheard; what fails is tried again at the next turn.
    pub(super) async fn read_what_was_missed(&mut self, store: &Store) {
        match self.take_rows_of_others(store).await {
            Ok(()) => self.has_missed = false,
            Err(error) => tracing::warn!(%error, page = %self.page_id, "what other nodes wrote can't be read"),
        }
    }

    /// Takes in rows that other nodes wrote and that have not been heard of here.
    async fn take_rows_of_others(&mut self, store: &Store) -> Result<()> {
        let known: std::collections::HashSet<PageUpdateId> = self.scribe.rows().into_iter().collect();
        let stored = store.page_update_ids(self.page_id, &self.epoch).await?;
        if stored.iter().all(|row| known.contains(row)) {
            return Ok(());
        }
        let mut new = Vec::new();
        for row in store.page_updates(self.page_id, &self.epoch).await? {
            if !known.contains(&row.id) {
                self.take_foreign(snapshot::decode_row(&row.payload)?).map_err(Error::from)?;
                new.push(row.id);
            }
        }
        self.scribe.knows(new);
        Ok(())
    }

    /// Takes in what another node folded; whether the history goes on.
    async fn catch_up(&mut self, turn: &Turn<'_, PageSession>) -> Result<bool> {
        let store = &turn.services().services.store;
        let Some(stored) = store.page_document(self.page_id).await?.filter(|stored| stored.epoch == self.epoch) else {
            return Ok(false);
        };
        let snapshot = Snapshot::from_bytes(&stored.snapshot)?;
        self.take_foreign(vec![snapshot::decode(&snapshot.update)?]).map_err(Error::from)?;
        (self.folds, self.text_hash) = (stored.folds, snapshot.text_hash);
        self.newest = self.newest.max(snapshot.newest);
        Ok(true)
    }

    /// Makes the shared text the page's content, if it was edited; the hash of the text that the content is made from then.
    async fn store_text(&self, change: &mut Change, turn: &Turn<'_, PageSession>) -> Result<u64> {
        let (page_id, store) = (self.page_id, &turn.services().services.store);
        let text = self.document.text();
        let hash = text_hash(&text);
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
