//! Keys for DKIM: made here, or brought along. This takes the processor for a second, so that it belongs into its pool.

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    Error, Timestamp,
    mail::{DkimKey, DkimKind, DkimPlace, MailDomain},
};
use ring::{
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair},
};
use rsa::{
    RsaPrivateKey,
    pkcs1::DecodeRsaPrivateKey,
    pkcs8::{DecodePrivateKey, EncodePrivateKey, EncodePublicKey},
    rand_core::OsRng,
    traits::PublicKeyParts,
};
use store::mail::DkimPair;

/// Bits of RSA keys that are made here (RFC 8301 3.2).
const RSA_BITS: usize = 2_048;
/// Bits of RSA keys that are brought along: what is shorter must not be used, what is longer isn't verified everywhere.
const BROUGHT_BITS: std::ops::RangeInclusive<usize> = 2_048..=4_096;
const NOT_A_KEY: &str = "Give an RSA key of 2,048 to 4,096 bits in PEM.";

/// What the names of keys that are made here begin with.
const SELECTOR: &str = "trp";

/// The number of the next pair of keys of a claim.
pub(crate) fn next_number(domain: &MailDomain) -> u32 {
    let number = |key: &DkimKey| key.selector.strip_prefix(SELECTOR)?.parse::<u32>().ok();
    domain.keys.iter().filter_map(number).max().unwrap_or(0).saturating_add(1)
}

/// An RSA key and an Ed25519 key, with the number in the names that their records are found by. The text of an error is for
/// the log.
pub(crate) fn made(number: u32, now: Timestamp) -> Result<Vec<DkimPair>, String> {
    let rsa = RsaPrivateKey::new(&mut OsRng, RSA_BITS).map_err(|error| error.to_string())?;
    let selector = format!("{SELECTOR}{number}");
    let ed = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|error| error.to_string())?;
    let public = Ed25519KeyPair::from_pkcs8(ed.as_ref()).map_err(|error| error.to_string())?;
    let ed = DkimPair {
        key: DkimKey {
            selector: format!("{selector}e"),
            kind: DkimKind::Ed25519,
            public: STANDARD.encode(public.public_key()),
            place: DkimPlace::Current,
            since: now,
        },
        private: ed.as_ref().to_vec(),
    };
    Ok(vec![rsa_pair(&rsa, selector, now)?, ed])
}

/// A key that was brought along, under its own name.
pub(crate) fn brought(selector: String, pem: &str, now: Timestamp) -> Result<Vec<DkimPair>, Error> {
    let refused = || Error::invalid("dkim.privateKey", NOT_A_KEY);
    let key = RsaPrivateKey::from_pkcs8_pem(pem).or_else(|_| RsaPrivateKey::from_pkcs1_pem(pem));
    let key = key.map_err(|_| refused())?;
    let fits = BROUGHT_BITS.contains(&key.n().bits()) && key.validate().is_ok();
    if !fits {
        return Err(refused());
    }
    rsa_pair(&key, selector, now).map(|pair| vec![pair]).map_err(Error::internal)
}

fn rsa_pair(key: &RsaPrivateKey, selector: String, now: Timestamp) -> Result<DkimPair, String> {
    let public = key.to_public_key().to_public_key_der().map_err(|error| error.to_string())?;
    let private = key.to_pkcs8_der().map_err(|error| error.to_string())?;
    Ok(DkimPair {
        key: DkimKey {
            selector,
            kind: DkimKind::Rsa,
            public: STANDARD.encode(public.as_bytes()),
            place: DkimPlace::Current,
            since: now,
        },
        private: private.as_bytes().to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use ring::signature::{self, RsaKeyPair, UnparsedPublicKey};

    use super::*;

    #[test]
    fn what_a_made_key_signs_is_verified_with_its_record() {
        let pairs = made(3, Timestamp(1)).unwrap();
        let [rsa, ed] = pairs.as_slice() else { panic!("two keys") };
        assert_eq!((rsa.key.selector.as_str(), ed.key.selector.as_str()), ("trp3", "trp3e"));
        let pair = RsaKeyPair::from_pkcs8(&rsa.private).unwrap();
        let mut signed = vec![0; pair.public().modulus_len()];
        pair.sign(&signature::RSA_PKCS1_SHA256, &SystemRandom::new(), b"a message", &mut signed).unwrap();
        // ring reads the key itself, which stands behind the 24 bytes that say what it is one of.
        let public = STANDARD.decode(&rsa.key.public).unwrap();
        let public = UnparsedPublicKey::new(&signature::RSA_PKCS1_2048_8192_SHA256, &public[24..]);
        public.verify(b"a message", &signed).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(&ed.private).unwrap();
        let public = UnparsedPublicKey::new(&signature::ED25519, STANDARD.decode(&ed.key.public).unwrap());
        public.verify(b"a message", pair.sign(b"a message").as_ref()).unwrap();
        assert_ne!(made(3, Timestamp(1)).unwrap()[0].private, rsa.private);
        assert!(!format!("{rsa:?}").contains("private:"));
    }

    #[test]
    fn only_a_whole_key_is_taken() {
        for pem in ["", "a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert!(matches!(brought("s".to_owned(), pem, Timestamp(1)), Err(Error::Invalid { .. })), "{pem}");
        }
    }
}
