//! What somebody asks of a page, as far as it can be checked without the tree.

use std::str::FromStr;

use super::{
    ICON_LEN, PARENT_LEN_MAX, TITLE_LEN,
    database::{PropertiesDraft, Property, View},
    page::PageKind,
    position,
};
use crate::{Error, Result, account::text_check, id::PageId, problems::Problems};

/// Where a page is to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// At the root.
    Root,
    /// Under this page.
    Page(PageId),
    /// Under something that can't be there: the text is no page's id.
    Nowhere,
}

impl Parent {
    /// The word that stands for the root (contract B 4.6).
    pub const ROOT: &'static str = "root";

    /// Reads `root` or an id. A text that is neither names no page; one that is too long is refused.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        if text.chars().count() > PARENT_LEN_MAX {
            return Err(Error::invalid(path, format!("Use at most {PARENT_LEN_MAX} characters.")));
        }
        if text == Self::ROOT {
            return Ok(Self::Root);
        }
        Ok(PageId::from_str(text).map_or(Self::Nowhere, Self::Page))
    }
}

impl From<Option<PageId>> for Parent {
    fn from(id: Option<PageId>) -> Self {
        id.map_or(Self::Root, Self::Page)
    }
}

/// A page to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct PageDraft {
    /// Where.
    pub parent: Parent,
    /// What it is.
    pub kind: PageKind,
    /// What it is called.
    pub title: String,
    /// An emoji or the name of a picture.
    pub icon: Option<String>,
    /// What a row says under its database's properties, by their ids.
    pub properties: Option<PropertiesDraft>,
}

/// What changes about a page; nothing of what is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageChange {
    /// What it is called.
    pub title: Option<String>,
    /// An emoji or the name of a picture; `Some(None)` takes it away.
    pub icon: Option<Option<String>>,
    /// Whether it takes the whole width of the window.
    pub full_width: Option<bool>,
    /// Where it lies.
    pub parent: Option<Parent>,
    /// Its place among its siblings.
    pub position: Option<f64>,
    /// Whether it is in the trash.
    pub archived: Option<bool>,
    /// The properties that a database's rows have.
    pub schema: Option<Vec<Property>>,
    /// The ways in which a database is looked at.
    pub views: Option<Vec<View>>,
    /// What a row says under its database's properties.
    pub properties: Option<PropertiesDraft>,
}

impl PageChange {
    /// Whether it asks for anything that a page in the trash doesn't take: all but to be restored or to stay there.
    pub fn edits(&self) -> bool {
        *self != Self { archived: self.archived, ..Self::default() }
    }

    /// Notes what is wrong about the position.
    pub fn position_check(&self, problems: &mut Problems) {
        let holds = self.position.is_none_or(position::is_usable);
        problems.require(holds, "position", "Use a number from 0 up.");
    }
}

/// A title of up to 200 characters.
pub fn title_check(path: &str, text: &str) -> Result<String> {
    text_check(path, text, &TITLE_LEN)
}

/// An icon of up to 16 characters; an empty one is none.
pub fn icon_check(path: &str, text: &str) -> Result<Option<String>> {
    let text = text_check(path, text, &ICON_LEN)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_parent_is_the_root_a_page_or_nothing_that_there_is() {
        let id = PageId::new(Timestamp(1));
        assert_eq!(Parent::parse("parentId", "root").unwrap(), Parent::Root);
        assert_eq!(Parent::parse("parentId", &id.to_string()).unwrap(), Parent::Page(id));
        assert_eq!(Parent::parse("parentId", "").unwrap(), Parent::Nowhere);
        assert_eq!(Parent::parse("parentId", &"é".repeat(64)).unwrap(), Parent::Nowhere);
        assert!(Parent::parse("parentId", &"é".repeat(65)).is_err());
    }

    #[test]
    fn titles_and_icons_have_their_lengths() {
        for (length, fits) in [(0, true), (199, true), (200, true), (201, false)] {
            assert_eq!(title_check("title", &"é".repeat(length)).is_ok(), fits, "{length}");
        }
        for (length, fits) in [(1, true), (15, true), (16, true), (17, false)] {
            assert_eq!(icon_check("icon", &"é".repeat(length)).is_ok(), fits, "{length}");
        }
        assert_eq!(icon_check("icon", "  ").unwrap(), None);
    }

    #[test]
    fn only_the_trash_itself_is_no_edit() {
        assert!(!PageChange::default().edits());
        assert!(!PageChange { archived: Some(false), ..PageChange::default() }.edits());
        assert!(PageChange { archived: Some(false), icon: Some(None), ..PageChange::default() }.edits());
    }
}
