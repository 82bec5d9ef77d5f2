//! The words of an expression.

use super::{
    fault::{ExpressionFault, FaultKind},
    number::{is_space, read},
    tree::Comparator,
};

/// A word, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    /// The word as it is written.
    pub text: &'a str,
    /// Its first character, from 1.
    pub position: usize,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    Comma,
    Dot,
    Star,
    Not,
    And,
    Or,
    Comparator(Comparator),
    Number(f64),
    Text(String),
    Name,
    True,
    False,
    Null,
}

/// The words of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ExpressionFault> {
    let mut lexer = Lexer { text, at: 0, position: 1, tokens: Vec::new() };
    while let Some(first) = lexer.peek() {
        if matches!(first, ' ' | '\r' | '\t' | '\n') {
            lexer.skip();
        } else {
            lexer.token(first)?;
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    /// The next byte.
    at: usize,
    /// The next character, from 1.
    position: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        let Some(character) = self.peek() else { return };
        self.at += character.len_utf8();
        self.position += 1;
    }

    fn token(&mut self, first: char) -> Result<(), ExpressionFault> {
        let sign = match first {
            '(' => TokenKind::OpenParenthesis,
            ')' => TokenKind::CloseParenthesis,
            '[' => TokenKind::OpenBracket,
            ']' => TokenKind::CloseBracket,
            ',' => TokenKind::Comma,
            '*' => TokenKind::Star,
            '.' if self.dot_follows() => TokenKind::Dot,
            '.' | '-' | '+' | '0'..='9' => return self.number(),
            '\'' => return self.quoted(),
            '!' | '=' | '<' | '>' | '&' | '|' => return self.operator(first),
            _ => return self.name(),
        };
        self.add(sign, 1);
        Ok(())
    }

    /// Whether a dot here looks into what precedes it; else it begins a number.
    fn dot_follows(&self) -> bool {
        use TokenKind::{CloseBracket, CloseParenthesis, Name, Star};
        matches!(self.tokens.last().map(|it| &it.kind), Some(Name | CloseBracket | CloseParenthesis | Star))
    }

    /// Adds the word of the next `len` characters.
    fn add(&mut self, kind: TokenKind, len: usize) {
        let (start, position) = (self.at, self.position);
        for _ in 0..len {
            self.skip();
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        self.tokens.push(Token { kind, text, position });
    }

    fn operator(&mut self, first: char) -> Result<(), ExpressionFault> {
        let is_double = self.rest().chars().nth(1) == Some(if matches!(first, '&' | '|') { first } else { '=' });
        let kind = match (first, is_double) {
            ('!', false) => TokenKind::Not,
            ('!', true) => TokenKind::Comparator(Comparator::NotEqual),
            ('=', true) => TokenKind::Comparator(Comparator::Equal),
            ('<', false) => TokenKind::Comparator(Comparator::Less),
            ('<', true) => TokenKind::Comparator(Comparator::LessOrEqual),
            ('>', false) => TokenKind::Comparator(Comparator::Greater),
            ('>', true) => TokenKind::Comparator(Comparator::GreaterOrEqual),
            ('&', true) => TokenKind::And,
            ('|', true) => TokenKind::Or,
            _ => return Err(self.unexpected(self.word_len(is_boundary))),
        };
        self.add(kind, if is_double { 2 } else { 1 });
        Ok(())
    }

    fn number(&mut self) -> Result<(), ExpressionFault> {
        let len = self.word_len(|it| it != '.' && is_boundary(it));
        let value = read(&self.taken(len));
        if value.is_nan() {
            return Err(self.unexpected(len));
        }
        self.add(TokenKind::Number(value), len);
        Ok(())
    }

    /// A text in quotes; two quotes in it are one.
    fn quoted(&mut self) -> Result<(), ExpressionFault> {
        let mut text = String::new();
        let mut rest = self.rest().chars().skip(1).peekable();
        let mut len = 1;
        while let Some(character) = rest.next() {
            len += 1;
            if character != '\'' {
                text.push(character);
            } else if rest.next_if_eq(&'\'').is_some() {
                len += 1;
                text.push('\'');
            } else {
                self.add(TokenKind::Text(text), len);
                return Ok(());
            }
        }
        Err(self.unexpected(len))
    }

    fn name(&mut self) -> Result<(), ExpressionFault> {
        let len = self.word_len(is_boundary);
        let word = self.taken(len);
        let is_property = self.tokens.last().is_some_and(|it| it.kind == TokenKind::Dot);
        let kind = match word.as_str() {
            _ if !is_name(&word) => return Err(self.unexpected(len)),
            "true" if !is_property => TokenKind::True,
            "false" if !is_property => TokenKind::False,
            "null" if !is_property => TokenKind::Null,
            "NaN" if !is_property => TokenKind::Number(f64::NAN),
            "Infinity" if !is_property => TokenKind::Number(f64::INFINITY),
            _ => TokenKind::Name,
        };
        self.add(kind, len);
        Ok(())
    }

    /// Characters of the word here: the first one, and all until one that ends it.
    fn word_len(&self, ends: impl Fn(char) -> bool) -> usize {
        1 + self.rest().chars().skip(1).take_while(|it| !ends(*it)).count()
    }

    fn taken(&self, len: usize) -> String {
        self.rest().chars().take(len).collect()
    }

    fn unexpected(&self, len: usize) -> ExpressionFault {
        FaultKind::UnexpectedSymbol(self.taken(len)).at(self.position)
    }
}

/// Whether the character ends a name or a number.
fn is_boundary(character: char) -> bool {
    matches!(character, '(' | '[' | ')' | ']' | ',' | '.' | '!' | '>' | '<' | '=' | '&' | '|') || is_space(character)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-'))
}
