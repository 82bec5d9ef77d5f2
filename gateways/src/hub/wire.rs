//! How a message looks in Redis: who sent it, what it is, and its bytes.

use bytes::Bytes;

/// Bytes that name a node.
const NODE_LEN: usize = 16;
const KIND_MESSAGE: u8 = 0;
const KIND_GAP: u8 = 1;

/// A process that publishes; new at every start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node([u8; NODE_LEN]);

/// What another node sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Message(Bytes),
    /// Messages of this channel were lost on their way.
    Gap,
}

impl Node {
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; NODE_LEN];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    pub(super) fn message(self, message: &[u8]) -> Vec<u8> {
        self.frame(KIND_MESSAGE, message)
    }

    pub(super) fn gap(self) -> Vec<u8> {
        self.frame(KIND_GAP, &[])
    }

    fn frame(self, kind: u8, message: &[u8]) -> Vec<u8> {
        let mut frame = Vec::with_capacity(NODE_LEN + 1 + message.len());
        frame.extend_from_slice(&self.0);
        frame.push(kind);
        frame.extend_from_slice(message);
        frame
    }

    /// Reads a frame of another node; None for our own (delivered already) and for what no node writes.
    pub(super) fn read(self, frame: Vec<u8>) -> Option<Frame> {
        let (sender, rest) = frame.split_at_checked(NODE_LEN)?;
        let kind = *rest.first()?;
        if sender == self.0 {
            return None;
        }
        match kind {
            KIND_MESSAGE => Some(Frame::Message(Bytes::from(frame).slice(NODE_LEN + 1..))),
            KIND_GAP => Some(Frame::Gap),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_node_reads_what_was_sent_and_the_sender_skips_it() {
        let (one, other) = (Node::random().unwrap(), Node::random().unwrap());
        assert_eq!(other.read(one.message(b"hello")), Some(Frame::Message(Bytes::from_static(b"hello"))));
        assert_eq!(other.read(one.message(b"")), Some(Frame::Message(Bytes::new())));
        assert_eq!(other.read(one.gap()), Some(Frame::Gap));
        assert_eq!(one.read(one.message(b"hello")), None);
    }

    #[test]
    fn what_no_node_writes_is_skipped() {
        let node = Node::random().unwrap();
        for frame in [vec![], vec![7; 3], vec![7; NODE_LEN], vec![7; NODE_LEN + 1]] {
            assert_eq!(node.read(frame), None);
        }
    }
}
