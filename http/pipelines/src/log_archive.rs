//! All logs of a run, as a zip.

use std::{
    collections::HashSet,
    io::{self, Write},
};

use actix_web::{HttpResponse, http::header};
use bytes::Bytes;
use domain::Result as Decided;
use futures::{SinkExt, StreamExt, channel::mpsc, executor::block_on, pin_mut};
use http_shell::{error::Result, state::State};
use store::{Store, pipelines::StoredJob};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{
    log_reader::LogReader,
    log_reading::{ReadsLogs, text_of},
    reading::RunOf,
};

/// Pieces that wait on either side of the thread that packs.
const PIECES_WAITING_MAX: usize = 2;
/// Bytes of a piece of the answer.
const PIECE_LEN: usize = 64 * 1024;

/// What the thread that packs is told.
enum Packed {
    /// Another file begins.
    File(String),
    /// What follows in it.
    Bytes(Bytes),
}

/// Download all logs of a run
///
/// A zip with a text for each job of each attempt: `<attempt>/<job>.txt`.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/logs",
    responses((status = 200, description = "The logs.", content_type = "application/zip")))]
pub(crate) async fn run_logs_get(of: RunOf<ReadsLogs>, state: State) -> Result<HttpResponse> {
    let jobs = state.store.run_jobs(of.run.id, of.run.attempt).await?;
    let (texts, to_pack) = mpsc::channel(PIECES_WAITING_MAX);
    let (packed, answer) = mpsc::channel(PIECES_WAITING_MAX);
    tokio::task::spawn_blocking(move || {
        let mut failed = packed.clone();
        if let Err(error) = pack(to_pack, packed) {
            tracing::debug!(%error, "packing the logs of a run broke off");
            // Whoever downloads hears of it, unless they are gone.
            let _ = block_on(failed.send(Err(io::Error::other("packing the logs broke off"))));
        }
    });
    let store = state.store.clone();
    actix_web::rt::spawn(async move {
        if let Err(error) = send(&store, jobs, texts).await {
            tracing::warn!(%error, "the logs of a run can't be read");
        }
    });
    let name = format!("attachment; filename=\"logs-{}.zip\"", of.run.id);
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/zip"))
        .insert_header((header::CONTENT_DISPOSITION, name))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .streaming(answer))
}

/// Sends the logs of these jobs to be packed; ends early where nobody packs any more.
async fn send(store: &Store, jobs: Vec<StoredJob>, mut texts: mpsc::Sender<Packed>) -> Decided<()> {
    let mut names = HashSet::new();
    for job in jobs {
        let reader = LogReader::open(store, &job).await?;
        if reader.lines() == 0 {
            continue;
        }
        if texts.send(Packed::File(name_of(&job, &mut names))).await.is_err() {
            return Ok(());
        }
        let pieces = text_of(reader);
        pin_mut!(pieces);
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(domain::Error::internal)?;
            if texts.send(Packed::Bytes(piece)).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// What the text of a job is called: no other of the archive is called so, and none climbs out of its folder.
fn name_of(job: &StoredJob, names: &mut HashSet<String>) -> String {
    let is_usual = |it: char| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_' | '(' | ')' | ',');
    let plain: String = job.name.chars().map(|it| if is_usual(it) { it } else { '_' }).collect();
    let plain = format!("{}/{plain}", job.attempt);
    let name = if names.contains(&plain) { format!("{plain} {}", job.id) } else { plain };
    names.insert(name.clone());
    format!("{name}.txt")
}

fn pack(mut texts: mpsc::Receiver<Packed>, answer: mpsc::Sender<io::Result<Bytes>>) -> io::Result<()> {
    let mut archive = ZipWriter::new_stream(Answering { answer, piece: Vec::with_capacity(PIECE_LEN) });
    while let Some(packed) = block_on(texts.next()) {
        match packed {
            Packed::File(name) => archive.start_file(name, SimpleFileOptions::default().large_file(true))?,
            Packed::Bytes(bytes) => archive.write_all(&bytes)?,
        }
    }
    archive.finish()?.into_inner().flush()
}

/// Writes into the answer to a request.
struct Answering {
    answer: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for Answering {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_LEN {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_LEN)));
        block_on(self.answer.send(Ok(piece))).map_err(|_| io::Error::other("nobody reads the answer"))
    }
}
