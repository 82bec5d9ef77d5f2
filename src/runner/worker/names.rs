//! Names that patterns are like: `*`, `?`, `[…]`, and for artifacts braces, and `!` in front of what is left out.

use std::ops::RangeInclusive;

/// Patterns for which one with braces stands, at most.
const ALTERNATIVES_MAX: usize = 1_000;
/// Bytes of all the patterns that are made of one with braces, at most.
const ALTERNATIVES_LEN_MAX: usize = 1024 * 1024;
/// Bytes of a range in braces, at most: two numbers and a step.
const RANGE_LEN_MAX: usize = 64;
/// What GitHub's patterns of names have and these don't.
const GROUPS: [&str; 5] = ["!(", "+(", "@(", "?(", "*("];

/// What a piece of a name's pattern stands for.
#[derive(Debug)]
pub enum Piece {
    /// Any number of letters.
    Many,
    /// Any letter.
    One,
    /// One of these letters, or one that is none of them.
    These { is_denied: bool, letters: Vec<RangeInclusive<char>> },
    /// This letter.
    Letter(char),
}

impl Piece {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::Many => false,
            Self::One => true,
            Self::These { is_denied, letters } => letters.iter().any(|these| these.contains(&letter)) != *is_denied,
            Self::Letter(own) => *own == letter,
        }
    }
}

/// A pattern of names, in which `{a,b}` stands for either and `{1..4}` for each of these, and which an `!` in front turns round.
#[derive(Debug)]
pub struct NamePattern {
    is_denied: bool,
    alternatives: Vec<Vec<Piece>>,
}

impl NamePattern {
    /// Reads a pattern; what is wrong with it, where it can't be followed.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if let Some(group) = GROUPS.iter().find(|group| pattern.contains(**group)) {
            return Err(format!("A pattern can't have `{group}` here; `{{a,b}}` stands for either."));
        }
        let rest = pattern.trim_start_matches('!');
        let is_denied = (pattern.len() - rest.len()) % 2 == 1;
        let alternatives = alternatives(rest)?.iter().map(|one| pieces(one)).collect();
        Ok(Self { is_denied, alternatives })
    }

    /// Whether a name is like the pattern.
    pub fn takes(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        self.alternatives.iter().any(|pieces| is_name(pieces, &name)) != self.is_denied
    }
}

/// The patterns for which one with braces stands.
fn alternatives(pattern: &str) -> Result<Vec<String>, String> {
    let too_many = || {
        format!(
            "A pattern with braces stands for at most {ALTERNATIVES_MAX} others, of {ALTERNATIVES_LEN_MAX} bytes in all."
        )
    };
    let (mut open, mut plain) = (vec![pattern.to_owned()], Vec::new());
    let mut left = ALTERNATIVES_LEN_MAX;
    while let Some(pattern) = open.pop() {
        let Some((before, choices, after)) = braces(&pattern) else {
            plain.push(pattern);
            continue;
        };
        for choice in choices {
            let one = format!("{before}{choice}{after}");
            left = left.checked_sub(one.len() + 1).ok_or_else(too_many)?;
            open.push(one);
            if open.len() + plain.len() > ALTERNATIVES_MAX {
                return Err(too_many());
            }
        }
    }
    plain.sort_unstable();
    plain.dedup();
    Ok(plain)
}

/// The first braces that hold a choice and no other one: what stands before them, what they stand for (one more than may
/// be, at most), and what stands behind them.
fn braces(pattern: &str) -> Option<(&str, Vec<String>, &str)> {
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (at, sign) in pattern.char_indices() {
        if sign == '{' {
            open.push((at, false));
        } else if sign == ','
            && let Some((_, is_choice)) = open.last_mut()
        {
            *is_choice = true;
        } else if sign == '}'
            && let Some((start, is_choice)) = open.pop()
        {
            let inner = &pattern[start + 1..at];
            let each = inner.split(',').take(ALTERNATIVES_MAX + 1).map(str::to_owned);
            let choices = if is_choice { Some(each.collect()) } else { range(inner) };
            if let Some(choices) = choices {
                return Some((&pattern[..start], choices, &pattern[at + 1..]));
            }
        }
    }
    None
}

