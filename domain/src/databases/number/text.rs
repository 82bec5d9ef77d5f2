//! Numbers as text: whatever DynamoDB reads on the way in, one normal form on the way out.
//!
//! Read are an optional sign, digits with at most one point among, before or behind them, and an optional power of ten
//! (`e` or `E`, an optional sign, digits). Written is plain notation without superfluous zeros: `-0.05`, `1200`, `0`.

use std::{fmt, str::FromStr};

use super::{DIGITS_MAX, Number, NumberFault};

/// Powers are read up to this; beyond it every number is out of range, whatever its digits, which texts of gigabytes are
/// needed to make up for.
const POWER_READ_MAX: i32 = 1_000_000_000;

impl FromStr for Number {
    type Err = NumberFault;

    fn from_str(text: &str) -> Result<Self, NumberFault> {
        let (is_negative, unsigned) = signed(text);
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, read_power(power)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if !is_digits(whole) || !is_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return Err(NumberFault::Unreadable);
        }
        let (digits, last) = significant(whole.bytes().chain(fraction.bytes()))?;
        // The power of ten at which the digit with the place `last` stands.
        let exponent = distance(whole.len()).saturating_sub(distance(last).saturating_add(1)).saturating_add(power);
        Self::new(is_negative, digits, exponent)
    }
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A length of text as a power of ten. Texts are never that long.
fn distance(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

fn read_power(text: &str) -> Result<i32, NumberFault> {
    let (is_negative, digits) = signed(text);
    if digits.is_empty() || !is_digits(digits) {
        return Err(NumberFault::Unreadable);
    }
    let digits = digits.trim_start_matches('0');
    let power = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(POWER_READ_MAX).min(POWER_READ_MAX) };
    Ok(if is_negative { -power } else { power })
}

/// The digits without the zeros around them, and the place of the last of them.
fn significant(digits: impl Iterator<Item = u8>) -> Result<(u128, usize), NumberFault> {
    let (mut value, mut last, mut zeros) = (0_u128, 0, 0_u32);
    for (place, digit) in digits.enumerate() {
        if digit == b'0' {
            zeros = zeros.saturating_add(u32::from(value != 0));
            continue;
        }
        // A `u128` has room for all numbers of 38 digits, and for some of 39, which are refused later on.
        let moved = 10_u128.checked_pow(zeros.saturating_add(1)).and_then(|power| value.checked_mul(power));
        let next = if value == 0 { Some(0) } else { moved };
        value = next.and_then(|next| next.checked_add(u128::from(digit - b'0'))).ok_or(NumberFault::TooManyDigits)?;
        (last, zeros) = (place, 0);
    }
    Ok((value, last))
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ZEROS: &str = "00000000000000000000000000000000000000000000000000000000000000000";
        let zeros = |f: &mut fmt::Formatter<'_>, mut count: usize| {
            while count > 0 {
                let some = count.min(ZEROS.len());
                f.write_str(&ZEROS[..some])?;
                count -= some;
            }
            Ok(())
        };
        let count = |power: i32| usize::try_from(power).unwrap_or_default();
        if self.is_negative {
            f.write_str("-")?;
        }
        if self.exponent >= 0 {
            write!(f, "{}", self.digits)?;
            return zeros(f, count(self.exponent));
        }
        // The digits before the point; none or fewer where the number is below one.
        let whole = self.len() + self.exponent;
        if whole <= 0 {
            f.write_str("0.")?;
            zeros(f, count(-whole))?;
            return write!(f, "{}", self.digits);
        }
        let fraction = 10_u128.pow(self.exponent.unsigned_abs().min(DIGITS_MAX));
        let width = count(-self.exponent);
        write!(f, "{}.{:0width$}", self.digits / fraction, self.digits % fraction)
    }
}
