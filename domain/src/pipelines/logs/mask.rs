//! What must not be read in a log: secrets, in every form in which programs usually write them.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Range,
    sync::Arc,
};

use aho_corasick::AhoCorasick;
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

use super::text::{read_as_text, shown};
use crate::{Error, Result};

/// What stands in the place of a secret.
pub const MASK: &str = "***";
/// Characters that a line of a secret has at least, and each of its other forms, to be looked for by itself.
const PART_LEN_MIN: usize = 4;
/// Lengths of the lines on which `base64` and `openssl` write a long text.
const BASE64_LINES: [usize; 2] = [76, 64];
/// What stands in an address as it is, for one encoder or another (RFC 3986, `encodeURIComponent`, forms, Python's `quote`).
const URL_KEEPS: [&[u8]; 4] = [b"-_.~", b"-_.~!*'()", b"*-._", b"-_.~/"];
/// Bytes of a form that are looked for; where they stand, the rest is compared. So long values take no more memory than they have.
const ANCHOR_LEN: usize = 64;

/// The secrets of a job. A cheap handle.
#[derive(Clone, Default)]
pub struct Masks(Option<Arc<Forms>>);

/// The forms of all secrets.
struct Forms {
    /// How they begin.
    anchors: AhoCorasick,
    /// How those of each beginning go on, the longest first.
    rests: Vec<Vec<Box<[u8]>>>,
    /// Bytes of the longest form.
    len_max: usize,
}

impl Forms {
    fn of(forms: BTreeSet<String>) -> Result<Self> {
        let len_max = forms.iter().map(String::len).max().unwrap_or_default();
        let mut by_anchor: BTreeMap<Vec<u8>, Vec<Box<[u8]>>> = BTreeMap::new();
        for form in forms {
            let (anchor, rest) = form.as_bytes().split_at(form.len().min(ANCHOR_LEN));
            by_anchor.entry(anchor.to_vec()).or_default().push(rest.into());
        }
        let anchors = AhoCorasick::new(by_anchor.keys()).map_err(Error::internal)?;
        let mut rests: Vec<_> = by_anchor.into_values().collect();
        for rests in &mut rests {
            rests.sort_unstable_by_key(|rest| std::cmp::Reverse(rest.len()));
        }
        Ok(Self { anchors, rests, len_max })
    }

    /// Where forms are, the longest of those that begin alike.
    fn find(&self, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        self.anchors.find_overlapping_iter(text).filter_map(move |anchor| {
            let behind = text.get(anchor.end()..)?;
            let rest = self.rests.get(anchor.pattern().as_usize())?.iter().find(|rest| behind.starts_with(rest))?;
            Some(anchor.start()..anchor.end() + rest.len())
        })
    }
}

impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Masks")
    }
}

impl Masks {
    /// Nothing is masked.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Masks these values: each whole, each line of it, and its forms in base64, hexadecimal, addresses and JSON. An empty one
    /// is no secret.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut forms = BTreeSet::new();
        for value in values.into_iter().filter(|value| !value.trim().is_empty()) {
            forms_of(value, &mut forms);
        }
        if forms.is_empty() {
            return Ok(Self::none());
        }
        Ok(Self(Some(Arc::new(Forms::of(forms)?))))
    }

    /// Whether a secret stands in the text.
    pub fn are_in(&self, text: &str) -> bool {
        matches!(self.hide(Cow::Borrowed(text)), Cow::Owned(_))
    }

    /// The line, with `***` in the place of each secret. Colours in the middle of one hide nothing.
    pub fn hide<'a>(&self, line: Cow<'a, str>) -> Cow<'a, str> {
        let Some(forms) = &self.0 else { return line };
        let found = found(forms, line.as_bytes());
        if found.is_empty() { line } else { Cow::Owned(without(line.as_bytes(), 0..line.len(), &found)) }
    }

    /// Part of a line, with `***` in the place of each secret, also of one that begins before the part, or ends behind it.
    pub fn hide_part(&self, line: &[u8], part: Range<usize>) -> String {
        let found = self.0.as_ref().map(|forms| found(forms, line)).unwrap_or_default();
        without(line, part, &found)
    }

    /// Bytes of the longest text that is looked for: who knows as much on either side of a part finds every secret in it.
    pub fn form_len_max(&self) -> usize {
        self.0.as_ref().map_or(0, |forms| forms.len_max)
    }
}

