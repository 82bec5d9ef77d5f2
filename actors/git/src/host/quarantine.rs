//! A push that is being taken in: its objects are in a folder of their own, which nobody reads from, and are gone with it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Duration,
};

use bytes::Bytes;
use domain::{
    Error, Result,
    git::{ObjectId, PACK_MAX},
    id::OrgId,
};
use futures::{Stream, StreamExt};
use gateways::{GitError, GitJob};
use store::git::{NewPack, StoredRepository};
use tempfile::TempDir;
use tokio::{
    fs,
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::{
    GitHost, internal,
    meters::IntakeMeter,
    views::{View, failed, lay_out},
};

/// How long the next bytes of a pack may take.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// What is said of a pack that can't be looked at in the memory there is for it.
pub(super) const TOO_MUCH_MEMORY: &str = "There are objects in it that take more memory than the server allows.";
/// When what a process left behind is deleted. No push takes that long.
const LEFT_BEHIND_AFTER: Duration = Duration::from_hours(24);

/// A push that is being taken in.
#[derive(Debug)]
pub struct Quarantine {
    pub(super) host: GitHost,
    folder: TempDir,
    /// What the repository has: objects are borrowed of it.
    pub(super) view: View,
    pub(super) hash: Option<ObjectId>,
    /// How many objects a client sent.
    pub(super) sent: Option<usize>,
    meter: IntakeMeter,
}

/// Why a pack wasn't taken.
#[derive(Debug)]
pub enum PackRefusal {
    /// What came isn't a pack that can be taken: this is why.
    Bad(String),
    /// It broke off.
    BrokeOff,
    /// Something failed here.
    Failed(Error),
}

impl From<GitError> for PackRefusal {
    fn from(error: GitError) -> Self {
        match error {
            error if error.took_too_much() => Self::Bad(TOO_MUCH_MEMORY.to_owned()),
            GitError::Failed { said, .. } => Self::Bad(reason(&said)),
            other => Self::Failed(internal(other)),
        }
    }
}

/// The first thing that git says went wrong, without what it calls itself.
pub(super) fn reason(said: &str) -> String {
    let line = said.lines().find(|line| line.contains("error: ") || line.contains("fatal: ")).unwrap_or(said);
    line.trim_start_matches("error: ").trim_start_matches("fatal: ").to_owned()
}

impl GitHost {
    /// A place for what is pushed to a repository, whose objects are found there, too.
    pub async fn quarantine(&self, repository: &StoredRepository) -> Result<Quarantine> {
        let view = self.view(repository).await?;
        // Nothing is decided on a part of a history, and nothing is added to it.
        view.is_whole()?;
        let folder = self.place_of_push().await?;
        let objects = view.folder().canonicalize().map_err(failed)?.join("objects");
        let alternates = folder.path().join("objects/info/alternates");
        fs::write(alternates, format!("{}\n", objects.display())).await.map_err(failed)?;
        Ok(Quarantine { host: self.clone(), folder, view, hash: None, sent: None, meter: IntakeMeter::default() })
    }

    /// The same for a repository that is still to be made, which has nothing to borrow of.
    pub(super) async fn quarantine_of_nothing(&self) -> Result<Quarantine> {
        let folder = self.place_of_push().await?;
        let view = View::of_nothing(folder.path());
        Ok(Quarantine { host: self.clone(), folder, view, hash: None, sent: None, meter: IntakeMeter::default() })
    }

    /// An empty folder of git's, which goes with what is taken in there.
    async fn place_of_push(&self) -> Result<TempDir> {
        let place = &self.parts.quarantine;
        fs::create_dir_all(place).await.map_err(failed)?;
        if !self.parts.is_tidied.swap(true, Ordering::Relaxed) {
            let host = self.clone();
            tokio::spawn(async move { host.delete_left_behind().await });
        }
        let folder = tempfile::Builder::new().prefix("push-").tempdir_in(place).map_err(failed)?;
        lay_out(folder.path()).await.map_err(failed)?;
        Ok(folder)
    }

    /// Deletes what processes that were killed left behind.
    async fn delete_left_behind(&self) {
        let own = &self.parts.quarantine;
        let Some(all) = own.parent() else { return };
        if let Err(error) = delete_old(all, own).await {
            tracing::warn!(%error, "what a process left of pushes could not be deleted");
        }
    }
}

/// Deletes the folders in `all` in which nothing was made for a day, but for `own`.
async fn delete_old(all: &Path, own: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(all).await?;
    while let Some(entry) = entries.next_entry().await? {
        let is_old = entry.metadata().await?.modified()?.elapsed().is_ok_and(|age| age > LEFT_BEHIND_AFTER);
        if is_old && entry.path() != own {
            fs::remove_dir_all(entry.path()).await?;
        }
    }
    Ok(())
}

impl Quarantine {
    /// A command of git's that sees what was pushed, and what the repository has.
    pub(super) fn job(&self, command: &str) -> GitJob {
        GitJob::new(self.folder.path(), command).keeping(self.view.kept())
    }

    /// The same for a command that reads what nobody has looked at.
    pub(super) fn intake(&self, command: &str) -> GitJob {
        self.job(command).within(self.host.parts.memory_max)
    }

    /// The folder of git's in which what was pushed is found, and what the repository has.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn pack_file(&self, hash: ObjectId) -> PathBuf {
        self.folder.path().join(format!("objects/pack/pack-{hash}.pack"))
    }

    /// Notes that git has made a pack of this name of what is to be kept.
    pub(super) const fn packed(&mut self, hash: ObjectId) {
        self.hash = Some(hash);
    }

    /// Takes a pack in as it comes, and looks at each of its objects.
    pub async fn take_pack<S, E>(&mut self, pack: S) -> std::result::Result<(), PackRefusal>
    where
        S: Stream<Item = std::result::Result<Bytes, E>>,
    {
        let size_max = format!("--max-input-size={PACK_MAX}");
        let job = self.intake("index-pack").with_all(["--stdin", "--fix-thin", "--strict", &size_max]);
        let mut run = self.host.parts.git.start(&job).await?;
        let (stdin, stdout) = (run.stdin.take(), run.stdout.take());
        let (mut header, meter) = (PackHeader::default(), &mut self.meter);
        let writing = async {
            let Some(mut stdin) = stdin else { return Ok(()) };
            let mut pack = std::pin::pin!(pack);
            loop {
                let bytes = match timeout(SILENCE_MAX, pack.next()).await {
                    Ok(None) => {
                        meter.has_come();
                        return Ok(());
                    }
                    Ok(Some(Ok(bytes))) => bytes,
                    Ok(Some(Err(_))) | Err(_) => return Err(PackRefusal::BrokeOff),
                };
                header.see(&bytes);
                meter.grow(bytes.len() as u64);
                if stdin.write_all(&bytes).await.is_err() {
                    // It has seen enough. The client is answered once it has sent all.
                    drain(&mut pack).await;
                    return Ok(());
                }
            }
        };
        let reading = async {
            let mut output = String::new();
            if let Some(mut stdout) = stdout {
                stdout.read_to_string(&mut output).await?;
            }
            Ok::<_, io::Error>(output)
        };
        let ((written, output), ended) = tokio::join!(async { tokio::join!(writing, reading) }, run.end());
        written?;
        ended?;
        let output = output.map_err(|error| PackRefusal::Failed(failed(error)))?;
        let hash = output.trim().rsplit('\t').next().and_then(|hash| hash.parse().ok());
        let told = || PackRefusal::Failed(Error::internal(format_args!("git index-pack says {output:?}")));
        self.hash = Some(hash.ok_or_else(told)?);
        self.sent = Some(header.objects());
        Ok(())
    }

    /// Keeps the pack that was taken in, for the commit that names it; none where nothing came that has an object.
    pub async fn keep(&self, repository: &StoredRepository) -> Result<Option<NewPack>> {
        self.keep_for(repository.resource.org_id).await
    }

    /// The same for a repository that the organization is to have.
    pub(super) async fn keep_for(&self, org_id: OrgId) -> Result<Option<NewPack>> {
        let Some(hash) = self.hash else { return Ok(None) };
        let place = self.pack_file(hash);
        let objects = objects_of(&place).await.map_err(failed)?;
        if objects == 0 {
            return Ok(None);
        }
        let store = &self.host.parts.store;
        let pack = store.content_of_file(org_id, &place).await?;
        let index = match store.content_of_file(org_id, &place.with_extension("idx")).await {
            Ok(index) => index,
            Err(error) => {
                store.content_abandon(&pack).await?;
                return Err(error.into());
            }
        };
        Ok(Some(NewPack { hash, objects, pack, index }))
    }
}

