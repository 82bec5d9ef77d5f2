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
    time::{sleep, timeout},
};

use super::Outcome;
use crate::runner::server::{OUTAGE_MAX, Patience, client, is_passing, unreachable};

/// How long nothing may go or come until a transfer counts as broken off.
const SILENCE: Duration = Duration::from_secs(120);

/// Why something that needs the server failed.
pub enum Failure {
    /// Tried again, it may succeed.
    Passing(String),
    /// Tried again, it fails as well.
    Final(String),
}

impl Failure {
    fn unreachable(error: &reqwest::Error) -> Self {
        Self::Passing(unreachable(error).to_string())
    }

    fn file(error: &io::Error) -> Self {
        Self::Final(error.to_string())
    }

    fn silence() -> Self {
        Self::Passing(format!("nothing moved for {} seconds", SILENCE.as_secs()))
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

/// Does something that needs the server, again as long as an outage may last; `what` is said before each further try.
pub async fn again<T, F>(what: &str, once: impl Fn() -> F) -> Outcome<T>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut patience = Patience::of(OUTAGE_MAX);
    loop {
        match once().await {
            Ok(done) => return Ok(done),
            Err(Failure::Passing(why)) => {
                if !patience.again(what, &why).await {
                    return Err(why);
                }
            }
            Err(Failure::Final(why)) => return Err(why),
        }
    }
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
    let sent = select! {
        sent = client.put(url).header(CONTENT_LENGTH, len).body(body).send() => sent,
        () = still(file) => return Err(Failure::silence()),
    };
    taken("upload", sent.map_err(|error| Failure::unreachable(&error))?.status())
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
    while let Some(chunk) = soon(answer.chunk()).await? {
        file.write_all(&chunk).await.map_err(|error| Failure::file(&error))?;
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
        _ if is_passing(status) => Err(Failure::Passing(why())),
        _ => Err(Failure::Final(why())),
    }
}
