//! Reading a query: words, and what stands before a `:`, as Gmail's users know it.
//!
//! Terms that stand beside each other all hold of a message that is found; `OR` joins what stands right before and behind it, before
//! these. What isn't an operator is words, and so is one that nothing follows yet; only a value that its operator can't have is
//! refused.

use super::{
    asked::{asked, field, is_operator},
    question::{Asked, Joined, MailField, Step, WordsAsked},
    words,
};
use crate::{Error, Result, Timestamp, notify::Zone};

/// Characters that the beginning of a word has at least.
const BEGINNING_LEN_MIN: usize = 2;
/// Parentheses that stand in each other. SQLite's index reads no more than about sixteen.
pub(super) const NESTED_MAX: usize = 8;
/// Words and operators of a query: what 200 characters have room for.
pub(super) const ASKED_MAX: usize = 100;

/// The steps of a query.
pub(super) fn read(text: &str, zone: &Zone, now: Timestamp) -> Result<Vec<Step>> {
    let mut reader =
        Reader { characters: text.chars().collect(), at: 0, frames: vec![Frame::default()], steps: Vec::new() };
    while let Some(column) = reader.next_column() {
        reader.read(column, zone, now)?;
    }
    while reader.frames.len() > 1 {
        reader.close();
    }
    let all = reader.frames.pop().unwrap_or_default();
    all.end(&mut reader.steps);
    let asked = reader.steps.iter().filter(|step| matches!(step, Step::Asked(_))).count();
    let message = format!("Use at most {ASKED_MAX} words and operators.");
    if asked > ASKED_MAX { Err(Error::invalid("q", message)) } else { Ok(reader.steps) }
}

/// What stands between two parentheses, as far as it is read.
#[derive(Default)]
struct Frame {
    /// Whether it is turned round.
    is_not: bool,
    /// The operator before it, which stands before each of its values.
    operator: Option<String>,
    /// What is read that all holds, but for the last, which `OR` may yet join.
    all: usize,
    /// What the last is made of: none, one, or several that `OR` joins.
    any: usize,
    /// Whether an `OR` was read last.
    is_joining: bool,
}

impl Frame {
    /// Begins what stands beside the last, or is joined with it.
    fn begin(&mut self, steps: &mut Vec<Step>) {
        if !std::mem::take(&mut self.is_joining) {
            self.finish(steps);
        }
    }

    /// Takes the last as it is.
    fn finish(&mut self, steps: &mut Vec<Step>) {
        let any = std::mem::take(&mut self.any);
        join(steps, Joined::Any, any);
        self.all += usize::from(any > 0);
    }

    /// Ends it; answers whether it asks anything.
    fn end(mut self, steps: &mut Vec<Step>) -> bool {
        self.finish(steps);
        join(steps, Joined::All, self.all);
        if self.is_not && self.all > 0 {
            steps.push(Step::Joined(Joined::Not, 1));
        }
        self.all > 0
    }
}

fn join(steps: &mut Vec<Step>, how: Joined, count: usize) {
    if count > 1 {
        steps.push(Step::Joined(how, count));
    }
}

/// What stands between two spaces, or before a parenthesis.
struct Piece {
    /// Where it begins: 1 for the first character.
    column: usize,
    is_not: bool,
    /// What stands before the `:`.
    operator: Option<String>,
    value: String,
    is_quoted: bool,
    /// Whether the last word may go on.
    goes_on: bool,
}

struct Reader {
    characters: Vec<char>,
    at: usize,
    /// Those that are open, the outermost first; there is always one.
    frames: Vec<Frame>,
    steps: Vec<Step>,
}

