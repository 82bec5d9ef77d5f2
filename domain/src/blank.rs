//! What may be shown of a message to somebody whom it isn't for: everything but what opens something.

use crate::id::is_id;

/// Characters from which on a word of letters and digits counts as a secret: tokens and the secret parts of links have 22
/// and more, and words of a language hardly ever.
const SECRET_LEN_MIN: usize = 20;
/// Digits of a number that stands alone and counts as a code.
const CODE_DIGITS: std::ops::RangeInclusive<usize> = 6..=8;
/// What stands before a code that acknowledges by text.
const ACKNOWLEDGE: &str = "ACK";
/// Stands where something was left out.
const BLANK: &str = "•••";

/// `text` with codes and secrets left out: tokens, the secret parts of links, numbers that confirm something, and what
/// acknowledges by text. Ids stay.
pub fn blank_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = "";
    while !rest.is_empty() {
        let word_len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_len);
        let gap_len = after.find(is_word).unwrap_or(after.len());
        let (gap, next) = after.split_at(gap_len);
        shown.push_str(if is_secret(word, before) { BLANK } else { word });
        shown.push_str(gap);
        if !word.is_empty() {
            before = word;
        }
        rest = next;
    }
    shown
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_secret(word: &str, before: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_code = digits == word.len() && CODE_DIGITS.contains(&digits);
    let is_token = word.len() >= SECRET_LEN_MIN && digits > 0 && !is_id(word);
    is_code || is_token || (before == ACKNOWLEDGE && !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_something_is_left_out_and_the_rest_stays() {
        let cases = [
            ("492039 is your code to confirm this number.", "••• is your code to confirm this number."),
            ("The disk is full. Reply ACK 7F3K", "The disk is full. Reply ACK •••"),
            (
                "Open https://t.example/invites/trp_i_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd3Fy2?a=b now",
                "Open https://t.example/invites/•••?a=b now",
            ),
            ("see /orgs/org_01jd7rt4m5e9fv2w8x3c6k0hqz/x", "see /orgs/org_01jd7rt4m5e9fv2w8x3c6k0hqz/x"),
            ("On 2026-11-21 at 14:05, 12345 of 3 things", "On 2026-11-21 at 14:05, 12345 of 3 things"),
            ("counterrevolutionaries agree", "counterrevolutionaries agree"),
            ("ü 123456 ü", "ü ••• ü"),
            ("", ""),
        ];
        for (text, shown) in cases {
            assert_eq!(blank_secrets(text), shown);
        }
    }

    #[test]
    fn a_code_has_six_to_eight_digits() {
        let shown = |digits: usize| blank_secrets(&"1".repeat(digits)) == BLANK;
        assert_eq!([5, 6, 7, 8, 9].map(shown), [false, true, true, true, false]);
    }
}