/// Where secrets are: ranges behind one another, what overlaps or touches in one. They are looked for in the line as it is, and
/// without what only a terminal reads.
fn found(forms: &Forms, line: &[u8]) -> Vec<Range<usize>> {
    let mut all: Vec<_> = forms.find(line).collect();
    if let Some((text, places)) = read_as_text(line) {
        all.extend(forms.find(&text).map(|range| places[range.start]..places[range.end - 1] + 1));
    }
    all.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in all {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

/// Part of a line without what was found. Forms are texts, and begin and end where characters do.
fn without(line: &[u8], part: Range<usize>, found: &[Range<usize>]) -> String {
    let (mut kept, mut at) = (String::with_capacity(part.len()), part.start);
    let text = |range: Range<usize>| String::from_utf8_lossy(line.get(range).unwrap_or_default());
    for range in found.iter().filter(|range| range.end > part.start && range.start < part.end) {
        kept.push_str(&text(at..range.start.max(at)));
        kept.push_str(MASK);
        at = range.end.min(part.end);
    }
    kept.push_str(&text(at..part.end));
    kept
}

fn forms_of(value: &str, forms: &mut BTreeSet<String>) {
    let mut add = |form: String, len_min: usize| {
        if form.chars().count() >= len_min {
            forms.insert(form);
        }
    };
    add(value.to_owned(), 1);
    add(shown(value).into_owned(), PART_LEN_MIN);
    for line in value.split(['\n', '\r']) {
        add(line.to_owned(), PART_LEN_MIN);
        add(line.trim().to_owned(), PART_LEN_MIN);
        add(shown(line).into_owned(), PART_LEN_MIN);
    }
    // `echo` ends with a line break; without it the forms cover what it writes, too.
    let bytes = value.trim_end_matches(['\n', '\r']).as_bytes();
    for form in base64_forms(bytes).into_iter().chain(hex_forms(bytes)).chain(url_forms(bytes)).chain(json_forms(value))
    {
        add(form, PART_LEN_MIN);
    }
}

/// Base64 of a text in which the value stands somewhere: the characters that follow from the value alone, for each of the three
/// places in which it may begin; and the lines on which a long one is written.
fn base64_forms(bytes: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut text = vec![0; before];
        text.extend_from_slice(bytes);
        let own = (before * 8).div_ceil(6)..text.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            forms.extend(encoded.get(own.clone()).map(str::to_owned));
        }
    }
    let whole = STANDARD_NO_PAD.encode(bytes);
    for length in BASE64_LINES.into_iter().filter(|length| whole.len() > *length) {
        let lines = whole.as_bytes().chunks(length).filter_map(|line| std::str::from_utf8(line).ok());
        forms.extend(lines.map(str::to_owned));
    }
    forms
}

fn hex_forms(bytes: &[u8]) -> [String; 2] {
    let lower: String = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect();
    let upper = lower.to_uppercase();
    [lower, upper]
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap_or_default()
}

fn url_forms(bytes: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for keeps in URL_KEEPS {
        for space in ["%20", "+"] {
            forms.push(url_form(bytes, keeps, space, |byte| format!("%{byte:02X}")));
            forms.push(url_form(bytes, keeps, space, |byte| format!("%{byte:02x}")));
        }
    }
    forms
}

fn url_form(bytes: &[u8], keeps: &[u8], space: &str, encoded: impl Fn(u8) -> String) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b' ' => text.push_str(space),
            _ if byte.is_ascii_alphanumeric() || keeps.contains(byte) => text.push(char::from(*byte)),
            _ => text.push_str(&encoded(*byte)),
        }
    }
    text
}

