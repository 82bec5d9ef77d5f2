//! Secrets of one piece: where they end, and whether they are what they look like.

use std::ops::Range;

use crate::token::{ALPHABET, TOKEN_LEN, Token};

/// Characters behind `AKIA` or `ASIA`.
const AWS_ACCESS_KEY_REST: usize = 16;
/// Characters of a secret key of AWS: base64 of 30 bytes.
const AWS_SECRET_KEY_LEN: usize = 40;
/// How far from a word that speaks of one a secret key of AWS may be.
const AWS_SECRET_KEY_NEAR: usize = 40;
/// Bits that a character of a secret key of AWS tells at least, of the six that it could.
const AWS_SECRET_KEY_ENTROPY: f64 = 4.0;
/// What the keys of AWS's own documents have in them, and no random text.
const AWS_EXAMPLE: &[u8] = b"EXAMPLE";
/// Characters behind `sk_live_` or `rk_live_`: 24 in old ones, 99 in new ones.
const STRIPE_REST: std::ops::RangeInclusive<usize> = 16..=247;
/// Characters behind `ghp_` and its kin, the check-sum among them: 36, or 76 in a refresh token.
const GITHUB_REST: std::ops::RangeInclusive<usize> = 36..=251;
/// Characters of that check-sum.
const GITHUB_CHECK: usize = 6;
/// Characters behind `github_pat_`.
const GITHUB_FINE_REST: usize = 82;
/// Different characters of a random text. What has fewer is what documents put in its place: `xxxx…`.
const DIFFERENT_MIN: usize = 8;

/// A key's id, which begins with four letters at `start`.
pub(super) fn aws_access_key(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let end = run(text, start, 4 + AWS_ACCESS_KEY_REST + 1, rest);
    let is_whole =
        end - start == 4 + AWS_ACCESS_KEY_REST && !touches(text, start..end, |byte| byte.is_ascii_alphanumeric());
    (is_whole && differs(&text[start..end]) && !is_example(&text[start..end])).then_some(start..end)
}

/// The secret key behind a word that speaks of one.
pub(super) fn aws_secret_key_after(text: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let mut start = word.end;
    loop {
        start += text.get(start..)?.iter().position(|byte| is_base64(*byte))?;
        if start > word.end + AWS_SECRET_KEY_NEAR {
            return None;
        }
        let end = run(text, start, AWS_SECRET_KEY_LEN + 1, is_base64);
        if is_aws_secret_key(text, start..end) {
            return Some(start..end);
        }
        // All that touches is one text with it.
        start = run(text, end, AWS_SECRET_KEY_NEAR, is_base64).max(end + 1);
    }
}

/// The secret key before a word that speaks of one.
pub(super) fn aws_secret_key_before(text: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let mut end = word.start;
    loop {
        let nearest = end.min(text.len());
        end = text[..nearest].iter().rposition(|byte| is_base64(*byte))? + 1;
        if end + AWS_SECRET_KEY_NEAR < word.start {
            return None;
        }
        let start = run_back(text, end, AWS_SECRET_KEY_LEN + 1, is_base64);
        if is_aws_secret_key(text, start..end) {
            return Some(start..end);
        }
        end = run_back(text, start, AWS_SECRET_KEY_NEAR, is_base64).min(start.checked_sub(1)?);
    }
}

fn is_aws_secret_key(text: &[u8], place: Range<usize>) -> bool {
    let key = &text[place.clone()];
    place.len() == AWS_SECRET_KEY_LEN
        && !touches(text, place.clone(), |byte| is_base64(byte) || matches!(byte, b'_' | b'-'))
        && !continues_name(text, place.start)
        && text.get(place.end) != Some(&b'=')
        && is_mixed(key)
        && entropy(key) >= AWS_SECRET_KEY_ENTROPY
        && !is_example(key)
}

/// A live key of Stripe's, which begins at `start` with eight characters.
pub(super) fn stripe_key(text: &[u8], start: usize) -> Option<Range<usize>> {
    let first = start + "sk_live_".len();
    let end = run(text, first, STRIPE_REST.end() + 1, |byte| byte.is_ascii_alphanumeric());
    let is_whole = STRIPE_REST.contains(&(end - first)) && !follows_letter(text, start) && text.get(end) != Some(&b'_');
    (is_whole && differs(&text[first..end])).then_some(start..end)
}

/// A token of this program's, whose check-sum holds.
pub(super) fn service_token(text: &[u8], start: usize) -> Option<Range<usize>> {
    let end = start + TOKEN_LEN;
    let said = std::str::from_utf8(text.get(start..end)?).ok()?;
    let is_alone = !touches(text, start..end, |byte| byte.is_ascii_alphanumeric());
    (is_alone && said.parse::<Token>().is_ok()).then_some(start..end)
}

