//! Views: folders in which git finds the packs of a repository, made of what the store has.
//!
//! Refs are written there, too, but nobody is told of them: git finds the tags among them that come with a commit, and what a
//! shallow clone can be deepened from.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use domain::{
    Error, Result,
    git::{repository_not_found, wire::Listing},
};
use store::git::{RepositoryNo, StoredRepository};
use tokio::{fs, sync::Mutex};

use super::GitHost;

/// What git is told in every folder of ours: any object that is there may be asked for, and parts of histories. What a commit of the
/// web brings is one pack, however little it is.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\
                      [uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n\
                      [gc]\n\tauto = 0\n[fastimport]\n\tunpackLimit = 0\n";

/// What of a repository is in its view.
#[derive(Debug, Default)]
pub(super) struct Seen {
    versions: Option<(i64, i64)>,
}

impl GitHost {
    /// The view of a repository, with all that the store has now.
    pub(super) async fn view(&self, repository: &StoredRepository) -> Result<PathBuf> {
        let (parts, no) = (&self.parts, repository.no);
        let slot = Arc::clone(&parts.views.entry(no).or_default());
        let mut seen: tokio::sync::MutexGuard<'_, Seen> = Mutex::lock(&slot).await;
        let now = parts.store.repository_versions(no).await?.ok_or_else(repository_not_found)?;
        let view = self.view_folder(no);
        if seen.versions == Some(now) {
            return Ok(view);
        }
        if seen.versions.is_none() {
            lay_out(&view).await.map_err(failed)?;
        }
        if seen.versions.is_none_or(|(_, packs)| packs != now.1) {
            self.add_packs(repository, &view).await?;
        }
        if seen.versions.is_none_or(|(refs, _)| refs != now.0) {
            let refs = self.refs(no).await?;
            write_refs(&view, &refs).await.map_err(failed)?;
        }
        seen.versions = Some(now);
        Ok(view)
    }

    fn view_folder(&self, no: RepositoryNo) -> PathBuf {
        self.parts.folder.join("views").join(no.to_string())
    }

    async fn add_packs(&self, repository: &StoredRepository, view: &Path) -> Result<()> {
        let (store, org_id) = (&self.parts.store, repository.resource.org_id);
        for pack in store.repository_packs(repository.no).await? {
            let place = view.join(format!("objects/pack/pack-{}.pack", pack.hash));
            // Git takes a pack to be there once its index is.
            for (content, place) in [(pack.pack, place.clone()), (pack.index, place.with_extension("idx"))] {
                if !store.content_to_file(org_id, content, &place).await? {
                    return Err(Error::internal(format_args!("{} has lost {}", repository.id(), place.display())));
                }
            }
        }
        Ok(())
    }
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
