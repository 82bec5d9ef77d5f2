//! Who owns the files that a branch changes.

use domain::{
    Error, Result,
    git::{
        OWNERS_FILE_MAX, OWNERS_PATHS, ObjectId, OwnerName, OwnersFile,
        objects::{EntryKind, RepositoryPath, TreeEntry},
    },
};
use store::git::StoredRepository;
use tokio::task::spawn_blocking;

use super::{GitHost, Reading};

impl GitHost {
    /// Who owns what a head changed since it parted from a base, by the `CODEOWNERS` of the base: a set of owners for each line that
    /// counts. Nothing where there is too much of it to tell.
    pub async fn owners(
        &self,
        repository: &StoredRepository,
        base: ObjectId,
        head: ObjectId,
    ) -> Result<Option<Vec<Vec<OwnerName>>>> {
        let reading = self.reading(repository).await?;
        let Some(entry) = owners_file(&reading, base).await? else { return Ok(Some(Vec::new())) };
        if entry.size.is_none_or(|size| size > OWNERS_FILE_MAX) {
            return Ok(None);
        }
        let parted = reading.merge_base(base, head).await?;
        let (files, is_cut) = reading.changed_files(parted, head, None).await?;
        if is_cut {
            return Ok(None);
        }
        let bytes = reading.bytes(entry.oid).await?;
        let looking = move || -> Option<Vec<Vec<OwnerName>>> {
            let file = OwnersFile::read(&String::from_utf8_lossy(&bytes));
            let paths: Vec<_> = files.iter().flat_map(|file| [Some(&file.path), file.old_path.as_ref()]).collect();
            let paths: Vec<_> = paths.into_iter().flatten().map(|path| String::from_utf8_lossy(path)).collect();
            let sets = file.owners_of(paths.iter().map(|path| &**path))?;
            Some(sets.into_iter().map(<[OwnerName]>::to_vec).collect())
        };
        spawn_blocking(looking).await.map_err(Error::internal)
    }
}

/// The file that says who owns what, in a commit.
async fn owners_file(reading: &Reading, commit: ObjectId) -> Result<Option<TreeEntry>> {
    for path in OWNERS_PATHS {
        let path = RepositoryPath::parse("path", path)?;
        let found = reading.entry(commit, &path).await?;
        if found.as_ref().is_some_and(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Executable)) {
            return Ok(found);
        }
    }
    Ok(None)
}
