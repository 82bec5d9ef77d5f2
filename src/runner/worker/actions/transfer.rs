//! Files between this machine and where the server keeps them: links that need no credential.

use std::{fs::File, io::Seek};

use reqwest::{Body, header::CONTENT_LENGTH};
use tokio::io::AsyncWriteExt;

use super::Outcome;
use crate::runner::server::{Backoff, client, unreachable};

/// How often a transfer is begun.
const TRIES_MAX: u32 = 4;

/// Puts a file there, from its beginning.
pub async fn put(url: &str, file: &File) -> Outcome<()> {
    again(|| put_once(url, file)).await
}

/// Gets a file from there, in place of what is in it.
pub async fn get(url: &str, file: &File) -> Outcome<()> {
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

/// The file at its beginning, for whoever works while others do.
fn rewound(file: &File) -> std::io::Result<tokio::fs::File> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    Ok(tokio::fs::File::from_std(file))
}

async fn put_once(url: &str, file: &File) -> Outcome<()> {
    let client = client(url).map_err(|error| error.to_string())?;
    let file = rewound(file).map_err(|error| error.to_string())?;
    let len = file.metadata().await.map_err(|error| error.to_string())?.len();
    let sent = client.put(url).header(CONTENT_LENGTH, len).body(Body::from(file)).send().await;
    let status = sent.map_err(|error| unreachable(&error).to_string())?.status();
    if status.is_success() { Ok(()) } else { Err(format!("the upload was answered with {status}")) }
}

async fn get_once(url: &str, file: &File) -> Outcome<()> {
    let client = client(url).map_err(|error| error.to_string())?;
    let mut answer = client.get(url).send().await.map_err(|error| unreachable(&error).to_string())?;
    if !answer.status().is_success() {
        return Err(format!("the download was answered with {}", answer.status()));
    }
    file.set_len(0).map_err(|error| error.to_string())?;
    let mut file = rewound(file).map_err(|error| error.to_string())?;
    while let Some(chunk) = answer.chunk().await.map_err(|error| unreachable(&error).to_string())? {
        file.write_all(&chunk).await.map_err(|error| error.to_string())?;
    }
    file.flush().await.map_err(|error| error.to_string())
}
