//! The secret in the addresses at which providers report on a delivery, and people answer it.
//!
//! It is HMAC-SHA256 over the delivery's id with the server's secret: nothing has to be stored, and a stranger can't make
//! one up.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::id::DeliveryId;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::Store;

impl Store {
    /// The token of a delivery's callbacks.
    pub fn delivery_token(&self, id: DeliveryId) -> String {
        URL_SAFE_NO_PAD.encode(self.delivery_mac(id).finalize().into_bytes())
    }

    /// Whether `token` is the one of the delivery's callbacks.
    pub fn delivery_token_holds(&self, id: DeliveryId, token: &str) -> bool {
        URL_SAFE_NO_PAD.decode(token).is_ok_and(|token| self.delivery_mac(id).verify_slice(&token).is_ok())
    }

    fn delivery_mac(&self, id: DeliveryId) -> Hmac<Sha256> {
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-delivery/v1\n{id}").as_bytes());
        mac
    }
}
