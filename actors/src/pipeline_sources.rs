//! What pipelines read of repositories, by git's host.

use std::sync::Arc;

use actors_git::host::{GitHost, History, Reading};
use actors_pipelines::{COMMITS_MAX, FoundFile, PATHS_MAX, Sources};
use domain::{
    Result,
    git::{
        ObjectId,
        objects::{Commit, EntryKind, RepositoryPath, TreeEntry},
    },
    id::OrgId,
    pipelines::workflow::{WORKFLOW_FILES_MAX, WORKFLOW_FOLDER, WorkflowFile, YAML_LEN_MAX},
};
use futures::future::BoxFuture;
use kernel::{Cpu, CpuKind};
use store::git::StoredRepository;

/// Reads what pipelines ask for.
#[derive(Clone, Debug)]
pub struct GitSources {
    /// The objects of repositories.
    pub git: GitHost,
    /// Where files are read, which takes the processor.
    pub cpu: Cpu,
}

impl GitSources {
    /// The workflow file of a commit that has this name.
    ///
    /// # Errors
    /// When the repository can't be read, or too much waits for the processor.
    pub async fn file(&self, repository: &StoredRepository, id: ObjectId, name: &str) -> Result<Option<FoundFile>> {
        let reading = self.git.reading(repository).await?;
        let Ok(path) = RepositoryPath::parse("path", &format!("{WORKFLOW_FOLDER}/{name}")) else { return Ok(None) };
        match reading.entry(id, &path).await?.filter(is_workflow) {
            Some(entry) => {
                let entry = TreeEntry { path: name.to_owned(), ..entry };
                Ok(Some(self.found(repository, (&reading, entry)).await?))
            }
            None => Ok(None),
        }
    }

    /// What a text means.
    ///
    /// # Errors
    /// When too much waits for the processor.
    pub async fn meaning(&self, org_id: OrgId, text: String) -> Result<(String, Arc<WorkflowFile>)> {
        let reading = move || {
            let file = WorkflowFile::read(&text);
            (text, Arc::new(file))
        };
        self.cpu.run(org_id.into(), CpuKind::Document, reading).await
    }

    /// What a commit has where workflow files are.
    ///
    /// # Errors
    /// When the repository can't be read.
    pub async fn folder(&self, repository: &StoredRepository, id: ObjectId) -> Result<WorkflowFolder> {
        let reading = self.git.reading(repository).await?;
        let (folders, rest): (Vec<_>, Vec<_>) =
            entries_of(&reading, id).await?.into_iter().partition(|entry| entry.kind == EntryKind::Folder);
        let names = rest.into_iter().filter(is_file_of_workflow).map(|entry| entry.path);
        Ok(WorkflowFolder { names: names.collect(), folders: folders.into_iter().map(|entry| entry.path).collect() })
    }

    async fn found(&self, repository: &StoredRepository, (reading, entry): (&Reading, TreeEntry)) -> Result<FoundFile> {
        // What is longer is refused by its reader, as soon as it is one byte longer.
        let is_long = entry.size.is_some_and(|size| size > YAML_LEN_MAX as u64);
        let text = if is_long {
            " ".repeat(YAML_LEN_MAX + 1)
        } else {
            String::from_utf8_lossy(&reading.bytes(entry.oid).await?).into_owned()
        };
        let (text, file) = self.meaning(repository.resource.org_id, text).await?;
        Ok(FoundFile { name: entry.path, text: if is_long { String::new() } else { text }, file })
    }
}

/// What a commit has where workflow files are.
#[derive(Clone, Debug, Default)]
pub struct WorkflowFolder {
    /// The names of all workflow files, however many there are.
    pub names: Vec<String>,
    /// The names of folders.
    pub folders: Vec<String>,
}

fn is_workflow(entry: &TreeEntry) -> bool {
    matches!(entry.kind, EntryKind::File | EntryKind::Executable)
}

fn is_file_of_workflow(entry: &TreeEntry) -> bool {
    is_workflow(entry) && WorkflowFile::is_path(&format!("{WORKFLOW_FOLDER}/{}", entry.path))
}

/// What lies in a commit's folder of workflow files; nothing where it has none.
async fn entries_of(reading: &Reading, id: ObjectId) -> Result<Vec<TreeEntry>> {
    let folder = RepositoryPath::parse("path", WORKFLOW_FOLDER)?;
    match reading.entry(id, &folder).await?.filter(|entry| entry.kind == EntryKind::Folder) {
        Some(folder) => reading.entries(folder.oid).await,
        None => Ok(Vec::new()),
    }
}

impl Sources for GitSources {
    fn commit<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Option<Commit>>> {
        Box::pin(async move {
            let reading = self.git.reading(repository).await?;
            reading.commit(id).await
        })
    }

    fn files<'a>(&'a self, repository: &'a StoredRepository, id: ObjectId) -> BoxFuture<'a, Result<Vec<FoundFile>>> {
        Box::pin(async move {
            let reading = self.git.reading(repository).await?;
            let wanted = entries_of(&reading, id).await?.into_iter().filter(is_file_of_workflow);
            let mut files = Vec::new();
            for entry in wanted.take(WORKFLOW_FILES_MAX) {
                files.push(self.found(repository, (&reading, entry)).await?);
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
            let reading = self.git.reading(repository).await?;
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

    fn commits<'a>(
        &'a self,
        repository: &'a StoredRepository,
        before: Option<ObjectId>,
        head: ObjectId,
    ) -> BoxFuture<'a, Result<Vec<Commit>>> {
        Box::pin(async move {
            let reading = self.git.reading(repository).await?;
            let without = match before {
                Some(before) => reading.commit(before).await?.map(|commit| commit.id),
                None => None,
            };
            reading.history(head, &History { limit: COMMITS_MAX, without, ..History::default() }).await
        })
    }

    fn merge_base<'a>(
        &'a self,
        repository: &'a StoredRepository,
        (one, other): (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<Option<ObjectId>>> {
        Box::pin(async move { self.git.reading(repository).await?.merge_base(one, other).await })
    }

    fn pull<'a>(
        &'a self,
        repository: &'a StoredRepository,
        (base, head): (ObjectId, ObjectId),
    ) -> BoxFuture<'a, Result<(Option<ObjectId>, bool)>> {
        Box::pin(async move {
            let parted = self.git.reading(repository).await?.merge_base(base, head).await?;
            let found = self.git.mergeability(repository, base, head).await?;
            Ok((parted, parted.is_none() || !found.conflicts.is_empty()))
        })
    }
}
