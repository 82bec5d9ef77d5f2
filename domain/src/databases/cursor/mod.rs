//! Cursors of scans and queries: the row behind which the next page begins, signed together with what was asked.
//!
//! A cursor is base64url of the position and of an HMAC over the position, the table, the index, the partition, the
//! direction and the filters; so it goes on with what it came from, and with nothing else. How many items a page has and
//! what is shown of them may change from page to page.

mod position;
mod scope;

pub use position::Position;
pub use scope::{CursorScope, Direction, QueryScope};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::invalid_page_cursor;
use crate::error::Result;

/// Characters of a cursor (contract C 4.5).
pub const CURSOR_LEN_MAX: usize = 8_000;
/// Bytes of its HMAC, of which there would be 32.
const MAC_LEN: usize = 16;
/// What the key of cursors is made of, beside the server's secret.
const KEY_LABEL: &[u8] = b"troupe-databases-cursor/v1";

/// What signs cursors.
#[derive(Clone)]
pub struct CursorKey(Hmac<Sha256>);

impl CursorKey {
    /// The key that belongs to the server's secret. Whoever has another secret refuses its cursors.
    pub fn new(secret: &[u8]) -> Self {
        let digest = Sha256::new().chain_update(KEY_LABEL).chain_update([0]).chain_update(secret).finalize();
        // HMAC fills a shorter key up with zeros to the hash's block.
        let mut block = [0; 64];
        block[..digest.len()].copy_from_slice(&digest);
        Self(Hmac::new(&block.into()))
    }

    /// The cursor that goes on behind `position`.
    pub fn write(&self, scope: &CursorScope<'_>, position: &Position) -> String {
        let cursor = self.signed(scope, &position.to_bytes());
        if cursor.len() <= CURSOR_LEN_MAX { cursor } else { self.signed(scope, &position.shortened().to_bytes()) }
    }

    fn signed(&self, scope: &CursorScope<'_>, position: &[u8]) -> String {
        let mac = self.mac(scope, position).finalize().into_bytes();
        URL_SAFE_NO_PAD.encode([position, &mac[..MAC_LEN]].concat())
    }

    fn mac(&self, scope: &CursorScope<'_>, position: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in scope.parts() {
            // Behind its length each part is itself, wherever the next one begins.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(&part);
        }
        mac.update(position);
        mac
    }

    /// The position in a cursor of `scope`; 400 for anything else.
    pub fn read(&self, scope: &CursorScope<'_>, cursor: &str) -> Result<Position> {
        self.position(scope, cursor).ok_or_else(invalid_page_cursor)
    }

    fn position(&self, scope: &CursorScope<'_>, cursor: &str) -> Option<Position> {
        if cursor.len() > CURSOR_LEN_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (position, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_LEN)?)?;
        self.mac(scope, position).verify_truncated_left(mac).ok()?;
        Position::from_bytes(position)
    }
}

impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorKey")
    }
}

#[cfg(test)]
pub(crate) mod tests;
