//! What a message says of its way here, and of what it brings, that only a search asks for.

use mail_parser::{HeaderName, HeaderValue, Message, MimeHeaders};

use crate::mail::{Correspondent, PARTS_MAX, correspondents};

/// Fields that say where a message was brought, that are kept.
const DELIVERED_MAX: usize = 20;
/// Bytes of each.
const DELIVERED_BYTES_MAX: usize = 320;
/// Lists of a message that are kept.
const LISTS_MAX: usize = 5;

/// What a message says of its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailTraces {
    /// The lists that it came over: what `List-Id` calls them, and their names.
    pub lists: Vec<Correspondent>,
    /// The addresses that it was brought to by its own word.
    pub delivered_to: Vec<String>,
    /// Whether a part of it is a calendar's object.
    pub has_invitation: bool,
}

impl MailTraces {
    /// Of a message that is read.
    pub(crate) fn of(message: &Message<'_>) -> Self {
        let lists = message.header_values(HeaderName::ListId).flat_map(|value| correspondents(value.as_address()));
        let delivered = message.header_values("Delivered-To").filter_map(HeaderValue::as_text);
        let cut = |text: &str| text[..text.floor_char_boundary(DELIVERED_BYTES_MAX)].trim().to_owned();
        Self {
            lists: lists.take(LISTS_MAX).collect(),
            delivered_to: delivered.take(DELIVERED_MAX).map(cut).collect(),
            has_invitation: message.parts.iter().take(PARTS_MAX).any(is_calendar),
        }
    }
}

fn is_calendar(part: &mail_parser::MessagePart<'_>) -> bool {
    part.content_type().is_some_and(|it| {
        let is = |kind: &str, subtype: &str| {
            it.ctype().eq_ignore_ascii_case(kind) && it.subtype().is_some_and(|its| its.eq_ignore_ascii_case(subtype))
        };
        is("text", "calendar") || is("application", "ics")
    })
}
