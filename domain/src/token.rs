//! Bearer secrets: recognizable, checkable without a store, and stored only as a hash.
//!
//! A token is `trp_`, a letter for its kind, `_`, 43 random characters of base62 (256 bits), and six more that hold the
//! CRC-32 of everything before them. The check-sum is no protection; it lets a scanner that finds a token in a log or a
//! repository tell it from a look-alike, and lets the server refuse garbage before it asks the store.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Letters and digits.
pub(crate) const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Random characters: 43 times log2(62) is 256.03 bits.
const RANDOM_LEN: usize = 43;
/// Characters of the check-sum: 62^6 is above 2^32.
const CHECK_LEN: usize = 6;
/// Bytes of a token's text.
pub const TOKEN_LEN: usize = "trp_p_".len() + RANDOM_LEN + CHECK_LEN;

/// What a token opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A person's sign-in (`trp_p_…`).
    SignIn,
    /// An organization's key (`trp_k_…`).
    Key,
    /// An invitation (`trp_i_…`).
    Invite,
    /// A hook that alarms come in by (`trp_h_…`).
    Hook,
    /// A program that runs jobs (`trp_r_…`).
    Runner,
    /// What registers such a program, once (`trp_t_…`).
    RunnerRegistration,
    /// A job that a runner has (`trp_j_…`).
    Job,
    /// An app password of a person (`trp_a_…`), for mail clients.
    AppPassword,
}

impl TokenKind {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::SignIn,
        Self::Key,
        Self::Invite,
        Self::Hook,
        Self::Runner,
        Self::RunnerRegistration,
        Self::Job,
        Self::AppPassword,
    ];

    /// What its tokens start with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::SignIn => "trp_p_",
            Self::Key => "trp_k_",
            Self::Invite => "trp_i_",
            Self::Hook => "trp_h_",
            Self::Runner => "trp_r_",
            Self::RunnerRegistration => "trp_t_",
            Self::Job => "trp_j_",
            Self::AppPassword => "trp_a_",
        }
    }
}

/// The SHA-256 of a token's text: what the store keeps in its place.
///
/// A plain hash is enough, as the text has 256 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// The text is no token: another form, or a wrong check-sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a token")]
pub struct NotAToken;

/// The SHA-256 of `bytes`, in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// A bearer secret. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    kind: TokenKind,
    text: String,
}

impl Token {
    /// A new one. Fails only where the operating system has no randomness to give.
    pub fn generate(kind: TokenKind) -> Result<Self> {
        let mut text = String::with_capacity(TOKEN_LEN);
        text.push_str(kind.prefix());
        text.push_str(&random_base62(RANDOM_LEN)?);
        let check = check_sum(&text);
        text.extend(check);
        Ok(Self { kind, text })
    }

    /// What it opens.
    pub const fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The secret itself, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What the store keeps in its place.
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.text.as_bytes()).into())
    }
}

impl FromStr for Token {
    type Err = NotAToken;

    fn from_str(text: &str) -> Result<Self, NotAToken> {
        if text.len() != TOKEN_LEN || !text.is_ascii() {
            return Err(NotAToken);
        }
        let kind = TokenKind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix())).ok_or(NotAToken)?;
        let (body, check) = text.split_at(TOKEN_LEN - CHECK_LEN);
        if !body[kind.prefix().len()..].bytes().all(|byte| byte.is_ascii_alphanumeric())
            || !check.chars().eq(check_sum(body))
        {
            return Err(NotAToken);
        }
        Ok(Self { kind, text: text.to_owned() })
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}…", self.kind.prefix())
    }
}

/// `len` characters of base62, each drawn evenly.
pub(crate) fn random_base62(len: usize) -> Result<String> {
    // A byte below 248 falls evenly on the 62 characters; the others are drawn again.
    const EVEN: u8 = 248;
    let mut text = String::with_capacity(len);
    while text.len() < len {
        for byte in random_bytes::<64>()? {
            if byte < EVEN && text.len() < len {
                text.push(char::from(ALPHABET[usize::from(byte % 62)]));
            }
        }
    }
    Ok(text)
}

/// Bytes from the operating system's generator.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::internal(format_args!("no randomness: {error}")))?;
    Ok(bytes)
}

fn check_sum(body: &str) -> impl Iterator<Item = char> + use<> {
    let sum = crc32fast::hash(body.as_bytes());
    (0..CHECK_LEN).rev().map(move |place| {
        let digit = u64::from(sum) / 62_u64.pow(u32::try_from(place).unwrap_or(0)) % 62;
        char::from(ALPHABET[usize::try_from(digit).unwrap_or(0)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_as_itself() {
        for kind in TokenKind::ALL {
            let token = Token::generate(kind).unwrap();
            assert!(token.reveal().starts_with(kind.prefix()));
            assert_eq!(token.reveal().len(), TOKEN_LEN);
            let read: Token = token.reveal().parse().unwrap();
            assert_eq!(read, token);
            assert_eq!(read.hash(), token.hash());
        }
    }

    #[test]
    fn two_tokens_differ() {
        let (one, other) = (Token::generate(TokenKind::Key).unwrap(), Token::generate(TokenKind::Key).unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_ne!(one.hash(), other.hash());
    }

    #[test]
    fn a_changed_character_is_noticed_wherever_it_stands() {
        let text = Token::generate(TokenKind::SignIn).unwrap().reveal().to_owned();
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(changed.parse::<Token>(), Err(NotAToken), "{changed}");
        }
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let text = Token::generate(TokenKind::SignIn).unwrap().reveal().to_owned();
        let cut = &text[..TOKEN_LEN - 1];
        for text in ["", "trp_p_", cut, &format!("{text}0"), &format!("{cut}é"), &text.to_uppercase()] {
            assert_eq!(text.parse::<Token>(), Err(NotAToken), "{text}");
        }
    }

    #[test]
    fn a_known_check_sum_stays_what_it_is() {
        // CRC-32 of "123456789" is cbf43926 in hex, 3421780262 in decimal.
        assert_eq!(check_sum("123456789").collect::<String>(), "3jZRME");
    }

    #[test]
    fn the_secret_does_not_reach_a_log() {
        let token = Token::generate(TokenKind::SignIn).unwrap();
        assert_eq!(format!("{token:?}"), "trp_p_…");
    }
}
