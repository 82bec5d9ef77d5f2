//! A person with a passwords vault, and the device that signs for it.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    load::Request,
    report::Result,
    server::{Server, call, program::Person},
};

/// Bytes of a public key, and of a salt.
const KEY_BYTES: usize = 32;

/// Who owns a vault.
pub struct Owner {
    person: Person,
    key: SigningKey,
    device_id: String,
    vault_id: String,
}

impl Owner {
    /// Makes a vault for somebody; `number` sets it apart from the others.
    pub fn create(server: &Server, person: Person, number: usize) -> Result<Self> {
        let seed = Sha256::digest(number.to_le_bytes());
        let owner = Self {
            person,
            key: SigningKey::from_bytes(&seed.into()),
            device_id: device_made_id("device", number),
            vault_id: device_made_id("vault", number),
        };
        let body = json!({
            "accountId": format!("account-{number}"),
            "kdf": { "alg": "argon2id", "m": 65_536, "t": 3, "p": 1 },
            "kdfSalt": STANDARD.encode(seed),
            "keyset": ciphertext(512),
            "encryptionPublicKey": STANDARD.encode([7; KEY_BYTES]),
            "signingPublicKey": STANDARD.encode(owner.key.verifying_key().as_bytes()),
            "vault": { "vaultId": owner.vault_id, "envelope": ciphertext(128), "attrs": ciphertext(64) },
            "device": { "deviceId": owner.device_id, "name": "Phone", "platform": "ios" },
        });
        call(server.address(), owner.signed("POST", "/v1/me/vault", body.to_string())?)?.success()?;
        Ok(owner)
    }

    /// A path below the vault.
    pub fn target(&self, tail: &str) -> String {
        format!("/v1/me/vault/vaults/{}/{tail}", self.vault_id)
    }

    /// A `GET` of the owner's.
    pub fn get(&self, target: &str) -> Request {
        self.person.get(target)
    }

    /// A request with the vault's signature, made now.
    pub fn signed(&self, method: &str, target: &str, body: String) -> Result<Request> {
        let device_id = &self.device_id;
        let signed_at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
        let digest = hex(&Sha256::digest(&body));
        let text = format!("troupe-vault/v1\n{method}\n{target}\n{device_id}\n{signed_at}\n{digest}");
        let signature = URL_SAFE_NO_PAD.encode(self.key.sign(text.as_bytes()).to_bytes());
        let header = format!("v1;d={device_id};t={signed_at};s={signature}");
        let request = Request::new(method, target).bearer(&self.person.token);
        Ok(request.header("X-Vault-Signature", &header).json(body.into_bytes()))
    }
}

/// An id as devices make them: 22 base64url characters.
pub fn device_made_id(kind: &str, number: usize) -> String {
    let digest = Sha256::digest(format!("{kind} {number}"));
    URL_SAFE_NO_PAD.encode(&digest[..16])
}

/// What looks like ciphertext of this many bytes.
pub fn ciphertext(bytes: usize) -> String {
    let blocks = (0..bytes.div_ceil(KEY_BYTES)).map(|block| Sha256::digest(block.to_le_bytes()));
    let all: Vec<u8> = blocks.flatten().take(bytes).collect();
    STANDARD.encode(all)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_22_characters_and_differ() {
        assert_eq!(device_made_id("item", 1).len(), 22);
        assert_ne!(device_made_id("item", 1), device_made_id("item", 2));
    }

    #[test]
    fn ciphertext_has_the_length_of_its_base64() {
        assert_eq!(ciphertext(33).len(), 44);
    }
}
