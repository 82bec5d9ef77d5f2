//! What a mailbox may send, and what is said to who asks for more (contract B 4.8).

use std::{ops::RangeInclusive, time::Duration};

use super::{MESSAGE_MB_MAX, RECIPIENTS_MAX, SEND_PER_DAY};
use crate::{Error, Result, Timestamp};

/// Seconds in which a message can be taken back, where nothing else is said.
pub const UNDO_SECONDS_USUAL: u64 = 10;
/// Those that may be asked for.
pub const UNDO_SECONDS: RangeInclusive<u64> = 0..=120;
/// How far ahead a message may leave.
pub const SCHEDULED_FOR: Duration = Duration::from_hours(366 * 24);
/// For a message that left.
pub const ALREADY_SENT: &str = "It's already on its way.";

/// 400 for a message to nobody.
pub fn no_recipient() -> Error {
    Error::bad_request("recipients_required", "Add a recipient.")
}

/// 400 for too many recipients.
pub fn too_many_recipients() -> Error {
    Error::bad_request("limit_reached", format!("A message has at most {RECIPIENTS_MAX} recipients."))
}

/// 400 for a message in the name of somebody else.
pub fn sender_not_own() -> Error {
    Error::bad_request("sender_not_own", "This isn't an address of the mailbox.")
}

/// 409 for taking back what left.
pub fn already_sent() -> Error {
    Error::conflict("already_sent", ALREADY_SENT)
}

/// 413 for a message that is too large.
pub fn message_too_large() -> Error {
    Error::TooLarge { message: format!("A message has at most {MESSAGE_MB_MAX} MB.").into() }
}

/// 429 for a mailbox that sent to too many in a day.
pub fn day_is_over(retry_after: Duration) -> Error {
    let (thousands, rest) = (SEND_PER_DAY / 1_000, SEND_PER_DAY % 1_000);
    let message = format!("This mailbox has sent to {thousands},{rest:03} recipients in the last day.");
    Error::RateLimited { message: message.into(), retry_after }
}

/// When a message leaves, as it was asked for: in the future, and not too far.
pub fn schedule_check(at: Timestamp, now: Timestamp) -> Result<Timestamp> {
    let fits = at > now && at <= now.after(SCHEDULED_FOR);
    if fits { Ok(at) } else { Err(Error::invalid("sendAt", "Choose a moment within the next 366 days.")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_leaves_within_366_days() {
        let now = Timestamp(1_800_000_000_000);
        let most = now.after(SCHEDULED_FOR).0;
        for (at, fits) in [(now.0, false), (now.0 + 1, true), (most, true), (most + 1, false)] {
            assert_eq!(schedule_check(Timestamp(at), now).is_ok(), fits, "{at}");
        }
    }

    #[test]
    fn the_refusal_of_a_day_names_its_number() {
        let text = "This mailbox has sent to 2,000 recipients in the last day.";
        assert_eq!(day_is_over(Duration::from_secs(1)).to_string(), text);
    }
}
