//! What is live of an organization's pages, as it crosses the hub.

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;

use super::presence::Present;

/// What messages start with.
const TREE: u8 = b'T';
const HERE: u8 = b'H';
const GONE: u8 = b'G';
const WHO: u8 = b'W';

/// One message between nodes, and from the tree's owner to this one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wire {
    /// Something happened to the tree.
    Tree {
        /// The tree's revision with it.
        revision: i64,
        /// What sockets send: JSON.
        text: Bytes,
    },
    /// They are there.
    Here(Vec<Present>),
    /// This socket closed.
    Gone(Box<Present>),
    /// A node wants to know who is on the others.
    Who,
}

impl Wire {
    pub(super) fn to_bytes(&self) -> Bytes {
        match self {
            Self::Tree { revision, text } => {
                let mut bytes = BytesMut::with_capacity(1 + size_of::<i64>() + text.len());
                bytes.put_u8(TREE);
                bytes.put_i64(*revision);
                bytes.put_slice(text);
                bytes.freeze()
            }
            Self::Here(present) => with_json(HERE, present),
            Self::Gone(present) => with_json(GONE, present),
            Self::Who => Bytes::from_static(&[WHO]),
        }
    }

    /// From the hub; `None` for what no node writes.
    pub(super) fn from_bytes(bytes: &Bytes) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        match *kind {
            TREE => {
                let (revision, _) = rest.split_first_chunk()?;
                let text = bytes.slice(1 + size_of::<i64>()..);
                Some(Self::Tree { revision: i64::from_be_bytes(*revision), text })
            }
            HERE => serde_json::from_slice(rest).ok().map(Self::Here),
            GONE => serde_json::from_slice(rest).ok().map(Self::Gone),
            WHO => Some(Self::Who),
            _ => None,
        }
    }
}

fn with_json(kind: u8, value: &impl Serialize) -> Bytes {
    let mut bytes = vec![kind];
    if let Err(error) = serde_json::to_writer(&mut bytes, value) {
        tracing::error!(%error, "a message between nodes can't be written");
    }
    bytes.into()
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        id::{PageId, UserId},
    };

    use super::*;
    use crate::live::presence::{SessionId, Viewer};

    #[test]
    fn every_message_crosses_unchanged() {
        let now = Timestamp(1_700_000_000_000);
        let viewer = Viewer {
            user_id: UserId::new(now),
            name: "Ada".into(),
            tab: "tab-00001".into(),
            device: Some("Laptop".into()),
            page_id: Some(PageId::new(now)),
        };
        let present = Present { session: SessionId::new(now), viewer };
        let tree = Wire::Tree { revision: 7, text: Bytes::from_static(b"{}") };
        for message in [tree, Wire::Here(vec![present.clone()]), Wire::Gone(Box::new(present)), Wire::Who] {
            assert_eq!(Wire::from_bytes(&message.to_bytes()), Some(message));
        }
    }

    #[test]
    fn what_no_node_writes_is_passed_over() {
        for bytes in [&b""[..], b"T", b"Tshort", b"H", b"H{}", b"G[]", b"?"] {
            assert_eq!(Wire::from_bytes(&Bytes::copy_from_slice(bytes)), None, "{bytes:?}");
        }
    }
}