/// What stands between the quotes of JSON: characters as they are, or beyond ASCII as `\u00e9`.
fn json_forms(value: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(value).to_string();
    let plain = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let mut ascii = String::with_capacity(plain.len());
    for character in plain.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            let units = &mut [0; 2];
            ascii.extend(character.encode_utf16(units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    let slashed = plain.replace('/', "\\/");
    vec![plain, ascii, slashed]
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    use super::*;

    fn hidden(values: &[&str], line: &str) -> String {
        Masks::of(values.iter().copied()).unwrap().hide(Cow::Borrowed(line)).into_owned()
    }

    #[test]
    fn a_value_is_masked_wherever_it_stands() {
        assert_eq!(hidden(&["s3cret"], "a s3cret and s3cret."), "a *** and ***.");
        assert_eq!(hidden(&["s3cret"], "S3CRET"), "S3CRET");
        assert_eq!(hidden(&["x"], "axb"), "a***b");
        assert_eq!(hidden(&["", "  ", "\n"], "a b"), "a b");
        assert_eq!(hidden(&[], "a b"), "a b");
    }

    #[test]
    fn of_values_that_overlap_nothing_is_left() {
        assert_eq!(hidden(&["abcdef", "defghi"], "-abcdefghi-"), "-***-");
        assert_eq!(hidden(&["abcd", "abcdefgh"], "abcdefgh"), "***");
        assert_eq!(hidden(&["abcd"], "abcdabcd"), "***");
    }

    #[test]
    fn long_values_are_masked_whole_and_only_whole() {
        let long = (0..9_000).map(|at: u32| char::from_digit(at * at % 31 % 10, 10).unwrap()).collect::<String>();
        let longer = format!("{long}-and-more");
        assert_eq!(hidden(&[&long, &longer], &format!("a {long} b {longer} c")), "a *** b *** c");
        let cut = &long[..long.len() - 1];
        assert_eq!(hidden(&[&long], cut), cut);
        assert_eq!(hidden(&[&long], &STANDARD.encode(&long)), MASK);
        for length in [ANCHOR_LEN - 1, ANCHOR_LEN, ANCHOR_LEN + 1] {
            assert_eq!(hidden(&[&long[..length]], &format!("({})", &long[..length])), "(***)");
        }
    }

    #[test]
    fn colours_in_a_value_hide_nothing() {
        assert_eq!(hidden(&["s3cret"], "a \u{1b}[31ms3\u{1b}[1mcr\u{1b}[0met\u{1b}[m b"), "a \u{1b}[31m***\u{1b}[m b");
    }

    #[test]
    fn what_only_a_terminal_reads_hides_nothing() {
        for between in ["\u{1b}[2K", "\u{1b}]0;title\u{7}", "\u{0}", "\u{8}", "\u{9b}", "\u{7f}", "\u{1b}(B"] {
            assert_eq!(hidden(&["s3cret"], &format!("a s3c{between}ret b")), "a *** b", "{between:?}");
            assert_eq!(hidden(&["s3cret"], &format!("{between}s3cret{between}")), format!("{between}***{between}"));
        }
        // A value may have such characters itself.
        assert_eq!(hidden(&["a\u{1}b"], "-a\u{1}b-"), "-***-");
        assert_eq!(hidden(&["s3c\u{1}ret"], "s3cret, s3c\u{1}ret"), "***, ***");
    }

    #[test]
    fn a_part_shows_nothing_of_a_secret_that_its_borders_cut() {
        let masks = Masks::of(["s3cret"]).unwrap();
        assert_eq!(masks.form_len_max(), "s3cret".len() * 2, "hexadecimal is the longest");
        let line = "ab s3cret cd".as_bytes();
        for cut in 0..=line.len() {
            let parts = [masks.hide_part(line, 0..cut), masks.hide_part(line, cut..line.len())];
            let wanted = if (4..9).contains(&cut) { "ab ****** cd" } else { "ab *** cd" };
            assert_eq!(parts.concat(), wanted, "{cut}");
        }
        assert_eq!(Masks::none().hide_part(line, 3..9), "s3cret");
        assert_eq!(masks.hide_part("é".as_bytes(), 0..1), "\u{fffd}");
    }

    #[test]
    fn lines_of_a_value_are_masked_from_four_characters_on() {
        let value = "-----BEGIN-----\r\n  abcd\nabc\n";
        assert_eq!(hidden(&[value], "-----BEGIN-----"), MASK);
        assert_eq!(hidden(&[value], "x abcd"), "x ***");
        assert_eq!(hidden(&[value], "abc"), "abc");
    }

    #[test]
    fn other_forms_are_masked() {
        let value = "pä ss/wo\"rd+1";
        for (form, masked) in [
            (STANDARD.encode(value), "***=="),
            ("70c3a42073732f776f2272642b31".to_owned(), "***"),
            ("70C3A42073732F776F2272642B31".to_owned(), "***"),
            ("p%C3%A4%20ss%2Fwo%22rd%2B1".to_owned(), "***"),
            ("p%c3%a4+ss%2fwo%22rd%2b1".to_owned(), "***"),
            ("p%C3%A4%20ss/wo%22rd%2B1".to_owned(), "***"),
            (r#"pä ss/wo\"rd+1"#.to_owned(), "***"),
            (r#"p\u00e4 ss/wo\"rd+1"#.to_owned(), "***"),
            (r#"pä ss\/wo\"rd+1"#.to_owned(), "***"),
        ] {
            let line = hidden(&[value], &form);
            // Of base64 the last character may depend on what follows.
            assert!(line.starts_with(MASK) && line.len() <= masked.len() + 1, "{form}: {line}");
        }
    }

    #[test]
    fn lines_of_wrapped_base64_are_masked() {
        let value = (0..30).map(|at| format!("line {at} of a key")).collect::<Vec<_>>().join("\n");
        for length in BASE64_LINES {
            for line in STANDARD.encode(&value).as_bytes().chunks(length) {
                let line = std::str::from_utf8(line).unwrap();
                let left = hidden(&[&value], line);
                assert!(left.starts_with(MASK) && left.len() <= MASK.len() + 4, "{line}: {left}");
            }
        }
    }

    proptest! {
        #[test]
        fn base64_of_a_text_with_a_value_in_it_shows_at_most_its_edges(
            before in "[ -~]{0,5}", value in "[a-zA-Z0-9/+]{6,40}", after in "[ -~]{0,5}",
        ) {
            let text = format!("{before}{value}{after}");
            for (encoded, engine) in [(STANDARD.encode(&text), &STANDARD), (URL_SAFE.encode(&text), &URL_SAFE)] {
                let line = hidden(&[&value], &encoded);
                prop_assert!(line.contains(MASK), "{encoded} {line}");
                // What depends on the value alone is gone.
                let begins = (before.len() * 8).div_ceil(6);
                let ends = (before.len() + value.len()) * 8 / 6;
                let own = &encoded[begins..ends];
                prop_assert!(!line.contains(own), "{own} {line}");
                prop_assert!(engine.decode(&encoded).is_ok());
            }
        }

        #[test]
        fn no_value_is_left_in_a_line(values in prop::collection::vec("[a-c]{4,8}", 1..4), line in "[a-d]{0,60}") {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let left = hidden(&values, &line);
            for value in values {
                prop_assert!(!left.contains(value), "{value} in {left}");
            }
        }
    }
}
