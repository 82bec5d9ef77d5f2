//! Views: folders in which git finds the packs of a repository, made of what the store has.
//!
//! Refs are written there, too, but nobody is told of them: git finds the tags among them that come with a commit, and what a
//! shallow clone can be deepened from.

use std::{
    collections::HashSet,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dashmap::DashMap;
use domain::{
    Error, Result, Timestamp,
    git::{ObjectId, objects_lost, repository_not_found, wire::Listing},
    resource::ResourceStatus,
};
use gateways::GitJob;
use store::{
    Change,
    git::{RepositoryNo, StoredPack, StoredRepository},
};
use tokio::{
    fs,
    sync::{Mutex, OnceCell},
};

use super::{GitHost, meters::views_have};

/// What git is told in every folder of ours: any object that is there may be asked for, and parts of histories. What a commit of the
/// web brings is one pack, however little it is.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\
                      [uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n\
                      [gc]\n\tauto = 0\n[fastimport]\n\tunpackLimit = 0\n";

/// How often it is looked at packs because somebody reads a repository, in milliseconds.
const MINUTE_MS: i64 = 60_000;

/// The view of a repository, which stays for as long as somebody has this.
#[derive(Clone, Debug)]
pub(super) struct View {
    folder: PathBuf,
    readers: Arc<()>,
    /// Whether objects are missing, since a pack is gone.
    lacks: bool,
}

impl View {
    /// The view of a repository that is still to be made: an empty folder of git's.
    pub fn of_nothing(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), readers: Arc::default(), lacks: false }
    }

    /// The folder of git's that it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is wrong that git can't find something in it; nothing where all is there.
    pub fn lost(&self) -> Option<Error> {
        self.lacks.then(objects_lost)
    }

    /// 503 where objects are missing that what is asked for may need.
    pub fn is_whole(&self) -> Result<()> {
        self.lost().map_or(Ok(()), Err)
    }

    /// What keeps it where it is.
    pub fn kept(&self) -> Arc<()> {
        Arc::clone(&self.readers)
    }

    /// A command of git's that reads it.
    pub fn job(&self, command: &str) -> GitJob {
        GitJob::new(&self.folder, command).keeping(self.kept())
    }
}

/// The views of this node.
#[derive(Debug)]
pub(super) struct Views {
    folder: PathBuf,
    /// Bytes that they take of the disk, at most; 0 for any number.
    size_max: u64,
    slots: DashMap<String, Arc<Slot>>,
    /// Whether those of an earlier process were looked for.
    are_found: OnceCell<()>,
    asked: AtomicU64,
}

/// The place of a repository's view.
#[derive(Debug, Default)]
struct Slot {
    seen: Mutex<Seen>,
    readers: Arc<()>,
    /// When it was asked for last, as a number that rises.
    asked: AtomicU64,
    size: AtomicU64,
}

/// What of a repository is in its view.
#[derive(Debug, Default)]
struct Seen {
    versions: Option<(i64, i64)>,
    /// Files of packs that the repository hasn't any more, which somebody may still read.
    old: Vec<PathBuf>,
    /// The first pack that isn't there, though the repository has it.
    lost: Option<ObjectId>,
    /// The minute in which it was last asked that packs be looked at, and the one that wasn't there then.
    looked: Option<(i64, Option<ObjectId>)>,
}

impl Seen {
    /// Whether packs are to be looked at, since the record says another thing of them: once a minute, as somebody may have done it
    /// already, and a view may have what is gone from where it is kept.
    fn looks(&mut self, repository: &StoredRepository, now: Timestamp) -> bool {
        let is_known = repository.resource.status == ResourceStatus::Error;
        let asked = Some((now.as_millis().div_euclid(MINUTE_MS), self.lost));
        if self.lost.is_some() == is_known || self.looked == asked {
            return false;
        }
        self.looked = asked;
        true
    }
}