/// What `1..4`, `01..10`, `a..e` or `0..9..3` stands for; one more than may be, at most.
fn range(text: &str) -> Option<Vec<String>> {
    let ends: Vec<&str> = if text.len() > RANGE_LEN_MAX { Vec::new() } else { text.split("..").collect() };
    let (first, last, step) = match ends[..] {
        [first, last] => (first, last, 1),
        [first, last, step] => (first, last, number(step)?.unsigned_abs().max(1)),
        _ => return None,
    };
    let (from, to, is_letter) = match (number(first), number(last)) {
        (Some(from), Some(to)) => (from, to, false),
        _ => (letter(first)?, letter(last)?, true),
    };
    let is_padded = |end: &&str| end.trim_start_matches('-').strip_prefix('0').is_some_and(|rest| !rest.is_empty());
    let width = if [first, last].iter().any(is_padded) { first.len().max(last.len()) } else { 0 };
    let value = |nth: u64| {
        let by = nth * step;
        let value = if to < from { from.saturating_sub_unsigned(by) } else { from.saturating_add_unsigned(by) };
        match u8::try_from(value) {
            Ok(letter) if is_letter => char::from(letter).to_string(),
            _ => format!("{value:0width$}"),
        }
    };
    Some((0..=from.abs_diff(to) / step).take(ALTERNATIVES_MAX + 1).map(value).collect())
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

fn letter(text: &str) -> Option<i64> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
        _ => None,
    }
}

/// Whether items match a pattern, some parts of which stand for any number of items, and each other one for one that it takes.
///
/// Only the last part of the first kind is tried with more items: what stands before it has matched, and gains nothing by more.
pub fn is_match<P, T>(
    pattern: &[P],
    items: &[T],
    is_many: impl Fn(&P) -> bool,
    takes: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut part, mut item) = (0_usize, 0_usize);
    let mut again: Option<(usize, usize)> = None;
    while item < items.len() {
        match pattern.get(part) {
            Some(one) if is_many(one) => {
                part += 1;
                again = Some((part, item));
            }
            Some(one) if takes(one, &items[item]) => {
                part += 1;
                item += 1;
            }
            _ => {
                let Some((behind, from)) = again else { return false };
                (part, item) = (behind, from + 1);
                again = Some((part, item));
            }
        }
    }
    pattern[part..].iter().all(is_many)
}

/// Whether a name matches the pieces of a pattern.
pub fn is_name(pieces: &[Piece], name: &[char]) -> bool {
    is_match(pieces, name, |piece| matches!(piece, Piece::Many), |piece, letter| piece.takes(*letter))
}

