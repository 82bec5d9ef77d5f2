//! The part of a text that shows a hit.

use std::collections::BTreeSet;

use super::{
    Question, beginning,
    words::{Word, words},
};

/// Stands before a hit in a snippet.
pub const MARK_START: &str = "<mark>";
/// Stands behind it.
pub const MARK_END: &str = "</mark>";
/// Words of a snippet.
const WORDS: usize = 24;
/// Words before the first hit.
const WORDS_BEFORE: usize = 5;
/// Bytes of a text that are looked through for the part that shows most.
const LOOKED_THROUGH: usize = 64 * 1024;
/// Bytes of a snippet, marks aside, for texts whose words are very long or far apart.
const BYTES_MAX: usize = 400;
/// What words are written with behind their stems, the longest first.
const ENDINGS: &[&str] = &[
    "ization", "ations", "ation", "ments", "ingly", "ment", "ness", "ings", "edly", "ies", "ied", "ing", "ers", "est",
    "ed", "es", "er", "ly", "s", "e", "y",
];
/// Letters that a stem has at least.
const STEM_LEN_MIN: usize = 3;

/// The part of `text` that shows most of the words of `question`, with the hits between [`MARK_START`] and [`MARK_END`];
/// its beginning, where none is in it. Everything else is text of HTML, so that it can be shown as it is. Nothing for a text
/// without words.
pub fn snippet(text: &str, question: &Question) -> Option<String> {
    let text = beginning(text, LOOKED_THROUGH);
    let asked = Asked::of(question);
    let found: Vec<_> = words(text).map(|word| (asked.hit(&word.folded), word)).collect();
    let first = best_start(&found);
    let shown = &found[first..found.len().min(first + WORDS)];
    let begin = shown.first()?.1.start;
    let fitting = shown.iter().take_while(|(_, word)| word.end - begin <= BYTES_MAX).count();
    let mut html = String::new();
    if first > 0 {
        html.push('…');
    }
    if fitting == 0 {
        push_text(&mut html, beginning(&text[begin..], BYTES_MAX));
        html.push('…');
        return Some(html);
    }
    let mut at = begin;
    for (hit, Word { start, end, .. }) in &shown[..fitting] {
        push_text(&mut html, &text[at..*start]);
        let (before, after) = if hit.is_some() { (MARK_START, MARK_END) } else { ("", "") };
        html.push_str(before);
        push_text(&mut html, &text[*start..*end]);
        html.push_str(after);
        at = *end;
    }
    if first + fitting < found.len() {
        html.push('…');
    }
    Some(html)
}

