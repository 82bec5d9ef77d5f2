//! Files of requests, as their senders describe them.

use super::limits::{ATTACHMENT_BYTES_MAX, ATTACHMENT_NAME_LEN, CONTENT_TYPE_LEN_MAX};
use crate::{Error, Result, problems::Problems};

/// What a file is where nobody says.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// What a sender says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentAsked {
    /// What it is called.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// What it is.
    pub content_type: Option<String>,
}

/// A file that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttachment {
    /// What it is called, without folders and control characters.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// What its sender says that it is; nobody believes that for showing it.
    pub content_type: String,
}

impl NewAttachment {
    /// Reads what a sender says of a file; 413 for one that is too large.
    pub fn check(asked: &AttachmentAsked) -> Result<Self> {
        let mut problems = Problems::new();
        let said = asked.name.trim();
        let name = shown(said);
        let fits = ATTACHMENT_NAME_LEN.contains(&said.chars().count()) && !name.is_empty();
        problems.require(fits, "name", "Use 1 to 255 characters.");
        problems.require(asked.size >= 1, "size", "A file has at least one byte.");
        let content_type = asked.content_type.as_deref().map(str::trim).filter(|it| !it.is_empty());
        let content_type = content_type.unwrap_or(UNKNOWN_TYPE);
        problems.require(
            is_type(content_type),
            "contentType",
            "Write the type as in `image/png`, in at most 255 characters.",
        );
        problems.into_result()?;
        if asked.size > ATTACHMENT_BYTES_MAX {
            return Err(Error::too_large("Attachments can be up to 100 MB."));
        }
        Ok(Self { name, size: asked.size, content_type: content_type.to_owned() })
    }
}

/// The last part of a path, without characters that control something.
fn shown(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |it: &char| !it.is_control() && !matches!(*it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    last.chars().filter(is_plain).collect::<String>().trim().to_owned()
}

fn is_type(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim();
    let is_token =
        |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&it));
    let is_essence = essence.split_once('/').is_some_and(|(one, other)| is_token(one) && is_token(other));
    is_essence && text.len() <= CONTENT_TYPE_LEN_MAX && text.bytes().all(|it| matches!(it, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(name: &str) -> Option<String> {
        let asked = AttachmentAsked { name: name.to_owned(), size: 1, content_type: None };
        NewAttachment::check(&asked).ok().map(|file| file.name)
    }

    #[test]
    fn a_name_has_no_folders_and_controls_nothing() {
        assert_eq!(name_of("../../etc/passwd").as_deref(), Some("passwd"));
        assert_eq!(name_of("C:\\files\\a\r\nb.txt").as_deref(), Some("ab.txt"));
        assert_eq!(name_of("a\u{202e}gnp.exe").as_deref(), Some("agnp.exe"));
        assert_eq!((name_of("a/"), name_of(" \u{7} ")), (None, None));
        assert!(name_of(&"é".repeat(255)).is_some() && name_of(&"é".repeat(256)).is_none());
    }

    #[test]
    fn sizes_and_types_hold_at_their_limits() {
        let status = |size: u64, kind: &str| {
            let asked = AttachmentAsked { name: "a".to_owned(), size, content_type: Some(kind.to_owned()) };
            NewAttachment::check(&asked).map_or_else(|error| error.status(), |_| 201)
        };
        assert_eq!((status(0, ""), status(1, ""), status(1, "text/html; charset=utf-8")), (400, 201, 201));
        assert_eq!((status(ATTACHMENT_BYTES_MAX, ""), status(ATTACHMENT_BYTES_MAX + 1, "")), (201, 413));
        assert_eq!((status(1, "text"), status(1, "text/html\r\nx: y"), status(1, "a/é")), (400, 400, 400));
        let long = |length: usize| format!("a/{}", "b".repeat(length - 2));
        assert_eq!((status(1, &long(255)), status(1, &long(256))), (201, 400));
    }
}
