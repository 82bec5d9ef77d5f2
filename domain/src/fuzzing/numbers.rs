//! Numbers of databases: texts, their normal form, and the bytes that sort as they do.

use std::cmp::Ordering;

use crate::databases::{Number, NumberFault};

/// Texts of numbers, one a line. Each reads as what a reading digit by digit makes of it, and sorts as its digits do; the
/// bytes themselves are those of one number or of none.
pub fn numbers(bytes: &[u8]) {
    if let Some(number) = Number::from_key_bytes(bytes) {
        assert_eq!(number.key_bytes(), bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let numbers: Vec<Number> = text.split('\n').take(8).filter_map(number).collect();
    for one in &numbers {
        for two in &numbers {
            order_holds(*one, *two);
            sum_holds(*one, *two);
        }
    }
}

fn number(text: &str) -> Option<Number> {
    let read = text.parse::<Number>();
    let plain = plainly(text);
    // What is too long, too great or too small is told apart from what is no number at all.
    assert_eq!(read == Err(NumberFault::Unreadable), plain == Plain::Unreadable, "{text:?}");
    let number = read.ok()?;
    let normal = number.to_string();
    assert!(plain == Plain::Far || plain == Plain::Digits(normal.clone()), "{text:?}: {normal}");
    assert_eq!(normal.parse(), Ok(number));
    let bytes = number.key_bytes();
    assert_eq!(number.size(), bytes.len());
    assert_eq!(Number::from_key_bytes(&bytes), Some(number));
    assert_eq!(number.negated().negated(), number);
    Some(number)
}

/// What a text says, read digit by digit.
#[derive(Debug, PartialEq, Eq)]
enum Plain {
    Unreadable,
    /// A power of ten that is too far to write it out.
    Far,
    Digits(String),
}

fn plainly(text: &str) -> Plain {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power_digits = power.strip_prefix(['-', '+']).unwrap_or(power);
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !is_digits(&all) || power_digits.is_empty() || !is_digits(power_digits) {
        return Plain::Unreadable;
    }
    let point = power.parse::<i64>().ok().and_then(|power| power.checked_add(i64::try_from(whole.len()).ok()?));
    let Some(point) = point.filter(|point| (-1_000..1_000).contains(point)) else { return Plain::Far };
    // The point is moved by writing zeros where it goes.
    let before = "0".repeat(usize::try_from(1 - point).unwrap_or(0));
    let digits = format!("{before}{all}{}", "0".repeat(1_000));
    let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0).max(1));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let unsigned = if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
    Plain::Digits(if text.starts_with('-') && unsigned != "0" { format!("-{unsigned}") } else { unsigned })
}

fn order_holds(one: Number, two: Number) {
    let order = one.cmp(&two);
    assert_eq!(one.key_bytes().cmp(&two.key_bytes()), order, "{one} {two}");
    let [(one_negative, one_row), (two_negative, two_row)] = [one, two].map(|number| row(&number.to_string()));
    let by_digits = match (one_negative, two_negative) {
        (false, false) => one_row.cmp(&two_row),
        (true, true) => two_row.cmp(&one_row),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    };
    assert_eq!(order, by_digits, "{one} {two}");
}

/// Whether a number is negative, and its digits at all powers that there are.
fn row(text: &str) -> (bool, String) {
    let unsigned = text.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    (unsigned != text, format!("{whole:0>130}{fraction}"))
}

fn sum_holds(one: Number, two: Number) {
    let sum = one.checked_add(two);
    assert_eq!(two.checked_add(one), sum);
    if let Ok(sum) = sum {
        assert_eq!(sum.checked_sub(two), Ok(one), "{one} {two}");
        assert_eq!(sum.cmp(&one), two.cmp(&Number::ZERO));
    }
}
