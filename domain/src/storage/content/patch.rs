//! Changing what a file is answered with, without another content.

use std::collections::BTreeMap;

use super::FileHeaders;
use crate::{
    error::Result,
    storage::{FILE_TAGS, Tag, Tags},
};

/// What is to be changed of a file; what isn't named stays. An empty text takes a header away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// Its type.
    pub content_type: Option<String>,
    /// How it is cached.
    pub cache_control: Option<String>,
    /// Whether it is shown or saved, and as what.
    pub content_disposition: Option<String>,
    /// How its content is encoded.
    pub content_encoding: Option<String>,
    /// What people add, all of it.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Its tags, all of them.
    pub tags: Option<Vec<Tag>>,
}

impl FilePatch {
    /// The headers and tags after the change; 400 where they can't be that.
    pub fn apply(self, headers: &FileHeaders, tags: &Tags) -> Result<(FileHeaders, Tags)> {
        let header = |asked: Option<String>, now: &Option<String>| match asked {
            None => now.clone(),
            Some(text) => Some(text).filter(|text| !text.is_empty()),
        };
        let tags = self.tags.map_or_else(|| Ok(tags.clone()), |asked| Tags::check("tags", asked, FILE_TAGS))?;
        let headers = FileHeaders {
            content_type: header(self.content_type, &headers.content_type),
            cache_control: header(self.cache_control, &headers.cache_control),
            content_disposition: header(self.content_disposition, &headers.content_disposition),
            content_encoding: header(self.content_encoding, &headers.content_encoding),
            metadata: self.metadata.unwrap_or_else(|| headers.metadata.clone()),
            ..headers.clone()
        };
        Ok((headers.check()?, tags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_stays_and_an_empty_text_takes_away() {
        let text = |text: &str| Some(text.to_owned());
        let headers = FileHeaders { content_type: text("a/b"), cache_control: text("no-store"), ..Default::default() };
        let tags = Tags::check("tags", vec![Tag { key: "a".into(), value: "1".into() }], FILE_TAGS).unwrap();
        let patch = FilePatch { cache_control: text(""), ..FilePatch::default() };
        let (changed, kept) = patch.apply(&headers, &tags).unwrap();
        assert_eq!((changed.content_type.as_deref(), changed.cache_control), (Some("a/b"), None));
        assert_eq!(kept, tags);
        let patch = FilePatch { tags: Some(Vec::new()), metadata: Some(BTreeMap::new()), ..FilePatch::default() };
        assert!(patch.apply(&headers, &tags).unwrap().1.is_empty());
        let wrong = FilePatch { content_type: text("nothing"), ..FilePatch::default() };
        assert_eq!(wrong.apply(&headers, &tags).unwrap_err().status(), 400);
    }
}
