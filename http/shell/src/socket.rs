//! Sockets: opened with a ticket, watched while they live, closed with a reason.
//!
//! An area gives a [`Source`], which says what to send and hears what comes; everything else is the same for all of
//! them ([`runner`]): pings, the limit of what may wait unsent, and the ends that come from outside.

mod address;
pub(crate) mod frames;
mod opening;
mod runner;
#[cfg(test)]
mod tests;
mod unsent;
mod watch;

use bytes::Bytes;
use bytestring::ByteString;
use futures::future::LocalBoxFuture;

pub use self::{
    address::SocketAddress,
    opening::{Opening, SocketKind},
};

/// What a socket sends.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// Text.
    Text(ByteString),
    /// Bytes.
    Binary(Bytes),
}

/// What a client sent.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// Text.
    Text(ByteString),
    /// Bytes.
    Binary(Bytes),
}

/// Why a socket ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// The client closed it, or is gone.
    Gone,
    /// 1002: what the client sent is no frame.
    Malformed,
    /// 1007: the client sent as text what is none.
    NoText,
    /// 1009: the client sent too much at once.
    TooLarge,
    /// 1011: something failed here.
    Failed,
    /// 1012: the server shuts down; connect again.
    ShuttingDown,
    /// 1013: the client reads too slowly; connect again.
    TooSlow,
    /// 4401: the sign-in that it was opened with is no longer good.
    SignedOut,
    /// 4403: the right that it was opened with is gone.
    LostRight,
    /// A code of the area's own, from 4400 on.
    Own(u16, &'static str),
}

impl Farewell {
    /// The code of the close frame; nobody is left to read one of a client that is gone.
    pub(crate) const fn code(self) -> Option<(u16, &'static str)> {
        match self {
            Self::Gone => None,
            Self::Malformed => Some((1002, "That was no frame.")),
            Self::NoText => Some((1007, "That was no text.")),
            Self::TooLarge => Some((1009, "That was too large.")),
            Self::Failed => Some((1011, "Something went wrong on the server.")),
            Self::ShuttingDown => Some((1012, "The server restarts.")),
            Self::TooSlow => Some((1013, "Too much waits to be read.")),
            Self::SignedOut => Some((4401, "Sign in to continue.")),
            Self::LostRight => Some((4403, "You can't see this any more.")),
            Self::Own(code, reason) => Some((code, reason)),
        }
    }

    /// Its name among the metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Malformed => "malformed",
            Self::NoText => "no_text",
            Self::TooLarge => "too_large",
            Self::Failed => "failed",
            Self::ShuttingDown => "shutting_down",
            Self::TooSlow => "too_slow",
            Self::SignedOut => "signed_out",
            Self::LostRight => "lost_right",
            Self::Own(..) => "own",
        }
    }
}

/// What a socket is for.
pub trait Source: 'static {
    /// The next thing to send. Must be safe to cancel: it is dropped whenever something else happens first.
    fn next(&mut self) -> impl Future<Output = Result<Outgoing, Farewell>>;

    /// The next thing to send, if it is there already. By default that isn't looked for.
    fn try_next(&mut self) -> Option<Result<Outgoing, Farewell>> {
        None
    }

    /// Whether what comes next happened long ago and can wait until the client has read what it has.
    fn is_catching_up(&self) -> bool {
        false
    }

    /// Something came. By default nobody cares.
    fn received(&mut self, message: Incoming) -> impl Future<Output = Result<(), Farewell>> {
        drop(message);
        async { Ok(()) }
    }

    /// Whether the client may still have it, as the store says. Asked whenever the rights of its person changed, and now and
    /// then; the conversation goes on meanwhile.
    fn is_still_allowed(&self) -> LocalBoxFuture<'static, domain::Result<bool>> {
        Box::pin(async { Ok(true) })
    }
}
