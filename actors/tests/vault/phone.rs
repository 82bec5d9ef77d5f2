//! A phone that signs what it asks an owner for.

use std::sync::atomic::{AtomicI64, Ordering};

use actors::vault::{ChangeItems, CreateVault, DeleteVault, PutDevice};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    Timestamp,
    vault::{
        AccountId, DeviceDraft, DeviceId, ItemChange, ItemChanges, ItemId, Kdf, NewVault, Proof, Sealed, SignedRequest,
        SigningKey, VaultId, VaultSignature,
    },
};
use ed25519_dalek::{Signer, SigningKey as SecretKey};
use store::Clock;

pub struct Phone {
    pub vault_id: VaultId,
    pub device_id: DeviceId,
    key: SecretKey,
    signed: AtomicI64,
}

fn id<T: std::str::FromStr>(number: u8) -> T {
    format!("{number:A>22}").parse().unwrap_or_else(|_| panic!("22 characters"))
}

pub fn item_id(number: u8) -> ItemId {
    id(number)
}

impl Phone {
    /// The first device of a vault with a key of its own.
    pub fn new(number: u8) -> Self {
        Self {
            vault_id: id(number),
            device_id: id(number),
            key: SecretKey::from_bytes(&[number; 32]),
            signed: AtomicI64::new(0),
        }
    }

    /// Another device with the same key.
    pub fn another(&self, number: u8) -> Self {
        Self {
            vault_id: self.vault_id,
            device_id: id(number),
            key: self.key.clone(),
            signed: AtomicI64::new(i64::from(number) * 100),
        }
    }

    /// The same ids with another key.
    pub fn with_another_key(&self, number: u8) -> Self {
        Self { vault_id: self.vault_id, device_id: self.device_id, ..Self::new(number) }
    }

    fn proof(&self, clock: &Clock) -> Proof {
        let signed_at = Timestamp(clock.now().0 + self.signed.fetch_add(1, Ordering::Relaxed));
        let unsigned = VaultSignature { device_id: self.device_id, signed_at, bytes: [0; 64] };
        let text = SignedRequest::new(unsigned, "POST", "/", b"");
        let signature = VaultSignature { bytes: self.key.sign(text.text().as_bytes()).to_bytes(), ..unsigned };
        Proof::Signed(Box::new(SignedRequest::new(signature, "POST", "/", b"")))
    }

    fn draft(&self) -> DeviceDraft {
        DeviceDraft::check("", Ok(self.device_id), "Phone", "ios").expect("a device")
    }

    pub fn create(&self, clock: &Clock) -> CreateVault {
        let sealed = || Sealed::from_json_text("\"sealed\"");
        let vault = NewVault {
            account_id: AccountId::parse("account".to_owned()).expect("an account id"),
            kdf: Kdf { m: 65_536, t: 3, p: 1 },
            kdf_salt: "c2FsdHNhbHQ=".to_owned(),
            keyset: sealed(),
            encryption_public_key: "AAAA".to_owned(),
            signing_key: SigningKey::parse("", &STANDARD.encode(self.key.verifying_key().as_bytes())).expect("a key"),
            vault_id: self.vault_id,
            envelope: sealed(),
            attrs: sealed(),
            device: self.draft(),
        };
        CreateVault { vault, proof: self.proof(clock) }
    }

    pub fn put_device(&self, clock: &Clock) -> PutDevice {
        PutDevice { draft: self.draft(), proof: self.proof(clock) }
    }

    pub fn delete_vault(&self, clock: &Clock) -> DeleteVault {
        DeleteVault { proof: self.proof(clock) }
    }

    pub fn put_item(&self, item_id: ItemId, base_revision: i64, clock: &Clock) -> ChangeItems {
        let sealed = || Some(Sealed::from_json_text("\"sealed\""));
        let change =
            ItemChange { item_id, base_revision, deleted: false, key: sealed(), overview: sealed(), details: sealed() };
        let changes = ItemChanges::check(vec![change]).expect("one change");
        ChangeItems { vault_id: self.vault_id, changes, proof: self.proof(clock) }
    }
}
