//! A runner's folder: who it is, what it does, and what it hasn't sent yet.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    program::make_folder,
    runner::error::{Result, RunnerError},
};

/// The file of who the runner is.
const SETTINGS: &str = "runner.json";
/// The file whose lock the runner holds while it works.
const LOCK: &str = "runner.lock";

/// Who a runner is.
#[derive(Clone, Serialize, Deserialize)]
pub struct Settings {
    /// Where the server is.
    pub server: String,
    /// The runner's name.
    pub name: String,
    /// What the runner shows when it asks for jobs.
    pub secret: String,
}

/// A runner's folder.
#[derive(Clone, Debug)]
pub struct Home(PathBuf);

impl Home {
    /// The runner's folder there.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The folder of the jobs' own.
    pub fn jobs(&self) -> PathBuf {
        self.0.join("jobs")
    }

    /// The folder of what isn't sent yet.
    pub fn spools(&self) -> PathBuf {
        self.0.join("spools")
    }

    /// Keeps who the runner is, for its owner alone.
    pub fn keep(&self, settings: &Settings) -> Result<()> {
        make_folder(&self.0).map_err(RunnerError::file(&self.0))?;
        let path = self.0.join(SETTINGS);
        let text = serde_json::to_vec_pretty(settings).map_err(io::Error::from)?;
        write_private(&path, &text).map_err(RunnerError::file(&path))
    }

    /// Who the runner is.
    pub fn settings(&self) -> Result<Settings> {
        let path = self.0.join(SETTINGS);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RunnerError::NotRegistered(self.0.clone()));
            }
            text => text.map_err(RunnerError::file(&path))?,
        };
        // What stands there may be a secret, and isn't shown.
        let why = |error: serde_json::Error| format!("line {} means nothing", error.line());
        serde_json::from_slice(&text).map_err(|error| RunnerError::Damaged { path, why: why(error) })
    }

    /// Has nobody else work in this folder, as long as the file is held.
    pub fn lock(&self) -> Result<File> {
        let path = self.0.join(LOCK);
        let file = private().create(true).truncate(false).open(&path).map_err(RunnerError::file(&path))?;
        file.try_lock().map_err(|_| RunnerError::Taken(self.0.clone()))?;
        Ok(file)
    }
}

/// To write a file that only its owner reads.
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Replaces a file that only its owner reads, whole.
pub fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut file = private().create(true).truncate(true).open(&new)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(new, path)
}
