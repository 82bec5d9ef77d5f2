//! Confirming a telephone number: a code is texted to it, and typed back. Nothing else is texted before.

use std::time::Duration;

use crate::{
    Error, Result, Timestamp,
    id::UserId,
    token::{random_bytes, sha256_hex},
};

/// How long a code can be typed back.
pub const CODE_LASTS: Duration = Duration::from_mins(10);
/// Wrong codes before the right one counts no more.
pub const CODE_TRIES_MAX: u32 = 5;
/// Codes that a person can have sent in [`CODES_COUNTED_FOR`], and codes that one number can be sent.
pub const CODES_MAX: u32 = 5;
/// How long a code that was sent counts.
pub const CODES_COUNTED_FOR: Duration = Duration::from_hours(1);
/// Digits of a code.
const CODE_LEN: usize = 6;

/// Six digits. `Debug` does not print them.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfirmationCode(String);

impl ConfirmationCode {
    /// A code that nobody chose.
    pub fn generate() -> Result<Self> {
        // Of 2^64 numbers, the last ones that make no whole million weigh nothing.
        let number = u64::from_be_bytes(random_bytes()?) % 1_000_000;
        Ok(Self(format!("{number:06}")))
    }

    /// Reads a code that somebody typed; spaces and hyphens in it don't count.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let digits: String = text.chars().filter(|character| !matches!(character, ' ' | '-')).collect();
        if digits.len() == CODE_LEN && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(digits))
        } else {
            Err(Error::invalid(path, "Use the six digits of the code."))
        }
    }

    /// What is kept in its place: it tells nobody the code of another person or number.
    pub fn hash(&self, user_id: UserId, phone: &str) -> String {
        sha256_hex(format!("{user_id}\n{phone}\n{}", self.0).as_bytes())
    }

    /// The digits.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ConfirmationCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConfirmationCode(…)")
    }
}

/// Counts one more code that is sent at `now` among those sent before, of which it forgets the ones that count no more;
/// 429 when there were too many.
pub fn count_code(sent_at: &mut Vec<Timestamp>, now: Timestamp) -> Result<()> {
    sent_at.retain(|at| at.after(CODES_COUNTED_FOR) > now);
    if sent_at.len() < CODES_MAX as usize {
        sent_at.push(now);
        return Ok(());
    }
    let first = sent_at.iter().min().copied().unwrap_or(now);
    Err(too_many_codes(first.after(CODES_COUNTED_FOR).since(now)))
}

/// 429: codes were sent too often.
pub fn too_many_codes(retry_after: Duration) -> Error {
    Error::RateLimited { message: "That was too many codes; try again later.".into(), retry_after }
}

/// 409: no code waits to be typed back.
pub fn no_code() -> Error {
    Error::conflict("no_code", "That code has expired. Ask for a new one.")
}

/// 403: another code was sent.
pub fn wrong_code() -> Error {
    Error::forbidden("wrong_code", "That code is wrong.")
}

/// 409: the server has no way to text.
pub fn no_texts() -> Error {
    Error::conflict("texts_unavailable", "This server can't send texts.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    #[test]
    fn a_code_has_six_digits_however_it_is_typed() {
        for _ in 0..100 {
            let code = ConfirmationCode::generate().unwrap();
            assert_eq!(ConfirmationCode::parse("code", code.reveal()).unwrap(), code);
        }
        assert_eq!(ConfirmationCode::parse("code", " 012-345 ").unwrap().reveal(), "012345");
        for text in ["", "12345", "1234567", "12345a", "１２３４５６"] {
            assert!(ConfirmationCode::parse("code", text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_hash_counts_for_one_person_and_number() {
        let code = ConfirmationCode::parse("code", "123456").unwrap();
        let (ada, bob) = (UserId::new(NOW), UserId::new(NOW));
        assert_eq!(code.hash(ada, "+431"), code.hash(ada, "+431"));
        assert_ne!(code.hash(ada, "+431"), code.hash(bob, "+431"));
        assert_ne!(code.hash(ada, "+431"), code.hash(ada, "+432"));
    }

    #[test]
    fn five_codes_go_out_in_an_hour() {
        let mut sent_at = Vec::new();
        let minute = |number: u64| NOW.after(Duration::from_mins(number));
        for number in 0..5 {
            count_code(&mut sent_at, minute(number)).unwrap();
        }
        let refused = count_code(&mut sent_at, minute(59)).unwrap_err();
        assert_eq!(refused.retry_after(), Some(Duration::from_mins(1)));
        count_code(&mut sent_at, minute(60)).unwrap();
        assert!(count_code(&mut sent_at, minute(60)).is_err());
    }
}
