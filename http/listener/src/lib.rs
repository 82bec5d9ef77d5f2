//! What listeners of protocols beside the API share.
//!
//! A [`Listener`] takes connections in, as many as there may be at once, hands each to what the protocol does with it, and ends
//! with what is under way. How much one address may bring is counted by [`Peers`], and a [`Certificate`] is read again when its
//! files change. The package names no area and nothing of the API.

mod listener;
mod network;
mod peers;
mod tls;

pub use self::{
    listener::{Connection, Listener, Options, Stopping},
    network::{Network, NotANetwork},
    peers::{PeerLimits, Peers, Place},
    tls::{Certificate, CertificateError},
};
