//! Numbers from texts and back, by JavaScript's rules.

/// Decimal places that a number keeps as a text.
const PLACES: u32 = 15;

/// Reads a text as JavaScript's `Number` does: blank is 0, what is no number is NaN.
pub(super) fn read(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    match text.get(..2) {
        _ if text.is_empty() => 0.0,
        Some("0x" | "0X") => read_radix(&text[2..], 4),
        Some("0o" | "0O") => read_radix(&text[2..], 3),
        Some("0b" | "0B") => read_radix(&text[2..], 1),
        _ => read_decimal(text),
    }
}

/// What JavaScript takes for blank.
pub(super) fn is_space(character: char) -> bool {
    character == '\u{feff}' || character.is_whitespace() && character != '\u{85}'
}

fn read_decimal(text: &str) -> f64 {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Rust reads `inf` and `nan` in any case, which JavaScript doesn't.
    let is_plain = unsigned.chars().all(|it| it.is_ascii_digit() || matches!(it, '.' | 'e' | 'E' | '+' | '-'));
    if is_plain { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Digits of 2^`bits`. What doesn't fit into 120 bits is kept as one bit, by which the sum is rounded rightly.
fn read_radix(digits: &str, bits: u32) -> f64 {
    let (mut kept, mut dropped) = (0_u128, 0_i32);
    for character in digits.chars() {
        let Some(digit) = character.to_digit(1 << bits) else { return f64::NAN };
        if kept >> 120 == 0 {
            kept = kept << bits | u128::from(digit);
        } else {
            kept |= u128::from(digit != 0);
            dropped = dropped.saturating_add(bits.cast_signed());
        }
    }
    if digits.is_empty() {
        return f64::NAN;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a number of JavaScript has 53 bits, and this rounds to the nearest"
    )]
    let kept = kept as f64;
    kept * 2_f64.powi(dropped)
}

/// Prints as JavaScript's `Number(value.toFixed(15)).toString()` does, and −0 as `0`.
pub(super) fn print_rounded(value: f64) -> String {
    print(rounded(value))
}

/// The number with at most 15 decimal places, halves away from zero.
fn rounded(value: f64) -> f64 {
    const HALVES: f64 = 65_536.0;
    if !value.is_finite() || value.abs() >= 1e21 {
        return value;
    }
    let scaled = value.abs() * HALVES;
    let text = if scaled.fract() == 0.0 && scaled < 9e15 {
        // Only a multiple of 2^-16 can lie in the middle between two texts, and there `format!` rounds to the even one.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, positive and below 2^53")]
        let scaled = scaled as u128;
        let whole = (scaled * 10_u128.pow(PLACES) + 32_768) / 65_536;
        format!("{}.{:015}", whole / 10_u128.pow(PLACES), whole % 10_u128.pow(PLACES))
    } else {
        format!("{:.15}", value.abs())
    };
    text.parse().unwrap_or(f64::NAN) * value.signum()
}

/// Prints as JavaScript does: the shortest digits that read as the same number, an exponent from 1e21 and below 1e-6.
pub(super) fn print(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (digits, exponent) = shortest(value.abs());
    format!("{sign}{}", laid_out(&digits, exponent))
}

/// The fewest digits that read as the same number, and the exponent of the first. `serde_json` finds them, because where two
/// lie equally near it takes the even one, as JavaScript does; `format!` takes the larger.
fn shortest(value: f64) -> (String, i32) {
    let text = serde_json::Number::from_f64(value).map_or_else(String::new, |number| number.to_string());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let before_point = whole.len().cast_signed() - (all.len() - digits.len()).cast_signed();
    let exponent = exponent.parse::<i32>().unwrap_or(0) + i32::try_from(before_point).unwrap_or(0) - 1;
    (digits.trim_end_matches('0').to_owned(), exponent)
}

/// Digits with the point after the first, times ten to the exponent.
fn laid_out(digits: &str, exponent: i32) -> String {
    let len = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    if (0..21).contains(&exponent) {
        if exponent + 1 >= len {
            return format!("{digits}{}", zeros(exponent + 1 - len));
        }
        let (whole, rest) = digits.split_at(usize::try_from(exponent + 1).unwrap_or(0));
        return format!("{whole}.{rest}");
    }
    if (-6..0).contains(&exponent) {
        return format!("0.{}{digits}", zeros(-exponent - 1));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_as_javascript_reads_them() {
        for (text, number) in [
            ("", 0.0),
            (" \u{feff}\n", 0.0),
            ("1", 1.0),
            (" +1.5 ", 1.5),
            ("1.", 1.0),
            (".5", 0.5),
            ("-1e3", -1000.0),
            ("0x1F", 31.0),
            ("0o17", 15.0),
            ("0b101", 5.0),
            ("Infinity", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
            ("0x20000000000001", 9_007_199_254_740_992.0),
            ("0x20000000000003", 9_007_199_254_740_996.0),
        ] {
            assert_eq!(read(text).to_bits(), number.to_bits(), "{text}");
        }
        let huge = format!("0x{}", "f".repeat(300));
        assert!(read(&huge).is_infinite());
        let rounded_by_its_last_digit = format!("0x20000000000001{}1", "0".repeat(40));
        let expected = 9_007_199_254_740_994.0 * 2_f64.powi(164);
        assert_eq!(read(&rounded_by_its_last_digit).to_bits(), expected.to_bits());
        for text in ["a", ".", "-", "1 2", "inf", "nan", "infinity", "-0x1", "0x", "1_0", "1e", "\u{85}", "NaN"] {
            assert!(read(text).is_nan(), "{text}");
        }
    }

    #[test]
    fn numbers_print_as_javascript_prints_them() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.3"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.25e300, "-1.25e+300"),
            (1e-6, "0.000001"),
            (1.5e-7, "1.5e-7"),
            (1e-15, "1e-15"),
            (4e-16, "0"),
            (-4e-16, "0"),
            (1.0 / 65_536.0, "0.000015258789063"),
            (123_456_789.123, "123456789.123"),
            (781_921.0 / 65_536.0, "11.931167602539062"),
            (1_500_000.0, "1500000"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(print_rounded(number), text);
        }
        assert_eq!(print(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(print(5e-324), "5e-324");
    }
}
