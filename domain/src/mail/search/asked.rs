//! Operators, and the values that they take.

use std::time::Duration;

use super::question::{Asked, MailField};
use crate::{
    Error, Result, Timestamp,
    mail::{MailBox, MailCategory, MessageIdHash, label_folded},
    notify::{Date, TimeOfDay, Zone},
};

/// Operators whose values aren't words of a message.
const OTHERS: [&str; 11] =
    ["label", "has", "is", "in", "category", "before", "after", "older_than", "newer_than", "larger", "smaller"];
const MESSAGE_ID: &str = "rfc822msgid";
/// Years, or as long in months or days, that a time may be past.
const YEARS_MAX: i64 = 1_000;

/// The part of a message that an operator looks for words in.
pub(super) fn field(operator: &str) -> Option<MailField> {
    Some(match operator {
        "subject" => MailField::Subject,
        "from" => MailField::Senders,
        "to" => MailField::Receivers,
        "cc" => MailField::Cc,
        "bcc" => MailField::Bcc,
        "list" => MailField::List,
        "deliveredto" => MailField::DeliveredTo,
        "filename" => MailField::Files,
        _ => return None,
    })
}

/// Whether it is one.
pub(super) fn is_operator(name: &str) -> bool {
    field(name).is_some() || name == MESSAGE_ID || OTHERS.contains(&name)
}

/// What an operator asks with a value; none where it is no operator.
pub(super) fn asked(operator: &str, value: &str, column: usize, zone: &Zone, now: Timestamp) -> Result<Option<Asked>> {
    let small = value.to_lowercase();
    let refused = |choices: &str| Error::invalid("q", format!("At character {column}: {operator}: takes {choices}."));
    let a_day = || day(value, zone).ok_or_else(|| refused("a day such as 2026-11-27"));
    let a_moment = || past(&small, zone, now).ok_or_else(|| refused("a time such as 2d, 3m or 1y"));
    let a_size = || bytes(&small).ok_or_else(|| refused("a size such as 500k or 5m"));
    Ok(Some(match operator {
        MESSAGE_ID => Asked::MessageId(MessageIdHash::of(value)),
        "label" => Asked::Label(label_folded(value)),
        "has" => match small.as_str() {
            "attachment" | "attachments" => Asked::HasFile,
            "invitation" | "invitations" => Asked::HasInvitation,
            _ => return Err(refused("attachment or invitation")),
        },
        "is" => match small.as_str() {
            "unread" => Asked::Unread(true),
            "read" => Asked::Unread(false),
            "starred" => Asked::Starred,
            "snoozed" => Asked::Snoozed,
            _ => return Err(refused("unread, read, starred or snoozed")),
        },
        "in" => match MailBox::from_name(&small) {
            Some(place) => Asked::In(place),
            None if small == "anywhere" => Asked::Anywhere,
            None => return Err(refused("inbox, archive, sent, drafts, spam, trash or anywhere")),
        },
        "category" => {
            let choices = "primary, transactions, updates or promotions";
            Asked::Category(MailCategory::from_name(&small).ok_or_else(|| refused(choices))?)
        }
        "before" => Asked::Before(a_day()?),
        "after" => Asked::Since(a_day()?),
        "older_than" => Asked::Before(a_moment()?),
        "newer_than" => Asked::Since(a_moment()?),
        "larger" => Asked::Larger(a_size()?),
        "smaller" => Asked::Smaller(a_size()?),
        _ => return Ok(None),
    }))
}

/// When a day begins, written as `2026-11-27` or `2026/11/27`.
fn day(text: &str, zone: &Zone) -> Option<Timestamp> {
    let parts: Vec<&str> = text.split(['-', '/']).collect();
    let [year, month, day] = parts.as_slice() else { return None };
    let is_number = |text: &&str| text.len() <= 4 && is_digits(text);
    if !parts.iter().all(is_number) {
        return None;
    }
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?;
    Some(zone.instant(date, TimeOfDay::MIDNIGHT))
}

/// The moment so many days, months or years ago. A day has 24 hours; of a month that is too short it is the last day.
fn past(text: &str, zone: &Zone, now: Timestamp) -> Option<Timestamp> {
    let (unit_at, unit) = text.char_indices().next_back()?;
    let number = &text[..unit_at];
    let count: i64 = if is_digits(number) { number.parse().ok()? } else { return None };
    let months = match unit {
        'd' if (1..=YEARS_MAX * 366).contains(&count) => {
            let hours = u64::try_from(count).ok()?.checked_mul(24)?;
            return Some(now.before(Duration::from_hours(hours)));
        }
        'm' if (1..=YEARS_MAX * 12).contains(&count) => count,
        'y' if (1..=YEARS_MAX).contains(&count) => count * 12,
        _ => return None,
    };
    let (date, time) = zone.local(now);
    let then = months_before(date, months)?;
    Some(zone.instant(then, time))
}

/// The same day of a month that is past, or its last one.
fn months_before(date: Date, months: i64) -> Option<Date> {
    let month = i64::from(date.year()) * 12 + i64::from(date.month()) - 1 - months;
    let (year, month) = (i16::try_from(month.div_euclid(12)).ok()?, i8::try_from(month.rem_euclid(12) + 1).ok()?);
    let first = Date::new(year, month, 1).ok()?;
    Date::new(year, month, date.day().min(first.days_in_month())).ok()
}

/// A number of bytes, of kilobytes or of megabytes.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix('k') {
        Some(number) => (number, 1024),
        None => text.strip_suffix('m').map_or((text, 1), |number| (number, 1024 * 1024)),
    };
    if is_digits(number) { number.parse::<u64>().ok()?.checked_mul(unit) } else { None }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}
