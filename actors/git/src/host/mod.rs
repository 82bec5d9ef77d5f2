//! What this node does with the objects of repositories: lists their refs, has git send packs of them, and takes packs in.
//!
//! The truth is in the store: refs are rows, packs are contents. What git works on is a folder for each repository that this node
//! made of them, a view, which is never written to but to add what the store has.

mod differences;
mod error;
mod listings;
mod mergeability;
mod merges;
mod merging;
mod quarantine;
mod reading;
mod secrets;
mod strays;
mod tips;
mod views;
mod web;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use actors_base::Services;
use dashmap::DashMap;
use domain::{Result, git::wire::Listing};
use gateways::{Git, GitJob, GitRun};
use store::{
    Store,
    git::{RepositoryNo, StoredRepository},
};
use tokio::sync::Mutex;

pub use self::{
    differences::Changes,
    error::internal,
    mergeability::Mergeability,
    merging::Merging,
    quarantine::{PackRefusal, Quarantine},
    reading::{ENTRIES_MAX, History, Reading, tips},
    secrets::NewObjects,
    tips::Unpacked,
    web::NewCommit,
};
use self::{listings::Listings, mergeability::Looked, views::Seen};

/// How long `git upload-pack` waits for more of a request, in seconds.
const SILENCE_SECONDS: u32 = 60;

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
    folder: PathBuf,
    /// Where this process takes pushes in.
    quarantine: PathBuf,
    /// Whether what others left behind there was looked for.
    is_tidied: AtomicBool,
    views: DashMap<RepositoryNo, Arc<Mutex<Seen>>>,
    listings: Listings,
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
                folder,
                views: DashMap::new(),
                listings: Listings::default(),
                looked: Looked::default(),
            }),
        }
    }

    /// All refs of a repository, by their names.
    pub async fn refs(&self, no: RepositoryNo) -> Result<Arc<Vec<Listing>>> {
        self.parts.listings.refs(&self.parts.store, no).await
    }

    /// Starts what answers a request to fetch, which it reads from its input. `protocol` is the version that is spoken.
    pub async fn fetch(&self, repository: &StoredRepository, protocol: Option<&'static str>) -> Result<GitRun> {
        let view = self.view(repository).await?;
        let silence = format!("--timeout={SILENCE_SECONDS}");
        let job = GitJob::new(&view, "upload-pack").with_all(["--stateless-rpc", "--strict", &silence, "."]);
        let job = match protocol {
            Some(protocol) => job.speaking(protocol),
            None => job,
        };
        self.parts.git.start(&job).await.map_err(internal)
    }
}
