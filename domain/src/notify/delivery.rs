//! Deliveries: one message to one address over one channel, and what may become of it.
//!
//! ```text
//!           ┌────────── try again ──────────┐
//!           ▼                               │
//! held ─▶ queued ─▶ a try ─▶ sent     failed (8 tries, or refused for good)
//!   └───────┴─────▶ cancelled
//! ```

use std::fmt;

use crate::{app::names, id::DeliveryId};

names! {
    /// What has become of a delivery.
    DeliveryState { Queued = "queued", Sent = "sent", Failed = "failed", Held = "held", Cancelled = "cancelled", }
}

names! {
    /// Why a delivery was cancelled: it would have been of no use any more.
    CancelReason {
        Acknowledged = "acknowledged", EscalationOver = "escalation_over", Summarized = "summarized",
        PersonGone = "person_gone", NoConfirmedPhone = "no_confirmed_phone", NoDevice = "no_device",
        NoticeDeleted = "notice_deleted", BudgetSpent = "budget_spent",
    }
}

/// Characters of a code that acknowledges by text.
const CODE_LEN: usize = 4;

/// The code that a text asks to reply with (`ACK 7F3K`): the last characters of its delivery's id, which are random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckCode(String);

impl AckCode {
    /// The code of a delivery.
    pub fn of(delivery_id: DeliveryId) -> Self {
        let id = delivery_id.to_string();
        Self(id[id.len() - CODE_LEN..].to_ascii_uppercase())
    }

    /// The code in what somebody replied (`ACK 7F3K`, `ack: 7f3k`), where there is one. Codes have no `I`, `L`, `O` or
    /// `U`; who reads a 1 or a 0 as one of them is understood.
    pub fn in_reply(reply: &str) -> Option<Self> {
        let mut words = reply.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.find(|word| word.eq_ignore_ascii_case("ack"))?;
        let code: String = words.next()?.chars().map(|c| unmistaken(c.to_ascii_uppercase())).collect();
        (code.len() == CODE_LEN).then_some(Self(code))
    }

    /// The code as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn unmistaken(letter: char) -> char {
    match letter {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    }
}

impl fmt::Display for AckCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number from which a delivery's pauses between tries follow ([`pause_asked`](crate::backoff::pause_asked)).
pub fn pause_seed(delivery_id: DeliveryId) -> i64 {
    let mix = |seed: u64, byte: u8| (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    delivery_id.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, mix).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_code_is_found_in_what_people_reply() {
        let code = AckCode("7F3K".into());
        for reply in ["ACK 7F3K", "ack 7f3k", " Ack: 7f3k.", "ACK\n7F3K thanks", "OK, ack 7F3K!", "ACK-7F3K"] {
            assert_eq!(AckCode::in_reply(reply), Some(code.clone()), "{reply}");
        }
        assert_eq!(AckCode::in_reply("ack 0o1l"), Some(AckCode("0011".into())));
        for reply in ["", "ACK", "7F3K", "ACK 7F3", "ACK 7F3KX", "back 7F3K", "ACK thanks 7F3K", "STOP"] {
            assert_eq!(AckCode::in_reply(reply), None, "{reply}");
        }
    }

    #[test]
    fn a_code_is_the_end_of_its_deliverys_id_and_is_read_back() {
        let id = DeliveryId::new(Timestamp(1_700_000_000_000));
        let code = AckCode::of(id);
        assert!(id.to_string().ends_with(&code.as_str().to_ascii_lowercase()));
        assert_eq!(AckCode::in_reply(&format!("ACK {code}")), Some(code));
    }

    #[test]
    fn deliveries_made_together_have_seeds_of_their_own() {
        let now = Timestamp(1_700_000_000_000);
        let seeds: std::collections::HashSet<_> = (0..100).map(|_| pause_seed(DeliveryId::new(now))).collect();
        assert_eq!(seeds.len(), 100);
    }
}
