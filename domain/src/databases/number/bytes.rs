//! Numbers as key bytes, which sort as the numbers do, and which are those that DynamoDB hashes.
//!
//! The first byte holds sign and power, the following ones hold the digits in pairs, each as its value and one. Of a negative
//! number all of that is complemented, and the byte 102, which is above every pair, ends it, so that of two negative numbers
//! the one with more digits is the smaller; one with the most pairs there are needs no such end. Zero is the one byte 0x80.

use super::{DIGITS_MAX, Number};

/// Pairs of digits of a number: 38 digits of which the first is the second of its pair.
const PAIRS_MAX: usize = 20;
/// Bytes of a number at most (DynamoDB: a number takes up to 21 bytes).
pub const BYTES_MAX: usize = 1 + PAIRS_MAX;
/// The only byte of zero.
const ZERO: u8 = 0x80;
/// Ends a negative number.
const END: u8 = 102;
/// What a pair and its complement add up to.
const COMPLEMENT: u8 = 101;
/// The first byte of numbers from 0.01 up to 1; each hundred more counts it up by one.
const FIRST_BYTE_BASE: i32 = 192;

impl Number {
    /// The bytes by which the number is sorted and hashed as a key.
    pub fn key_bytes(self) -> Vec<u8> {
        if self.digits == 0 {
            return vec![ZERO];
        }
        let mut bytes = Vec::with_capacity(BYTES_MAX);
        bytes.push(self.first_byte());
        bytes.extend(self.pairs());
        if self.is_negative {
            bytes[0] = !bytes[0];
            for pair in &mut bytes[1..] {
                *pair = COMPLEMENT + 1 - *pair;
            }
            if bytes.len() < BYTES_MAX {
                bytes.push(END);
            }
        }
        bytes
    }

    /// How many bytes the number counts for in the size of an item: as many as its key bytes.
    pub fn size(self) -> usize {
        if self.digits == 0 {
            return 1;
        }
        let digits = usize::try_from(self.len() + i32::from(self.is_half_pair())).unwrap_or(BYTES_MAX);
        (1 + digits.div_ceil(2) + usize::from(self.is_negative)).min(BYTES_MAX)
    }

    /// Whether the first digit is the second of its pair: powers of a hundred begin with one digit, as 1 and 100.
    fn is_half_pair(self) -> bool {
        self.power().rem_euclid(2) == 0
    }

    fn first_byte(self) -> u8 {
        // The powers end where the byte does: -130 gives 128, and 125 gives 255.
        u8::try_from(FIRST_BYTE_BASE + (self.power() + 2).div_euclid(2)).unwrap_or(u8::MAX)
    }

    /// The pairs, each as its value and one.
    fn pairs(self) -> impl Iterator<Item = u8> {
        let mut text = Vec::with_capacity(2 * PAIRS_MAX);
        if self.is_half_pair() {
            text.push(b'0');
        }
        text.extend(self.digits.to_string().into_bytes());
        if !text.len().is_multiple_of(2) {
            text.push(b'0');
        }
        let digit = |byte: u8| byte - b'0';
        (0..text.len() / 2).map(move |pair| digit(text[2 * pair]) * 10 + digit(text[2 * pair + 1]) + 1)
    }

    /// The number with these key bytes; nothing where no number has them.
    pub fn from_key_bytes(bytes: &[u8]) -> Option<Self> {
        let (&first, rest) = bytes.split_first()?;
        if bytes == [ZERO] {
            return Some(Self::ZERO);
        }
        let is_negative = first < ZERO;
        let pairs = if is_negative { rest.strip_suffix(&[END]).unwrap_or(rest) } else { rest };
        if pairs.is_empty() || pairs.len() > PAIRS_MAX {
            return None;
        }
        let (mut digits, mut exponent) = (0_u128, -2 * i32::try_from(pairs.len()).ok()?);
        for (place, byte) in pairs.iter().enumerate() {
            let byte = if is_negative { (COMPLEMENT + 1).checked_sub(*byte)? } else { *byte };
            let pair = u128::from(byte.checked_sub(1).filter(|pair| *pair < 100)?);
            // 39 digits don't always fit, and the last one of them is a zero that only fills its pair.
            let is_filled = place + 1 == pairs.len() && pair.is_multiple_of(10);
            let (power, added) = if is_filled { (10, pair / 10) } else { (100, pair) };
            exponent += i32::from(is_filled);
            digits = digits.checked_mul(power)?.checked_add(added)?;
        }
        let first = i32::from(if is_negative { !first } else { first });
        let number = Self::new(is_negative, digits, exponent + 2 * (first - FIRST_BYTE_BASE)).ok()?;
        // Pairs of zeros at either end, and an end that is missing, would be a second form.
        (number.key_bytes() == bytes).then_some(number)
    }
}

const _: () = assert!(PAIRS_MAX == (DIGITS_MAX as usize + 1).div_ceil(2));
