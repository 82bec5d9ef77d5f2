//! The second factor: time-based codes (RFC 6238) and recovery codes.

use std::fmt;

use totp_rs::{Builder, Totp};

use crate::{
    account::Email,
    error::{Error, Result},
    time::Timestamp,
    token::{random_bytes, sha256_hex},
};

/// Recovery codes that a person gets when they enrol.
pub const RECOVERY_CODES: usize = 10;
/// What authenticator apps show beside the account.
const ISSUER: &str = "Troupe";
/// Bytes of a secret: the 160 bits that RFC 4226 recommends.
const SECRET_LEN: usize = 20;
/// Characters of a recovery code without its hyphens: 80 bits.
const RECOVERY_LEN: usize = 16;
/// Crockford's base32, whose letters can't be mistaken for digits.
const RECOVERY_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The secret that a person's authenticator app and the server share. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct OtpSecret([u8; SECRET_LEN]);

impl OtpSecret {
    /// A new one.
    pub fn generate() -> Result<Self> {
        random_bytes().map(Self)
    }

    /// The one of these bytes, where there are 20.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes, for the store.
    pub const fn as_bytes(&self) -> &[u8; SECRET_LEN] {
        &self.0
    }

    /// The secret in base32, as people type it into an app that can't scan.
    pub fn to_base32(&self) -> String {
        totp_rs::Secret::new_stack(self.0).to_base32()
    }

    /// The `otpauth://` address that apps scan.
    pub fn uri(&self, account: &Email) -> Result<String> {
        self.totp(account.as_str())?.to_url().map_err(Error::internal)
    }

    /// The step of time that `code` belongs to, where it is right at `now` or was or will be within half a minute, and
    /// its step is later than `last_step`: a code is accepted once.
    pub fn accept(&self, code: &str, now: Timestamp, last_step: i64) -> Option<i64> {
        let seconds = u64::try_from(now.as_millis() / 1000).ok()?;
        let step = self.totp("").ok()?.check(code, seconds)?;
        i64::try_from(step).ok().filter(|step| *step > last_step)
    }

    /// The code at `now`, as an authenticator app shows it.
    pub fn code_at(&self, now: Timestamp) -> Result<String> {
        let seconds = u64::try_from(now.as_millis() / 1000).map_err(Error::internal)?;
        Ok(self.totp("")?.generate(seconds).to_string())
    }

    fn totp(&self, account: &str) -> Result<Totp> {
        Builder::new()
            .with_secret(self.0)
            .with_account_name(account)
            .with_issuer(Some(ISSUER))
            .build()
            .map_err(Error::internal)
    }
}

impl fmt::Debug for OtpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtpSecret(…)")
    }
}

/// A code that stands in for the authenticator app once.
#[derive(Clone, PartialEq, Eq)]
pub struct RecoveryCode(String);

impl RecoveryCode {
    /// A new one.
    pub fn generate() -> Result<Self> {
        let bytes = random_bytes::<RECOVERY_LEN>()?;
        Ok(Self(bytes.iter().map(|byte| char::from(RECOVERY_ALPHABET[usize::from(byte % 32)])).collect()))
    }

    /// Reads a code that somebody typed, however they grouped and spelt it.
    pub fn parse(text: &str) -> Option<Self> {
        let code: String = text
            .chars()
            .filter(|character| !character.is_whitespace() && *character != '-')
            .map(|character| match character.to_ascii_lowercase() {
                'o' => '0',
                'i' | 'l' => '1',
                other => other,
            })
            .collect();
        let fits = code.len() == RECOVERY_LEN && code.bytes().all(|byte| RECOVERY_ALPHABET.contains(&byte));
        fits.then_some(Self(code))
    }

    /// What the store keeps in its place: the SHA-256 of its 80 random bits, in hexadecimal.
    pub fn hash(&self) -> String {
        sha256_hex(self.0.as_bytes())
    }

    /// The code as it is shown, in four groups.
    pub fn reveal(&self) -> String {
        let groups: Vec<&str> = (0..RECOVERY_LEN).step_by(4).map(|start| &self.0[start..start + 4]).collect();
        groups.join("-")
    }
}

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryCode(…)")
    }
}

/// What somebody typed as their second factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecondFactor {
    /// Six digits of an authenticator app.
    Code(String),
    /// One of the recovery codes.
    Recovery(RecoveryCode),
}

impl SecondFactor {
    /// Reads it; nothing when it has neither form.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|character| !character.is_whitespace()).collect();
        if digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::Code(digits));
        }
        RecoveryCode::parse(text).map(Self::Recovery)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const STEP: Duration = Duration::from_secs(30);

    fn secret() -> OtpSecret {
        OtpSecret(*b"12345678901234567890")
    }

    #[test]
    fn codes_are_those_of_the_rfc() {
        // RFC 6238, appendix B, SHA-1, the last six of eight digits.
        for (seconds, code) in [(59, "287082"), (1_111_111_109, "081804"), (2_000_000_000, "279037")] {
            assert_eq!(secret().code_at(Timestamp(seconds * 1000)).unwrap(), code);
        }
    }

    #[test]
    fn a_code_is_right_for_one_step_around_its_own() {
        let made = Timestamp(1_111_111_109_000);
        let code = secret().code_at(made).unwrap();
        let accepted = |now: Timestamp| secret().accept(&code, now, 0).is_some();
        assert!(accepted(made) && accepted(made.after(STEP)) && accepted(made.before(STEP)));
        assert!(!accepted(made.after(STEP * 2)) && !accepted(made.before(STEP * 2)));
    }

    #[test]
    fn a_code_is_accepted_once() {
        let now = Timestamp(1_111_111_109_000);
        let code = secret().code_at(now).unwrap();
        let step = secret().accept(&code, now, 0).unwrap();
        assert_eq!(secret().accept(&code, now, step), None);
        let next = secret().code_at(now.after(STEP)).unwrap();
        assert_eq!(secret().accept(&next, now.after(STEP), step), Some(step + 1));
    }

    #[test]
    fn an_app_is_given_the_usual_address() {
        let uri = secret().uri(&"ada@example.com".parse().unwrap()).unwrap();
        assert!(uri.starts_with("otpauth://totp/Troupe:ada%40example.com?"), "{uri}");
        assert!(uri.contains("secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), "{uri}");
        assert_eq!(secret().to_base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn a_recovery_code_reads_however_it_is_typed() {
        let code = RecoveryCode::generate().unwrap();
        let shown = code.reveal();
        assert_eq!(shown.len(), RECOVERY_LEN + 3);
        for typed in
            [shown.clone(), shown.to_uppercase(), shown.replace('-', ""), format!(" {} ", shown.replace('-', " "))]
        {
            assert_eq!(SecondFactor::parse(&typed), Some(SecondFactor::Recovery(code.clone())), "{typed}");
        }
        assert_eq!(RecoveryCode::parse("OIL0-0000-0000-0000"), RecoveryCode::parse("0110-0000-0000-0000"));
    }

    #[test]
    fn other_texts_are_no_second_factor() {
        for text in ["", "12345", "1234567", "12345a", "uuuu-uuuu-uuuu-uuuu", "0000-0000-0000-000", "１２３４５６"]
        {
            assert_eq!(SecondFactor::parse(text), None, "{text}");
        }
        assert_eq!(SecondFactor::parse("123 456"), Some(SecondFactor::Code("123456".into())));
    }
}
