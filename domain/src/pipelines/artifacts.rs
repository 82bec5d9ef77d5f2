//! Artifacts: files that a job leaves behind for others and for people (contract C 4.1).

use std::{ops::RangeInclusive, time::Duration};

use crate::{Error, Result};

/// Characters of an artifact's name (contract C 4.1).
pub const ARTIFACT_NAME_LEN: RangeInclusive<usize> = 1..=100;
/// Days for which a job may have an artifact kept (contract C 4.1).
pub const ARTIFACT_DAYS: RangeInclusive<i64> = 1..=400;
/// Days for which one is kept that says nothing else.
pub const ARTIFACT_DAYS_UNLESS_SAID: i64 = 90;
/// Artifacts of one attempt of a run.
pub const ARTIFACTS_MAX: u64 = 1_000;
/// How long the address works at which an artifact is sent or fetched.
pub const ARTIFACT_LINK_LASTS: Duration = Duration::from_hours(1);
/// How long an upload may take before its name is free again.
pub const ARTIFACT_UPLOAD_LASTS: Duration = Duration::from_hours(24);
/// The message of the 404 for an artifact that isn't there.
pub const ARTIFACT_NOT_FOUND: &str = "Artifact not found";

/// What an artifact is called. It is the name of a file, and never one of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactName(String);

impl ArtifactName {
    /// Reads a name; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let is_forbidden =
            |it: char| matches!(it, '\\' | '/' | ':' | '*' | '?' | '"' | '<' | '>' | '|') || it.is_control();
        let is_folder = matches!(text, "." | "..");
        if !ARTIFACT_NAME_LEN.contains(&text.chars().count()) || text.contains(is_forbidden) || is_folder {
            let message = "Use 1 to 100 characters without \\ / : * ? \" < > | and line breaks.";
            return Err(Error::invalid(path, message));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// 409: the name is taken in this attempt of the run.
pub fn artifact_exists() -> Error {
    Error::conflict("artifact_exists", "This run has an artifact with this name already.")
}

/// 400: the attempt has as many artifacts as it may.
pub fn too_many_artifacts() -> Error {
    Error::bad_request("limit_reached", format!("An attempt of a run has at most {ARTIFACTS_MAX} artifacts."))
}

/// 404: there is no such artifact.
pub fn artifact_not_found() -> Error {
    Error::not_found(ARTIFACT_NOT_FOUND)
}

/// 409: what is to be committed hasn't been sent.
pub fn file_missing() -> Error {
    Error::conflict("upload_missing", "Upload the file first.")
}

/// 404: nobody waits for these bytes, because what they are for is gone or was committed.
pub fn file_not_expected() -> Error {
    Error::not_found("Upload not found.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_file() {
        for name in ["a", "web app (1).zip", "ünï", "...", &"é".repeat(99), &"é".repeat(100)] {
            assert_eq!(ArtifactName::parse("name", name).unwrap().as_str(), name);
        }
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "a\\b",
            "a:b",
            "a*",
            "a?",
            "a\"",
            "<a",
            "a>",
            "a|b",
            "a\rb",
            "a\nb",
            "a\0",
            &"é".repeat(101),
        ] {
            assert_eq!(ArtifactName::parse("name", name).unwrap_err().status(), 400, "{name:?}");
        }
    }
}