async fn drain<S, E>(pack: &mut std::pin::Pin<&mut S>)
where
    S: Stream<Item = std::result::Result<Bytes, E>>,
{
    while let Ok(Some(Ok(_))) = timeout(SILENCE_MAX, pack.next()).await {}
}

/// How a pack begins.
#[derive(Debug, Default)]
struct PackHeader {
    bytes: [u8; 12],
    len: usize,
}

impl PackHeader {
    /// Takes what is missing of it from the next bytes of the pack.
    fn see(&mut self, piece: &[u8]) {
        let taken = piece.len().min(self.bytes.len() - self.len);
        self.bytes[self.len..self.len + taken].copy_from_slice(&piece[..taken]);
        self.len += taken;
    }

    /// How many objects it says that there are.
    const fn objects(&self) -> usize {
        let [.., a, b, c, d] = self.bytes;
        u32::from_be_bytes([a, b, c, d]) as usize
    }
}

/// How many objects are in a pack.
async fn objects_of(place: &Path) -> io::Result<u64> {
    let mut header = PackHeader::default();
    fs::File::open(place).await?.read_exact(&mut header.bytes).await?;
    Ok(header.objects() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_left_behind_a_day_ago_is_deleted() {
        let all = tempfile::tempdir().unwrap();
        let place = |name: &str| all.path().join(name);
        for name in ["own", "old", "new"] {
            std::fs::create_dir_all(place(name).join("push-1")).unwrap();
        }
        for name in ["own", "old"] {
            let long_ago = std::time::SystemTime::now() - LEFT_BEHIND_AFTER - Duration::from_secs(1);
            std::fs::File::open(place(name)).unwrap().set_modified(long_ago).unwrap();
        }
        delete_old(all.path(), &place("own")).await.unwrap();
        assert!(place("own").exists() && place("new").exists() && !place("old").exists());
    }

    #[test]
    fn a_client_reads_what_is_wrong_with_its_pack() {
        assert_eq!(
            reason("error: object 01: badTimezone\nfatal: fsck error in pack objects"),
            "object 01: badTimezone"
        );
        assert_eq!(reason("fatal: early EOF"), "early EOF");
        assert_eq!(reason("signal: 9 (SIGKILL)"), "signal: 9 (SIGKILL)");
    }
}
