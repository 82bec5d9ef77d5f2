//! What is wrong with a query, and where.

use super::{
    JQL_LEN_MAX,
    lexer::{BadToken, Token, TokenKind},
    place::{Place, Span},
};

/// A query can't be read, or means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {}, character {})", start.line, start.character)]
pub struct JqlFault {
    /// What is wrong, as a sentence.
    pub message: String,
    /// Where that begins.
    pub start: Place,
    /// Where that ends.
    pub end: Place,
    /// What could have stood there instead.
    pub expected: &'static [&'static str],
}

impl JqlFault {
    pub(super) fn new(text: &str, span: Span, message: impl Into<String>) -> Self {
        let (start, end) = (Place::of(text, span.start), Place::of(text, span.end));
        Self { message: message.into(), start, end, expected: &[] }
    }

    pub(super) fn too_long(text: &str) -> Self {
        Self::new(text, Span::new(0, text.len()), format!("A query has at most {JQL_LEN_MAX} characters."))
    }

    /// A token that can't stand where it stands.
    pub(super) fn unexpected(text: &str, token: Token, expected: &'static [&'static str]) -> Self {
        let said = token.span.of(text);
        let message = match token.kind {
            TokenKind::Bad(bad) => bad_token(bad, said),
            TokenKind::End => format!("The query ends where {} was expected.", listed(expected)),
            _ => format!("Expected {}, but got '{said}'.", listed(expected)),
        };
        Self { expected, ..Self::new(text, token.span, message) }
    }
}

fn bad_token(bad: BadToken, said: &str) -> String {
    match bad {
        BadToken::ReservedWord => format!("'{said}' is a reserved word. Put it in quotes."),
        BadToken::ReservedCharacter => format!("The character '{said}' is reserved. Put it in quotes."),
        BadToken::Escape => {
            "A backslash may stand before n, r, t, a quote, a space, another backslash, and u with four hexadecimal digits."
                .to_owned()
        }
        BadToken::OpenQuote => "The quote is never closed.".to_owned(),
        BadToken::Character => {
            let code = said.chars().next_back().map_or(0, u32::from);
            format!("The character U+{code:04X} can't stand in a query. Write '\\u{code:04x}' in its place.")
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
fn listed(expected: &[&str]) -> String {
    match expected {
        [] => "nothing more".to_owned(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
