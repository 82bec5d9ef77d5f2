//! Cursors of scans and queries: the row behind which the next page begins, signed together with what was asked.
//!
//! A cursor is base64url of the position and of an HMAC over the position, the table, the index, the partition, the
//! direction and the filters; so it goes on with what it came from, and with nothing else. How many items a page has and
//! what is shown of them may change from page to page.

mod position;
mod scope;

pub use position::Position;
pub use scope::{CursorScope, Direction, QueryScope};

use super::invalid_page_cursor;
use crate::{error::Result, signed_cursor::CursorSigner};

/// Characters of a cursor (contract C 4.5).
pub const CURSOR_LEN_MAX: usize = 8_000;
/// What the key of cursors is made of, beside the server's secret.
const KEY_LABEL: &[u8] = b"troupe-databases-cursor/v1";

/// What signs cursors.
#[derive(Clone, Debug)]
pub struct CursorKey(CursorSigner);

impl CursorKey {
    /// The key that belongs to the server's secret. Whoever has another secret refuses its cursors.
    pub fn new(secret: &[u8]) -> Self {
        Self(CursorSigner::new(KEY_LABEL, secret))
    }

    /// The cursor that goes on behind `position`.
    pub fn write(&self, scope: &CursorScope<'_>, position: &Position) -> String {
        let scope = scope.parts();
        let cursor = self.0.write(&scope, &position.to_bytes());
        if cursor.len() <= CURSOR_LEN_MAX { cursor } else { self.0.write(&scope, &position.shortened().to_bytes()) }
    }

    /// The position in a cursor of `scope`; 400 for anything else.
    pub fn read(&self, scope: &CursorScope<'_>, cursor: &str) -> Result<Position> {
        let position = self.0.read(&scope.parts(), cursor, CURSOR_LEN_MAX);
        position.and_then(|bytes| Position::from_bytes(&bytes)).ok_or_else(invalid_page_cursor)
    }
}

#[cfg(test)]
pub(crate) mod tests;