impl GitHost {
    /// The view of a repository, with all that the store has now.
    pub(super) async fn view(&self, repository: &StoredRepository) -> Result<View> {
        let (views, no) = (&self.parts.views, repository.no);
        views.find().await;
        let slot = views.slot(no);
        let mut seen: tokio::sync::MutexGuard<'_, Seen> = Mutex::lock(&slot.seen).await;
        let now = self.parts.store.repository_versions(no).await?.ok_or_else(repository_not_found)?;
        let view = View { folder: views.place(no), readers: Arc::clone(&slot.readers), lacks: false };
        if seen.versions == Some(now) && seen.old.is_empty() && seen.lost.is_none() {
            if seen.looks(repository, self.parts.store.now()) {
                self.look_at_packs(repository).await;
            }
            return Ok(view);
        }
        if seen.versions.is_none() {
            lay_out(&view.folder).await.map_err(failed)?;
        }
        let has_new_packs = seen.lost.is_some() || seen.versions.is_none_or(|(_, packs)| packs != now.1);
        if has_new_packs {
            let (packs, lost) = self.add_packs(repository, &view.folder).await?;
            seen.old = files_beside(&view.folder, &packs).await.map_err(failed)?;
            seen.lost = lost;
        }
        let (lacks, looks) = (seen.lost.is_some(), seen.looks(repository, self.parts.store.now()));
        let is_lighter = slot.forget_old(&mut seen).await;
        if has_new_packs || is_lighter {
            slot.size.store(size_of(&view.folder).await.map_err(failed)?, Ordering::Relaxed);
            views_have(views.size());
        }
        if seen.versions.is_none_or(|(refs, _)| refs != now.0) {
            let refs = self.refs(no).await?;
            write_refs(&view.folder, &refs).await.map_err(failed)?;
        }
        seen.versions = Some(now);
        drop(seen);
        if has_new_packs {
            views.make_room().await;
        }
        if looks {
            self.look_at_packs(repository).await;
        }
        Ok(View { lacks, ..view })
    }

    /// Adds all packs that the repository has by now, and answers them, with the first one that is gone. Where some are joined
    /// meanwhile, it begins anew.
    async fn add_packs(
        &self,
        repository: &StoredRepository,
        view: &Path,
    ) -> Result<(Vec<StoredPack>, Option<ObjectId>)> {
        let store = &self.parts.store;
        let mut packs = store.repository_packs(repository.no).await?;
        loop {
            let lost = self.add_these(repository, view, &packs).await?;
            if lost.is_none() {
                return Ok((packs, None));
            }
            let there = store.repository_packs(repository.no).await?;
            if there == packs {
                return Ok((packs, lost));
            }
            packs = there;
        }
    }

    /// Adds these packs; the first one whose content isn't there.
    async fn add_these(
        &self,
        repository: &StoredRepository,
        view: &Path,
        packs: &[StoredPack],
    ) -> Result<Option<ObjectId>> {
        let mut lost = None;
        for pack in packs {
            if !self.add_pack(repository, view, pack).await? {
                lost = lost.or(Some(pack.hash));
            }
        }
        Ok(lost)
    }

    /// Adds a pack; whether it is there.
    async fn add_pack(&self, repository: &StoredRepository, view: &Path, pack: &StoredPack) -> Result<bool> {
        let (store, org_id) = (&self.parts.store, repository.resource.org_id);
        let place = view.join(format!("objects/pack/pack-{}.pack", pack.hash));
        // Git takes a pack to be there once its index is.
        for (content, place) in [(pack.pack, place.clone()), (pack.index, place.with_extension("idx"))] {
            let error = match store.content_to_file(org_id, content, &place).await {
                Ok(true) => continue,
                Ok(false) => return Ok(false),
                Err(error) => error,
            };
            if store.content_lost(org_id, content).await?.is_some() {
                return Ok(false);
            }
            return Err(error.into());
        }
        Ok(true)
    }

    /// Has all packs of a repository be looked at.
    async fn look_at_packs(&self, repository: &StoredRepository) {
        let (store, id) = (&self.parts.store, repository.id());
        let (mut change, now) = (Change::new(), store.now());
        change.packs_look(now, (repository.resource.org_id, id), now);
        if let Err(error) = store.commit(change).await {
            tracing::warn!(%error, repository = %id, "packs of a repository are looked at later");
        }
    }
}

