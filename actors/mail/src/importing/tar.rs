//! Reading a tar (POSIX ustar, with GNU's and pax' long names) one file behind the other.

use std::io::{self, BufRead, Read};

/// What a tar is made of.
pub(super) const BLOCK_LEN: usize = 512;
/// Bytes of a long name that are read.
const NAME_LEN_MAX: u64 = 64 * 1024;

/// Whether a tar begins so.
pub(super) fn is_tar(head: &[u8; BLOCK_LEN]) -> bool {
    &head[257..262] == b"ustar"
}

/// A tar. What is read of it is its current file.
pub(super) struct TarReader<R> {
    source: R,
    /// Bytes of the current file that were not read yet.
    left: u64,
    /// Bytes behind it that fill the last block.
    padding: u64,
}

impl<R: BufRead> TarReader<R> {
    pub(super) const fn new(source: R) -> Self {
        Self { source, left: 0, padding: 0 }
    }

    /// The name of the next file, which is read from then on; none behind the last one.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<String>> {
        let mut long_name = None;
        loop {
            self.skip_rest()?;
            let mut head = [0; BLOCK_LEN];
            match self.source.read_exact(&mut head) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error),
            }
            if head.iter().all(|byte| *byte == 0) {
                return Ok(None);
            }
            let size = number(&head[124..136]).filter(|_| is_tar(&head)).ok_or_else(damaged)?;
            (self.left, self.padding) = (size, size.wrapping_neg() % BLOCK_LEN as u64);
            match head[156] {
                b'0' | 0 => return Ok(Some(long_name.unwrap_or_else(|| name(&head)))),
                b'L' => long_name = Some(text(&self.small()?)),
                b'x' => long_name = pax_path(&self.small()?).or(long_name),
                _ => {}
            }
        }
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        let rest = self.left + self.padding;
        (self.left, self.padding) = (0, 0);
        let skipped = io::copy(&mut self.source.by_ref().take(rest), &mut io::sink())?;
        if skipped == rest { Ok(()) } else { Err(damaged()) }
    }

    /// All of the current entry, which is small.
    fn small(&mut self) -> io::Result<Vec<u8>> {
        if self.left > NAME_LEN_MAX {
            return Err(damaged());
        }
        let mut bytes = Vec::new();
        let len = self.source.by_ref().take(self.left).read_to_end(&mut bytes)?;
        self.left -= len as u64;
        Ok(bytes)
    }

    pub(super) fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Ok(&[]);
        }
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let buffer = self.source.fill_buf()?;
        if buffer.is_empty() { Err(damaged()) } else { Ok(&buffer[..buffer.len().min(left)]) }
    }

    pub(super) fn consume(&mut self, len: usize) {
        self.left = self.left.saturating_sub(len as u64);
        self.source.consume(len);
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "The tar is damaged.")
}

/// A number in octal digits, or as its bytes (GNU).
fn number(field: &[u8]) -> Option<u64> {
    if field.first() == Some(&0x80) {
        let (high, low) = field.split_at(field.len() - 8);
        let is_small = high[1..].iter().all(|byte| *byte == 0);
        let number = u64::from_be_bytes(low.try_into().ok()?);
        return Some(number).filter(|number| is_small && *number < 1 << 62);
    }
    let digits = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

/// The name that a block says, with its prefix.
fn name(head: &[u8; BLOCK_LEN]) -> String {
    let (name, prefix) = (text(&head[..100]), text(&head[345..500]));
    // GNU has other things in the place of the prefix.
    let has_prefix = &head[257..263] == b"ustar\0" && !prefix.is_empty();
    if has_prefix { format!("{prefix}/{name}") } else { name }
}

fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

/// The path of `27 path=Maildir/cur/1.a:2,S`, which is one of the lines.
fn pax_path(records: &[u8]) -> Option<String> {
    let mut rest = records;
    while let Some(space) = rest.iter().position(|byte| *byte == b' ') {
        let len: usize = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
        let record = rest.get(space + 1..len.checked_sub(1)?)?;
        if let Some(path) = record.strip_prefix(b"path=") {
            return Some(String::from_utf8_lossy(path).into_owned());
        }
        rest = rest.get(len..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as a tar has it.
    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK_LEN];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        bytes[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        bytes[156] = kind;
        bytes[257..263].copy_from_slice(b"ustar\0");
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(BLOCK_LEN), 0);
        bytes
    }

    fn read(tar: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
        let (mut reader, mut files) = (TarReader::new(tar), Vec::new());
        while let Some(name) = reader.next_entry()? {
            let mut content = Vec::new();
            loop {
                let piece = reader.fill_buf()?.to_vec();
                if piece.is_empty() {
                    break;
                }
                content.extend_from_slice(&piece);
                reader.consume(piece.len());
            }
            files.push((name, content));
        }
        Ok(files)
    }

    #[test]
    fn files_are_read_with_short_and_with_long_names() {
        let long = format!("Maildir/cur/{}", "a".repeat(200));
        let record = format!("path={long}");
        let pax = format!("{} {record}\n", record.len() + 5);
        let tar = [
            entry("Maildir/", b'5', b""),
            entry("Maildir/cur/1", b'0', b"one"),
            entry("././@LongLink", b'L', format!("{long}\0").as_bytes()),
            entry("Maildir/cur/a", b'0', &[b'x'; 513]),
            entry("PaxHeaders/a", b'x', pax.as_bytes()),
            entry("Maildir/cur/a", 0, b""),
            entry("link", b'2', b""),
            vec![0; BLOCK_LEN],
            b"beyond its end".to_vec(),
        ];
        let expected =
            [("Maildir/cur/1".to_owned(), b"one".to_vec()), (long.clone(), vec![b'x'; 513]), (long, Vec::new())];
        assert_eq!(read(&tar.concat()).expect("a tar"), expected);
    }

    #[test]
    fn what_is_damaged_is_an_error_and_nothing_panics() {
        let whole = [entry("a", b'0', b"one"), entry("b", b'0', b"two")].concat();
        assert!(read(&whole[..=BLOCK_LEN]).is_err());
        assert!(read(b"nonsense").expect("nothing").is_empty());
        for place in 0..whole.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[place] ^= flip;
                let _ = read(&damaged);
            }
        }
    }
}
