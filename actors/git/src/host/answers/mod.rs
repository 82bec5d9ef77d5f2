//! Packs that were sent lately, so that whoever asks for the same is sent the same: a clone for each job of a hundred is one run of git.
//!
//! The first who asks has git write the answer to a file, which all who ask for the same read as it grows. Nothing of it is made
//! durable, and a process begins without any.
//!
//! Files are opened, made and deleted under one lock, which only threads take that may wait for a disk.

mod following;
#[cfg(test)]
mod tests;
mod writing;

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use domain::git::wire::AnswerName;
use parking_lot::Mutex;
use tokio::{runtime::Handle, sync::watch, task::spawn_blocking};

pub use self::following::Following;
pub(super) use self::writing::{Copied, Writing};

/// Answers that are kept, however small.
const COUNT_MAX: usize = 10_000;
/// What an answer is taken to have at least, before it is there.
const SIZE_MIN: u64 = 1024 * 1024;
/// How long nothing is kept after a file couldn't be written.
const PAUSE: Duration = Duration::from_mins(1);

/// How far an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    len: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// More of it comes.
    #[default]
    Grows,
    /// All of it is there, and is kept.
    Whole,
    /// All that git said is there. It said what went wrong.
    Said,
    /// No more of it comes.
    BrokeOff,
}

/// The answers that this process keeps.
#[derive(Debug)]
pub(super) struct Answers {
    folder: PathBuf,
    size_max: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    kept: HashMap<AnswerName, Kept>,
    /// Bytes of all, and of those that grow as many as they are taken to have.
    size: u64,
    /// Counts what is asked for.
    asked: u64,
    /// Until when nothing is kept.
    paused_until: Option<Instant>,
}

#[derive(Debug)]
struct Kept {
    place: PathBuf,
    size: u64,
    asked: u64,
    progress: Arc<watch::Sender<Progress>>,
}

impl Kept {
    fn is_growing(&self) -> bool {
        self.progress.borrow().stage == Stage::Grows
    }

    /// Whether no more of it comes, and it isn't kept.
    fn is_over(&self) -> bool {
        matches!(self.progress.borrow().stage, Stage::Said | Stage::BrokeOff)
    }
}

/// What somebody who asks does.
#[derive(Debug)]
pub(super) enum Found {
    /// Reads an answer that is there, or grows.
    There(Following),
    /// Reads an answer that is to be written.
    Begun(Following, Writing),
    /// Has git answer.
    Nothing,
}

impl Answers {
    /// Of up to so many bytes in a folder, in which nothing is left of other processes.
    pub fn new(folder: PathBuf, size_max: u64) -> Self {
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "packs that were sent could not be deleted");
            }
            _ => {}
        }
        metrics::gauge!("troupe_git_pack_cache_bytes").set(0);
        Self { folder, size_max, state: Mutex::default() }
    }

    /// The answer of this name, which is taken to have `size` bytes where it isn't there.
    pub async fn find(self: &Arc<Self>, key: AnswerName, size: u64) -> Found {
        let answers = Arc::clone(self);
        spawn_blocking(move || answers.look_up(key, size)).await.unwrap_or(Found::Nothing)
    }

    fn look_up(self: &Arc<Self>, key: AnswerName, size: u64) -> Found {
        let size = size.max(SIZE_MIN);
        let mut state = self.state.lock();
        let found = state.find(key).or_else(|| self.begin(&mut state, key, size)).unwrap_or(Found::Nothing);
        let counted = match found {
            Found::There(_) => "troupe_git_pack_cache_hits_total",
            Found::Begun(..) | Found::Nothing => "troupe_git_pack_cache_misses_total",
        };
        metrics::counter!(counted).increment(1);
        found
    }

    fn begin(self: &Arc<Self>, state: &mut State, key: AnswerName, size: u64) -> Option<Found> {
        if state.paused_until.is_some_and(|until| Instant::now() < until) || !state.make_room(size, self.size_max) {
            return None;
        }
        state.paused_until = None;
        let place = self.folder.join(state.asked.to_string());
        let opened = created(&self.folder, &place).and_then(|file| Ok((file, File::open(&place)?)));
        let (written, read) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                state.pause(&error);
                return None;
            }
        };
        let progress = Arc::new(watch::Sender::new(Progress::default()));
        let following = Following::new(read, progress.subscribe());
        let writing = Writing { answers: Arc::clone(self), key, file: written, progress: Arc::clone(&progress) };
        state.add(key, Kept { place, size, asked: state.asked, progress });
        Some(Found::Begun(following, writing))
    }

    /// Does something that may wait for a disk, on a thread that may; nothing where there is none any more.
    async fn aside<T: Send + 'static>(self: &Arc<Self>, act: impl FnOnce(&Self) -> T + Send + 'static) -> Option<T> {
        let answers = Arc::clone(self);
        spawn_blocking(move || act(&answers)).await.ok()
    }

    /// The same, which nobody waits for.
    fn later(self: &Arc<Self>, act: impl FnOnce(&Self) + Send + 'static) {
        let answers = Arc::clone(self);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || act(&answers))),
            Err(_) => act(&answers),
        }
    }

    /// Notes that an answer is whole.
    fn keep(&self, key: AnswerName) {
        let mut state = self.state.lock();
        let Some(kept) = state.kept.get_mut(&key) else { return };
        let len = kept.progress.borrow().len;
        let room = std::mem::replace(&mut kept.size, len);
        kept.progress.send_modify(|progress| progress.stage = Stage::Whole);
        state.size = state.size - room + len;
        state.make_room(0, self.size_max);
        state.tell();
    }

    /// Forgets what this one wrote, of which no more comes.
    fn forget(&self, key: AnswerName, writer: &Arc<watch::Sender<Progress>>) {
        let mut state = self.state.lock();
        if state.kept.get(&key).is_some_and(|kept| Arc::ptr_eq(&kept.progress, writer) && kept.is_over()) {
            state.remove(key);
        }
    }

    /// Forgets an answer that nobody reads; whether nobody does.
    fn give_up_unread(&self, key: AnswerName) -> bool {
        let mut state = self.state.lock();
        let is_unread = state.kept.get(&key).is_none_or(|kept| kept.progress.receiver_count() == 0);
        if is_unread {
            state.remove(key);
        }
        is_unread
    }

    /// Keeps nothing for a while, and makes room.
    fn pause(&self, error: &io::Error) {
        self.state.lock().pause(error);
    }
}

