//! A live message as sockets send it, and as it crosses the hub.

use bytes::{BufMut, Bytes, BytesMut};
use store::LiveMessage;

/// Bytes of a number before the text on the hub.
const SEQ_LEN: usize = size_of::<i64>();

/// A numbered message, ready to be sent: `{type, …, seq}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFrame {
    /// Its number among the person's messages.
    pub seq: i64,
    /// Its text, which is JSON and UTF-8.
    pub text: Bytes,
}

impl LiveFrame {
    /// Writes the number into the message.
    pub fn new(message: &LiveMessage) -> Self {
        let body = message.body.get().trim_end();
        let text = match body.strip_suffix('}') {
            Some(open) if open.trim_end().ends_with('{') => format!("{open}\"seq\":{}}}", message.seq),
            Some(open) => format!("{open},\"seq\":{}}}", message.seq),
            None => format!("{{\"message\":{body},\"seq\":{}}}", message.seq),
        };
        Self { seq: message.seq, text: text.into() }
    }

    /// As it crosses the hub.
    pub(super) fn to_bytes(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(SEQ_LEN + self.text.len());
        bytes.put_i64(self.seq);
        bytes.put_slice(&self.text);
        bytes.freeze()
    }

    /// From the hub; `None` for what no node writes.
    pub(super) fn from_bytes(bytes: &Bytes) -> Option<Self> {
        let (seq, _) = bytes.split_first_chunk::<SEQ_LEN>()?;
        Some(Self { seq: i64::from_be_bytes(*seq), text: bytes.slice(SEQ_LEN..) })
    }
}

#[cfg(test)]
mod tests {
    use domain::{Timestamp, id::UserId};
    use serde_json::value::RawValue;

    use super::*;

    fn frame(body: &str) -> LiveFrame {
        let body = RawValue::from_string(body.to_owned()).expect("JSON");
        let user_id = UserId::new(Timestamp(0));
        LiveFrame::new(&LiveMessage { user_id, seq: 7, body, source: 1 })
    }

    #[test]
    fn the_number_stands_in_the_message() {
        assert_eq!(frame(r#"{"type":"vault.changed"}"#).text, r#"{"type":"vault.changed","seq":7}"#);
        assert_eq!(frame("{ }").text, r#"{ "seq":7}"#);
        assert_eq!(frame("{}").text, r#"{"seq":7}"#);
        assert_eq!(frame("[1]").text, r#"{"message":[1],"seq":7}"#);
    }

    #[test]
    fn a_frame_crosses_the_hub_unchanged() {
        let sent = frame(r#"{"type":"vault.changed"}"#);
        assert_eq!(LiveFrame::from_bytes(&sent.to_bytes()), Some(sent));
        assert_eq!(LiveFrame::from_bytes(&Bytes::from_static(b"short")), None);
    }
}
