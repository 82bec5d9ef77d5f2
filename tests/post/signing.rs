//! Signatures of DKIM (RFC 6376, RFC 8463), written by hand so that nobody checks with what they signed with.

use base64::{Engine, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer, SigningKey};
use sha2::{Digest, Sha256};

/// A key of a domain.
pub struct Signature {
    key: SigningKey,
    domain: String,
}

impl Signature {
    pub fn of(domain: &str) -> Self {
        Self { key: SigningKey::from_bytes(&[7; 32]), domain: domain.to_owned() }
    }

    /// The name and the text of its record.
    pub fn record(&self) -> (String, String) {
        let public = STANDARD.encode(self.key.verifying_key().as_bytes());
        (format!("test._domainkey.{}", self.domain), format!("v=DKIM1; k=ed25519; p={public}"))
    }

    /// The message with a signature of its body and of `From`.
    pub fn sign(&self, message: &str) -> String {
        let (head, body) = message.split_once("\r\n\r\n").expect("a head and a body");
        let from = head.lines().find(|line| line.starts_with("From:")).expect("a sender");
        let hash = STANDARD.encode(Sha256::digest(body));
        let Self { domain, .. } = self;
        let field = format!(
            "DKIM-Signature: v=1; a=ed25519-sha256; c=simple/simple; d={domain}; s=test;\r\n h=From; bh={hash}; b="
        );
        let signature = self.key.sign(&Sha256::digest(format!("{from}\r\n{field}")));
        format!("{field}{}\r\n{message}", STANDARD.encode(signature.to_bytes()))
    }
}
