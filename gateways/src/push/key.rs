//! Keys that sign the tokens (JWT, RFC 7519) by which push services know us.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::Value;

/// A private key that signs with ES256 or RS256.
pub(super) enum SigningKey {
    Es256(Box<EcdsaKeyPair>),
    Rs256(Box<RsaKeyPair>),
}

/// Why a key can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is no PEM with a section `PRIVATE KEY`.
    #[error("it holds no `-----BEGIN PRIVATE KEY-----` (PKCS#8)")]
    Pem,
    /// It is another kind of key.
    #[error("it is no {0} key: {1}")]
    Kind(&'static str, String),
}

impl SigningKey {
    /// A key on the curve P-256, from PEM.
    pub fn es256(pem: &str) -> Result<Self, KeyError> {
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &pkcs8(pem)?, &SystemRandom::new());
        key.map(|key| Self::Es256(Box::new(key))).map_err(|error| KeyError::Kind("P-256", error.to_string()))
    }

    /// An RSA key, from PEM.
    pub fn rs256(pem: &str) -> Result<Self, KeyError> {
        let key = RsaKeyPair::from_pkcs8(&pkcs8(pem)?);
        key.map(|key| Self::Rs256(Box::new(key))).map_err(|error| KeyError::Kind("RSA", error.to_string()))
    }

    /// The public half, as its kind is written.
    pub fn public(&self) -> &[u8] {
        match self {
            Self::Es256(key) => key.public_key().as_ref(),
            Self::Rs256(key) => key.public_key().as_ref(),
        }
    }

    /// A signed token. The header gets its `alg`.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn token(&self, mut header: Value, claims: &Value) -> Result<String, String> {
        header["alg"] = Value::from(match self {
            Self::Es256(_) => "ES256",
            Self::Rs256(_) => "RS256",
        });
        let encoded = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = self.sign(signed.as_bytes()).map_err(|_| "a token can't be signed".to_owned())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn sign(&self, text: &[u8]) -> Result<Vec<u8>, ring::error::Unspecified> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(key) => Ok(key.sign(&random, text)?.as_ref().to_vec()),
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature)?;
                Ok(signature)
            }
        }
    }
}

fn pkcs8(pem: &str) -> Result<Vec<u8>, KeyError> {
    let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::Pem)?;
    Ok(key.secret_pkcs8_der().to_vec())
}
