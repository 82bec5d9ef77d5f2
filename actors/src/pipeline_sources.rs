//! What pipelines read of repositories, by git's host.

use std::sync::Arc;

use actors_git::host::GitHost;
use actors_pipelines::{FoundFile, PATHS_MAX, Sources};
use domain::{
    Result,
    git::{
        ObjectId,
        objects::{Commit, EntryKind, RepositoryPath},
    },
    pipelines::workflow::{WORKFLOW_FILES_MAX, WORKFLOW_FOLDER, WorkflowFile, YAML_LEN_MAX},
};
use futures::future::BoxFuture;
use store::git::StoredRepository;

/// Reads what pipelines ask for.
#[derive(Clone, Debug)]
pub struct GitSources(pub GitHost);

impl Sources for GitSources {
    fn commit<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Option<Commit>>> {
        Box::pin(async move {
            let reading = self.0.reading(repository).await?;
            reading.commit(id).await
        })
    }

    fn files<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Vec<FoundFile>>> {
        Box::pin(async move {
            let reading = self.0.reading(repository).await?;
            let folder = RepositoryPath::parse("path", WORKFLOW_FOLDER)?;
            let Some(folder) = reading.entry(id, &folder).await?.filter(|entry| entry.kind == EntryKind::Folder) else {
                return Ok(Vec::new());
            };
            let entries = reading.entries(folder.oid).await?;
            let is_file = |kind: EntryKind| matches!(kind, EntryKind::File | EntryKind::Executable);
            let named = |name: &str| WorkflowFile::is_path(&format!("{WORKFLOW_FOLDER}/{name}"));
            let wanted = entries.into_iter().filter(|entry| is_file(entry.kind) && named(&entry.path));
            let mut files = Vec::new();
            for entry in wanted.take(WORKFLOW_FILES_MAX) {
                // What is longer is refused by its reader, as soon as it is one byte longer.
                let is_long = entry.size.is_some_and(|size| size > YAML_LEN_MAX as u64);
                let text = if is_long {
                    " ".repeat(YAML_LEN_MAX + 1)
                } else {
                    String::from_utf8_lossy(&reading.bytes(entry.oid).await?).into_owned()
                };
                let file = Arc::new(WorkflowFile::read(&text));
                files.push(FoundFile { name: entry.path, text: if is_long { String::new() } else { text }, file });
            }
            Ok(files)
        })
    }

    fn paths<'a>(
        &'a self,
        repository: &'a StoredRepository,
        (before, after): (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<Option<Vec<String>>>> {
        Box::pin(async move {
            let reading = self.0.reading(repository).await?;
            if reading.commit(before).await?.is_none() {
                return Ok(None);
            }
            let (files, is_cut) = reading.changed_files(Some(before), after, None).await?;
            if is_cut || files.len() > PATHS_MAX {
                return Ok(None);
            }
            let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
            let paths = files.iter().flat_map(|file| [Some(text(&file.path)), file.old_path.as_deref().map(text)]);
            Ok(Some(paths.flatten().collect()))
        })
    }

    fn pull<'a>(
        &'a self,
        repository: &'a StoredRepository,
        (base, head): (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<(Option<ObjectId>, bool)>> {
        Box::pin(async move {
            let parted = self.0.reading(repository).await?.merge_base(base, head).await?;
            let found = self.0.mergeability(repository, base, head).await?;
            Ok((parted, !found.conflicts.is_empty()))
        })
    }
}
