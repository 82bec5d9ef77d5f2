//! Secrets of access keys, which are made again whenever they are needed.

use std::fmt;

use crate::token::ALPHABET;

/// Random bytes that a secret is made of, beside the id.
pub const ACCESS_KEY_SALT_LEN: usize = 16;
/// Characters of a secret, as many as Amazon's have: 238 bits.
const LEN: usize = 40;

/// The secret of an access key. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessKeySecret(String);

impl AccessKeySecret {
    /// The secret that these bytes are written as: letters and digits, so that every program takes it as it is.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut number = bytes;
        Self((0..LEN).map(|_| char::from(ALPHABET[usize::from(divide(&mut number))])).collect())
    }

    /// The secret itself, to be shown once and to check signatures with.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Divides a number by 62, its first byte being the highest; the rest.
fn divide(number: &mut [u8; 32]) -> u8 {
    let mut rest = 0_u16;
    for byte in number {
        let value = rest << 8 | u16::from(*byte);
        *byte = u8::try_from(value / 62).unwrap_or(u8::MAX);
        rest = value % 62;
    }
    u8::try_from(rest).unwrap_or(0)
}

impl fmt::Debug for AccessKeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessKeySecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_forty_letters_and_digits_of_the_number_that_the_bytes_are() {
        let mut bytes = [0; 32];
        (bytes[30], bytes[31]) = (1, 0);
        // 256 is 4 times 62 and 8, the lowest digit first.
        assert_eq!(AccessKeySecret::from_bytes(bytes).reveal(), format!("84{}", "0".repeat(38)));
        let most = AccessKeySecret::from_bytes([255; 32]);
        assert!(most.reveal().len() == 40 && most.reveal().bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(format!("{most:?}"), "AccessKeySecret");
    }
}
