//! What finds secrets in what is pushed.

use domain::{Result, git::SecretScanner};
use hmac::Mac;

use crate::Store;

/// What the secret of fingerprints is made of, beside the server's.
const LABEL: &[u8] = b"troupe-secret-scan/v1";

impl Store {
    /// The scanner whose fingerprints are the same on every node.
    pub fn secret_scanner(&self) -> Result<SecretScanner> {
        let secret = self.blobs().signer().clone().chain_update(LABEL).finalize().into_bytes();
        SecretScanner::new(&secret)
    }
}
