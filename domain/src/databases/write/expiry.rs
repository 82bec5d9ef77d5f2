//! When items expire (TTL): at the time that one of their attributes says.

use std::time::Duration;

use crate::{
    databases::{AttributeValue, Item},
    time::Timestamp,
};

/// A time that lies this far back when the item is written is taken for something else than a time (DynamoDB).
pub const EXPIRED_LONG_AGO: Duration = Duration::from_hours(5 * 365 * 24);

/// When an item that is written `now` expires: at the number of seconds in its attribute. Other types, and times more than
/// five years past, never do.
pub fn expires_at(item: &Item, attribute: &str, now: Timestamp) -> Option<Timestamp> {
    let Some(AttributeValue::Number(seconds)) = item.get(attribute) else { return None };
    let at = Timestamp(seconds.floor()?.checked_mul(1_000)?);
    (at >= now.before(EXPIRED_LONG_AGO)).then_some(at)
}