/// Tells whoever reads an answer how it ends, unless they know.
fn end(writer: &watch::Sender<Progress>, ends_as: Stage) {
    writer.send_if_modified(|progress| {
        let is_growing = progress.stage == Stage::Grows;
        if is_growing {
            progress.stage = ends_as;
        }
        is_growing
    });
}

impl State {
    fn find(&mut self, key: AnswerName) -> Option<Found> {
        self.asked += 1;
        let asked = self.asked;
        if self.kept.get(&key).is_some_and(Kept::is_over) {
            self.remove(key);
        }
        let kept = self.kept.get_mut(&key)?;
        kept.asked = asked;
        match File::open(&kept.place) {
            Ok(file) => Some(Found::There(Following::new(file, kept.progress.subscribe()))),
            Err(error) => {
                tracing::warn!(%error, "a pack that was sent is gone");
                if !kept.is_growing() {
                    self.remove(key);
                }
                Some(Found::Nothing)
            }
        }
    }

    fn add(&mut self, key: AnswerName, kept: Kept) {
        self.size += kept.size;
        self.kept.insert(key, kept);
        self.tell();
    }

    fn remove(&mut self, key: AnswerName) -> Option<Kept> {
        let kept = self.kept.remove(&key)?;
        self.size -= kept.size;
        // Whoever reads it has it open.
        if let Err(error) = fs::remove_file(&kept.place) {
            tracing::debug!(%error, "a pack that was sent is gone already");
        }
        self.tell();
        Some(kept)
    }

    /// Lets go of what nobody has asked for longest, until there is room for so much more; whether there is.
    fn make_room(&mut self, more: u64, size_max: u64) -> bool {
        let fits = |state: &Self| state.size + more <= size_max && state.kept.len() < COUNT_MAX;
        if fits(self) {
            return true;
        }
        let whole = self.kept.iter().filter(|(_, kept)| !kept.is_growing());
        let mut whole: Vec<_> = whole.map(|(key, kept)| (kept.asked, kept.size, *key)).collect();
        if more > size_max.saturating_sub(self.size - whole.iter().map(|(_, size, _)| size).sum::<u64>()) {
            return false;
        }
        whole.sort_unstable();
        for (.., key) in whole {
            self.remove(key);
            if fits(self) {
                return true;
            }
        }
        fits(self)
    }

    fn pause(&mut self, error: &io::Error) {
        tracing::warn!(%error, "packs that are sent can't be kept");
        self.paused_until = Some(Instant::now() + PAUSE);
        let whole: Vec<_> = self.kept.iter().filter(|(_, kept)| !kept.is_growing()).map(|(key, _)| *key).collect();
        for key in whole {
            self.remove(key);
        }
    }

    fn tell(&self) {
        #[expect(clippy::cast_precision_loss, reason = "far fewer bytes than 2^52")]
        metrics::gauge!("troupe_git_pack_cache_bytes").set(self.size as f64);
    }
}

/// A new file, with the folder that it is in.
fn created(folder: &Path, place: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    File::create_new(place)
}
