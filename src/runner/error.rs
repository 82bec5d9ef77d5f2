//! Why a runner's command failed, in a line each.

use std::{io, path::PathBuf};

use super::server::AskError;
use crate::client::ClientError;

/// What a command of the runner comes to.
pub type Result<T, E = RunnerError> = std::result::Result<T, E>;

/// Why a command failed. Prints as a sentence for whoever typed it, and never with a secret.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// A file or a folder.
    #[error("{} can't be used: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// No processes, threads or signals.
    #[error("The operating system does not help: {0}")]
    System(#[from] io::Error),
    /// A workflow file that means nothing.
    #[error("{} means nothing; `troupe workflow check` says why.", .0.display())]
    Workflow(PathBuf),
    /// A job that the file doesn't have.
    #[error("There is no job '{job}'. Jobs: {known}.")]
    NoJob {
        /// What was asked for.
        job: String,
        /// What there is.
        known: String,
    },
    /// A secret whose value isn't there.
    #[error("The secret {0} is taken from the environment variable of that name, which isn't set.")]
    NoSecret(String),
    /// An input or variable without a value.
    #[error("'{0}' isn't of the form NAME=VALUE.")]
    NoPair(String),
    /// A worker's starter that says nothing that a worker knows.
    #[error("`troupe runner worker` is for the runner itself.")]
    NoOrder,
    /// The settings that `register` keeps.
    #[error("This machine has no runner in {}. Run `troupe runner register` first.", .0.display())]
    NotRegistered(PathBuf),
    /// The settings that `register` keeps, where they are none.
    #[error("{} is damaged: {why}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A second runner in one folder.
    #[error("Another runner works in {}.", .0.display())]
    Taken(PathBuf),
    /// The server doesn't know the runner any more.
    #[error("The server doesn't know this runner: {0} Register it again.")]
    Forgotten(String),
    /// The server's answer, or that there is none.
    #[error("{0}")]
    Server(String),
    /// A registration whose answer was lost.
    #[error(
        "{0}. The machine may be registered all the same, and its token used up. Remove the runner that has its name from the \
         organization, and register the machine with a new token."
    )]
    Unanswered(String),
    /// The server, or the address of one.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl From<AskError> for RunnerError {
    fn from(error: AskError) -> Self {
        Self::Server(error.to_string())
    }
}

impl RunnerError {
    /// The error of this file.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
