//! What writes the updates of a live document down.
//!
//! The writer of a page's updates is a task of its own, so that neither a crash of the page's actor nor its leaving memory
//! loses what it was given: it goes on until all is committed, and whoever opens the page again waits for that. Updates that
//! come within a short while go into one row. While the store is away they wait, up to [`WAITING_LEN_MAX`]; then the document
//! takes no more.
//!
//! A row is committed only while the document's history is the page's, and the page isn't in the trash. When that is over,
//! what waits is of no use to anybody, and the actor is told.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::{BufMut, Bytes, BytesMut};
use dashmap::DashMap;
use domain::{Context, Error, Origin, Result, Timestamp, id::PageId};
use kernel::SelfRef;
use parking_lot::Mutex;
use store::{Change, CommitError, NewPageUpdate, PageUpdateId, Store};
use tokio::sync::{Notify, oneshot, watch};

use super::{
    PageSession,
    outbox::Outbox,
    prescan::{Malformed, Reader},
    settle::{HistoryOver, Settle},
    wire,
};

/// How often updates that nobody waits for are written: at the same moments on all pages of a node, so that the store
/// commits them together.
const EVERY: Duration = Duration::from_millis(40);
/// How many bytes go into one row.
const ROW_LEN_MAX: usize = 1024 * 1024;
/// How many bytes may wait for a store that is away.
const WAITING_LEN_MAX: usize = 32 * 1024 * 1024;
/// The first pause of a store that is away; it doubles up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// After how many rows they are folded.
const FOLD_ROWS: usize = 500;
/// How long after it was written a row is folded at the latest, so that reads of the page are at most five seconds behind.
pub(super) const FOLD_AFTER: Duration = Duration::from_secs(4);
/// The bits of a row's name that tell nodes apart.
const NODE_BITS: u32 = 8;
/// How long a fold may take.
const FOLD_WITHIN: Duration = Duration::from_secs(30);

/// The writers of a node, by page. A cheap handle.
#[derive(Clone, Default)]
pub struct UpdateWriters {
    by_page: Arc<DashMap<PageId, Arc<UpdateWriter>>>,
}

impl UpdateWriters {
    /// Pages that are open, or whose updates are still being written.
    pub fn pages(&self) -> Vec<PageId> {
        self.by_page.iter().map(|writer| *writer.key()).collect()
    }

    /// Returns once all that was said about `page` before is written.
    pub(super) async fn written(&self, page_id: PageId) {
        while let Some(writer) = self.by_page.get(&page_id).map(|writer| Arc::clone(&writer)) {
            writer.leave();
            let mut ended = writer.ended.subscribe();
            drop(writer);
            // An error means that the task is gone.
            let _ = ended.wait_for(|ended| *ended).await;
        }
    }

    /// Returns once everything is written, at most after `patience`; how many pages are not.
    pub async fn drain(&self, patience: Duration) -> usize {
        let all = async {
            for page_id in self.pages() {
                self.written(page_id).await;
            }
        };
        if tokio::time::timeout(patience, all).await.is_err() {
            let pages = self.by_page.len();
            tracing::error!(pages, "co-edited pages were left with updates that are not written");
        }
        self.by_page.len()
    }

    /// A writer for `page`; whoever asks has seen to it that there is no other ([`written`](Self::written)).
    pub(super) fn open(
        &self,
        store: &Store,
        session: &SelfRef<PageSession>,
        page_id: PageId,
        epoch: &str,
    ) -> Arc<UpdateWriter> {
        let writer = Arc::new(UpdateWriter {
            page_id,
            epoch: epoch.to_owned(),
            notes: Mutex::default(),
            came: Notify::new(),
            ended: watch::Sender::new(false),
        });
        self.by_page.insert(page_id, Arc::clone(&writer));
        let (update_writers, store, session, working) =
            (self.clone(), store.clone(), session.clone(), Arc::clone(&writer));
        tokio::spawn(async move {
            working.work(&store, &session).await;
            update_writers.by_page.remove_if(&page_id, |_, other| Arc::ptr_eq(other, &working));
            working.ended.send_replace(true);
        });
        writer
    }
}