impl Slot {
    /// Takes the files away that are in the view for those only who began to read it before, once there is none of them; whether
    /// it did. Whoever asks for the view counts as one reader, and the place itself as another.
    async fn forget_old(&self, seen: &mut Seen) -> bool {
        if seen.old.is_empty() || Arc::strong_count(&self.readers) > 2 {
            return false;
        }
        while let Some(file) = seen.old.last() {
            let removed = fs::remove_file(file).await;
            if let Err(error) = removed
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, "a pack that was joined with others stays in a view");
                return false;
            }
            seen.old.pop();
        }
        true
    }
}

impl Views {
    pub fn new(folder: PathBuf, size_max: u64) -> Self {
        let (slots, are_found) = (DashMap::new(), OnceCell::new());
        Self { folder, size_max, slots, are_found, asked: AtomicU64::new(0) }
    }

    fn place(&self, no: RepositoryNo) -> PathBuf {
        self.folder.join(no.to_string())
    }

    fn slot(&self, no: RepositoryNo) -> Arc<Slot> {
        let slot = Arc::clone(&self.slots.entry(no.to_string()).or_default());
        slot.asked.store(self.asked.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        slot
    }

    /// Finds what earlier processes left, which nobody has asked for since.
    async fn find(&self) {
        let finding = async {
            if let Err(error) = self.find_all().await
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, "the views of an earlier process can't be looked at");
            }
        };
        self.are_found.get_or_init(|| finding).await;
    }

    async fn find_all(&self) -> io::Result<()> {
        let mut entries = fs::read_dir(&self.folder).await?;
        while let Some(entry) = entries.next_entry().await? {
            let size = size_of(&entry.path()).await?;
            if let Ok(name) = entry.file_name().into_string() {
                self.slots.entry(name).or_default().size.store(size, Ordering::Relaxed);
            }
        }
        views_have(self.size());
        Ok(())
    }

    fn size(&self) -> u64 {
        self.slots.iter().map(|slot| slot.size.load(Ordering::Relaxed)).sum()
    }

    /// Takes views away that nobody reads, first those that nobody has asked for longest, until they aren't too large.
    async fn make_room(&self) {
        if self.size_max == 0 || self.size() <= self.size_max {
            return;
        }
        let asked = |slot: &Arc<Slot>| slot.asked.load(Ordering::Relaxed);
        let mut slots: Vec<_> =
            self.slots.iter().map(|it| (asked(it.value()), it.key().clone(), Arc::clone(it.value()))).collect();
        slots.sort_unstable_by_key(|(asked, ..)| *asked);
        for (_, name, slot) in slots {
            if let Err(error) = self.take_away(&name, &slot).await {
                tracing::warn!(%error, name, "a view can't be taken away");
            }
            if self.size() <= self.size_max {
                return;
            }
        }
    }

    async fn take_away(&self, name: &str, slot: &Slot) -> io::Result<()> {
        // Whoever makes it, or has it, needs it.
        let Ok(mut seen) = slot.seen.try_lock() else { return Ok(()) };
        if Arc::strong_count(&slot.readers) > 1 || slot.size.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        *seen = Seen::default();
        fs::remove_dir_all(self.folder.join(name)).await?;
        slot.size.store(0, Ordering::Relaxed);
        views_have(self.size());
        Ok(())
    }
}

/// Bytes that a view takes of the disk: what the folder of blobs has, too, takes none.
async fn size_of(view: &Path) -> io::Result<u64> {
    let mut size = 0;
    let mut entries = match fs::read_dir(view.join("objects/pack")).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    while let Some(entry) = entries.next_entry().await? {
        let about = entry.metadata().await?;
        size += if about.nlink() == 1 { about.len() } else { 0 };
    }
    Ok(size)
}

