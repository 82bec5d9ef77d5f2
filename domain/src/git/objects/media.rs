//! What the bytes of a file are.

/// Bytes of a file that are looked at.
const LOOKED_AT: usize = 8_000;

/// What a file's bytes are to whoever reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// UTF-8 without a NUL.
    Text,
    /// Something that browsers show and that runs nothing.
    Shown(&'static str),
    /// Anything else.
    Other,
}

/// What the beginning of a file says that it is. The names of files say nothing.
pub fn media_type(beginning: &[u8]) -> MediaKind {
    const MAGIC: [(&[u8], &str); 5] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"%PDF-", "application/pdf"),
    ];
    if let Some((_, named)) = MAGIC.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return MediaKind::Shown(named);
    }
    if beginning.starts_with(b"RIFF") && beginning.get(8..12) == Some(b"WEBP") {
        return MediaKind::Shown("image/webp");
    }
    let looked_at = &beginning[..beginning.len().min(LOOKED_AT)];
    let is_text = match std::str::from_utf8(looked_at) {
        Ok(_) => true,
        // A character may go on behind what was looked at.
        Err(error) => error.error_len().is_none() && beginning.len() > LOOKED_AT,
    };
    if is_text && !looked_at.contains(&0) { MediaKind::Text } else { MediaKind::Other }
}

impl MediaKind {
    /// The value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; charset=utf-8",
            Self::Shown(named) => named,
            Self::Other => "application/octet-stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_what_they_are() {
        for (bytes, named) in [
            (&b"<script>alert(1)</script>"[..], "text/plain; charset=utf-8"),
            (b"", "text/plain; charset=utf-8"),
            ("é".as_bytes(), "text/plain; charset=utf-8"),
            (b"\x89PNG\r\n\x1a\n\0", "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"RIFF\0\0\0\0WAVE", "application/octet-stream"),
            (b"%PDF-1.7", "application/pdf"),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "text/plain; charset=utf-8"),
            (b"a\0b", "application/octet-stream"),
            (b"\xff\xfe", "application/octet-stream"),
            (b"\xc3", "application/octet-stream"),
        ] {
            assert_eq!(media_type(bytes).content_type(), named, "{bytes:?}");
        }
        let long = [vec![b'a'; LOOKED_AT - 1], "é".as_bytes().to_vec(), vec![0]].concat();
        assert_eq!(media_type(&long), MediaKind::Text);
    }
}
