//! The bytes of a message while they come: up to [`HELD_BYTES_MAX`] in memory, above in a file without a name, and once it is
//! whole in memory again, within what all connections may hold.

use std::{io, path::PathBuf, sync::Arc, time::Instant};

use bytes::Bytes;
use domain::mail::MESSAGE_BYTES_MAX;
use memchr::{memchr, memchr_iter};
use smtp_proto::request::receiver::{BdatReceiver, DataReceiver};
use tokio::{
    fs::File,
    io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// Bytes of a message that are held in memory while it comes.
const HELD_BYTES_MAX: usize = 128 * 1024;
/// Bytes of whole messages that are held at once, of all connections together; further messages wait.
const WHOLE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What room is counted in.
const UNIT: usize = 1024;

/// Why a message is not taken, though it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoilt {
    /// It is larger than [`MESSAGE_BYTES_MAX`].
    TooLarge,
    /// The disk didn't take it.
    NoDisk,
    /// A line ends with CR or LF alone: whoever reads it next may see its end elsewhere.
    BareLineEnds,
}

/// The room for whole messages.
#[derive(Clone, Debug)]
pub struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(WHOLE_BYTES_MAX / UNIT)))
    }
}

impl Room {
    async fn of(&self, bytes: u64) -> io::Result<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(UNIT as u64)).map_err(io::Error::other)?;
        Arc::clone(&self.0).acquire_many_owned(units).await.map_err(io::Error::other)
    }
}

/// A message that is whole. Its room is free when this is gone.
#[derive(Debug)]
pub(crate) struct Whole {
    pub bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

/// A message that comes.
pub(crate) struct Intake {
    folder: PathBuf,
    held: Vec<u8>,
    file: Option<File>,
    /// Bytes that are in the file, or were thrown away.
    put_away: u64,
    spoilt: Option<Spoilt>,
    began: Instant,
}

impl Intake {
    /// A message of which nothing has come yet; what is too large to hold goes into a file in `folder`.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, held: Vec::new(), file: None, put_away: 0, spoilt: None, began: Instant::now() }
    }

    /// When it began to come.
    pub const fn began(&self) -> Instant {
        self.began
    }

    /// Takes what came after DATA; answers how many bytes belonged to the message, and whether it is whole.
    pub async fn data(&mut self, receiver: &mut DataReceiver, coming: &[u8]) -> (usize, bool) {
        let mut rest = coming.iter();
        let is_whole = receiver.ingest(&mut rest, &mut self.held);
        let taken = coming.len() - rest.len();
        self.put_away(is_whole).await;
        (taken, is_whole)
    }

    /// The same of a chunk.
    pub async fn chunk(&mut self, receiver: &mut BdatReceiver, coming: &[u8]) -> (usize, bool) {
        let mut rest = coming.iter();
        let is_whole = receiver.ingest(&mut rest, &mut self.held);
        let taken = coming.len() - rest.len();
        self.put_away(is_whole).await;
        (taken, is_whole)
    }

    /// Whether it is too large already.
    pub fn is_too_large(&self) -> bool {
        self.spoilt == Some(Spoilt::TooLarge)
    }

    /// Puts away what is too much to hold, but for the last byte, which the receiver may take back.
    async fn put_away(&mut self, is_whole: bool) {
        let kept = usize::from(!is_whole);
        // Until it is whole, the dot's line end may be counted in.
        let size = self.put_away + (self.held.len() - self.held.len().min(kept)) as u64;
        if size > MESSAGE_BYTES_MAX {
            self.spoilt = Some(Spoilt::TooLarge);
            self.file = None;
        }
        if self.held.len() <= HELD_BYTES_MAX && self.spoilt.is_none() {
            return;
        }
        let last = self.held.split_off(self.held.len().saturating_sub(1));
        let gone = std::mem::replace(&mut self.held, last);
        self.put_away += gone.len() as u64;
        if self.spoilt.is_none()
            && let Err(error) = self.write(&gone).await
        {
            tracing::warn!(%error, "the disk does not take a message that comes");
            (self.spoilt, self.file) = (Some(Spoilt::NoDisk), None);
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            nowhere => {
                let folder = self.folder.clone();
                let made = tokio::task::spawn_blocking(move || {
                    std::fs::create_dir_all(&folder)?;
                    tempfile::tempfile_in(folder)
                });
                nowhere.insert(File::from_std(made.await.map_err(io::Error::other)??))
            }
        };
        file.write_all(bytes).await
    }

