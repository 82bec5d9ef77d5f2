//! What only the browser can read: message encryption for Web Push (RFC 8291), coded as `aes128gcm` (RFC 8188).

use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral},
    error::Unspecified,
    hkdf::{HKDF_SHA256, KeyType, Salt},
    rand::{SecureRandom, SystemRandom},
};

/// Bytes of a public key on P-256, uncompressed.
pub(super) const PUBLIC_KEY_BYTES: usize = 65;
/// Bytes of the secret that a browser makes.
pub(super) const AUTH_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
/// Bytes of one record; the message is one record.
const RECORD_BYTES: u32 = 4_096;
/// Bytes of salt, record size and key before the record.
const HEADER_BYTES: usize = SALT_BYTES + 4 + 1 + PUBLIC_KEY_BYTES;
/// Ends the last record.
const DELIMITER: u8 = 2;
/// Bytes that can be encrypted, at most: push services need not take more than 4,096 (RFC 8030, 7.2).
pub(super) const PLAIN_BYTES_MAX: usize = 4_096 - HEADER_BYTES - 1 - 16;

/// To whom it is encrypted.
pub(super) struct Reader {
    pub public_key: [u8; PUBLIC_KEY_BYTES],
    pub auth: [u8; AUTH_BYTES],
}

/// What one message is encrypted with, beside the reader's own.
struct Sender<'a> {
    public_key: &'a [u8],
    shared_secret: &'a [u8],
    salt: [u8; SALT_BYTES],
}

/// Encrypts a message with a key of its own.
///
/// # Errors
/// The reader's key is no point on the curve.
pub(super) fn encrypt(plain: &[u8], reader: &Reader) -> Result<Vec<u8>, Unspecified> {
    let random = SystemRandom::new();
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt)?;
    let key = EphemeralPrivateKey::generate(&ECDH_P256, &random)?;
    let public_key = key.compute_public_key()?;
    agree_ephemeral(key, &UnparsedPublicKey::new(&ECDH_P256, reader.public_key), |shared_secret| {
        seal(plain, reader, &Sender { public_key: public_key.as_ref(), shared_secret, salt })
    })?
}

fn seal(plain: &[u8], reader: &Reader, sender: &Sender<'_>) -> Result<Vec<u8>, Unspecified> {
    let mut input = [0; 32];
    Salt::new(HKDF_SHA256, &reader.auth)
        .extract(sender.shared_secret)
        .expand(&[b"WebPush: info\0", &reader.public_key, sender.public_key], HKDF_SHA256)?
        .fill(&mut input)?;
    let secret = Salt::new(HKDF_SHA256, &sender.salt).extract(&input);
    let key = LessSafeKey::new(UnboundKey::from(secret.expand(&[b"Content-Encoding: aes128gcm\0"], &AES_128_GCM)?));
    let mut nonce = [0; NONCE_LEN];
    secret.expand(&[b"Content-Encoding: nonce\0"], NonceLength)?.fill(&mut nonce)?;

    let mut record = [plain, &[DELIMITER]].concat();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record)?;
    let key_bytes = u8::try_from(sender.public_key.len()).map_err(|_| Unspecified)?;
    Ok([&sender.salt[..], &RECORD_BYTES.to_be_bytes(), &[key_bytes], sender.public_key, &record].concat())
}

struct NonceLength;

impl KeyType for NonceLength {
    fn len(&self) -> usize {
        NONCE_LEN
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    /// The example of RFC 8291, section 5 and appendix A.
    #[test]
    fn the_standards_own_example_is_encrypted_as_it_says() {
        let reader = Reader {
            public_key: bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            )
            .try_into()
            .unwrap(),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg").try_into().unwrap(),
        };
        let public_key =
            bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
        let sender = Sender {
            public_key: &public_key,
            shared_secret: &bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
            salt: bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap(),
        };
        let sealed = seal(b"When I grow up, I want to be a watermelon", &reader, &sender).unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(sealed),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru\
             3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn the_longest_message_is_what_push_services_must_take() {
        let random = SystemRandom::new();
        let key = EphemeralPrivateKey::generate(&ECDH_P256, &random).unwrap();
        let public_key = key.compute_public_key().unwrap().as_ref().try_into().unwrap();
        let reader = Reader { public_key, auth: [7; AUTH_BYTES] };
        assert_eq!(encrypt(&vec![b'x'; PLAIN_BYTES_MAX], &reader).unwrap().len(), 4_096);
    }

    #[test]
    fn a_key_that_is_no_point_on_the_curve_is_refused() {
        let mut public_key = [1; PUBLIC_KEY_BYTES];
        public_key[0] = 4;
        assert!(encrypt(b"hello", &Reader { public_key, auth: [7; AUTH_BYTES] }).is_err());
    }
}
