//! A bucket: moves of its files and folders (contract C 4.4, `objects/move`).
//!
//! Up to 1,000 files move in one commit, all or none of them. More are written into a journal first, by a commit of its
//! own; from then on nothing else is written below either name of their folders. Then it is looked whether all of them
//! can move, and each thousand is a commit. A call makes up to five of them. What nobody goes on with for 30 seconds, a
//! timer does.

mod batch;
mod copy;
mod delete;

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
pub use self::{
    copy::CopyFiles,
    delete::{DeleteFiles, DeletedFiles},
};
use crate::{
    lifecycle,
    open::{OpenBucket, writer},
};

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
        turn.context().caller.grant().map_or(Ok(()), |grant| grant.resource_check(*turn.key()))?;
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

/// Goes on with moves that were left alone: those that were so for longest first.
impl Handle<TimerFired> for Bucket {
    async fn handle(&mut self, timer: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        if timer.name == lifecycle::TIMER {
            return lifecycle::begin(turn).await;
        }
        let Some(open) = OpenBucket::load(&turn.services().store, *turn.key()).await? else { return Ok(()) };
        if open.bucket.check_usable().is_err() {
            return Ok(());
        }
        let due = turn.now().before(MOVE_LEFT_ALONE);
        let mut left_alone: Vec<_> = open.moves.iter().filter(|moves| moves.touched_at <= due).collect();
        left_alone.sort_by_key(|moves| moves.touched_at);
        let (mut left, mut earliest) = (open.moves.clone(), turn.now());
        for journaled in left_alone {
            match step(turn, journaled, Pace::Alone).await {
                // The commit of a step has set the timer for what is left.
                Ok(Step::On { .. } | Step::Done { .. }) => return Ok(()),
                Ok(Step::Refused(error)) => {
                    tracing::warn!(bucket = %turn.key(), %error, "moves that were left alone can't be made");
                    left.retain(|moves| moves.id != journaled.id);
                }
                Err(error) if is_passing(&error) => return Err(error),
                Err(error) => {
                    tracing::error!(bucket = %turn.key(), %error, "moves can't go on");
                    earliest = turn.now().after(MOVE_LEFT_ALONE);
                }
            }
        }
        let mut change = Change::new();
        arm(&mut change, turn, &open, left.iter(), earliest);
        turn.commit(change).await
    }
}

/// Begins: moves everything in one commit, or writes the moves into the journal and makes the first of them.
async fn begin(turn: &mut Turn<'_, Bucket>, open: OpenBucket, moves: &Moves, by: UserId) -> Result<Moved> {
    let store = turn.services().store.clone();
    open.moving.check_moves(moves)?;
    check_found(&store, open.seen().no, moves).await?;
    let batch = Batch::read(&store, &open, moves, MoveCursor::default()).await?;
    let (count, done) = (batch.len(), moves.is_done(batch.cursor()));
    if !done {
        return begin_journaled(turn, open, moves, by).await;
    }
    if count == 0 {
        return Ok(Moved { moved: 0, done });
    }
    let (now, mut change) = (turn.now(), Change::new());
    change.file_rows(open.seen(), now, &batch.rows(&open, by, now)?);
    audit(&mut change, turn, &open, moves);
    turn.commit(change).await?;
    Ok(Moved { moved: count, done })
}

/// Writes moves into the journal, which moves nothing yet: what writes were decided before it lose against the epoch's
/// end, and what is found afterwards stays so.
async fn begin_journaled(turn: &mut Turn<'_, Bucket>, open: OpenBucket, moves: &Moves, by: UserId) -> Result<Moved> {
    let journaled = StoredMoves {
        id: moves.id(),
        moves: moves.clone(),
        cursor: MoveCursor::default(),
        moved: 0,
        created_by: by,
        touched_at: turn.now(),
    };
    let mut change = Change::new();
    change.bucket_epoch_end(open.seen());
    change.bucket_moves_begin(open.seen().no, &journaled);
    arm(&mut change, turn, &open, open.moves.iter().chain([&journaled]), turn.now());
    turn.commit(change).await?;
    match go_on(turn, journaled, Pace::Asked, BATCHES_PER_CALL).await {
        // The journal has them: whoever asked resumes, or the timer goes on, whatever kept them from being made now.
        Err(error) if is_passing(&error) => Ok(Moved { moved: 0, done: false }),
        other => other,
    }
}