/// The files of packs in a view that aren't of these packs.
async fn files_beside(view: &Path, packs: &[StoredPack]) -> io::Result<Vec<PathBuf>> {
    let names = |pack: &StoredPack| ["pack", "idx"].map(|extension| format!("pack-{}.{extension}", pack.hash));
    let names: HashSet<String> = packs.iter().flat_map(names).collect();
    let mut entries = fs::read_dir(view.join("objects/pack")).await?;
    let mut found = Vec::new();
    while let Some(entry) = entries.next_entry().await? {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with("pack-") && !names.contains(name)) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Makes a repository without objects and refs, unless it is there.
pub(super) async fn lay_out(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("objects/pack")).await?;
    fs::create_dir_all(folder.join("objects/info")).await?;
    fs::create_dir_all(folder.join("refs")).await?;
    fs::write(folder.join("config"), CONFIG).await?;
    fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").await
}

async fn write_refs(view: &Path, refs: &[Listing]) -> io::Result<()> {
    let mut text = b"# pack-refs with: peeled fully-peeled sorted \n".to_vec();
    for listed in refs {
        write!(text, "{} ", listed.oid)?;
        text.extend_from_slice(listed.name.as_bytes());
        text.push(b'\n');
        if let Some(peeled) = listed.peeled {
            writeln!(text, "^{peeled}")?;
        }
    }
    let (place, unfinished) = (view.join("packed-refs"), view.join("packed-refs.tmp"));
    fs::write(&unfinished, text).await?;
    fs::rename(unfinished, place).await
}

/// What is told where a folder of ours can't be worked in.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` takes")]
pub(super) fn failed(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::StorageFull {
        return Error::busy(std::time::Duration::from_mins(1));
    }
    Error::internal(format_args!("a folder of repositories: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn made(views: &Views, name: &str, bytes: usize) {
        let view = views.folder.join(name);
        lay_out(&view).await.unwrap();
        fs::write(view.join("objects/pack/pack-1.pack"), vec![0; bytes]).await.unwrap();
    }

    #[tokio::test]
    async fn views_that_nobody_reads_make_room_and_what_blobs_have_takes_none() {
        let folder = tempfile::tempdir().unwrap();
        let views = Views::new(folder.path().join("views"), 250);
        for (name, bytes) in [("1", 100), ("2", 100), ("3", 100), ("4", 100)] {
            made(&views, name, bytes).await;
        }
        let blob = views.folder.join("4/objects/pack/pack-1.pack");
        fs::hard_link(blob, folder.path().join("blob")).await.unwrap();
        views.find().await;
        assert_eq!(views.size(), 300);
        for (name, asked) in [("1", 7), ("2", 6), ("3", 8)] {
            views.slots.get(name).unwrap().asked.store(asked, Ordering::Relaxed);
        }
        // The one that nobody has asked for longest is read: the next one goes.
        let reader = Arc::clone(&views.slots.get("2").unwrap().readers);
        views.make_room().await;
        let there = |name: &str| views.folder.join(name).exists();
        assert_eq!(["1", "2", "3", "4"].map(there), [false, true, true, true]);
        drop(reader);
        made(&views, "1", 100).await;
        views.slots.get("1").unwrap().size.store(100, Ordering::Relaxed);
        views.make_room().await;
        assert_eq!(["1", "2", "3", "4"].map(there), [true, false, true, true]);
        let unlimited = Views::new(views.folder.clone(), 0);
        unlimited.find().await;
        unlimited.make_room().await;
        assert!(there("1") && there("3"));
    }
    #[tokio::test]
    async fn packs_that_were_joined_stay_for_as_long_as_somebody_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let views = Views::new(folder.path().to_owned(), 0);
        made(&views, "1", 1).await;
        let place = |name: &str| views.folder.join("1/objects/pack").join(name);
        fs::write(place("unfinished.tmp"), b"").await.unwrap();
        let old = files_beside(&views.folder.join("1"), &[]).await.unwrap();
        assert_eq!(old, [place("pack-1.pack")]);
        let (slot, mut seen) = (Slot::default(), Seen { old, ..Seen::default() });
        let asking = Arc::clone(&slot.readers);
        let reader = Arc::clone(&slot.readers);
        assert!(!slot.forget_old(&mut seen).await && place("pack-1.pack").exists());
        drop(reader);
        assert!(slot.forget_old(&mut seen).await && !place("pack-1.pack").exists());
        assert!(!slot.forget_old(&mut seen).await && place("unfinished.tmp").exists());
        drop(asking);
    }
}
