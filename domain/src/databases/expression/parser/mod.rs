//! Reading expressions, by recursive descent.
//!
//! What can't be read ends the reading. What can be read and is refused all the same is noted, the first of it, and the
//! reading goes on: so a fault of the syntax behind it is said instead.

mod condition;
mod operand;
mod update;

use std::sync::Arc;

use super::{
    Condition, DocumentPath, EXPRESSION_BYTES_MAX, EXPRESSION_LEVELS_MAX, ExpressionFault, ExpressionFaultKind,
    LIST_INDEX_MAX, OPERATORS_MAX, PathStep, Substitutes, Update,
    fault::shown,
    reserved::is_reserved,
    token::{Placed, Token, tokens},
};
use crate::databases::NESTING_MAX;

/// A fault and the byte that it stands at.
#[derive(Debug)]
struct Found {
    kind: ExpressionFaultKind,
    at: usize,
}

/// Something that was read, or why nothing behind it is.
type Reading<T> = Result<T, Found>;

impl Update {
    /// Reads an update expression.
    pub fn parse(text: &str, substitutes: &mut Substitutes) -> Result<Self, ExpressionFault> {
        parse(text, Grammar::Update, substitutes, Parser::update)
    }
}

impl Condition {
    /// Reads a condition expression.
    pub fn parse(text: &str, substitutes: &mut Substitutes) -> Result<Self, ExpressionFault> {
        parse(text, Grammar::Condition, substitutes, Parser::whole_condition)
    }
}

/// What an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grammar {
    Update,
    Condition,
}

impl Grammar {
    /// Words that are nothing else here, whatever their case.
    const fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Update => &["SET", "REMOVE", "ADD", "DELETE"],
            Self::Condition => &["AND", "OR", "NOT", "BETWEEN", "IN"],
        }
    }

    /// What a function that this grammar has no use for is refused in.
    const fn noun(self) -> &'static str {
        match self {
            Self::Update => "an update expression",
            Self::Condition => "a condition expression",
        }
    }
}

fn parse<'t, 's, T>(
    text: &'t str,
    grammar: Grammar,
    substitutes: &'s mut Substitutes,
    read: fn(&mut Parser<'t, 's>) -> Reading<T>,
) -> Result<T, ExpressionFault> {
    let whole = |kind| ExpressionFault { kind, character: None };
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err(whole(ExpressionFaultKind::TooLong(text.len())));
    }
    let tokens = tokens(text);
    if tokens.len() == 1 {
        return Err(whole(ExpressionFaultKind::Empty));
    }
    let mut parser = Parser { text, tokens, at: 0, grammar, substitutes, noted: None, operators: 0, levels: 0 };
    let read =
        read(&mut parser).and_then(|tree| if parser.peek() == Token::End { Ok(tree) } else { Err(parser.syntax()) });
    let placed =
        |found: Found| ExpressionFault { kind: found.kind, character: Some(text[..found.at].chars().count() + 1) };
    match (read, parser.noted) {
        (Ok(tree), None) => Ok(tree),
        (Err(found), _) | (Ok(_), Some(found)) => Err(placed(found)),
    }
}

struct Parser<'t, 's> {
    text: &'t str,
    tokens: Vec<Placed<'t>>,
    /// The place of the token that is read next.
    at: usize,
    grammar: Grammar,
    substitutes: &'s mut Substitutes,
    noted: Option<Found>,
    operators: usize,
    levels: usize,
}

impl<'t> Parser<'t, '_> {
    fn placed(&self, ahead: usize) -> Placed<'t> {
        // Behind the end is the end.
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> Token<'t> {
        self.placed(0).token
    }

    /// The byte that the next token stands at.
    fn start(&self) -> usize {
        self.placed(0).start
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    /// Takes this sign, if it is next.
    fn take(&mut self, sign: &str) -> bool {
        let is_next = self.peek() == Token::Sign(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Reading<()> {
        if self.take(sign) { Ok(()) } else { Err(self.syntax()) }
    }

    /// Whether this keyword is next.
    fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.peek(), Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// Takes this keyword, if it is next.
    fn take_keyword(&mut self, keyword: &str) -> bool {
        let is_next = self.is_keyword(keyword);
        self.at += usize::from(is_next);
        is_next
    }

    /// That the next token can't stand there.
    fn syntax(&self) -> Found {
        let (token, next) = (self.placed(0), self.placed(1));
        let start = self.at.checked_sub(1).and_then(|before| self.tokens.get(before)).unwrap_or(&token).start;
        let near = shown(&self.text[start..next.end.max(token.end)]);
        Found { kind: ExpressionFaultKind::Syntax { token: shown(token.token.text()), near }, at: token.start }
    }

    /// Notes what is refused, unless something before it is.
    fn note(&mut self, at: usize, kind: ExpressionFaultKind) {
        self.noted.get_or_insert(Found { kind, at });
    }

    /// Counts an operator or function that stands at this byte.
    fn count_operator(&mut self, at: usize) -> Reading<()> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            return Err(Found { kind: ExpressionFaultKind::TooManyOperators, at });
        }
        Ok(())
    }

    /// Reads something that stands one level further in.
    fn inside<T>(&mut self, at: usize, read: impl FnOnce(&mut Self) -> Reading<T>) -> Reading<T> {
        self.levels += 1;
        if self.levels > EXPRESSION_LEVELS_MAX {
            return Err(Found { kind: ExpressionFaultKind::TooManyLevels, at });
        }
        let read = read(self);
        self.levels -= 1;
        read
    }

    /// Reads what is listed between commas.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Reading<T>) -> Reading<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.take(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn path(&mut self) -> Reading<DocumentPath> {
        let start = self.start();
        let mut path = DocumentPath::new(self.name()?);
        loop {
            if self.take(".") {
                path.push(PathStep::Name(self.name()?));
            } else if self.take("[") {
                path.push(PathStep::Index(self.list_index()?));
                self.expect("]")?;
            } else {
                break;
            }
        }
        if path.steps().len() > NESTING_MAX {
            self.note(start, ExpressionFaultKind::PathTooDeep(path.steps().len()));
        }
        Ok(path)
    }

    /// The name of an attribute.
    fn name(&mut self) -> Reading<Arc<str>> {
        let at = self.start();
        let name = match self.peek() {
            Token::Word(word) if !self.grammar.keywords().iter().any(|it| it.eq_ignore_ascii_case(word)) => {
                if is_reserved(word) {
                    self.note(at, ExpressionFaultKind::ReservedName(word.to_owned()));
                }
                word.into()
            }
            Token::Name(placeholder) => self.substitutes.name(placeholder).unwrap_or_else(|| {
                self.noted.get_or_insert(Found { kind: ExpressionFaultKind::UndefinedName(shown(placeholder)), at });
                "".into()
            }),
            _ => return Err(self.syntax()),
        };
        self.advance();
        Ok(name)
    }

    fn list_index(&mut self) -> Reading<usize> {
        let (at, Token::Digits(digits)) = (self.start(), self.peek()) else { return Err(self.syntax()) };
        self.advance();
        let index = digits.parse::<u32>().ok().filter(|index| *index <= LIST_INDEX_MAX);
        if index.is_none() {
            self.note(at, ExpressionFaultKind::ListIndex(shown(digits)));
        }
        Ok(index.and_then(|index| usize::try_from(index).ok()).unwrap_or_default())
    }
}
