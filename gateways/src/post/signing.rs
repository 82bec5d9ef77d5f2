//! Signatures of DKIM (RFC 6376, RFC 8463): one for each key, relaxed, over the whole message. `From` is signed once more than it is
//! there, so that nobody adds another one.

use domain::mail::DkimKind;
use mail_auth::{
    common::{
        crypto::{Ed25519Key, RsaKey, Sha256, SigningKey},
        headers::HeaderWriter,
    },
    dkim::{Canonicalization, DkimSigner},
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Fields that are signed, those too that a message doesn't have.
const FIELDS: [&str; 13] = [
    "From",
    "From",
    "Reply-To",
    "To",
    "Cc",
    "Subject",
    "Date",
    "Message-ID",
    "In-Reply-To",
    "References",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
];

/// A key that signs.
#[derive(Clone)]
pub struct Signer {
    /// What its record is found by.
    pub selector: String,
    /// What it is one of.
    pub kind: DkimKind,
    /// The private half (PKCS #8, DER).
    pub private: Vec<u8>,
}

/// The message with a signature of `domain` by each key before it. The text of an error is for the log.
pub fn signed(domain: &str, signers: &[Signer], message: &[u8]) -> Result<Vec<u8>, String> {
    let mut head = String::new();
    for signer in signers {
        head.push_str(&match signer.kind {
            DkimKind::Rsa => {
                let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signer.private.as_slice()));
                let key = RsaKey::<Sha256>::from_key_der(key).map_err(|error| error.to_string())?;
                field(key, domain, &signer.selector, message)?
            }
            DkimKind::Ed25519 => {
                let key = Ed25519Key::from_pkcs8_der(&signer.private).map_err(|error| error.to_string())?;
                field(key, domain, &signer.selector, message)?
            }
        });
    }
    Ok([head.as_bytes(), message].concat())
}

fn field<K: SigningKey>(key: K, domain: &str, selector: &str, message: &[u8]) -> Result<String, String> {
    let signer = DkimSigner::from_key(key)
        .domain(domain)
        .selector(selector)
        .headers(FIELDS)
        .header_canonicalization(Canonicalization::Relaxed)
        .body_canonicalization(Canonicalization::Relaxed);
    let signature = signer.sign(message).map_err(|error| error.to_string())?;
    Ok(signature.to_header())
}