/// A token of GitHub's which begins with `ghp_` or its kin, and whose check-sum holds: the CRC-32 of what is before it.
pub(super) fn github_token(text: &[u8], start: usize) -> Option<Range<usize>> {
    let first = start + "ghp_".len();
    let end = run(text, first, GITHUB_REST.end() + 1, |byte| byte.is_ascii_alphanumeric());
    if !GITHUB_REST.contains(&(end - first)) || follows_letter(text, start) {
        return None;
    }
    let (body, check) = text[first..end].split_at(end - first - GITHUB_CHECK);
    let said = check.iter().try_fold(0_u64, |said, byte| {
        let digit = ALPHABET.iter().position(|character| character == byte)?;
        Some(said * 62 + u64::try_from(digit).ok()?)
    });
    (said == Some(crc32fast::hash(body).into())).then_some(start..end)
}

/// A fine-grained token of GitHub's, which begins with `github_pat_`.
pub(super) fn github_fine_token(text: &[u8], start: usize) -> Option<Range<usize>> {
    let first = start + "github_pat_".len();
    let end = run(text, first, GITHUB_FINE_REST + 1, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_whole = end - first == GITHUB_FINE_REST && !follows_letter(text, start);
    (is_whole && differs(&text[first..end])).then_some(start..end)
}

/// Whether a dot is right before: what follows is part of an address, as `com/AmazonS3/latest/API`.
fn continues_name(text: &[u8], start: usize) -> bool {
    start.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'.')
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Where the run of such bytes ends that begins at `start`, looking at `most` of them.
fn run(text: &[u8], start: usize, most: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    start + rest.iter().take(most).take_while(|byte| is_part(**byte)).count()
}

/// Where the run of such bytes begins that ends at `end`, looking at `most` of them.
fn run_back(text: &[u8], end: usize, most: usize, is_part: impl Fn(u8) -> bool) -> usize {
    end - text[..end].iter().rev().take(most).take_while(|byte| is_part(**byte)).count()
}

/// Whether such a byte is right before or right behind.
fn touches(text: &[u8], place: Range<usize>, is_part: impl Fn(u8) -> bool) -> bool {
    let before = place.start.checked_sub(1).and_then(|before| text.get(before));
    before.into_iter().chain(text.get(place.end)).any(|byte| is_part(*byte))
}

fn follows_letter(text: &[u8], start: usize) -> bool {
    touches(&text[..start], start..start, |byte| byte.is_ascii_alphanumeric())
}

fn is_example(key: &[u8]) -> bool {
    memchr::memmem::find(key, AWS_EXAMPLE).is_some()
}

/// Whether it has capitals, small letters and digits: 999 of 1,000 random texts do, and no name of source code this long.
fn is_mixed(key: &[u8]) -> bool {
    key.iter().any(u8::is_ascii_uppercase)
        && key.iter().any(u8::is_ascii_lowercase)
        && key.iter().any(u8::is_ascii_digit)
}

fn counts(text: &[u8]) -> [u16; 256] {
    let mut counts = [0_u16; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    counts
}

/// Whether a text has as many different characters as a random one.
pub(super) fn differs(text: &[u8]) -> bool {
    counts(text).iter().filter(|count| **count > 0).count() >= DIFFERENT_MIN
}

/// Bits that one character of the text tells.
fn entropy(text: &[u8]) -> f64 {
    let whole = u16::try_from(text.len()).map_or(f64::MAX, f64::from);
    let share = |count: u16| f64::from(count) / whole;
    counts(text).iter().filter(|count| **count > 0).map(|count| -share(*count) * share(*count).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_text_tells_more_than_words_do() {
        assert!((entropy(b"aaaa")).abs() < 1e-9);
        assert!((entropy(b"abcdefgh") - 3.0).abs() < 1e-9);
        assert!(entropy(b"q3Zt8Lw0+KxV5nRbY7uDm1Ec/Hs4PjGf6AiT9oWv") > 5.0);
        assert!(entropy(b"da39a3ee5e6b4b0d3255bfef95601890afd80709") < 4.0);
    }

    #[test]
    fn the_check_sum_of_a_known_token_of_githubs_holds() {
        // A token that its publisher revoked; it is in many explanations of the form.
        let token = ["ghp", "_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17"].concat();
        assert_eq!(github_token(token.as_bytes(), 0), Some(0..40));
        assert_eq!(github_token(token.replace('z', "y").as_bytes(), 0), None);
    }
}
