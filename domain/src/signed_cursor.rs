//! Cursors of lists that nobody but this server can make: base64url of a position, and of an HMAC over the position and
//! all that is asked. So a cursor goes on with what it came from, and with nothing else.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Bytes of a cursor's HMAC, of which there would be 32.
const MAC_LEN: usize = 16;

/// What signs the cursors of an area.
#[derive(Clone)]
pub(crate) struct CursorSigner(Hmac<Sha256>);

impl CursorSigner {
    /// The signer that belongs to an area's label and the server's secret. Whoever has another secret refuses its cursors.
    pub(crate) fn new(label: &[u8], secret: &[u8]) -> Self {
        Self(keyed(label, secret))
    }

    /// The cursor of a position, where `scope` are the parts of what is asked.
    pub(crate) fn write(&self, scope: &[Vec<u8>], position: &[u8]) -> String {
        let mac = self.mac(scope, position).finalize().into_bytes();
        URL_SAFE_NO_PAD.encode([position, &mac[..MAC_LEN]].concat())
    }

    /// The position in a cursor of this scope with up to `len_max` characters; none in anything else.
    pub(crate) fn read(&self, scope: &[Vec<u8>], cursor: &str, len_max: usize) -> Option<Vec<u8>> {
        if cursor.len() > len_max {
            return None;
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (position, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_LEN)?)?;
        self.mac(scope, position).verify_truncated_left(mac).ok()?;
        bytes.truncate(bytes.len() - MAC_LEN);
        Some(bytes)
    }

    fn mac(&self, scope: &[Vec<u8>], position: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in scope {
            // Behind its length each part is itself, wherever the next one begins.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.update(position);
        mac
    }
}

/// An HMAC whose key is made of a label and the server's secret.
pub(crate) fn keyed(label: &[u8], secret: &[u8]) -> Hmac<Sha256> {
    let digest = Sha256::new().chain_update(label).chain_update([0]).chain_update(secret).finalize();
    // HMAC fills a shorter key up with zeros to the hash's block.
    let mut block = [0; 64];
    block[..digest.len()].copy_from_slice(&digest);
    Hmac::new(&block.into())
}

impl std::fmt::Debug for CursorSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorSigner")
    }
}
