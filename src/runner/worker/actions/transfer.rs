//! Files between this machine and where the server keeps them: links that need no credential.

use std::path::Path;

use reqwest::{Body, header::CONTENT_LENGTH};
use tokio::{fs::File, io::AsyncWriteExt};

use super::Outcome;
use crate::runner::server::{Backoff, client, unreachable};

/// How often a transfer is begun.
const TRIES_MAX: u32 = 4;

/// Puts a file there.
pub async fn put(url: &str, file: &Path) -> Outcome<()> {
    again(|| put_once(url, file)).await
}

/// Gets a file from there.
pub async fn get(url: &str, file: &Path) -> Outcome<()> {
    again(|| get_once(url, file)).await
}

async fn again<F: Future<Output = Outcome<()>>>(transfer: impl Fn() -> F) -> Outcome<()> {
    let mut backoff = Backoff::default();
    for _ in 1..TRIES_MAX {
        if transfer().await.is_ok() {
            return Ok(());
        }
        backoff.wait().await;
    }
    transfer().await
}

async fn put_once(url: &str, file: &Path) -> Outcome<()> {
    let client = client(url).map_err(|error| error.to_string())?;
    let file = File::open(file).await.map_err(|error| error.to_string())?;
    let len = file.metadata().await.map_err(|error| error.to_string())?.len();
    let sent = client.put(url).header(CONTENT_LENGTH, len).body(Body::from(file)).send().await;
    let status = sent.map_err(|error| unreachable(&error).to_string())?.status();
    if status.is_success() { Ok(()) } else { Err(format!("the upload was answered with {status}")) }
}

async fn get_once(url: &str, file: &Path) -> Outcome<()> {
    let client = client(url).map_err(|error| error.to_string())?;
    let mut answer = client.get(url).send().await.map_err(|error| unreachable(&error).to_string())?;
    if !answer.status().is_success() {
        return Err(format!("the download was answered with {}", answer.status()));
    }
    let mut file = File::create(file).await.map_err(|error| error.to_string())?;
    while let Some(chunk) = answer.chunk().await.map_err(|error| unreachable(&error).to_string())? {
        file.write_all(&chunk).await.map_err(|error| error.to_string())?;
    }
    file.flush().await.map_err(|error| error.to_string())
}
