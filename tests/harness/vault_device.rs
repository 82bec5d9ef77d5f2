//! A device that holds the key of a passwords vault, and signs what it asks for.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ed25519_dalek::{Signer, SigningKey};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::Clock;

use super::{Answer, Client, Dice, Request};

/// A device, its sign-in, and the vault's key.
#[derive(Clone, Debug)]
pub struct VaultDevice {
    pub client: Client,
    pub vault_id: String,
    pub device_id: String,
    pub key: SigningKey,
    pub clock: Clock,
    /// No two signatures of a vault carry one time, so that none is taken for another's repetition.
    pub last_signed_at: Arc<AtomicI64>,
}

impl VaultDevice {
    /// A first device of a vault that is still to be made.
    pub fn new(client: Client, clock: Clock, dice: &mut Dice) -> Self {
        Self {
            client,
            vault_id: dice.device_made_id(),
            device_id: dice.device_made_id(),
            key: SigningKey::from_bytes(&dice.bytes()),
            clock,
            last_signed_at: Arc::default(),
        }
    }

    /// Another device of the same vault; still to be registered.
    pub fn another(&self, client: Client, dice: &mut Dice) -> Self {
        Self { client, device_id: dice.device_made_id(), ..self.clone() }
    }

    /// The same device, talking to another server.
    pub fn at(&self, base: &str) -> Self {
        Self { client: self.client.at(base), ..self.clone() }
    }

    /// A request that the vault has signed; its body goes exactly as it was signed.
    pub fn signed(&self, method: Method, path: &str, body: Option<&Value>) -> Request {
        let raw = body.map(ToString::to_string).unwrap_or_default();
        let signature = self.sign(&method, path, &raw);
        let request = self.client.request(method, path).header("X-Vault-Signature", signature);
        if body.is_some() { request.raw(raw) } else { request }
    }

    fn sign(&self, method: &Method, path: &str, body: &str) -> String {
        let now = self.clock.now().0;
        let next = |last: i64| Some(now.max(last + 1));
        let before = self.last_signed_at.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).unwrap();
        self.sign_at(now.max(before + 1), method, path, body)
    }

    /// The header that signs such a request, as if it was `signed_at`.
    pub fn sign_at(&self, signed_at: i64, method: &Method, path: &str, body: &str) -> String {
        let digest = base16(&Sha256::digest(body.as_bytes()));
        let text = format!("troupe-vault/v1\n{method}\n{path}\n{}\n{signed_at}\n{digest}", self.device_id);
        let signature = URL_SAFE_NO_PAD.encode(self.key.sign(text.as_bytes()).to_bytes());
        format!("v1;d={};t={signed_at};s={signature}", self.device_id)
    }

    /// Makes the vault, with this as its first device.
    pub async fn create(&self) -> Answer {
        self.signed(Method::POST, "/v1/me/vault", Some(&self.creation())).send().await.expect(201)
    }

    /// The body that makes the vault.
    pub fn creation(&self) -> Value {
        json!({
            "accountId": "account-1",
            "kdf": { "alg": "argon2id", "m": 65_536, "t": 3, "p": 1 },
            "kdfSalt": "c2FsdHNhbHRzYWx0c2FsdA==",
            "keyset": "sealed keyset",
            "encryptionPublicKey": STANDARD.encode([9; 32]),
            "signingPublicKey": STANDARD.encode(self.key.verifying_key().as_bytes()),
            "vault": { "vaultId": self.vault_id, "envelope": "sealed envelope", "attrs": "sealed attributes" },
            "device": { "deviceId": self.device_id, "name": "A phone", "platform": "ios" },
        })
    }

    /// Registers this device.
    pub async fn register(&self) -> Answer {
        let path = format!("/v1/me/vault/devices/{}", self.device_id);
        self.signed(Method::PUT, &path, Some(&json!({ "name": "A phone", "platform": "ios" }))).send().await.expect(200)
    }

    pub fn items_path(&self) -> String {
        format!("/v1/me/vault/vaults/{}/items", self.vault_id)
    }

    /// A signed change set, ready to be sent.
    pub fn change(&self, changes: &[Value]) -> Request {
        self.signed(Method::POST, &self.items_path(), Some(&json!({ "changes": changes })))
    }

    pub async fn items(&self, ids: &[String]) -> Vec<Value> {
        let answer = self.client.get(&format!("{}?ids={}", self.items_path(), ids.join(","))).send().await.expect(200);
        answer.list("/items").to_vec()
    }

    pub async fn index(&self) -> Answer {
        self.client.get(&format!("/v1/me/vault/vaults/{}/index", self.vault_id)).send().await.expect(200)
    }
}

/// Lower-case hexadecimal digits.
fn base16(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).expect("four bits");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A change that puts this content into an item.
pub fn item_put(item_id: &str, base_revision: i64, content: &str) -> Value {
    json!({
        "itemId": item_id,
        "baseRevision": base_revision,
        "key": format!("key of {content}"),
        "overview": format!("overview of {content}"),
        "details": content,
    })
}

/// A change that deletes an item.
pub fn item_deletion(item_id: &str, base_revision: i64) -> Value {
    json!({ "itemId": item_id, "baseRevision": base_revision, "deleted": true })
}