    /// The message, once there is room for it.
    pub async fn whole(self, room: &Room) -> Result<Whole, Spoilt> {
        if let Some(spoilt) = self.spoilt {
            return Err(spoilt);
        }
        let whole = self.read(room).await.map_err(|error| {
            tracing::warn!(%error, "a message that came can't be read again");
            Spoilt::NoDisk
        })?;
        if has_bare_line_ends(&whole.bytes) { Err(Spoilt::BareLineEnds) } else { Ok(whole) }
    }

    async fn read(mut self, room: &Room) -> io::Result<Whole> {
        let size = self.put_away + self.held.len() as u64;
        let room = room.of(size).await?;
        let bytes = match self.file.as_mut() {
            None => self.held,
            Some(file) => {
                let mut all = Vec::with_capacity(usize::try_from(size).map_err(io::Error::other)?);
                file.flush().await?;
                file.rewind().await?;
                file.read_to_end(&mut all).await?;
                all.extend_from_slice(&self.held);
                all
            }
        };
        Ok(Whole { bytes: bytes.into(), _room: room })
    }
}

/// Whether a CR or an LF stands alone.
fn has_bare_line_ends(bytes: &[u8]) -> bool {
    let mut ends = 0;
    for at in memchr_iter(b'\n', bytes) {
        if at == 0 || bytes[at - 1] != b'\r' || memchr(b'\r', &bytes[ends..at - 1]).is_some() {
            return true;
        }
        ends = at + 1;
    }
    memchr(b'\r', &bytes[ends..]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(text: &[u8], piece: usize) -> (Result<Vec<u8>, Spoilt>, usize) {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut intake, mut receiver) = (Intake::new(folder.path().to_owned()), DataReceiver::new());
        let mut taken = 0;
        for coming in text.chunks(piece) {
            let (some, is_whole) = intake.data(&mut receiver, coming).await;
            taken += some;
            if is_whole {
                break;
            }
        }
        (intake.whole(&Room::default()).await.map(|whole| whole.bytes.to_vec()), taken)
    }

    #[tokio::test]
    async fn a_message_is_the_same_however_it_comes() {
        let text = b"a: b\r\n\r\n..dot\r\n.\r\nQUIT\r\n";
        for piece in 1..text.len() {
            let (message, taken) = sent(text, piece).await;
            assert_eq!(message.as_deref(), Ok(&b"a: b\r\n\r\n.dot\r\n"[..]), "{piece}");
            assert!(taken <= text.len() - b"QUIT\r\n".len(), "{piece}");
        }
    }

    #[tokio::test]
    async fn only_a_dot_between_two_whole_line_ends_ends_a_message() {
        for (text, is_whole) in [
            (&b"a\r\n.\r\n"[..], true),
            (b"a\n.\r\n", false),
            (b"a\n.\n", false),
            (b"a\r\n.\n", false),
            (b"a\r.\r\n", false),
            (b"a\r\n.\r", false),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut intake = Intake::new(folder.path().to_owned());
            assert_eq!(intake.data(&mut DataReceiver::new(), text).await.1, is_whole, "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_message_has_so_many_bytes_and_no_more() {
        let line = [&[b'x'; 998][..], b"\r\n"].concat();
        let most = usize::try_from(MESSAGE_BYTES_MAX).expect("a size");
        for (size, fits) in [(most - 1, true), (most, true), (most + 1, false)] {
            let mut text: Vec<u8> = line.iter().copied().cycle().take(size - 2).collect();
            // Wherever it was cut, no line end may stand half.
            let length = text.len();
            text[length - 1] = b'x';
            text.extend_from_slice(b"\r\n.\r\n");
            let message = sent(&text, 64 * 1024).await.0;
            match message {
                Ok(message) => assert!(fits && message.len() == size, "{size}"),
                Err(spoilt) => assert!(!fits && spoilt == Spoilt::TooLarge, "{size} {spoilt:?}"),
            }
        }
    }

    #[tokio::test]
    async fn what_is_not_held_is_in_a_file() {
        for size in [HELD_BYTES_MAX - 1, HELD_BYTES_MAX, HELD_BYTES_MAX + 1, 3 * HELD_BYTES_MAX] {
            let text = [&vec![b'x'; size - 2][..], b"\r\n.\r\n"].concat();
            let message = sent(&text, 10_000).await.0.expect("a message");
            assert_eq!(message, text[..size], "{size}");
        }
    }

    #[test]
    fn line_ends_stand_alone() {
        for (bytes, has) in [
            (&b"a\r\nb\r\n"[..], false),
            (b"", false),
            (b"a", false),
            (b"\n", true),
            (b"\r", true),
            (b"a\nb\r\n", true),
            (b"a\rb\r\n", true),
            (b"a\r\r\n", true),
            (b"a\r\n\r", true),
            (b"a\r\n\n", true),
        ] {
            assert_eq!(has_bare_line_ends(bytes), has, "{bytes:?}");
        }
    }
}
