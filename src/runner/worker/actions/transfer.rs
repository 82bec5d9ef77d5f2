//! Files between this machine and where the server keeps them: links that need no credential.

use std::{
    fs::File,
    io::{self, Seek},
    time::Duration,
};

use reqwest::{Body, Response, StatusCode, header::CONTENT_LENGTH};
use tokio::{
    io::AsyncWriteExt,
    select,
    time::{Instant, sleep, timeout},
};

use super::Outcome;
use crate::runner::server::{Failure, again, client, is_passing, unreachable};

/// How long nothing may go or come until a transfer counts as broken off.
pub const SILENCE: Duration = Duration::from_secs(120);
/// How long bytes move until it is certain that somebody takes or gives them: for less a connection's own buffers may do.
const MOVED_MIN: Duration = Duration::from_secs(10);

impl Failure {
    fn unreachable(error: &reqwest::Error) -> Self {
        let why = unreachable(error).to_string();
        // An address that is none.
        if error.is_builder() { Self::Final(why) } else { Self::passing(why) }
    }

    fn file(error: &io::Error) -> Self {
        Self::Final(error.to_string())
    }

    fn silence() -> Self {
        Self::passing(format!("nothing moved for {} seconds", SILENCE.as_secs()))
    }

    /// The same of a try in which bytes moved for so long.
    pub fn after(self, span: Duration) -> Self {
        match self {
            Self::Passing { why, .. } => Self::Passing { why, has_moved: span >= MOVED_MIN },
            Self::Final(why) => Self::Final(why),
        }
    }
}

/// Puts a file there, from its beginning.
pub async fn put(url: &str, file: &File) -> Outcome<()> {
    again("The upload begins again", || put_once(url, file)).await
}

/// Gets a file from there, in place of what is in it.
pub async fn get(url: &str, file: &File) -> Outcome<()> {
    again("The download begins again", || get_once(url, file)).await
}

/// The file at its beginning, for whoever works while others do.
fn rewound(file: &File) -> io::Result<tokio::fs::File> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    Ok(tokio::fs::File::from_std(file))
}

async fn put_once(url: &str, file: &File) -> Result<(), Failure> {
    let client = client(url).map_err(|error| Failure::Final(error.to_string()))?;
    let len = file.metadata().map_err(|error| Failure::file(&error))?.len();
    let body = Body::from(rewound(file).map_err(|error| Failure::file(&error))?);
    let began = Instant::now();
    let (sent, silence) = select! {
        sent = client.put(url).header(CONTENT_LENGTH, len).body(body).send() => {
            let sent = sent.map_err(|error| Failure::unreachable(&error));
            (sent.and_then(|answer| taken("upload", answer.status())), Duration::ZERO)
        }
        () = still(file) => (Err(Failure::silence()), SILENCE),
    };
    let mut cursor = file;
    let is_begun = cursor.stream_position().is_ok_and(|at| at > 0);
    let moved = if is_begun { began.elapsed().saturating_sub(silence) } else { Duration::ZERO };
    sent.map_err(|failure| failure.after(moved))
}

/// Waits until the cursor of a file that is sent stands still.
async fn still(mut file: &File) {
    let mut before = None;
    loop {
        let at = file.stream_position().ok();
        if before == Some(at) {
            return;
        }
        before = Some(at);
        sleep(SILENCE).await;
    }
}

async fn get_once(url: &str, file: &File) -> Result<(), Failure> {
    let client = client(url).map_err(|error| Failure::Final(error.to_string()))?;
    let answer = soon(client.get(url).send()).await?;
    taken("download", answer.status())?;
    file.set_len(0).map_err(|error| Failure::file(&error))?;
    let mut file = rewound(file).map_err(|error| Failure::file(&error))?;
    let came = save(answer, &mut file).await;
    // Of what broke off, too: a write that is still under way would go into the next try's file.
    file.flush().await.map_err(|error| Failure::file(&error))?;
    came
}

/// Writes what comes into a file.
async fn save(mut answer: Response, file: &mut tokio::fs::File) -> Result<(), Failure> {
    let began = Instant::now();
    let mut moved = Duration::ZERO;
    while let Some(chunk) = soon(answer.chunk()).await.map_err(|failure| failure.after(moved))? {
        file.write_all(&chunk).await.map_err(|error| Failure::file(&error))?;
        moved = began.elapsed();
    }
    Ok(())
}

/// What comes before the silence was too long.
async fn soon<T>(coming: impl Future<Output = reqwest::Result<T>>) -> Result<T, Failure> {
    match timeout(SILENCE, coming).await {
        Ok(came) => came.map_err(|error| Failure::unreachable(&error)),
        Err(_) => Err(Failure::silence()),
    }
}

/// Whether what is at the other end did what it was asked for.
fn taken(what: &str, status: StatusCode) -> Result<(), Failure> {
    let why = || format!("the {what} was answered with {status}");
    match status {
        _ if status.is_success() => Ok(()),
        _ if is_passing(status) => Err(Failure::passing(why())),
        _ => Err(Failure::Final(why())),
    }
}
