//! How much one address brings: connections at once, and messages a minute.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::Network;

const MINUTE: Duration = Duration::from_secs(60);
/// Addresses from which on those are forgotten that did nothing for a minute.
const KNOWN_MAX: usize = 4_096;

#[derive(Clone, Copy, Debug)]
struct Peer {
    connections: u32,
    messages: u32,
    /// Since when messages are counted.
    since: Instant,
}

/// How much an address may bring.
#[derive(Clone, Copy, Debug)]
pub struct PeerLimits {
    /// Connections at once.
    pub connections: u32,
    /// Messages, or what else a protocol counts, in a minute.
    pub messages: u32,
}

/// What addresses do just now.
#[derive(Debug)]
pub struct Peers {
    limits: PeerLimits,
    trusted: Vec<Network>,
    known: Mutex<HashMap<IpAddr, Peer>>,
}

/// A connection that counts for as long as this is there.
#[derive(Debug)]
pub struct Place {
    peers: Arc<Peers>,
    /// None of one that may bring as much as it likes.
    address: Option<IpAddr>,
}

impl Peers {
    /// Nobody did anything yet. Who is in one of the `trusted` networks may bring as much as they like.
    pub fn new(limits: PeerLimits, trusted: Vec<Network>) -> Arc<Self> {
        Arc::new(Self { limits, trusted, known: Mutex::default() })
    }

    /// Counts a connection; none where the address has as many as it may.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = (!self.trusted.iter().any(|network| network.has(address))).then(|| counted(address));
        if let Some(address) = address {
            let (mut known, now) = (self.known.lock(), Instant::now());
            if known.len() >= KNOWN_MAX {
                known.retain(|_, peer| peer.connections > 0 || now.duration_since(peer.since) < MINUTE);
            }
            let peer = known.entry(address).or_insert(Peer { connections: 0, messages: 0, since: now });
            if peer.connections >= self.limits.connections {
                return None;
            }
            peer.connections += 1;
        }
        Some(Place { peers: Arc::clone(self), address })
    }
}

impl Place {
    /// Counts a message; `false` where the address brought as many as it may.
    pub fn message(&self) -> bool {
        let Some(address) = self.address else { return true };
        let (mut known, now) = (self.peers.known.lock(), Instant::now());
        let Some(peer) = known.get_mut(&address) else { return true };
        if now.duration_since(peer.since) >= MINUTE {
            (peer.messages, peer.since) = (0, now);
        }
        peer.messages = peer.messages.saturating_add(1);
        peer.messages <= self.peers.limits.messages
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        if let Some(peer) = self.peers.known.lock().get_mut(&address) {
            peer.connections = peer.connections.saturating_sub(1);
        }
    }
}

/// Whose doing it is: a house gets 64 bits of addresses of the sixth version.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PeerLimits = PeerLimits { connections: 20, messages: 600 };

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_address_has_twenty_connections_until_one_ends() {
        let peers = Peers::new(LIMITS, Vec::new());
        let mut places: Vec<_> = (0..LIMITS.connections).map_while(|_| peers.enter(address("192.0.2.1"))).collect();
        assert_eq!(places.len(), 20);
        assert!(peers.enter(address("192.0.2.1")).is_none());
        assert!(peers.enter(address("192.0.2.2")).is_some(), "another address");
        places.pop();
        assert!(peers.enter(address("192.0.2.1")).is_some());
    }

    #[test]
    fn a_house_is_one_address_of_the_sixth_version() {
        let peers = Peers::new(LIMITS, Vec::new());
        let places: Vec<_> = (0..LIMITS.connections).map_while(|_| peers.enter(address("2001:db8::1"))).collect();
        assert_eq!(places.len(), 20);
        assert!(peers.enter(address("2001:db8::2")).is_none());
        assert!(peers.enter(address("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn who_is_trusted_is_not_counted() {
        let peers = Peers::new(LIMITS, vec!["192.0.2.0/24".parse().expect("a network")]);
        let places: Vec<_> = (0..=LIMITS.connections).map_while(|_| peers.enter(address("192.0.2.1"))).collect();
        assert_eq!(places.len(), 21);
        assert!((0..=LIMITS.messages).all(|_| places[0].message()));
    }

    #[test]
    fn an_address_brings_six_hundred_messages_a_minute_over_all_of_its_connections() {
        let peers = Peers::new(LIMITS, Vec::new());
        let (one, other) = (peers.enter(address("192.0.2.1")), peers.enter(address("192.0.2.1")));
        let (one, other) = (one.expect("a place"), other.expect("a place"));
        assert!((1..LIMITS.messages).all(|_| one.message()));
        assert!(other.message());
        assert!(!one.message() && !other.message());
    }
}