/// The place of the word at which a snippet begins.
fn best_start(found: &[(Option<usize>, Word<'_>)]) -> usize {
    let hits = found.iter().enumerate().filter(|(_, (hit, _))| hit.is_some()).map(|(place, _)| place);
    let starts = hits.map(|place| place.saturating_sub(WORDS_BEFORE));
    let shows = |start: usize| {
        let part = &found[start..found.len().min(start + WORDS)];
        part.iter().filter_map(|(hit, _)| *hit).collect::<BTreeSet<_>>().len()
    };
    // The first one of those that show most.
    starts
        .map(|start| (shows(start), start))
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map_or(0, |(_, start)| start)
}

/// What marks are looked for by: the words of a question with their stems.
struct Asked<'a> {
    words: Vec<(&'a str, &'a str)>,
    /// What the last word begins as, where that may go on.
    beginning: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(question: &'a Question) -> Self {
        let words: Vec<_> = question.words().iter().map(|word| (word.as_str(), stem(word))).collect();
        let beginning = words.last().map(|(word, _)| *word).filter(|_| question.is_beginning());
        Self { words, beginning }
    }

    /// The word of the question that `word` is a hit of: it is the same, has the same stem, or goes on from the last one.
    fn hit(&self, word: &str) -> Option<usize> {
        // Most words begin otherwise, and have not even to be looked at for their stems.
        if !self.words.iter().any(|(asked, _)| asked.as_bytes().first() == word.as_bytes().first()) {
            return None;
        }
        let stem = stem(word);
        let same = self.words.iter().position(|(asked, asked_stem)| *asked == word || *asked_stem == stem);
        let goes_on = || self.beginning.filter(|beginning| word.starts_with(beginning)).map(|_| self.words.len() - 1);
        same.or_else(goes_on)
    }
}

/// Nearly what the databases take for the stem of a word: marks need no more.
fn stem(word: &str) -> &str {
    let endings = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    let stem = endings.filter(|stem| stem.len() >= STEM_LEN_MIN).min_by_key(|stem| stem.len()).unwrap_or(word);
    // As in running.
    match stem.as_bytes() {
        [.., one, two] if one == two && one.is_ascii() && stem.len() > STEM_LEN_MIN && stem.len() < word.len() => {
            &stem[..stem.len() - 1]
        }
        _ => stem,
    }
}

/// Text as HTML, with each run of white space as one space.
fn push_text(html: &mut String, text: &str) {
    let mut was_space = false;
    for character in text.chars() {
        if character.is_whitespace() || character.is_control() {
            if !was_space {
                html.push(' ');
            }
            was_space = true;
            continue;
        }
        was_space = false;
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str, question: &str) -> Option<String> {
        snippet(text, &Question::parse(question).unwrap())
    }

    #[test]
    fn hits_are_marked_by_stem_by_beginning_and_without_accents() {
        assert_eq!(of("He runs.", "running").unwrap(), "He <mark>runs</mark>");
        assert_eq!(of("Über alles", "uber al").unwrap(), "<mark>Über</mark> <mark>alles</mark>");
        assert_eq!(of("beginnings begin", "begin x").unwrap(), "<mark>beginnings</mark> <mark>begin</mark>");
        assert_eq!(of("planet plan", "plan x").unwrap(), "planet <mark>plan</mark>");
    }

    #[test]
    fn a_letter_of_equal_bytes_is_not_a_doubled_one() {
        assert_eq!(of("\u{116db}s", "a").unwrap(), "\u{116db}s");
    }

    #[test]
    fn the_part_that_shows_most_is_shown() {
        let text = format!("alpha {} alpha beta {}", "word ".repeat(100), "more ".repeat(100));
        let shown = of(&text, "alpha beta").unwrap();
        assert!(shown.starts_with("…word word word word word <mark>alpha</mark> <mark>beta</mark> more"), "{shown}");
        assert!(shown.ends_with("more…"), "{shown}");
    }

    #[test]
    fn a_text_without_a_hit_shows_its_beginning() {
        assert_eq!(of("One two.", "three").unwrap(), "One two");
        assert_eq!(of(" ** ", "three"), None);
        assert_eq!(of("", "three"), None);
    }

    #[test]
    fn a_snippet_is_text_of_html() {
        let shown = of("a <script>alert('x')</script>\n\n& b", "alert").unwrap();
        assert_eq!(shown, "a &lt;script&gt;<mark>alert</mark>(&#39;x&#39;)&lt;/script&gt; &amp; b");
    }

    #[test]
    fn endless_words_are_cut() {
        assert!(of(&"x".repeat(100_000), "y").unwrap().len() < 500);
        assert!(of(&format!("a{}b", " ".repeat(1_000)), "a").unwrap().len() < 500);
    }

    proptest! {
        #[test]
        fn every_text_has_a_snippet_or_none(text in any::<String>(), question in "[a-z<é東 ]{1,9}") {
            if let Some(question) = Question::parse(&question) {
                let shown = snippet(&text, &question).unwrap_or_default();
                let plain = shown.replace(MARK_START, "").replace(MARK_END, "");
                prop_assert!(!plain.contains(['<', '>', '"', '\'']), "{}", shown);
            }
        }
    }
}
