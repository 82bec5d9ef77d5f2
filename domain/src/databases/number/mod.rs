//! Numbers as DynamoDB has them: exact decimals of up to 38 significant digits, from 1E-130 to 9.99…E+125 on either side of
//! zero (contract C 2.3, `N`).
//!
//! 38 digits fit a `u128`, so a number is its digits and the power of ten that they stand at. It has one form only: no zero
//! at the end of its digits, and no negative zero. What is equal by value is equal in every field.

mod bytes;
mod sum;
mod text;

use std::cmp::Ordering;

/// Significant digits of a number (DynamoDB, "Naming rules and data types").
pub const DIGITS_MAX: u32 = 38;
/// The power of ten of the first digit of the smallest number (DynamoDB).
pub const POWER_MIN: i32 = -130;
/// The power of ten of the first digit of the greatest number (DynamoDB).
pub const POWER_MAX: i32 = 125;

/// The first number that has a digit too many.
const DIGITS_END: u128 = 10_u128.pow(DIGITS_MAX);

/// Why a text, or the sum of two numbers, is no number that can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberFault {
    /// It isn't written as one.
    #[error("Must be a number.")]
    Unreadable,
    /// It has more than 38 significant digits.
    #[error("Numbers have up to 38 significant digits.")]
    TooManyDigits,
    /// Its first digit is at a power of ten above 125.
    #[error("Numbers go up to 9.9999999999999999999999999999999999999E+125.")]
    Overflow,
    /// It isn't zero, and its first digit is at a power of ten below -130.
    #[error("Numbers that aren't zero begin at 1E-130.")]
    Underflow,
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    is_negative: bool,
    /// Without a zero at the end; 0 only for zero.
    digits: u128,
    /// The power of ten of the last digit; 0 for zero.
    exponent: i32,
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self { is_negative: false, digits: 0, exponent: 0 };

    /// `digits` times ten to the power of `exponent`, where that is a number that can be kept.
    fn new(is_negative: bool, mut digits: u128, mut exponent: i32) -> Result<Self, NumberFault> {
        if digits == 0 {
            return Ok(Self::ZERO);
        }
        while digits.is_multiple_of(10) {
            digits /= 10;
            exponent = exponent.saturating_add(1);
        }
        if digits >= DIGITS_END {
            return Err(NumberFault::TooManyDigits);
        }
        let number = Self { is_negative, digits, exponent };
        match number.power() {
            power if power > POWER_MAX => Err(NumberFault::Overflow),
            power if power < POWER_MIN => Err(NumberFault::Underflow),
            _ => Ok(number),
        }
    }

    /// How many digits it has; one for zero.
    fn len(self) -> i32 {
        let len = self.digits.checked_ilog10().map_or(1, |log| log + 1);
        // 38 at most.
        i32::try_from(len).unwrap_or(i32::MAX)
    }

    /// The power of ten of its first digit.
    fn power(self) -> i32 {
        self.exponent.saturating_add(self.len() - 1)
    }

    /// Its digits as if there were [`DIGITS_MAX`] of them, so that those of two numbers of one power can be compared.
    fn filled_digits(self) -> u128 {
        self.digits * 10_u128.pow(DIGITS_MAX.saturating_sub(self.len().unsigned_abs()))
    }

    /// Compares how far from zero two numbers are.
    fn cmp_distance(self, other: Self) -> Ordering {
        match (self.digits, other.digits) {
            (0, _) | (_, 0) => self.digits.cmp(&other.digits),
            _ => self.power().cmp(&other.power()).then_with(|| self.filled_digits().cmp(&other.filled_digits())),
        }
    }
}

impl From<u32> for Number {
    fn from(whole: u32) -> Self {
        // It has ten digits at most.
        Self::new(false, whole.into(), 0).unwrap_or(Self::ZERO)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, false) => self.cmp_distance(*other),
            (true, true) => other.cmp_distance(*self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
pub(crate) mod tests;
