//! Numbers against an independent reading of the same texts: digits laid out in one long row, from the greatest power to
//! the smallest.

use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Number {
    text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// The digits at every power from 125 to -167, one after the other.
fn row(number: Number) -> String {
    let text = number.to_string();
    let (whole, fraction) = text.trim_start_matches('-').split_once('.').unwrap_or((text.trim_start_matches('-'), ""));
    format!("{whole:0>126}{fraction:0<167}")
}

/// Numeric order, by the rows.
fn order(one: Number, two: Number) -> Ordering {
    let is_negative = |number: Number| number.to_string().starts_with('-');
    match (is_negative(one), is_negative(two)) {
        (true, true) => row(two).cmp(&row(one)),
        (false, false) => row(one).cmp(&row(two)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// Numbers of all lengths and powers, near one another often enough.
pub(in crate::databases) fn any_number() -> impl Strategy<Value = Number> {
    let digits = prop_oneof!["[1-9][0-9]{0,37}", "[1-9][0-9]{0,2}", "1[0-9]{0,2}", Just("0".to_owned())];
    let power = prop_oneof![-130_i32..=88, -3_i32..=3, Just(-130), Just(88)];
    (any::<bool>(), digits, power).prop_map(|(is_negative, digits, power)| {
        number(&format!("{}{digits}E{power}", if is_negative { "-" } else { "" }))
    })
}

#[test]
fn texts_have_a_normal_form() {
    for (text, normal) in [
        ("0", "0"),
        ("-0", "0"),
        ("+0.000", "0"),
        ("0E999999999999999999999", "0"),
        ("007", "7"),
        ("-1.50", "-1.5"),
        ("1.", "1"),
        (".5", "0.5"),
        ("12e2", "1200"),
        ("1200", "1200"),
        ("1E-3", "0.001"),
        ("123.456E1", "1234.56"),
        ("-100.001", "-100.001"),
        ("10000000000000000000000000000000000000000000", "10000000000000000000000000000000000000000000"),
        ("0.1000E+0000000000000000001", "1"),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
    ] {
        assert_eq!(number(text).to_string(), normal, "{text}");
    }
    assert_eq!(number("1E125").to_string(), format!("1{}", "0".repeat(125)));
    assert_eq!(number("-1E-130").to_string(), format!("-0.{}1", "0".repeat(129)));
    assert_eq!(number(&format!("{}1{}", "0".repeat(10_000), "0".repeat(125))), number("1E125"));
}

#[test]
fn other_texts_are_no_numbers() {
    for text in [
        "", " ", "-", "+", ".", "-.", "e1", "1e", "1e+", "1 ", " 1", "1_000", "1,5", "0x10", "NaN", "Infinity", "--1",
        "+-1", "1.2.3", "1e1e1", "1e1.5", "١", "1\0", "1f",
    ] {
        assert_eq!(text.parse::<Number>(), Err(NumberFault::Unreadable), "{text:?}");
    }
}

#[test]
fn digits_and_powers_have_their_limits() {
    let nines = "9".repeat(38);
    assert_eq!(format!("{nines}E88").parse::<Number>().map(Number::power), Ok(POWER_MAX));
    for (text, fault) in [
        (format!("{nines}9"), NumberFault::TooManyDigits),
        (format!("1{}1", "0".repeat(37)), NumberFault::TooManyDigits),
        (format!("0.{nines}1"), NumberFault::TooManyDigits),
        (format!("3{nines}"), NumberFault::TooManyDigits),
        ("9".repeat(100_000), NumberFault::TooManyDigits),
        (format!("{nines}E89"), NumberFault::Overflow),
        ("1E126".to_owned(), NumberFault::Overflow),
        ("-10E125".to_owned(), NumberFault::Overflow),
        (format!("1{}", "0".repeat(1_000_000)), NumberFault::Overflow),
        (format!("1E{}", "9".repeat(1_000_000)), NumberFault::Overflow),
        ("1E-131".to_owned(), NumberFault::Underflow),
        ("0.1E-130".to_owned(), NumberFault::Underflow),
        (format!("1E-{}", "9".repeat(1_000_000)), NumberFault::Underflow),
        (format!("0.{}1", "0".repeat(1_000_000)), NumberFault::Underflow),
    ] {
        assert_eq!(text.parse::<Number>(), Err(fault), "{}", &text[..text.len().min(60)]);
    }
}

#[test]
fn key_bytes_are_those_that_dynamodb_hashes() {
    for (text, bytes) in [
        ("0", &[0x80][..]),
        ("1", &[0xc1, 2]),
        ("10", &[0xc1, 11]),
        ("100", &[0xc2, 2]),
        ("12.5", &[0xc1, 13, 51]),
        ("0.01", &[0xc0, 2]),
        ("0.1", &[0xc0, 11]),
        ("-1", &[0x3e, 100, 102]),
        ("-12.5", &[0x3e, 89, 51, 102]),
        ("1E-130", &[0x80, 2]),
        ("-1E-130", &[0x7f, 100, 102]),
        ("1E125", &[0xff, 11]),
        ("-1E125", &[0x00, 91, 102]),
    ] {
        assert_eq!(number(text).key_bytes(), bytes, "{text}");
    }
    let long = number("3410000000000000000000000000000000000.1");
    assert_eq!(Number::from_key_bytes(&long.key_bytes()), Some(long));
    // The most pairs there are, without an end.
    assert_eq!(number(&format!("-{}E-37", "9".repeat(38))).key_bytes().len(), 21);
    assert_eq!(number(&format!("-{}", "9".repeat(38))).key_bytes().last(), Some(&102));
}

#[test]
fn other_bytes_are_no_numbers() {
    for bytes in [
        &[][..],
        &[0x80, 1],
        &[0xc1],
        &[0xc1, 0],
        &[0xc1, 101],
        &[0xc1, 1, 2],
        &[0xc1, 2, 1],
        &[0x3e, 100],
        &[0x3e, 102],
        &[0x3e, 100, 102, 102],
        &[0x3e, 200, 102],
        &[0xc1; 22],
        &[100; 22],
        &[0xff; 21],
    ] {
        assert_eq!(Number::from_key_bytes(bytes), None, "{bytes:?}");
    }
}

#[test]
fn sizes_are_those_that_dynamodb_counts() {
    // One byte, and one for each two digits; one for the sign.
    for (text, size) in
        [("0", 1), ("1", 2), ("10", 2), ("123", 3), ("1234", 3), ("0.1234", 3), ("12345", 4), ("-1", 3), ("1E100", 2)]
    {
        assert_eq!(number(text).size(), size, "{text}");
    }
    assert_eq!(number(&"9".repeat(38)).size(), 20);
    assert_eq!(number(&format!("-{}E-37", "9".repeat(38))).size(), 21);
}

#[test]
fn sums_are_exact_or_refused() {
    for (one, two, sum) in [
        ("0.1", "0.2", Ok("0.3")),
        ("1E20", "-1E-17", Ok("99999999999999999999.99999999999999999")),
        ("5", "-5", Ok("0")),
        ("-5", "0", Ok("-5")),
        ("50000000000000000000000000000000000000", "50000000000000000000000000000000000000", Ok("1E38")),
        ("99999999999999999999999999999999999999", "1", Ok("1E38")),
        ("99999999999999999999999999999999999999", "2", Err(NumberFault::TooManyDigits)),
        ("1E38", "1", Err(NumberFault::TooManyDigits)),
        ("1E125", "1E-130", Err(NumberFault::TooManyDigits)),
        ("9E125", "9E125", Err(NumberFault::Overflow)),
        ("1.1E-130", "-1E-130", Err(NumberFault::Underflow)),
    ] {
        let expected = sum.map(number);
        assert_eq!(number(one).checked_add(number(two)), expected, "{one} + {two}");
        assert_eq!(number(one).checked_sub(number(two).negated()), expected, "{one} + {two}");
    }
}

#[test]
fn a_number_has_a_floor_where_it_fits() {
    for (text, floor) in [
        ("0", Some(0)),
        ("1.9", Some(1)),
        ("-1.1", Some(-2)),
        ("1E-130", Some(0)),
        ("-1E-130", Some(-1)),
        ("1.7E9", Some(1_700_000_000)),
        ("9223372036854775807.5", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("-9223372036854775808", Some(i64::MIN)),
        ("-9223372036854775808.1", None),
        ("1E125", None),
        ("99999999999999999999999999999999999999", None),
    ] {
        assert_eq!(number(text).floor(), floor, "{text}");
    }
}

proptest! {
    #[test]
    fn a_normal_form_reads_as_itself(number in any_number()) {
        let text = number.to_string();
        prop_assert_eq!(text.parse(), Ok(number));
        let bare = text.trim_start_matches('-');
        prop_assert!(!bare.contains('E') && (bare == "0" || !bare.starts_with('0') || bare.starts_with("0.")));
        prop_assert!(!bare.contains('.') || !bare.ends_with(['0', '.']));
        prop_assert!(text != "-0");
    }

    #[test]
    fn numbers_and_their_bytes_sort_alike(one in any_number(), two in any_number()) {
        prop_assert_eq!(one.cmp(&two), order(one, two));
        prop_assert_eq!(one.key_bytes().cmp(&two.key_bytes()), order(one, two));
        prop_assert_eq!(one == two, order(one, two).is_eq());
    }

    #[test]
    fn numbers_with_the_same_first_digits_sort_as_their_bytes(
        digits in "[1-9][0-9]{36}", tail in "[0-9]{1}", cut in 1_usize..37, power in -130_i32..=80, is_negative in any::<bool>(),
    ) {
        let sign = if is_negative { "-" } else { "" };
        let long = number(&format!("{sign}{}.{}{tail}E{power}", &digits[..1], &digits[1..]));
        let short = number(&format!("{sign}{}.{}E{power}", &digits[..1], &digits[1..cut]));
        prop_assert_eq!(long.key_bytes().cmp(&short.key_bytes()), order(long, short));
        prop_assert_eq!(long.cmp(&short), order(long, short));
    }

    #[test]
    fn bytes_read_back(number in any_number()) {
        let bytes = number.key_bytes();
        prop_assert_eq!(Number::from_key_bytes(&bytes), Some(number));
        prop_assert_eq!(number.size(), bytes.len());
    }

    #[test]
    fn any_bytes_are_one_number_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
        if let Some(number) = Number::from_key_bytes(&bytes) {
            prop_assert_eq!(number.key_bytes(), bytes);
        }
    }

    #[test]
    fn a_sum_less_one_of_its_numbers_is_the_other(one in any_number(), two in any_number()) {
        prop_assert_eq!(one.checked_add(two), two.checked_add(one));
        if let Ok(sum) = one.checked_add(two) {
            prop_assert_eq!(sum.checked_sub(two), Ok(one));
            prop_assert_eq!(sum.cmp(&one), two.cmp(&Number::ZERO));
        }
    }
}
