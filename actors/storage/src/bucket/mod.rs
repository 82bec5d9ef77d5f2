//! A bucket: moves of its files and folders (contract C 4.4, `objects/move`).
//!
//! Up to 1,000 files move in one commit, all or none of them. More are written into a journal by the commit that moves
//! the first thousand; from then on nothing else is written below either name of their folders, and each further
//! thousand is a commit. A call makes up to five of them. What nobody goes on with for 30 seconds, a timer does.

mod batch;

use std::collections::HashMap;

use actors_base::Services;
use domain::{
    Error, Result, Timestamp,
    id::{OrgId, ResourceId, UserId},
    storage::{BATCHES_PER_CALL, MOVE_LEFT_ALONE, MoveCursor, MoveJournal, MoveStart, Moves, Resume, no_bucket},
};
use kernel::{Command, Handle, Resource, TimerFired, Turn};
use serde_json::json;
use store::{
    Change, Store,
    audit::{AuditEntry, AuditTarget},
    storage::{BucketNo, StoredMoves},
};

use self::batch::Batch;
use crate::open::{OpenBucket, writer};

/// The name of the timer that goes on with moves.
const TIMER: &str = "moves";

/// A bucket. Nothing of it is kept in memory.
#[derive(Debug)]
pub struct Bucket;

impl Resource for Bucket {
    type Key = ResourceId;
    type Services = Services;

    const KIND: &'static str = "bucket";

    async fn load(_: &ResourceId, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}

/// Moves files and folders to other names.
#[derive(Clone, Debug)]
pub struct MoveFiles {
    /// Whose bucket it is.
    pub org_id: OrgId,
    /// Which ones.
    pub moves: Moves,
    /// Whether it goes on with what is under way.
    pub resume: Resume,
}

/// What became of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Files that this call moved.
    pub moved: u64,
    /// Whether nothing is left to move.
    pub done: bool,
}

impl Command for MoveFiles {
    type Reply = Moved;

    const NAME: &'static str = "move_files";
}

impl Handle<MoveFiles> for Bucket {
    async fn handle(&mut self, command: &MoveFiles, turn: &mut Turn<'_, Self>) -> Result<Moved> {
        let MoveFiles { org_id, moves, resume } = command;
        let by = writer(turn, *org_id).await?;
        let open = OpenBucket::load(&turn.services().store, *turn.key()).await?.ok_or_else(no_bucket)?;
        open.check_usable(*org_id)?;
        let id = moves.id();
        let journaled = open.moves.iter().find(|known| known.id == id).cloned();
        let journal = if journaled.is_some() { MoveJournal::UnderWay } else { MoveJournal::Nothing };
        match (MoveStart::decide(journal, *resume)?, journaled) {
            (MoveStart::Begin, _) => begin(turn, open, moves, by).await,
            (MoveStart::Continue, Some(journaled)) => go_on(turn, journaled, Pace::Asked, BATCHES_PER_CALL).await,
            (MoveStart::Continue, None) | (MoveStart::Done, _) => Ok(Moved { moved: 0, done: true }),
        }
    }
}

/// Goes on with moves that were left alone.
impl Handle<TimerFired> for Bucket {
    async fn handle(&mut self, _: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Some(open) = OpenBucket::load(&turn.services().store, *turn.key()).await? else { return Ok(()) };
        if open.bucket.check_usable().is_err() {
            return Ok(());
        }
        let due = turn.now().before(MOVE_LEFT_ALONE);
        let left_alone = open.moves.into_iter().find(|moves| moves.touched_at <= due);
        let Some(journaled) = left_alone else { return Ok(()) };
        go_on(turn, journaled, Pace::Alone, 1).await.map(|_| ())
    }
}

/// Begins: moves everything in one commit, or the first files with the journal's entry.
async fn begin(turn: &mut Turn<'_, Bucket>, open: OpenBucket, moves: &Moves, by: UserId) -> Result<Moved> {
    let store = turn.services().store.clone();
    open.moving.check_moves(moves)?;
    check_found(&store, open.seen().no, moves).await?;
    let batch = Batch::read(&store, &open, moves, MoveCursor::default()).await?;
    let (count, done) = (batch.len(), moves.is_done(batch.cursor()));
    if count == 0 && done {
        return Ok(Moved { moved: 0, done: true });
    }
    let journaled = StoredMoves {
        id: moves.id(),
        moves: moves.clone(),
        cursor: batch.cursor().clone(),
        moved: count,
        created_by: by,
        touched_at: turn.now(),
    };
    let (now, mut seen) = (turn.now(), open.seen());
    let mut change = Change::new();
    if !done {
        // Before the lanes' rows are counted in, lest two commits wait for one another.
        change.bucket_epoch_end(seen);
        seen.epoch += 1;
        change.bucket_moves_begin(seen.no, &journaled);
        arm(&mut change, turn, &open, Pace::Asked);
    }
    change.file_rows(seen, now, &batch.rows(&open, by, now)?);
    let target = AuditTarget::new("bucket", open.bucket.id()).labelled(&open.bucket.resource.name);
    let entry = AuditEntry::new(turn.context(), "object.moved", target).in_org(open.bucket.resource.org_id);
    let about = json!({ "files": moves.files().len(), "folders": moves.folders().len() });
    change.audit_add(now, entry.with_metadata(about));
    turn.commit(change).await?;
    if done {
        return Ok(Moved { moved: count, done });
    }
    let rest = go_on(turn, journaled, Pace::Asked, BATCHES_PER_CALL - 1).await;
    // What is committed is done, whatever keeps the rest from being: whoever asked resumes, or the timer does.
    Ok(rest.map_or(Moved { moved: count, done: false }, |rest| Moved { moved: count + rest.moved, ..rest }))
}

