//! Files that are sent before the commit that takes them.

use std::{fmt, str::FromStr, time::Duration};

use super::{WEB_COMMIT_BYTES_MAX, WEB_COMMIT_CHANGES_MAX, web_uploads_too_large};
use crate::{Error, Result, problems::Problems, token::random_bytes};

/// How long the addresses of an upload work.
pub const WEB_UPLOAD_LINKS_LAST: Duration = Duration::from_hours(1);
/// How long an upload waits for its commit (contract C 4.3).
pub const WEB_UPLOAD_KEPT: Duration = Duration::from_hours(24);
/// Uploads of one person that wait for their commits in a repository.
pub const WEB_UPLOADS_MAX: u64 = 100;

/// Bytes of an upload's id.
const LEN: usize = 16;

/// The id of an upload: 32 hexadecimal digits (contract C 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WebUploadId([u8; LEN]);

impl WebUploadId {
    /// A new one, which nobody guesses.
    pub fn new() -> Result<Self> {
        random_bytes().map(Self)
    }
}

impl fmt::Display for WebUploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for WebUploadId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = || Error::bad_request("invalid_upload", "Invalid upload id.");
        if text.len() != 2 * LEN || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(refused());
        }
        u128::from_str_radix(text, 16).map(|number| Self(number.to_be_bytes())).map_err(|_| refused())
    }
}

/// Checks the sizes of the files that are to be uploaded.
pub fn web_upload_sizes(sizes: &[u64]) -> Result<()> {
    if !(1..=WEB_COMMIT_CHANGES_MAX).contains(&sizes.len()) {
        return Err(Error::invalid("files", "Use 1 to 1,000 files."));
    }
    let mut problems = Problems::new();
    for (at, size) in sizes.iter().enumerate() {
        let fits = *size <= WEB_COMMIT_BYTES_MAX;
        problems.require(fits, format!("files[{at}].size"), "Use 0 to 52,428,800 bytes.");
    }
    problems.into_result()?;
    if sizes.iter().sum::<u64>() > WEB_COMMIT_BYTES_MAX { Err(web_uploads_too_large()) } else { Ok(()) }
}

/// 400: as many uploads wait for their commits as may.
pub fn too_many_web_uploads() -> Error {
    let message = format!("You have at most {WEB_UPLOADS_MAX} uploads that aren't committed in a repository.");
    Error::bad_request("limit_reached", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_is_named_by_32_small_hexadecimal_digits() {
        let id = WebUploadId::new().unwrap();
        assert_eq!(id.to_string().parse::<WebUploadId>().unwrap(), id);
        let text = "00ff7f80123456789abcdef0fedcba98";
        assert_eq!(text.parse::<WebUploadId>().unwrap().to_string(), text);
        for bad in ["", &text[1..], &format!("{text}0"), &text.to_uppercase(), &text.replace("00", "+1")] {
            let error = bad.parse::<WebUploadId>().unwrap_err();
            assert_eq!((error.status(), error.to_string().as_str()), (400, "Invalid upload id."), "{bad}");
        }
    }

    #[test]
    fn an_upload_has_a_thousand_files_and_fifty_megabytes() {
        assert!(web_upload_sizes(&[0]).is_ok() && web_upload_sizes(&vec![52_428; 1_000]).is_ok());
        assert!(web_upload_sizes(&[WEB_COMMIT_BYTES_MAX]).is_ok());
        let status = |sizes: &[u64]| web_upload_sizes(sizes).unwrap_err().status();
        assert_eq!(status(&[]), 400);
        assert_eq!(status(&vec![0; 1_001]), 400);
        assert_eq!(status(&[WEB_COMMIT_BYTES_MAX + 1]), 400);
        assert_eq!(status(&[WEB_COMMIT_BYTES_MAX, 1]), 413);
    }
}
