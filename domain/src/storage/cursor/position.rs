//! What a page of a list ended with.

use crate::{
    id::UploadId,
    storage::{Last, VersionStamp},
};

const KEY: u8 = 0;
const COMMON_PREFIX: u8 = 1;
const VERSION: u8 = 2;
const UPLOAD: u8 = 3;
/// Bytes of a version's stamp.
const STAMP_LEN: usize = 16;
/// Bytes of an upload's id, as text.
const UPLOAD_ID_LEN: usize = 30;

/// What a page of a list ended with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A key, or a common prefix.
    Last(Last),
    /// A version of a key.
    Version {
        /// The key.
        key: String,
        /// The version.
        stamp: VersionStamp,
    },
    /// An upload of a key.
    Upload {
        /// The key.
        key: String,
        /// Its id.
        id: UploadId,
    },
}

impl Place {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (kind, id, text): (u8, Vec<u8>, &str) = match self {
            Self::Last(Last::Key(key)) => (KEY, Vec::new(), key),
            Self::Last(Last::CommonPrefix(prefix)) => (COMMON_PREFIX, Vec::new(), prefix),
            Self::Version { key, stamp } => (VERSION, stamp.to_bytes().to_vec(), key),
            Self::Upload { key, id } => (UPLOAD, id.to_string().into_bytes(), key),
        };
        [&[kind], id.as_slice(), text.as_bytes()].concat()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        match *kind {
            KEY => text(rest).map(|key| Self::Last(Last::Key(key))),
            COMMON_PREFIX => text(rest).map(|prefix| Self::Last(Last::CommonPrefix(prefix))),
            VERSION => {
                let (stamp, key) = rest.split_first_chunk::<STAMP_LEN>()?;
                Some(Self::Version { key: text(key)?, stamp: VersionStamp::from_bytes(*stamp) })
            }
            UPLOAD => {
                let (id, key) = rest.split_at_checked(UPLOAD_ID_LEN)?;
                Some(Self::Upload { key: text(key)?, id: text(id)?.parse().ok()? })
            }
            _ => None,
        }
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}
