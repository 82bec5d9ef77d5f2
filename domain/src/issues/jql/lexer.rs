//! From characters to words and signs. The longest token wins.

use super::{
    place::Span,
    words::{Keyword, Meaning, meaning},
};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Open,
    Close,
    Comma,
    OpenBracket,
    CloseBracket,
    Bang,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Like,
    NotLike,
    Keyword(Keyword),
    CustomField,
    Number,
    Bare,
    Quoted,
    Bad(BadToken),
    End,
}

/// Why no query holds such a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadToken {
    /// A word that must be quoted.
    ReservedWord,
    /// A character that must be quoted.
    ReservedCharacter,
    /// A character that may stand nowhere, or only as an escape.
    Character,
    /// A backslash before something that it doesn't escape.
    Escape,
    /// A quote that nothing closes.
    OpenQuote,
}

/// A token, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// The tokens of a text, and [`TokenKind::End`] behind them.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if matches!(first, ' ' | '\t' | '\r' | '\n') {
            at += 1;
            continue;
        }
        let (kind, len) = token(&text[at..], first);
        tokens.push(Token { kind, span: Span::new(at, at + len) });
        at += len;
    }
    tokens.push(Token { kind: TokenKind::End, span: Span::new(at, at) });
    tokens
}

/// The token at the beginning of a rest, and its bytes.
fn token(rest: &str, first: char) -> (TokenKind, usize) {
    let followed = |next: &str| rest[1..].starts_with(next);
    let sign = |short, next, long| if followed(next) { (long, 2) } else { (short, 1) };
    match first {
        '(' => (TokenKind::Open, 1),
        ')' => (TokenKind::Close, 1),
        ',' => (TokenKind::Comma, 1),
        '[' => (TokenKind::OpenBracket, 1),
        ']' => (TokenKind::CloseBracket, 1),
        '=' => (TokenKind::Equal, 1),
        '~' => (TokenKind::Like, 1),
        '<' => sign(TokenKind::Less, "=", TokenKind::LessEqual),
        '>' => sign(TokenKind::Greater, "=", TokenKind::GreaterEqual),
        '!' if followed("~") => (TokenKind::NotLike, 2),
        '!' => sign(TokenKind::Bang, "=", TokenKind::NotEqual),
        '&' => (TokenKind::Keyword(Keyword::And), 1 + usize::from(followed("&"))),
        '|' => (TokenKind::Keyword(Keyword::Or), 1 + usize::from(followed("|"))),
        '"' | '\'' => quoted(rest, first),
        '#' | '$' | '%' | '*' | '+' | '/' | ';' | '?' | '@' | '^' | '{' | '}' => {
            (TokenKind::Bad(BadToken::ReservedCharacter), 1)
        }
        _ => bare(rest, first),
    }
}

/// Whether a character stands for itself in a bare string.
pub(super) const fn is_bare(character: char) -> bool {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | ':' | '`' => true,
        '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' => false,
        other => other >= '\u{a0}',
    }
}

/// Whether a character stands for itself between quotes, the closing one and the backslash apart.
pub(super) const fn is_quotable(character: char) -> bool {
    !matches!(
        character,
        '\0'..='\u{9}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}'
    )
}

/// The bytes of the escape that a text begins with.
fn escape(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    match bytes.get(1)? {
        b'n' | b'r' | b't' | b'\\' | b'"' | b'\'' | b' ' => Some(2),
        b'u' => bytes.get(2..6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

fn bare(rest: &str, first: char) -> (TokenKind, usize) {
    let mut len = 0;
    while let Some(next) = rest[len..].chars().next() {
        len += match next {
            '\\' => match escape(&rest[len..]) {
                Some(more) => more,
                None => break,
            },
            _ if is_bare(next) => next.len_utf8(),
            _ => break,
        };
    }
    if len == 0 {
        let bad = if first == '\\' { BadToken::Escape } else { BadToken::Character };
        return (TokenKind::Bad(bad), first.len_utf8());
    }
    let kind = match meaning(&rest[..len]) {
        Meaning::Keyword(keyword) => TokenKind::Keyword(keyword),
        Meaning::CustomField => TokenKind::CustomField,
        Meaning::Reserved => TokenKind::Bad(BadToken::ReservedWord),
        Meaning::Number => TokenKind::Number,
        Meaning::Text => TokenKind::Bare,
    };
    (kind, len)
}

fn quoted(rest: &str, quote: char) -> (TokenKind, usize) {
    let mut len = 1;
    while let Some(next) = rest[len..].chars().next() {
        len += match next {
            '\\' => match escape(&rest[len..]) {
                Some(more) => more,
                None => return (TokenKind::Bad(BadToken::Escape), len + 1),
            },
            _ if next == quote => return (TokenKind::Quoted, len + 1),
            _ if is_quotable(next) => next.len_utf8(),
            _ => return (TokenKind::Bad(BadToken::Character), len + next.len_utf8()),
        };
    }
    (TokenKind::Bad(BadToken::OpenQuote), len)
}

/// What a bare or quoted string says: without quotes, with its escapes resolved. What is no character, and the one with the
/// number zero, is U+FFFD.
pub(super) fn unescaped(token: &str, kind: TokenKind) -> String {
    let inner = if kind == TokenKind::Quoted { &token[1..token.len() - 1] } else { token };
    let mut units: Vec<u16> = Vec::new();
    let mut said = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(next) = rest.chars().next() {
        let len = if next == '\\' { escape(rest).unwrap_or(1) } else { next.len_utf8() };
        if len == 6 {
            units.push(u16::from_str_radix(&rest[2..6], 16).unwrap_or_default());
        } else {
            flush(&mut units, &mut said);
            said.push(if next == '\\' { escaped(rest.as_bytes()[1]) } else { next });
        }
        rest = &rest[len..];
    }
    flush(&mut units, &mut said);
    said
}

fn escaped(byte: u8) -> char {
    match byte {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        other => char::from(other),
    }
}

/// Says the characters that `\u` escapes made, two halves of one as that one.
fn flush(units: &mut Vec<u16>, said: &mut String) {
    for read in char::decode_utf16(units.drain(..)) {
        said.push(read.ok().filter(|read| *read != '\0').unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}
