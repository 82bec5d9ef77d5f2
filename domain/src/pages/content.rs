//! A page's content: blocks, Markdown, and when a write of it is refused (contract B 2.6, 4.6).

use serde_json::json;

use super::in_the_trash;
use crate::error::{Error, Result};

/// Bytes of a page's content: blocks as JSON text and Markdown together (contract B 4.6).
pub const CONTENT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of the body that writes a content (contract B 4.6).
pub const CONTENT_BODY_BYTES_MAX: usize = 1_041 * 1024;
/// What a larger content, or a larger body, is answered with (contract B 4.6).
pub const CONTENT_TOO_LARGE: &str = "Pages can be up to 1 MB.";
/// Characters of an epoch, at most (contract B 4.6).
pub const EPOCH_LEN_MAX: usize = 64;

/// A page's blocks: the JSON text of an array, kept exactly as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks(Box<str>);

impl Blocks {
    /// Text that is known to be one JSON value; 400 when that is no array.
    pub fn check(json: impl Into<Box<str>>) -> Result<Self> {
        let json = json.into();
        if json.trim_start().starts_with('[') { Ok(Self(json)) } else { Err(Error::invalid("blocks", NO_ARRAY)) }
    }

    /// Text that is known to be the JSON of an array.
    pub fn from_json_text(json: impl Into<Box<str>>) -> Self {
        Self(json.into())
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const NO_ARRAY: &str = "Use an array or null.";

impl From<Blocks> for String {
    fn from(blocks: Blocks) -> Self {
        blocks.0.into()
    }
}

/// What a page is to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentDraft {
    /// What an editor with blocks of its own makes of it; nothing where the Markdown is all there is.
    pub blocks: Option<Blocks>,
    /// The text, which search and export go by.
    pub markdown: String,
}

impl ContentDraft {
    /// The content, where it can be stored: 413 over 1 MB; 400 for a NUL, which PostgreSQL's texts can't hold.
    pub fn check(blocks: Option<Blocks>, markdown: String) -> Result<Self> {
        let content = Self { blocks, markdown };
        if content.bytes() > CONTENT_BYTES_MAX {
            return Err(Error::too_large(CONTENT_TOO_LARGE));
        }
        if content.markdown.contains('\0') {
            return Err(Error::invalid("markdown", "Must not have a NUL in it."));
        }
        Ok(content)
    }

    /// Bytes that count towards [`CONTENT_BYTES_MAX`].
    pub fn bytes(&self) -> usize {
        self.markdown.len() + self.blocks.as_ref().map_or(0, |blocks| blocks.as_str().len())
    }
}

/// On what a write of a content rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentBase {
    /// The version that the client opened: a write from outside co-editing, which starts a new history of it.
    Version(i64),
    /// The history that the client co-edits: it stores what it rendered of it. None where it didn't say which.
    Epoch(Option<String>),
}

/// What a write of a content is decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentState<'a> {
    /// The content's version.
    pub version: i64,
    /// Whether the page is in the trash.
    pub archived: bool,
    /// The history that is co-edited; none before anyone opened the page this way.
    pub epoch: Option<&'a str>,
}

impl ContentState<'_> {
    /// Passes when a content that rests on `base` may take the place of the one that is there; 409 otherwise.
    pub fn accept(&self, base: &ContentBase) -> Result<()> {
        if self.archived {
            return Err(in_the_trash());
        }
        match base {
            ContentBase::Version(version) if *version != self.version => Err(Error::Conflict {
                code: "stale_content",
                message: "This page changed since you opened it.".into(),
                adds: [("contentVersion".to_owned(), json!(self.version))].into_iter().collect(),
            }),
            ContentBase::Epoch(epoch) if epoch.is_none() || epoch.as_deref() != self.epoch => {
                Err(Error::conflict("stale_epoch", "This page was changed elsewhere and reloaded."))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(state: ContentState<'_>, base: &ContentBase) -> Option<String> {
        state.accept(base).err().map(|error| {
            assert_eq!(error.status(), 409);
            error.to_string()
        })
    }

    #[test]
    fn a_content_has_a_megabyte_of_blocks_and_markdown_together() {
        for over in [-1_isize, 0, 1] {
            let markdown = "a".repeat(CONTENT_BYTES_MAX.saturating_add_signed(over) - 5);
            let blocks = Blocks::check("[1,2]").unwrap();
            let checked = ContentDraft::check(Some(blocks), markdown);
            assert_eq!(checked.is_ok(), over <= 0, "{over}");
            if let Err(error) = checked {
                assert_eq!((error.status(), error.to_string().as_str()), (413, "Pages can be up to 1 MB."));
            }
        }
        let bytes_not_characters = "é".repeat(CONTENT_BYTES_MAX / 2 + 1);
        assert_eq!(ContentDraft::check(None, bytes_not_characters).unwrap_err().status(), 413);
    }

    #[test]
    fn blocks_are_an_array_kept_to_the_letter() {
        let sent = " [ {\"b\":  1,\"a\":1.50e3}, \"\\u0000\\ud800\" ]";
        assert_eq!(Blocks::check(sent).unwrap().as_str(), sent);
        for other in ["{}", "1", "\"[]\"", "true"] {
            assert_eq!(Blocks::check(other).unwrap_err().status(), 400, "{other}");
        }
    }

    #[test]
    fn a_nul_is_a_problem_of_the_markdown() {
        assert_eq!(ContentDraft::check(None, "a\0b".into()).unwrap_err().status(), 400);
    }

    #[test]
    fn a_write_from_outside_rests_on_the_version_that_is_there() {
        let state = ContentState { version: 3, archived: false, epoch: Some("e1") };
        assert_eq!(refusal(state, &ContentBase::Version(3)), None);
        for version in [0, 2, 4] {
            let said = refusal(state, &ContentBase::Version(version));
            assert_eq!(said.as_deref(), Some("This page changed since you opened it."));
        }
    }

    #[test]
    fn a_write_from_co_editing_rests_on_the_history_that_is_there() {
        let state = ContentState { version: 3, archived: false, epoch: Some("e1") };
        assert_eq!(refusal(state, &ContentBase::Epoch(Some("e1".into()))), None);
        let elsewhere = Some("This page was changed elsewhere and reloaded.");
        for epoch in [None, Some("e0".to_owned()), Some(String::new())] {
            assert_eq!(refusal(state, &ContentBase::Epoch(epoch)).as_deref(), elsewhere);
        }
        let never_opened = ContentState { epoch: None, ..state };
        for epoch in [None, Some("e1".to_owned())] {
            assert_eq!(refusal(never_opened, &ContentBase::Epoch(epoch)).as_deref(), elsewhere);
        }
    }

    #[test]
    fn nothing_is_written_in_the_trash() {
        let state = ContentState { version: 3, archived: true, epoch: Some("e1") };
        for base in [ContentBase::Version(3), ContentBase::Version(1), ContentBase::Epoch(Some("e1".into()))] {
            let said = refusal(state, &base);
            assert_eq!(said.as_deref(), Some("This page is in the trash. Restore it to edit."));
        }
    }
}