/// The pieces of a name's pattern. A `[` without its `]` stands for itself.
pub fn pieces(pattern: &str) -> Vec<Piece> {
    let signs: Vec<char> = pattern.chars().collect();
    let (mut pieces, mut rest) = (Vec::new(), signs.as_slice());
    // Behind one that isn't closed none is.
    let mut is_closed = true;
    while let Some((first, behind)) = rest.split_first() {
        let class = if *first == '[' && is_closed { class(behind) } else { None };
        is_closed &= *first != '[' || class.is_some();
        let piece = match first {
            '*' => Piece::Many,
            '?' => Piece::One,
            letter => Piece::Letter(*letter),
        };
        let (piece, behind) = class.unwrap_or((piece, behind));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// The letters in brackets, and what stands behind them.
fn class(pattern: &[char]) -> Option<(Piece, &[char])> {
    let end = pattern.iter().skip(1).position(|one| *one == ']')? + 1;
    let inner = &pattern[..end];
    let (is_denied, inner) = match inner.split_first() {
        Some(('!' | '^', rest)) => (true, rest),
        _ => (false, inner),
    };
    let is_range = |at: usize| inner.get(at + 1) == Some(&'-') && at + 2 < inner.len();
    let (mut at, mut letters) = (0, Vec::new());
    while let Some(first) = inner.get(at) {
        let last = if is_range(at) { inner[at + 2] } else { *first };
        letters.push(*first..=last);
        at += if is_range(at) { 3 } else { 1 };
    }
    Some((Piece::These { is_denied, letters }, &pattern[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_like(pattern: &str, name: &str) -> bool {
        NamePattern::new(pattern).unwrap().takes(name)
    }

    #[test]
    fn names_are_like_patterns() {
        for (pattern, name, is_so) in [
            ("build-*", "build-linux", true),
            ("build-*", "a build-linux", false),
            ("*", "", true),
            ("build-?", "build-é", true),
            ("[a-c]x", "bx", true),
            ("{build,test}-{a,b}", "test-b", true),
            ("{build,test}-{a,b}", "test-c", false),
            ("x{,-{a,b}}", "x", true),
            ("x{,-{a,b}}", "x-b", true),
            ("{a}", "{a}", true),
            ("{a}-{b,c}", "{a}-c", true),
            ("}a,b{", "}a,b{", true),
            ("!build-*", "test", true),
            ("!build-*", "build-a", false),
            ("!!build-*", "build-a", true),
            ("[", "[", true),
            ("a[b", "a[b", true),
            ("[]]", "]", true),
        ] {
            assert_eq!(is_like(pattern, name), is_so, "{pattern} {name}");
        }
    }

    #[test]
    fn ranges_stand_for_each_of_theirs() {
        let of = |pattern: &str| alternatives(pattern).unwrap().join(" ");
        for (pattern, expected) in [
            ("shard-{1..4}", "shard-1 shard-2 shard-3 shard-4"),
            ("{4..2}", "2 3 4"),
            ("{-1..1}", "-1 0 1"),
            ("{08..10}", "08 09 10"),
            ("{0..9..4}", "0 4 8"),
            ("{a..c}{1..2}", "a1 a2 b1 b2 c1 c2"),
            ("{c..a..2}", "a c"),
            ("{x,{1..2}}", "1 2 x"),
            ("{{a},b}", "b {a}"),
            ("{1..}", "{1..}"),
            ("{a..2}", "{a..2}"),
            ("{1..2..3..4}", "{1..2..3..4}"),
            ("{+1..2}", "{+1..2}"),
        ] {
            assert_eq!(of(pattern), expected, "{pattern}");
        }
        assert!(is_like("shard-{1..4}", "shard-4") && !is_like("shard-{1..4}", "shard-5"));
        assert_eq!(alternatives("{1..1000}").unwrap().len(), 1_000);
    }

    #[test]
    fn patterns_that_cannot_be_followed_say_so() {
        for pattern in ["!(a)", "a+(b)", "@(a|b)", "?(a)", "*(a)"] {
            assert!(NamePattern::new(pattern).unwrap_err().contains("can't have"), "{pattern}");
        }
        let many = format!("{{{}}}{}", ",".repeat(100_000), "x".repeat(50_000));
        let few_and_long = format!("{{{}}}{}", ",".repeat(100), "x".repeat(50_000));
        let endless = format!("{{0..{}}}", i64::MAX);
        let once = "{1..1}".repeat(100_000);
        for pattern in ["{a,b}".repeat(50), "{1..1001}".to_owned(), many, few_and_long, endless, once] {
            assert!(NamePattern::new(&pattern).unwrap_err().contains("at most 1000"), "{pattern:.20}");
        }
        assert!(is_like(&format!("{}a", "{".repeat(100_000)), &format!("{}a", "{".repeat(100_000))));
        assert!(!is_like(&"[".repeat(100_000), "["));
        let nested = format!("{}{}", "{".repeat(100_000), "}".repeat(100_000));
        assert!(!is_like(&nested, "a"));
    }

    /// The same without any memory, which takes very long for long ones.
    fn is_simply(pieces: &[Piece], name: &[char]) -> bool {
        match (pieces.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((Piece::Many, rest)), _) => (0..=name.len()).any(|skipped| is_simply(rest, &name[skipped..])),
            (Some((piece, rest)), Some((letter, others))) => piece.takes(*letter) && is_simply(rest, others),
            _ => false,
        }
    }

    /// All texts of at most so many of these.
    fn texts(of: &[&str], len: usize) -> Vec<String> {
        let mut longest = vec![String::new()];
        let mut all = longest.clone();
        for _ in 0..len {
            longest = longest.iter().flat_map(|text| of.iter().map(move |one| format!("{text}{one}"))).collect();
            all.extend(longest.iter().cloned());
        }
        all
    }

    #[test]
    fn short_names_match_as_the_simplest_way_says() {
        let names: Vec<Vec<char>> = texts(&["a", "b"], 5).iter().map(|name| name.chars().collect()).collect();
        let mut count = 0;
        for pattern in texts(&["*", "a", "b", "?", "[!a]"], 4) {
            let pieces = pieces(&pattern);
            for name in &names {
                let is_so = is_name(&pieces, name);
                assert_eq!(is_so, is_simply(&pieces, name), "{pattern} {name:?}");
                count += usize::from(is_so);
            }
        }
        assert!(count > 1_000, "{count}");
    }

    #[test]
    fn long_names_and_patterns_end() {
        let name = "a".repeat(200);
        assert!(!is_like(&format!("{}b", "*a".repeat(100)), &name));
        assert!(is_like(&format!("{}*", "*a".repeat(100)), &name));
    }
}