impl Reader {
    /// Where the next piece begins: 1 for the first character.
    fn next_column(&mut self) -> Option<usize> {
        let rest = self.characters[self.at..].iter();
        self.at += rest.take_while(|it| it.is_whitespace()).count();
        (self.at < self.characters.len()).then_some(self.at + 1)
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn read(&mut self, column: usize, zone: &Zone, now: Timestamp) -> Result<()> {
        if self.peek() == Some(')') {
            self.at += 1;
            // One that closes nothing is a sign as any other.
            if self.frames.len() > 1 {
                self.close();
            }
            return Ok(());
        }
        if self.joins() {
            self.at += 2;
            self.frame().is_joining = true;
            return Ok(());
        }
        let is_not = self.peek() == Some('-') && self.characters.get(self.at + 1).is_some_and(|it| !it.is_whitespace());
        self.at += usize::from(is_not);
        let operator = self.operator();
        if self.peek() == Some('(') {
            return self.open(column, is_not, operator);
        }
        let is_own = operator.is_some();
        let operator = operator.or_else(|| self.frame().operator.clone());
        let piece = self.piece(column, is_not, operator);
        if !is_own && piece.value.trim().is_empty() {
            return Ok(());
        }
        let asked = piece.read(zone, now)?;
        self.put(asked, is_not);
        Ok(())
    }

    /// Whether what stands here is an `OR` between two things.
    fn joins(&mut self) -> bool {
        let is_or = |rest: &[char]| {
            rest.starts_with(&['O', 'R']) && rest.get(2).is_some_and(|it| it.is_whitespace() || *it == '(')
        };
        let here = &self.characters[self.at..];
        if !is_or(here) {
            return false;
        }
        let behind = here[2..].iter().position(|it| !it.is_whitespace()).map(|gap| &here[2 + gap..]);
        let is_nested = self.frames.len() > 1;
        let goes_on = behind.is_some_and(|rest| !(is_or(rest) || is_nested && rest.starts_with(&[')'])));
        let frame = self.frame();
        goes_on && frame.any > 0 && !frame.is_joining
    }

    /// What stands before a `:`, where anything does.
    fn operator(&mut self) -> Option<String> {
        let rest = self.characters[self.at..].iter().copied();
        let name: String = rest.take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
        let begins = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
        let is_one = begins && self.characters.get(self.at + name.len()) == Some(&':');
        self.at += if is_one { name.len() + 1 } else { 0 };
        is_one.then(|| name.to_ascii_lowercase())
    }

    /// Reads a value, up to the next space or quote, or to the parenthesis that closes what is open.
    fn piece(&mut self, column: usize, is_not: bool, operator: Option<String>) -> Piece {
        let is_quoted = self.peek() == Some('"');
        self.at += usize::from(is_quoted);
        let (mut value, mut opened, is_nested) = (String::new(), 0_usize, self.frames.len() > 1);
        while let Some(next) = self.peek() {
            let closes = is_nested && next == ')' && opened == 0;
            let is_end = if is_quoted { next == '"' } else { next.is_whitespace() || closes };
            if is_end {
                break;
            }
            match next {
                '(' => opened += 1,
                ')' => opened = opened.saturating_sub(1),
                _ => {}
            }
            value.push(next);
            self.at += 1;
        }
        // A quote that nothing ends goes on to the end.
        self.at = (self.at + usize::from(is_quoted)).min(self.characters.len());
        let is_last = self.characters[self.at..].iter().all(|it| it.is_whitespace());
        let is_turned = is_not || self.frames.iter().any(|frame| frame.is_not);
        Piece { column, is_not, operator, value, is_quoted, goes_on: is_last && !is_quoted && !is_turned }
    }

    /// Begins what stands in parentheses.
    fn open(&mut self, column: usize, is_not: bool, operator: Option<String>) -> Result<()> {
        self.at += 1;
        if self.frames.len() > NESTED_MAX {
            let message = format!("At character {column}: parentheses stand in each other at most {NESTED_MAX} deep.");
            return Err(Error::invalid("q", message));
        }
        let is_known = operator.as_deref().is_none_or(is_operator);
        if let Some(name) = operator.as_deref().filter(|_| !is_known) {
            // What only looks like an operator is words.
            let asked = words_of(name, None, is_not, false);
            self.put(asked, is_not);
        }
        let inherited = self.frame().operator.clone();
        let operator = operator.filter(|_| is_known).or(inherited);
        if let Some(frame) = self.frames.last_mut() {
            frame.begin(&mut self.steps);
        }
        self.frames.push(Frame { is_not, operator, ..Frame::default() });
        Ok(())
    }

    /// Ends what stands in the last parentheses that are open.
    fn close(&mut self) {
        let asks = self.frames.pop().is_some_and(|frame| frame.end(&mut self.steps));
        self.frame().any += usize::from(asks);
    }

    /// Adds what a piece asks, all of which holds.
    fn put(&mut self, asked: Vec<Asked>, is_not: bool) {
        if asked.is_empty() {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.begin(&mut self.steps);
            frame.any += 1;
        }
        let count = asked.len();
        for it in asked {
            self.steps.push(Step::Asked(it));
            if is_not {
                self.steps.push(Step::Joined(Joined::Not, 1));
            }
        }
        join(&mut self.steps, Joined::All, count);
    }
}

impl Piece {
    /// What it asks.
    fn read(&self, zone: &Zone, now: Timestamp) -> Result<Vec<Asked>> {
        let has_value = !self.value.trim().is_empty();
        let is_together = self.is_quoted || self.is_not;
        if let Some(operator) = self.operator.as_deref().filter(|_| has_value) {
            if let Some(field) = field(operator) {
                return Ok(words_of(&self.value, Some(field), true, self.goes_on));
            }
            if let Some(asked) = asked(operator, self.value.trim(), self.column, zone, now)? {
                return Ok(vec![asked]);
            }
        }
        // What only looks like an operator is words.
        let name = self.operator.as_deref().unwrap_or_default();
        let mut all = words_of(name, None, self.is_not, self.goes_on && !has_value);
        all.extend(words_of(&self.value, None, is_together, self.goes_on));
        Ok(all)
    }
}

/// The words of a value: one behind the other, or each for itself.
fn words_of(value: &str, field: Option<MailField>, is_together: bool, goes_on: bool) -> Vec<Asked> {
    let words: Vec<String> = words(value).map(|word| word.folded.into_owned()).collect();
    let goes_on = goes_on && words.last().is_some_and(|word| word.chars().count() >= BEGINNING_LEN_MIN);
    if words.is_empty() {
        return Vec::new();
    }
    if is_together {
        let is_phrase = words.len() > 1;
        return vec![Asked::Words(WordsAsked { field, words, is_phrase, goes_on })];
    }
    let last = words.len() - 1;
    let one = |(place, word): (usize, String)| {
        let goes_on = goes_on && place == last;
        Asked::Words(WordsAsked { field, words: vec![word], is_phrase: false, goes_on })
    };
    words.into_iter().enumerate().map(one).collect()
}
