//! The ids of uploads, as requests name them.

use std::ops::RangeInclusive;

use crate::{
    error::{Error, Result},
    id::UploadId,
    storage::upload_not_found,
};

/// Characters of an upload's id in a request (contract C 4.4).
const UPLOAD_ID_LEN: RangeInclusive<usize> = 1..=1_024;

/// Reads an upload's id; `path` names the field in the 400. A text that no upload can have is 404.
pub fn upload_id_parse(path: &str, text: &str) -> Result<UploadId> {
    if !UPLOAD_ID_LEN.contains(&text.chars().take(UPLOAD_ID_LEN.end() + 1).count()) {
        return Err(Error::invalid(path, "Must have 1 to 1,024 characters."));
    }
    text.parse().map_err(|_| upload_not_found())
}
