//! Reads of contents that are under way: what is being read is not swept, however long that takes.
//!
//! A content that nothing refers to any more is swept [`DOOMED_FOR`](super::DOOMED_FOR) later at the earliest. Whoever reads
//! longer than that holds it. Each store knows its own reads, and writes a row for each content that one of them has been
//! reading for [`HOLD_AFTER`] ([`Store::contents_hold_read`]): once a minute, and before it sweeps. So a short read writes
//! nothing, and other nodes know of the long ones. The rows of a process that died end [`HELD_FOR`] after it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use domain::{
    Timestamp,
    id::{ContentId, new_uuid},
};
use parking_lot::Mutex;

use crate::{Change, CommitError, Expect, Store, sql::Sql};

/// How long a read takes until it holds what it reads: less than a content is doomed before it is swept.
pub const HOLD_AFTER: Duration = Duration::from_mins(5);
/// How long a hold stands that nobody renews.
pub const HELD_FOR: Duration = Duration::from_mins(15);
/// How long a content is held for one read, at most: 5 TB at 10 MB a second.
pub const READ_MAX: Duration = Duration::from_hours(7 * 24);
/// Rows of one statement.
const ROWS_MAX: usize = 300;

/// The reads of one store.
#[derive(Debug)]
pub(crate) struct Readers {
    /// Tells the rows of one process from those of others.
    holder: String,
    reads: Mutex<Reads>,
}

#[derive(Debug, Default)]
struct Reads {
    begun: u64,
    under_way: BTreeMap<u64, (ContentId, Timestamp)>,
}

/// A read that is under way until this is dropped.
#[derive(Debug)]
pub(super) struct Reading {
    readers: Arc<Readers>,
    number: u64,
}

impl Readers {
    /// No reads yet.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { holder: new_uuid(now).to_string(), reads: Mutex::default() }
    }

    /// Notes that somebody reads a content from now on.
    pub(super) fn begin(self: &Arc<Self>, id: ContentId, now: Timestamp) -> Reading {
        let mut reads = self.reads.lock();
        reads.begun += 1;
        let number = reads.begun;
        reads.under_way.insert(number, (id, now));
        Reading { readers: Arc::clone(self), number }
    }

    /// The contents that are to be held at `now`.
    fn held(&self, now: Timestamp) -> BTreeSet<ContentId> {
        let (last, first) = (now.before(HOLD_AFTER), now.before(READ_MAX));
        let reads = self.reads.lock();
        let long = reads.under_way.values().filter(|(_, since)| *since <= last && *since > first);
        long.map(|(id, _)| *id).collect()
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.readers.reads.lock().under_way.remove(&self.number);
    }
}

impl Store {
    /// Holds what somebody has been reading here for [`HOLD_AFTER`] or longer, so that no node sweeps it; how many contents
    /// these are. Ask for it once a minute.
    pub async fn contents_hold_read(&self) -> Result<usize, CommitError> {
        let now = self.now();
        let held: Vec<_> = self.readers().held(now).into_iter().collect();
        let mut change = Change::new();
        for some in held.chunks(ROWS_MAX) {
            change.contents_hold(&self.readers().holder, some, now.after(HELD_FOR));
        }
        self.commit(change).await?;
        Ok(held.len())
    }
}

impl Change {
    /// Keeps contents from being swept until then.
    fn contents_hold(&mut self, holder: &str, ids: &[ContentId], until: Timestamp) {
        let places = (0..ids.len()).map(|at| format!("(${}, $1, ${})", 2 * at + 2, 2 * at + 3)).collect::<Vec<_>>();
        let text = format!(
            "INSERT INTO blob_holds (id, until, content_id) VALUES {} ON CONFLICT (id) DO UPDATE SET until = excluded.until",
            places.join(", ")
        );
        let rows = ids.iter().flat_map(|id| [format!("{holder}/{id}").into(), id.to_string().into()]);
        self.run_statement(Sql::new(text, std::iter::once(until.0.into()).chain(rows)), Expect::Any);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_700_000_000_000);

    #[test]
    fn what_is_read_for_long_is_held_until_the_last_reader_ends() {
        let readers = Arc::new(Readers::new(START));
        let id = ContentId::new(START);
        let (one, two) = (readers.begin(id, START), readers.begin(id, START));
        let due = START.after(HOLD_AFTER);
        assert_eq!(readers.held(due.before(Duration::from_millis(1))), BTreeSet::new());
        assert_eq!(readers.held(due), BTreeSet::from([id]));
        drop(one);
        let end = START.after(READ_MAX);
        assert_eq!(readers.held(end.before(Duration::from_millis(1))), BTreeSet::from([id]));
        assert_eq!(readers.held(end), BTreeSet::new());
        drop(two);
        assert_eq!(readers.held(due), BTreeSet::new());
        assert!(HOLD_AFTER < super::super::DOOMED_FOR && HOLD_AFTER < HELD_FOR);
    }
}