/// Tells the audit trail of moves that are made.
fn audit(change: &mut Change, turn: &Turn<'_, Bucket>, open: &OpenBucket, moves: &Moves) {
    let target = AuditTarget::new("bucket", open.bucket.id()).labelled(&open.bucket.resource.name);
    let entry = AuditEntry::new(turn.context(), "object.moved", target).in_org(open.bucket.resource.org_id);
    let about = json!({ "files": moves.files().len(), "folders": moves.folders().len() });
    change.audit_add(turn.now(), entry.with_metadata(about));
}

/// Goes on with moves in the journal, by up to so many batches.
async fn go_on(turn: &mut Turn<'_, Bucket>, mut journaled: StoredMoves, pace: Pace, batches: usize) -> Result<Moved> {
    let mut moved = 0;
    for _ in 0..batches {
        match step(turn, &journaled, pace).await {
            Ok(Step::Done { moved: more }) => return Ok(Moved { moved: moved + more, done: true }),
            Ok(Step::On { moved: more, after }) => {
                moved += more;
                journaled = *after;
            }
            Ok(Step::Refused(error)) => return Err(error),
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
enum Step {
    /// So many files moved, and the journal's entry is this now.
    On { moved: u64, after: Box<StoredMoves> },
    /// So many files moved, and none are left.
    Done { moved: u64 },
    /// They can't be made: nothing moved, and the journal's entry is gone.
    Refused(Error),
}

/// Moves the next files of a journal's entry, or ends it.
async fn step(turn: &mut Turn<'_, Bucket>, before: &StoredMoves, pace: Pace) -> Result<Step> {
    let (store, now) = (turn.services().store.clone(), turn.now());
    let open = OpenBucket::load(&store, *turn.key()).await?.ok_or_else(no_bucket)?;
    open.bucket.check_usable()?;
    let is_first = before.cursor == MoveCursor::default();
    if is_first && let Err(refusal) = check_found(&store, open.seen().no, &before.moves).await {
        return refuse(turn, &open, before, refusal).await;
    }
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
        // Before the lanes' rows are counted in, lest two commits wait for one another.
        change.bucket_epoch_end(seen);
        seen.epoch += 1;
        change.bucket_moves_end(seen.no, before);
    } else {
        change.bucket_moves_step(seen.no, before, &after);
    }
    arm(&mut change, turn, &open, others(&open, before).chain((!done).then_some(&after)), now);
    change.file_rows(seen, now, &batch.rows(&open, before.created_by, now)?);
    if is_first {
        audit(&mut change, turn, &open, &before.moves);
    }
    turn.commit(change).await?;
    Ok(if done { Step::Done { moved } } else { Step::On { moved, after: Box::new(after) } })
}

/// Takes moves out of the journal of which none was made; what only failed for now stays in it.
async fn refuse(turn: &mut Turn<'_, Bucket>, open: &OpenBucket, before: &StoredMoves, refusal: Error) -> Result<Step> {
    if is_passing(&refusal) {
        return Err(refusal);
    }
    let mut change = Change::new();
    change.bucket_epoch_end(open.seen());
    change.bucket_moves_end(open.seen().no, before);
    arm(&mut change, turn, open, others(open, before), turn.now());
    turn.commit(change).await?;
    Ok(Step::Refused(refusal))
}

/// The other moves that are under way.
fn others<'o>(open: &'o OpenBucket, these: &StoredMoves) -> impl Iterator<Item = &'o StoredMoves> + use<'o> {
    let id = these.id;
    open.moves.iter().filter(move |moves| moves.id != id)
}

/// Whether the same may come to something else when it is tried again.
const fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Stale | Error::Busy { .. } | Error::Internal { .. })
}

/// Has the moves that are left gone on with as soon as one of them was left alone, but not before `earliest`.
fn arm<'m>(
    change: &mut Change,
    turn: &Turn<'_, Bucket>,
    open: &OpenBucket,
    left: impl Iterator<Item = &'m StoredMoves>,
    earliest: Timestamp,
) {
    let (key, org_id) = (turn.key().to_string(), open.bucket.resource.org_id);
    match left.map(|moves| moves.touched_at.after(MOVE_LEFT_ALONE)).min() {
        Some(due) => change.timer_set_for(org_id, Bucket::KIND, &key, TIMER, due.max(earliest)),
        None => change.timer_cancel(Bucket::KIND, &key, TIMER),
    }
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
