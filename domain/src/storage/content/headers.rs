//! What headers say of a file: its type, how it is to be shown and cached, and what people add.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FileChecksum;
use crate::{
    error::{Error, Result},
    problems::Problems,
};

/// Characters of a content type (contract C 4.4).
pub const CONTENT_TYPE_LEN_MAX: usize = 255;
/// Characters of each other header.
pub const HEADER_LEN_MAX: usize = 1_024;
/// Bytes of the names and values of metadata together (S3).
pub const METADATA_BYTES_MAX: usize = 2 * 1_024;

/// What a file is answered with beside its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileHeaders {
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// How it is cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<String>,
    /// Whether it is shown or saved, and as what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_disposition: Option<String>,
    /// How its content is encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    /// The language that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_language: Option<String>,
    /// Until when it may be cached, as the client wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// A checksum of its bytes, where the client asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<FileChecksum>,
    /// What people add, by names in small letters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl FileHeaders {
    /// Checks them all; 400 naming every field at fault. Names of metadata become small letters, since headers have no case.
    pub fn check(mut self) -> Result<Self> {
        let mut problems = Problems::new();
        let content_type = self.content_type.take().map(|text| content_type_check("contentType", &text)).transpose();
        self.content_type = problems.keep(content_type)?.flatten().flatten();
        let headers = [
            ("cacheControl", &self.cache_control),
            ("contentDisposition", &self.content_disposition),
            ("contentEncoding", &self.content_encoding),
            ("contentLanguage", &self.content_language),
            ("expires", &self.expires),
        ];
        for (path, value) in headers {
            let is_header = value.as_ref().is_none_or(|it| it.len() <= HEADER_LEN_MAX && is_header_value(it));
            problems.require(is_header, path, "Must have up to 1,024 visible characters.");
        }
        self.metadata = metadata_check(self.metadata, &mut problems);
        problems.into_result().map(|()| self)
    }
}

/// The content type, none for an empty one; 400 where it hasn't the form of a media type.
pub fn content_type_check(path: &str, text: &str) -> Result<Option<String>> {
    let essence = text.split_once(';').map_or(text, |(essence, _)| essence).trim_end_matches(' ');
    let is_type = essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype));
    if text.is_empty() {
        Ok(None)
    } else if text.len() <= CONTENT_TYPE_LEN_MAX && is_type && is_header_value(text) {
        Ok(Some(text.to_owned()))
    } else {
        Err(Error::invalid(path, "Must be a media type of up to 255 characters, like text/plain."))
    }
}

fn metadata_check(metadata: BTreeMap<String, String>, problems: &mut Problems) -> BTreeMap<String, String> {
    let (mut bytes, mut checked) = (0_usize, BTreeMap::new());
    for (name, value) in metadata {
        bytes = bytes.saturating_add(name.len()).saturating_add(value.len());
        if bytes > METADATA_BYTES_MAX {
            problems.add("metadata", "Names and values have up to 2,048 bytes together.");
            break;
        }
        let path = || format!("metadata.{name}");
        problems.require(is_token(&name), path(), "Names have letters, digits and !#$%&'*+-.^_`|~ only.");
        problems.require(!value.chars().any(char::is_control), path(), "Values have no characters of control.");
        if checked.insert(name.to_ascii_lowercase(), value).is_some() {
            problems.add(path(), "Names differ in more than their case.");
        }
    }
    checked
}

/// Whether a text is a token of HTTP.
fn is_token(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_known)
}

/// Whether a text can be the value of a header as it is.
fn is_header_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}
