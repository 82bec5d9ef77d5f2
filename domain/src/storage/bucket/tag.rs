//! Tags of buckets and of files: names with values, each name once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{error::Result, problems::Problems};

/// How many tags something has, and how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagLimits {
    /// Tags.
    pub count: usize,
    /// Characters of a key.
    pub key_len: usize,
    /// Characters of a value.
    pub value_len: usize,
}

/// Tags of a resource (contract A 8).
pub const RESOURCE_TAGS: TagLimits = TagLimits { count: 20, key_len: 64, value_len: 256 };
/// Tags of a file (S3).
pub const FILE_TAGS: TagLimits = TagLimits { count: 10, key_len: 128, value_len: 256 };
/// What keys can't begin with (S3).
const RESERVED: &str = "aws:";

/// One tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Its name.
    pub key: String,
    /// What it says.
    #[serde(default)]
    pub value: String,
}

/// The tags of a bucket or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(BTreeMap<String, String>);

impl Tags {
    /// Checks tags; `path` names the list in the 400.
    pub fn check(path: &str, tags: Vec<Tag>, limits: TagLimits) -> Result<Self> {
        let mut problems = Problems::new();
        problems.require(tags.len() <= limits.count, path, format!("Send up to {} tags.", limits.count));
        problems.into_result()?;
        let (mut problems, mut checked) = (Problems::new(), BTreeMap::new());
        for (place, Tag { key, value }) in tags.into_iter().enumerate() {
            if let Some(fault) = key_fault(&key, limits) {
                problems.add(format!("{path}[{place}].key"), fault);
            }
            let is_short = value.chars().count() <= limits.value_len && is_printable(&value);
            let message = || format!("Must have up to {} characters, none of control.", limits.value_len);
            problems.require(is_short, format!("{path}[{place}].value"), message());
            if checked.insert(key, value).is_some() {
                problems.add(format!("{path}[{place}].key"), "Another tag has this key.");
            }
        }
        problems.into_result().map(|()| Self(checked))
    }

    /// What the tag of this key says.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Whether these tags are among them.
    pub fn contains(&self, others: &Self) -> bool {
        others.0.iter().all(|(key, value)| self.0.get(key) == Some(value))
    }

    /// All of them, by their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn key_fault(key: &str, limits: TagLimits) -> Option<String> {
    if !(1..=limits.key_len).contains(&key.chars().count()) || !is_printable(key) {
        Some(format!("Must have 1 to {} characters, none of control.", limits.key_len))
    } else if key.starts_with(RESERVED) {
        Some("Can't begin with aws:.".to_owned())
    } else {
        None
    }
}

fn is_printable(text: &str) -> bool {
    !text.chars().any(char::is_control)
}
