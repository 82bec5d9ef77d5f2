//! Private keys in PEM and in OpenSSH's form, which is like it.
//!
//! A block counts where it has a key in it: between its first line and its last there is base64 enough for the smallest one. The
//! lines may be those of a text in source code, in quotes, or with `\n` in the place of their ends.

use std::ops::Range;

use super::token::differs;

/// Bytes of a block, at most: a key of 16,384 bits has 13,000, and twice that as a text in source code.
const BLOCK_MAX: usize = 32 * 1024;
/// Bytes of what stands between `-----BEGIN ` and `PRIVATE KEY`.
const KIND_MAX: usize = 32;
/// Characters of base64 in a line that are part of a key; of words there are fewer in one piece.
const LINE_MIN: usize = 16;
/// Characters of the smallest key, one of Ed25519's, of which a last line is left out that is shorter than [`LINE_MIN`].
const KEY_MIN: usize = 64 - LINE_MIN;

/// Whether what follows `-----BEGIN ` names a private key; where the key begins then.
pub(super) fn begins(text: &[u8], behind: usize) -> Option<usize> {
    let line = text.get(behind..)?;
    let line = &line[..line.len().min(KIND_MAX + "PRIVATE KEY BLOCK-----".len())];
    let end = line.windows(5).position(|dashes| dashes == b"-----")?;
    let kind = line[..end].strip_suffix(b" BLOCK").unwrap_or(&line[..end]);
    let is_kind =
        kind.ends_with(b"PRIVATE KEY") && kind.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b' '));
    is_kind.then_some(behind + end + 5)
}

/// The base64 of the key between a block's first line and its last.
pub(super) fn key_in(text: &[u8], block: Range<usize>) -> Option<Vec<u8>> {
    if block.len() > BLOCK_MAX {
        return None;
    }
    let block = text.get(block)?;
    let mut key = Vec::new();
    for line in lines(block) {
        // `Proc-Type: 4,ENCRYPTED` and its like.
        if !line.contains(&b':') {
            key.extend_from_slice(longest_piece(line));
        }
    }
    (key.len() >= KEY_MIN && differs(&key)).then_some(key)
}

/// The lines of a block, also those that end with `\n` as source code writes it.
fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    block.split(|byte| matches!(byte, b'\n' | b'\r')).flat_map(|line| {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let line = rest?;
            let end = line.windows(2).position(|pair| matches!(pair, br"\n" | br"\r"));
            rest = end.map(|end| &line[end + 2..]);
            Some(end.map_or(line, |end| &line[..end]))
        })
    })
}

/// The longest piece of base64 in a line that is long enough.
fn longest_piece(line: &[u8]) -> &[u8] {
    let pieces = line.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')));
    pieces.max_by_key(|piece| piece.len()).filter(|piece| piece.len() >= LINE_MIN).unwrap_or_default()
}
