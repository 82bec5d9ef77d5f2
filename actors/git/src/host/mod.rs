//! What this node does with the objects of repositories: lists their refs, has git send packs of them, and takes packs in.
//!
//! The truth is in the store: refs are rows, packs are contents. What git works on is a folder for each repository that this node
//! made of them, a view, which is never written to but to add what the store has.

mod answers;
mod beginning;
mod differences;
mod error;
mod fetching;
mod joining;
mod latest;
mod lines;
mod listings;
mod mergeability;
mod merges;
mod merging;
mod meters;
mod owners;
mod quarantine;
mod reading;
mod secrets;
mod strays;
mod test_merge;
mod tips;
mod views;
mod walk;
mod web;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use actors_base::Services;
use bytes::Bytes;
use domain::{
    Result,
    git::{is_test_merge, wire::Listing},
};
use gateways::Git;
use store::{
    Store,
    git::{RepositoryNo, StoredRepository},
};

use self::{
    answers::Answers,
    listings::Listings,
    mergeability::Looked,
    views::{View, Views},
};
pub use self::{
    answers::Following,
    differences::Changes,
    error::internal,
    fetching::FetchAnswer,
    lines::FileLines,
    listings::RefsAsked,
    mergeability::Mergeability,
    merging::Merging,
    quarantine::{PackRefusal, Quarantine},
    reading::{ENTRIES_MAX, History, Reading, tips},
    secrets::NewObjects,
    tips::Unpacked,
    walk::NewNames,
    web::NewCommit,
};

/// The objects of repositories, on this node. A cheap handle.
#[derive(Clone, Debug)]
pub struct GitHost {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    store: Store,
    git: Git,
    /// What answers questions, beside what sends and takes packs in.
    reader: Git,
    /// Where this process takes pushes in.
    quarantine: PathBuf,
    /// Whether what others left behind there was looked for.
    is_tidied: AtomicBool,
    views: Views,
    /// Bytes of memory for what takes in what people send.
    memory_max: Option<u64>,
    /// Bytes of one file in a push.
    blob_max: Option<u64>,
    listings: Listings,
    /// Packs that were sent.
    answers: Arc<Answers>,
    looked: Looked,
}

impl GitHost {
    /// What works in the folder that the settings name. Nothing is made there before it is needed.
    pub fn new(services: &Services) -> Self {
        let folder = services.settings.git_folder.clone();
        let process = domain::id::new_uuid(services.store.now()).to_string();
        Self {
            parts: Arc::new(Parts {
                store: services.store.clone(),
                git: Git::default(),
                reader: Git::default(),
                quarantine: folder.join("quarantine").join(process),
                is_tidied: AtomicBool::new(false),
                answers: Arc::new(Answers::new(folder.join("answers"), services.settings.git_pack_cache_max)),
                views: Views::new(folder.join("views"), services.settings.git_view_max),
                memory_max: services.settings.git_memory_max,
                blob_max: services.settings.git_blob_max,
                listings: Listings::default(),
                looked: Looked::default(),
            }),
        }
    }

    /// All refs of a repository, by their names.
    pub async fn refs(&self, no: RepositoryNo) -> Result<Arc<Vec<Listing>>> {
        self.parts.listings.refs(&self.parts.store, no).await
    }

    /// All refs of a repository, all of whose objects are in its view by now: somebody else may have pushed meanwhile. Whoever reads
    /// what refs name, or has git leave it out, in a view that they have already, takes them from here. Test merges aren't among
    /// them: nobody pushed one, so that none passes for what was looked at before.
    pub async fn refs_in_view(&self, repository: &StoredRepository) -> Result<Arc<Vec<Listing>>> {
        let refs = self.seen(repository).await?.0;
        if !refs.iter().any(|it| is_test_merge(&it.name)) {
            return Ok(refs);
        }
        Ok(Arc::new(refs.iter().filter(|it| !is_test_merge(&it.name)).cloned().collect()))
    }

    /// The same with the view.
    async fn seen(&self, repository: &StoredRepository) -> Result<(Arc<Vec<Listing>>, View)> {
        // In this order: a view that is made after refs were read has what they name.
        let refs = self.refs(repository.no).await?;
        Ok((refs, self.view(repository).await?))
    }

    /// What is said of the refs of a repository.
    pub async fn refs_answer(&self, no: RepositoryNo, asked: RefsAsked) -> Result<Bytes> {
        self.parts.listings.answer(&self.parts.store, no, asked).await
    }
}
