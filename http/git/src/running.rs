//! What a run of git writes, on its way to a client.

use std::{io, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use gateways::GitRun;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::ChildStdout,
    sync::watch,
    time::timeout,
};

/// Bytes that are read at once.
const PIECE_LEN: usize = 256 * 1024;
/// How long a client may leave what it is sent unread: git, of which only so many run at the same time, waits for it.
const UNREAD_MAX: Duration = Duration::from_mins(1);

/// A run under way: what it reads is written beside what is read of it.
struct Sending {
    run: Arc<Mutex<Option<GitRun>>>,
    stdout: ChildStdout,
    writing: tokio::task::JoinHandle<()>,
    piece: BytesMut,
    /// Whether the client has what it was sent last still to read.
    is_unread: watch::Sender<bool>,
}

/// What a run says that reads `body`.
pub(super) fn output(mut run: GitRun, body: Bytes) -> impl Stream<Item = io::Result<Bytes>> {
    let parts = run.stdin.take().zip(run.stdout.take());
    let sending = parts.map(|(mut stdin, stdout)| {
        let writing = tokio::spawn(async move {
            if let Err(error) = stdin.write_all(&body).await {
                tracing::debug!(%error, "git read less than was sent");
            }
        });
        let (run, (is_unread, unread)) = (Arc::new(Mutex::new(Some(run))), watch::channel(false));
        tokio::spawn(end_where_unread(Arc::clone(&run), unread));
        Sending { run, stdout, writing, piece: BytesMut::with_capacity(PIECE_LEN), is_unread }
    });
    futures::stream::try_unfold(sending, async |sending| {
        let Some(mut sending) = sending else { return Ok(None) };
        sending.is_unread.send_replace(false);
        sending.piece.reserve(PIECE_LEN);
        if sending.stdout.read_buf(&mut sending.piece).await? > 0 {
            let piece = sending.piece.split().freeze();
            sending.is_unread.send_replace(true);
            return Ok(Some((piece, Some(sending))));
        }
        let run = sending.run.lock().take();
        let Some(mut run) = run else { return Err(io::Error::other("nobody read what git sent")) };
        // Who reads what was said and no more than that takes it for whole: git says itself what went wrong.
        if let Err(error) = run.end().await {
            tracing::info!(%error, "git didn't end well");
        }
        Ok(None)
    })
}

/// Ends a run whose client leaves what it was sent unread.
async fn end_where_unread(run: Arc<Mutex<Option<GitRun>>>, mut unread: watch::Receiver<bool>) {
    loop {
        let is_unread = *unread.borrow_and_update();
        let changed = unread.changed();
        let changed = if is_unread { timeout(UNREAD_MAX, changed).await } else { Ok(changed.await) };
        match changed {
            Ok(Ok(())) => {}
            // It is over.
            Ok(Err(_)) => return,
            Err(_) => {
                tracing::info!("a run of git is ended whose client reads no more");
                drop(run.lock().take());
                return;
            }
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.writing.abort();
    }
}
