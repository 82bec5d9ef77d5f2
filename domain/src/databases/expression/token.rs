//! Expressions as tokens.

/// What an expression is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A keyword, a function's name, or that of an attribute.
    Word(&'t str),
    /// `#name`
    Name(&'t str),
    /// `:value`
    Value(&'t str),
    /// A position in a list.
    Digits(&'t str),
    /// `= <> < <= > >= ( ) [ ] . , + -`
    Sign(&'t str),
    /// Something that nothing can be made of.
    Unknown(&'t str),
    /// The end.
    End,
}

impl<'t> Token<'t> {
    /// The token as it stands there.
    pub const fn text(self) -> &'t str {
        match self {
            Self::Word(text)
            | Self::Name(text)
            | Self::Value(text)
            | Self::Digits(text)
            | Self::Sign(text)
            | Self::Unknown(text) => text,
            Self::End => "<EOF>",
        }
    }
}

/// A token and the bytes at which it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'t> {
    pub token: Token<'t>,
    pub start: usize,
    pub end: usize,
}

/// The tokens of an expression, the last of which is its end.
pub(super) fn tokens(text: &str) -> Vec<Placed<'_>> {
    let (mut tokens, mut start) = (Vec::new(), 0);
    loop {
        start += text[start..].len() - text[start..].trim_start_matches([' ', '\t', '\r', '\n']).len();
        let len = token_len(&text[start..]);
        let end = start + len;
        let token = token(&text[start..end]);
        tokens.push(Placed { token, start, end });
        if token == Token::End {
            return tokens;
        }
        start = end;
    }
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Bytes of the token that the text begins with.
fn token_len(text: &str) -> usize {
    let run = |from: usize, is_in: fn(u8) -> bool| from + text[from..].bytes().take_while(|byte| is_in(*byte)).count();
    match text.as_bytes() {
        [] => 0,
        [b'<', b'>' | b'=', ..] | [b'>', b'=', ..] => 2,
        [b'#' | b':', ..] => run(1, is_word_byte),
        [b'0'..=b'9', ..] => run(0, |byte| byte.is_ascii_digit()),
        [first, ..] if is_word_byte(*first) => run(0, is_word_byte),
        _ => text.chars().next().map_or(0, char::len_utf8),
    }
}

fn token(text: &str) -> Token<'_> {
    match text.as_bytes() {
        [] => Token::End,
        [b'#', _, ..] => Token::Name(text),
        [b':', _, ..] => Token::Value(text),
        [b'0'..=b'9', ..] => Token::Digits(text),
        [first, ..] if is_word_byte(*first) => Token::Word(text),
        [b'=' | b'<' | b'>' | b'(' | b')' | b'[' | b']' | b'.' | b',' | b'+' | b'-', ..] => Token::Sign(text),
        _ => Token::Unknown(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_tokens() {
        let read = |text| tokens(text).into_iter().map(|placed| placed.token).collect::<Vec<_>>();
        assert_eq!(read(" \t\r\n"), [Token::End]);
        assert_eq!(
            read("SET a_1.#b[02]=:c-<>>=<=é# :"),
            [
                Token::Word("SET"),
                Token::Word("a_1"),
                Token::Sign("."),
                Token::Name("#b"),
                Token::Sign("["),
                Token::Digits("02"),
                Token::Sign("]"),
                Token::Sign("="),
                Token::Value(":c"),
                Token::Sign("-"),
                Token::Sign("<>"),
                Token::Sign(">="),
                Token::Sign("<="),
                Token::Unknown("é"),
                Token::Unknown("#"),
                Token::Unknown(":"),
                Token::End,
            ]
        );
        assert_eq!(read("1a"), [Token::Digits("1"), Token::Word("a"), Token::End]);
    }
}
