//! Writing what git answers to a file that others read as it grows.

use std::{
    fs::File,
    io::{self, Read, Write},
    pin::pin,
    sync::Arc,
};

use domain::git::wire::AnswerName;
use tokio::{sync::watch, task::spawn_blocking};

use super::{Answers, Progress, Stage, end};
use crate::host::reading::PIECE_LEN;

/// An answer that is to be written. Where this is dropped before, it breaks off.
#[derive(Debug)]
pub(in crate::host) struct Writing {
    pub(super) answers: Arc<Answers>,
    pub(super) key: AnswerName,
    pub(super) file: File,
    pub(super) progress: Arc<watch::Sender<Progress>>,
}

/// What came of copying an answer.
#[derive(Debug)]
pub(in crate::host) enum Copied {
    /// All of it was written.
    All,
    /// All of it was written, and git says in it what went wrong.
    Said,
    /// The file couldn't be written.
    Failed(io::Error),
}

impl Writing {
    /// Writes what `source` says until its end, as it comes.
    pub async fn copy(&self, mut source: impl Read + Send + 'static) -> io::Result<Copied> {
        let (mut file, progress) = (self.file.try_clone()?, Arc::clone(&self.progress));
        let copying = spawn_blocking(move || {
            let mut piece = vec![0; PIECE_LEN];
            loop {
                let len = match source.read(&mut piece) {
                    Ok(0) => return Ok(Copied::All),
                    Ok(len) => len,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                if let Err(error) = file.write_all(&piece[..len]) {
                    return Ok(Copied::Failed(error));
                }
                progress.send_modify(|progress| progress.len += len as u64);
            }
        });
        copying.await.map_err(io::Error::other)?
    }

    /// Waits for `answered`, for as long as somebody reads what it writes; keeps it, if it is whole then.
    pub async fn done(&self, answered: impl Future<Output = io::Result<Copied>>) {
        let mut answered = pin!(answered);
        let outcome = loop {
            tokio::select! {
                outcome = &mut answered => break outcome,
                () = self.progress.closed() => {
                    let key = self.key;
                    if self.answers.aside(move |answers| answers.give_up_unread(key)).await.unwrap_or(true) {
                        tracing::debug!("nobody reads any more what git answers");
                        return;
                    }
                }
            }
        };
        let key = self.key;
        match outcome {
            Ok(Copied::All) => self.answers.aside(move |answers| answers.keep(key)).await.unwrap_or_default(),
            Ok(Copied::Said) => end(&self.progress, Stage::Said),
            Ok(Copied::Failed(error)) => {
                self.answers.aside(move |answers| answers.pause(&error)).await.unwrap_or_default();
            }
            Err(error) => tracing::info!(%error, "an answer of git broke off"),
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        end(&self.progress, Stage::BrokeOff);
        let (key, progress) = (self.key, Arc::clone(&self.progress));
        self.answers.later(move |answers| answers.forget(key, &progress));
    }
}