/// Writes for one document.
pub(super) struct UpdateWriter {
    page_id: PageId,
    epoch: String,
    notes: Mutex<Notes>,
    came: Notify,
    ended: watch::Sender<bool>,
}

#[derive(Default)]
struct Notes {
    waiting: Vec<Bytes>,
    len: usize,
    /// Who is told, once all that waits is written.
    answers: Vec<Answer>,
    is_writing: bool,
    /// Rows that are committed and not folded.
    rows: Vec<PageUpdateId>,
    /// When rows are to be folded, where there are any; after a fold was asked for, when it is asked for again.
    fold_at: Option<Timestamp>,
    /// Whether a fold was asked for because there are many rows, and hasn't been done.
    asked: bool,
    stage: Stage,
}

/// What somebody is told once all that waits is written.
enum Answer {
    /// A client's question is answered with this.
    Message(Arc<Outbox>, Bytes),
    /// The page's turn goes on.
    Turn(oneshot::Sender<()>),
}

impl Answer {
    fn give(self) {
        match self {
            Self::Message(client, message) => client.answer(message),
            // The turn may have been given up.
            Self::Turn(turn) => drop(turn.send(())),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// More may come.
    #[default]
    Open,
    /// Nobody gives it anything any more.
    Left,
    /// The history is over.
    Over,
}

impl UpdateWriter {
    /// Takes an update down. `busy` when too much waits already.
    pub(super) fn note(&self, update: Bytes) -> Result<()> {
        let mut notes = self.notes.lock();
        if notes.len + update.len() > WAITING_LEN_MAX {
            return Err(Error::busy(PAUSE_MAX));
        }
        notes.len += update.len();
        notes.waiting.push(update);
        let is_first = notes.waiting.len() == 1;
        drop(notes);
        if is_first {
            self.came.notify_one();
        }
        Ok(())
    }

    /// Has `client`'s question answered once all that was noted is written.
    pub(super) fn answer_when_written(&self, client: &Arc<Outbox>, message: Bytes) {
        self.answer(Answer::Message(Arc::clone(client), message));
    }

    /// Returns once all that was noted is written; `Stale` when it never will be, because the history is over.
    pub(super) async fn all_written(&self) -> Result<()> {
        let (turn, written) = oneshot::channel();
        self.answer(Answer::Turn(turn));
        written.await.map_err(|_given_up| Error::Stale)
    }

    /// Gives an answer once all that was noted is written; a history that is over gives none.
    fn answer(&self, answer: Answer) {
        let mut notes = self.notes.lock();
        if notes.stage == Stage::Over {
            return;
        }
        if notes.waiting.is_empty() && !notes.is_writing {
            drop(notes);
            return answer.give();
        }
        notes.answers.push(answer);
        drop(notes);
        self.came.notify_one();
    }

    /// Rows that are committed, and whose updates the document has.
    pub(super) fn rows(&self) -> Vec<PageUpdateId> {
        self.notes.lock().rows.clone()
    }

    /// Whether there are rows that are committed and not folded.
    pub(super) fn has_rows(&self) -> bool {
        !self.notes.lock().rows.is_empty()
    }

    /// Rows of before, or of another node, that the document has, too. They are to be folded at `fold_at`.
    pub(super) fn knows(&self, rows: Vec<PageUpdateId>, fold_at: Timestamp) {
        if rows.is_empty() {
            return;
        }
        let mut notes = self.notes.lock();
        notes.rows.extend(rows);
        notes.fold_at.get_or_insert(fold_at);
        drop(notes);
        self.came.notify_one();
    }

    /// Notes that `rows` are folded.
    pub(super) fn folded(&self, rows: &[PageUpdateId], now: Timestamp) {
        let mut notes = self.notes.lock();
        if rows.len() == notes.rows.len() {
            notes.rows.clear();
        } else {
            let rows: HashSet<_> = rows.iter().collect();
            notes.rows.retain(|row| !rows.contains(row));
        }
        notes.fold_at = (!notes.rows.is_empty()).then(|| now.after(FOLD_AFTER));
    }

    /// A fold was tried, and may be asked for again.
    pub(super) fn fold_tried(&self) {
        self.notes.lock().asked = false;
    }

    /// Nobody gives it anything any more: it ends when all is written.
    pub(super) fn leave(&self) {
        let mut notes = self.notes.lock();
        if notes.stage == Stage::Open {
            notes.stage = Stage::Left;
        }
        drop(notes);
        self.came.notify_one();
    }

    /// The history is over: what waits is for nobody.
    pub(super) fn give_up(&self) {
        let mut notes = self.notes.lock();
        *notes = Notes { stage: Stage::Over, ..Notes::default() };
        drop(notes);
        self.came.notify_one();
    }

    async fn work(&self, store: &Store, session: &SelfRef<PageSession>) {
        loop {
            self.wait_for_more(store, session).await;
            let Some(mut batch) = self.next_batch() else { return };
            // In a box, so that the many writers that wait are small.
            if let Err(over) = Box::pin(self.write(store, &mut batch)).await {
                self.give_up();
                if let Err(error) = session.tell(over, context(FOLD_WITHIN)) {
                    tracing::debug!(%error, page = %self.page_id, "a page's session wasn't told that its history is over");
                }
                return;
            }
            self.written(batch, store.now(), session);
        }
    }

    /// Returns when there is something to write, or nothing will come any more.
    async fn wait_for_more(&self, store: &Store, session: &SelfRef<PageSession>) {
        let mut due = None;
        loop {
            let (is_waiting, is_urgent, fold_at) = {
                let notes = self.notes.lock();
                let is_urgent = notes.stage != Stage::Open || !notes.answers.is_empty() || notes.len >= ROW_LEN_MAX;
                (!notes.waiting.is_empty(), is_urgent, notes.fold_at)
            };
            if is_urgent {
                return;
            }
            if is_waiting {
                // Answers and farewells end it early.
                if tokio::time::timeout_at(*due.get_or_insert_with(next_moment), self.came.notified()).await.is_err() {
                    return;
                }
            } else if let Some(fold_at) = fold_at {
                tokio::select! {
                    () = self.came.notified() => {}
                    () = store.clock().sleep_until(fold_at) => self.ask_for_fold(store.now(), session),
                }
            } else {
                self.came.notified().await;
            }
        }
    }

    /// Asks for a fold. A while later it is asked for again, should it not be done.
    fn ask_for_fold(&self, now: Timestamp, session: &SelfRef<PageSession>) {
        {
            let mut notes = self.notes.lock();
            if notes.rows.is_empty() {
                // Somebody was faster. Asked again and again, the page would never leave memory.
                notes.fold_at = None;
                return;
            }
            (notes.asked, notes.fold_at) = (true, Some(now.after(FOLD_AFTER)));
        }
        if let Err(error) = session.tell(Settle, context(FOLD_WITHIN)) {
            tracing::debug!(%error, page = %self.page_id, "a page's session wasn't asked to fold");
        }
    }

    /// What goes into the next row; `None` when all is written and nothing will come.
    fn next_batch(&self) -> Option<Batch> {
        let mut notes = self.notes.lock();
        if notes.waiting.is_empty() && notes.stage != Stage::Open {
            notes.answers.drain(..).for_each(Answer::give);
            return None;
        }
        let mut len = 0;
        let taken = notes.waiting.iter().take_while(|update| {
            len += update.len();
            len <= ROW_LEN_MAX
        });
        let taken = taken.count().max(1).min(notes.waiting.len());
        let rest = notes.waiting.split_off(taken);
        let updates = std::mem::replace(&mut notes.waiting, rest);
        notes.len -= updates.iter().map(Bytes::len).sum::<usize>();
        // Who waits for what comes later is told later.
        let answers = if notes.waiting.is_empty() { std::mem::take(&mut notes.answers) } else { Vec::new() };
        notes.is_writing = true;
        Some(Batch { updates, answers, row: None })
    }

    /// Commits a row, however long that takes; fails when it never will be possible.
    async fn write(&self, store: &Store, batch: &mut Batch) -> Result<(), HistoryOver> {
        let mut payload = BytesMut::new();
        for update in &batch.updates {
            wire::put_number(&mut payload, update.len() as u64);
            payload.put_slice(update);
        }
        let payload: Vec<u8> = payload.into();
        let mut pause = PAUSE_MIN;
        let mut id = row_id(store);
        // Whether an earlier try under this name may have got through.
        let mut is_unsure = false;
        loop {
            let mut change = Change::new();
            let (page_id, epoch, now) = (self.page_id, &*self.epoch, store.now());
            change.page_update_add(NewPageUpdate { page_id, epoch, id, payload: payload.clone(), now });
            match store.commit(change).await {
                Ok(()) => break,
                Err(CommitError::Stale) => return Err(HistoryOver { epoch: self.epoch.clone() }),
                Err(CommitError::Duplicate { .. }) if is_unsure => break,
                Err(CommitError::Duplicate { .. }) => id = row_id(store),
                Err(error) => {
                    is_unsure |= matches!(error, CommitError::Unavailable(_));
                    tracing::warn!(%error, page = %self.page_id, "co-edited updates can't be written; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                    if self.notes.lock().stage == Stage::Over {
                        return Err(HistoryOver { epoch: self.epoch.clone() });
                    }
                }
            }
        }
        batch.row = Some(id);
        Ok(())
    }

    fn written(&self, batch: Batch, now: Timestamp, session: &SelfRef<PageSession>) {
        let mut notes = self.notes.lock();
        notes.is_writing = false;
        notes.rows.extend(batch.row);
        let late = if notes.waiting.is_empty() { std::mem::take(&mut notes.answers) } else { Vec::new() };
        let fold_at = *notes.fold_at.get_or_insert(now.after(FOLD_AFTER));
        let must_fold = now >= fold_at || notes.rows.len() >= FOLD_ROWS && !notes.asked;
        drop(notes);
        batch.answers.into_iter().chain(late).for_each(Answer::give);
        if must_fold {
            self.ask_for_fold(now, session);
        }
    }
}

/// What goes into one row.
struct Batch {
    updates: Vec<Bytes>,
    answers: Vec<Answer>,
    row: Option<PageUpdateId>,
}

/// The updates of a row.
pub(super) fn read_row(payload: &[u8]) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    let mut reader = Reader { bytes: payload };
    std::iter::from_fn(move || (!reader.bytes.is_empty()).then(|| reader.buffer()))
}

/// A name for a row: the microsecond, and a few bits that tell nodes apart that write at once.
/// When what waits is written next.
fn next_moment() -> tokio::time::Instant {
    static START: LazyLock<tokio::time::Instant> = LazyLock::new(tokio::time::Instant::now);
    let moments = START.elapsed().as_millis() / EVERY.as_millis() + 1;
    *START + EVERY * u32::try_from(moments).unwrap_or(u32::MAX)
}

fn row_id(store: &Store) -> PageUpdateId {
    static LAST: AtomicI64 = AtomicI64::new(0);
    static NODE: LazyLock<i64> = LazyLock::new(|| i64::from(RandomState::new().hash_one(0).to_be_bytes()[0]));
    let now = store.now().as_millis() * 1_000;
    let next = |last: i64| now.max(last + 1);
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
    // The closure always has a next one.
    let micros = next(last.unwrap_or(now));
    PageUpdateId(micros << NODE_BITS | *NODE)
}

/// When a row was written, in milliseconds since 1970, as far as its name tells.
pub(super) const fn row_millis(row: PageUpdateId) -> i64 {
    (row.0 >> NODE_BITS) / 1_000
}

fn context(within: Duration) -> Context {
    Context::system(Origin::Actor, Instant::now() + within)
}
