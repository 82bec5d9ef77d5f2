//! Reading an answer that may still be growing.

use std::{fs::File, io, os::unix::fs::FileExt, sync::Arc};

use bytes::Bytes;
use futures::Stream;
use tokio::{sync::watch, task::spawn_blocking};

use super::{Progress, Stage};
use crate::host::reading::PIECE_LEN;

/// Somebody who reads an answer. It is written for as long as there is one.
#[derive(Debug)]
pub struct Following {
    file: Arc<File>,
    at: u64,
    progress: watch::Receiver<Progress>,
}

impl Following {
    pub(super) fn new(file: File, progress: watch::Receiver<Progress>) -> Self {
        Self { file: Arc::new(file), at: 0, progress }
    }

    /// Waits until there is something of it; whether there is going to be.
    pub(in crate::host) async fn has_begun(&mut self) -> bool {
        let begun = self.progress.wait_for(|progress| progress.len > 0 || progress.stage != Stage::Grows).await;
        begun.is_ok_and(|progress| progress.len > 0)
    }

    /// All of it, as it comes. It breaks off where whatever writes it does.
    pub fn pieces(self) -> impl Stream<Item = io::Result<Bytes>> {
        futures::stream::try_unfold(self, async |mut following| {
            let piece = following.next().await?;
            Ok(piece.map(|piece| (piece, following)))
        })
    }

    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let Progress { len, stage } = *self.progress.borrow_and_update();
            if self.at < len {
                return self.read(len).await.map(Some);
            }
            let broke_off = || io::Error::new(io::ErrorKind::UnexpectedEof, "what git sent broke off");
            match stage {
                Stage::Whole | Stage::Said => return Ok(None),
                Stage::BrokeOff => return Err(broke_off()),
                Stage::Grows => self.progress.changed().await.map_err(|_| broke_off())?,
            }
        }
    }

    /// The next piece of what is there up to `len`.
    async fn read(&mut self, len: u64) -> io::Result<Bytes> {
        let (file, at) = (Arc::clone(&self.file), self.at);
        let wanted = usize::try_from(len - at).unwrap_or(usize::MAX).min(PIECE_LEN);
        let reading = spawn_blocking(move || {
            let mut piece = vec![0; wanted];
            file.read_exact_at(&mut piece, at)?;
            Ok::<_, io::Error>(Bytes::from(piece))
        });
        let piece = reading.await.map_err(io::Error::other)??;
        self.at += piece.len() as u64;
        Ok(piece)
    }
}
