//! Keys, and tokens that are signed with them.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{
    rand::SystemRandom,
    rsa::KeyPair as RsaKeyPair,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_2048_8192_SHA256,
        UnparsedPublicKey, VerificationAlgorithm,
    },
};
use serde_json::Value;

pub const RSA_PEM: &str = include_str!("rsa_for_tests.pem");

/// A new key on P-256 as PEM, and its public half.
pub fn p256() -> (String, Vec<u8>) {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).expect("a key");
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(pkcs8.as_ref()));
    (pem, key.public_key().as_ref().to_vec())
}

/// Header and claims of a token that the key signed with ES256.
pub fn es256(token: &str, public_key: &[u8]) -> (Value, Value) {
    opened(token, &ECDSA_P256_SHA256_FIXED, public_key)
}

/// Header and claims of a token that the RSA key signed with RS256.
pub fn rs256(token: &str) -> (Value, Value) {
    let der: String = RSA_PEM.lines().filter(|line| !line.starts_with("-----")).collect();
    let key = RsaKeyPair::from_pkcs8(&STANDARD.decode(der).expect("base64")).expect("a key");
    opened(token, &RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref())
}

fn opened(token: &str, algorithm: &'static dyn VerificationAlgorithm, public_key: &[u8]) -> (Value, Value) {
    let (signed, signature) = token.rsplit_once('.').expect("a signature");
    let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
    UnparsedPublicKey::new(algorithm, public_key).verify(signed.as_bytes(), &signature).expect("our signature");
    let (header, claims) = signed.split_once('.').expect("claims");
    let read = |part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("JSON");
    (read(header), read(claims))
}