/// Goes on with moves in the journal, by up to so many batches.
async fn go_on(turn: &mut Turn<'_, Bucket>, mut journaled: StoredMoves, pace: Pace, batches: usize) -> Result<Moved> {
    let mut moved = 0;
    for _ in 0..batches {
        match step(turn, &journaled, pace).await {
            Ok(Step { moved: more, after: None }) => return Ok(Moved { moved: moved + more, done: true }),
            Ok(Step { moved: more, after: Some(after) }) => {
                moved += more;
                journaled = after;
            }
            // The first step decides anew; what later ones come to is no reason to take back what is done.
            Err(error) if moved == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(Moved { moved, done: false })
}

/// Who has moves go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Whoever asked for them.
    Asked,
    /// The timer, one batch after the other.
    Alone,
}

impl Pace {
    /// When the moves were last asked for, after a step.
    const fn touched_at(self, before: &StoredMoves, now: Timestamp) -> Timestamp {
        match self {
            Self::Asked => now,
            Self::Alone => before.touched_at,
        }
    }
}

/// What a step came to.
struct Step {
    moved: u64,
    /// The journal's entry; none when all is done.
    after: Option<StoredMoves>,
}

/// Moves the next files of a journal's entry, or ends it.
async fn step(turn: &mut Turn<'_, Bucket>, before: &StoredMoves, pace: Pace) -> Result<Step> {
    let (store, now) = (turn.services().store.clone(), turn.now());
    let open = OpenBucket::load(&store, *turn.key()).await?.ok_or_else(no_bucket)?;
    open.bucket.check_usable()?;
    let batch = Batch::read(&store, &open, &before.moves, before.cursor.clone()).await?;
    let (moved, done) = (batch.len(), before.moves.is_done(batch.cursor()));
    let after = StoredMoves {
        cursor: batch.cursor().clone(),
        moved: before.moved + moved,
        touched_at: pace.touched_at(before, now),
        ..before.clone()
    };
    let mut seen = open.seen();
    let mut change = Change::new();
    if done {
        change.bucket_epoch_end(seen);
        seen.epoch += 1;
        change.bucket_moves_end(seen.no, before);
    } else {
        change.bucket_moves_step(seen.no, before, &after);
    }
    if !done || open.moves.len() > 1 {
        arm(&mut change, turn, &open, pace);
    }
    change.file_rows(seen, now, &batch.rows(&open, before.created_by, now)?);
    turn.commit(change).await?;
    Ok(Step { moved, after: (!done).then_some(after) })
}

/// Has the moves gone on with: at once where nobody else does, or when nobody has for a while.
fn arm(change: &mut Change, turn: &Turn<'_, Bucket>, open: &OpenBucket, pace: Pace) {
    let at = match pace {
        Pace::Asked => turn.now().after(MOVE_LEFT_ALONE),
        Pace::Alone => turn.now(),
    };
    change.timer_set_for(open.bucket.resource.org_id, Bucket::KIND, &turn.key().to_string(), TIMER, at);
}

/// Passes where all that is moved is there, and nothing is where it goes.
async fn check_found(store: &Store, no: BucketNo, moves: &Moves) -> Result<()> {
    let keys: Vec<_> = moves.files().iter().flat_map(|it| [it.from.clone(), it.to.clone()]).collect();
    let heads = store.file_heads(no, &keys).await?;
    let files: std::collections::HashSet<_> =
        heads.into_iter().filter(|head| head.content.is_some()).map(|head| head.key).collect();
    let mut folders = HashMap::new();
    for folder in moves.folders().iter().flat_map(|it| [&it.from, &it.to]) {
        folders.insert(folder.clone(), store.folder_facts(no, folder).await?);
    }
    moves.check_found(|key| files.contains(key), |folder| folders.get(folder).copied().flatten())
}

/// A file that a commit is to move has gone since it was read.
fn changed_meanwhile() -> Error {
    Error::Stale
}
