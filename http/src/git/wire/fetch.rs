//! `git-upload-pack`: what a client has and wants, and the pack that it is sent.

use actix_web::{HttpResponse, http::header};
use bytes::{Bytes, BytesMut};
use domain::git::{
    RefName,
    wire::{LsRefs, Packet, Service, WireError, v2_command},
};
use futures::Stream;
use gateways::GitRun;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::ChildStdout,
};

use super::{
    argument::Served,
    body::FetchBody,
    listing::{Protocol, malformed, said},
};
use crate::{error::Result, permission::GitRead, state::State};

/// Bytes that are read of a pack at once.
const PIECE_LEN: usize = 256 * 1024;

/// Send objects of a repository to git
///
/// What `git clone` and `git fetch` ask after the refs; in the second version of the protocol also for the refs themselves.
#[utoipa::path(post, path = "/git/{owner}/{repository}/git-upload-pack", responses(
    (status = 200, description = "What git says, with a pack in it.",
        content_type = "application/x-git-upload-pack-result")))]
pub(crate) async fn git_upload_pack(
    served: Served<GitRead>,
    protocol: Protocol,
    body: FetchBody,
    state: State,
) -> Result<HttpResponse> {
    let (stored, FetchBody(body)) = (&served.stored, body);
    let begins = Packet::first(&body).and_then(|first| first.ok_or(WireError("The request breaks off.")));
    begins.map_err(|error| malformed(&error))?;
    if protocol == Protocol::V2 && v2_command(&body).map_err(|error| malformed(&error))? == b"ls-refs" {
        let asked = LsRefs::read(&body).map_err(|error| malformed(&error))?;
        let refs = state.git.refs(stored.no).await?;
        let answer = asked.answer(&refs, &RefName::of_branch(&stored.settings.default_branch));
        return Ok(said(Service::UploadPack, "result", answer));
    }
    let run = state.git.fetch(stored, protocol.spoken()).await?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/x-git-upload-pack-result"))
        .insert_header((header::CACHE_CONTROL, "no-cache, max-age=0, must-revalidate"))
        .streaming(answer(run, body)))
}

/// A run under way: what it reads is written beside what is read of it.
struct Sending {
    run: GitRun,
    stdout: ChildStdout,
    writing: tokio::task::JoinHandle<()>,
    piece: BytesMut,
}

/// What a run says that reads `body`.
fn answer(mut run: GitRun, body: Bytes) -> impl Stream<Item = std::io::Result<Bytes>> {
    let parts = run.stdin.take().zip(run.stdout.take());
    let sending = parts.map(|(mut stdin, stdout)| {
        let writing = tokio::spawn(async move {
            if let Err(error) = stdin.write_all(&body).await {
                tracing::debug!(%error, "git read less than was sent");
            }
        });
        Sending { run, stdout, writing, piece: BytesMut::with_capacity(PIECE_LEN) }
    });
    futures::stream::try_unfold(sending, async |sending| {
        let Some(mut sending) = sending else { return Ok(None) };
        sending.piece.reserve(PIECE_LEN);
        if sending.stdout.read_buf(&mut sending.piece).await? > 0 {
            let piece = sending.piece.split().freeze();
            return Ok(Some((piece, Some(sending))));
        }
        // Who reads what was said and no more than that takes it for whole: git says itself what went wrong.
        match sending.run.end().await {
            Ok(()) => Ok(None),
            Err(error) => {
                tracing::info!(%error, "a fetch didn't end well");
                Ok(None)
            }
        }
    })
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.writing.abort();
    }
}
