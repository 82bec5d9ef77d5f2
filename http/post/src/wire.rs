//! The bytes of a connection: lines that come, replies that go, plain or over TLS.

use std::io;

use bytes::{Buf, BytesMut};
use memchr::memchr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::reply::Reply;

/// Bytes of a command, its line end included.
pub(crate) const LINE_BYTES_MAX: usize = 4 * 1024;
/// Bytes that are read at once.
const ROOM: usize = 16 * 1024;

/// A line, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line with its end.
    Whole(BytesMut),
    /// It has more than [`LINE_BYTES_MAX`] bytes.
    TooLong,
    /// The client is gone.
    End,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Broken,
}

pub(crate) struct Wire {
    stream: Stream,
    /// What came and wasn't looked at yet.
    pub coming: BytesMut,
    going: Vec<u8>,
}

impl Wire {
    pub fn new(stream: TcpStream) -> Self {
        Self { stream: Stream::Plain(stream), coming: BytesMut::new(), going: Vec::new() }
    }

    /// Says something, with what else is said before more is read.
    pub fn say(&mut self, reply: &Reply) {
        reply.write(&mut self.going);
    }

    /// Sends what was said.
    pub async fn flush(&mut self) -> io::Result<()> {
        let Self { stream, going, .. } = self;
        if going.is_empty() {
            return Ok(());
        }
        match stream {
            Stream::Plain(stream) => stream.write_all(going).await?,
            Stream::Tls(stream) => {
                stream.write_all(going).await?;
                stream.flush().await?;
            }
            Stream::Broken => return Err(io::ErrorKind::NotConnected.into()),
        }
        going.clear();
        Ok(())
    }

    /// The next line.
    pub async fn line(&mut self) -> io::Result<Line> {
        let mut looked = 0;
        loop {
            if let Some(end) = memchr(b'\n', &self.coming[looked..]) {
                let length = looked + end + 1;
                let line = self.coming.split_to(length);
                return Ok(if length <= LINE_BYTES_MAX { Line::Whole(line) } else { Line::TooLong });
            }
            looked = self.coming.len();
            if looked >= LINE_BYTES_MAX {
                return Ok(Line::TooLong);
            }
            if self.more().await? == 0 {
                return Ok(Line::End);
            }
        }
    }

    /// Waits for more bytes, after what was said is sent; 0 when the client is gone.
    pub async fn more(&mut self) -> io::Result<usize> {
        self.flush().await?;
        self.coming.reserve(ROOM);
        match &mut self.stream {
            Stream::Plain(stream) => stream.read_buf(&mut self.coming).await,
            Stream::Tls(stream) => stream.read_buf(&mut self.coming).await,
            Stream::Broken => Ok(0),
        }
    }

    /// Takes bytes off that were looked at.
    pub fn took(&mut self, bytes: usize) {
        self.coming.advance(bytes);
    }

    /// Goes on over TLS. What came in the clear behind the command is thrown away: it may be anybody's.
    pub async fn secure(&mut self, acceptor: &TlsAcceptor) -> io::Result<()> {
        self.flush().await?;
        self.coming.clear();
        let Stream::Plain(stream) = std::mem::replace(&mut self.stream, Stream::Broken) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        self.stream = Stream::Tls(Box::new(acceptor.accept(stream).await?));
        Ok(())
    }

    /// Sends what was said, and no more.
    pub async fn close(&mut self) -> io::Result<()> {
        self.flush().await?;
        match &mut self.stream {
            Stream::Plain(stream) => stream.shutdown().await,
            Stream::Tls(stream) => stream.shutdown().await,
            Stream::Broken => Ok(()),
        }
    }
}
