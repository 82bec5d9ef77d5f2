//! Sums and differences of numbers, exact or refused.

use super::{Number, NumberFault};

impl Number {
    /// The sum; refused where it has more than 38 significant digits, or is out of range.
    pub fn checked_add(self, other: Self) -> Result<Self, NumberFault> {
        if self.digits == 0 || other.digits == 0 {
            return Ok(if self.digits == 0 { other } else { self });
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        // What doesn't fit a `u128` at the lower one's power is too far from zero for the lower one, of 38 digits, to bring
        // it back; and the sum ends with the lower one's last digit, which isn't zero. So it has more than 38.
        let aligned = 10_u128
            .checked_pow(high.exponent.abs_diff(low.exponent))
            .and_then(|power| high.digits.checked_mul(power))
            .ok_or(NumberFault::TooManyDigits)?;
        if high.is_negative == low.is_negative {
            let digits = aligned.checked_add(low.digits).ok_or(NumberFault::TooManyDigits)?;
            return Self::new(high.is_negative, digits, low.exponent);
        }
        let is_negative = if aligned >= low.digits { high.is_negative } else { low.is_negative };
        Self::new(is_negative, aligned.abs_diff(low.digits), low.exponent)
    }

    /// The difference, refused as a sum is.
    pub fn checked_sub(self, other: Self) -> Result<Self, NumberFault> {
        self.checked_add(other.negated())
    }

    /// The greatest whole number that isn't above; nothing where that doesn't fit.
    pub fn floor(self) -> Option<i64> {
        let digits = i128::try_from(self.digits).ok()?;
        let signed = if self.is_negative { -digits } else { digits };
        // No power that is left out here leaves anything but a zero, or a one below it, of 38 digits.
        let power = 10_i128.checked_pow(self.exponent.unsigned_abs());
        let whole = match power {
            Some(power) if self.exponent < 0 => signed.div_euclid(power),
            Some(power) => signed.checked_mul(power)?,
            None if self.exponent < 0 => -i128::from(self.is_negative),
            None => return None,
        };
        i64::try_from(whole).ok()
    }

    /// The number as far on the other side of zero.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { is_negative: !self.is_negative && self.digits != 0, ..self }
    }
}
