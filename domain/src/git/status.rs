//! What checks say of commits.

use std::ops::RangeInclusive;

use super::ObjectId;
use crate::{
    Error, Result, Timestamp,
    account::text_check,
    app::names,
    id::{KeyId, UserId},
    problems::all,
};

/// Characters of a check's context.
pub const CHECK_CONTEXT_LEN: RangeInclusive<usize> = 1..=100;
/// Characters of what a check says.
pub const CHECK_DESCRIPTION_LEN: RangeInclusive<usize> = 0..=140;
/// Characters of the address that a check leads to.
pub const CHECK_URL_LEN: RangeInclusive<usize> = 1..=2_048;
/// Contexts of one commit.
pub const STATUSES_MAX: usize = 200;
/// The message of the 404 for a commit that isn't in the repository (contract C 4.3).
pub const COMMIT_NOT_FOUND: &str = "Commit not found";

names! {
    /// How a check stands.
    CommitState { Pending = "pending", Success = "success", Failure = "failure", Error = "error", }
}

/// What a check says of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusDraft {
    /// Which check it is; a commit has one status of each.
    pub context: String,
    /// How it stands.
    pub state: CommitState,
    /// What it says; may be empty.
    pub description: String,
    /// Where more is to be read.
    pub url: Option<String>,
}

impl StatusDraft {
    /// The draft without the blanks around its texts, where it keeps to the limits.
    pub fn check(self) -> Result<Self> {
        let (context, description, url) = all((
            text_check("context", &self.context, &CHECK_CONTEXT_LEN),
            text_check("description", &self.description, &CHECK_DESCRIPTION_LEN),
            self.url.as_deref().map(url_check).transpose(),
        ))?;
        Ok(Self { context, state: self.state, description, url })
    }
}

fn url_check(text: &str) -> Result<String> {
    let url = text_check("url", text, &CHECK_URL_LEN)?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(str::is_empty) || url.contains(char::is_whitespace) {
        return Err(Error::invalid("url", "Use an address that begins with https:// or http://."));
    }
    Ok(url)
}

/// A status of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitStatus {
    /// The commit.
    pub commit: ObjectId,
    /// What the check says.
    pub draft: StatusDraft,
    /// Who set it, or made the key that did.
    pub set_by: UserId,
    /// The key that did.
    pub key_id: Option<KeyId>,
    /// When the check first said something of the commit.
    pub created_at: Timestamp,
    /// When it last did.
    pub updated_at: Timestamp,
}

/// How a commit stands: as the worst of its checks, and undone while there is none.
pub fn combined(states: impl IntoIterator<Item = CommitState>) -> CommitState {
    let badness = |state: &CommitState| match state {
        CommitState::Success => 0,
        CommitState::Pending => 1,
        CommitState::Failure | CommitState::Error => 2,
    };
    match states.into_iter().max_by_key(badness) {
        None => CommitState::Pending,
        Some(CommitState::Error) => CommitState::Failure,
        Some(state) => state,
    }
}

/// 404: the commit isn't in the repository (contract C 4.3).
pub fn commit_not_found() -> Error {
    Error::not_found(COMMIT_NOT_FOUND)
}

/// 400: the commit has as many statuses as it may.
pub fn too_many_statuses() -> Error {
    Error::bad_request("limit_reached", format!("A commit has at most {STATUSES_MAX} statuses."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(context: &str, description: &str, url: Option<&str>) -> Result<StatusDraft> {
        let (context, description) = (context.to_owned(), description.to_owned());
        StatusDraft { context, state: CommitState::Success, description, url: url.map(str::to_owned) }.check()
    }

    #[test]
    fn a_status_keeps_to_its_limits() {
        let long = format!("https://{}", "a".repeat(2_040));
        let fits = draft(&"é".repeat(100), &"é".repeat(140), Some(&long)).unwrap();
        assert_eq!(fits.url, Some(long.clone()));
        assert_eq!(draft(" ci/test ", "", None).unwrap().context, "ci/test");
        assert!(draft(&"a".repeat(101), "", None).is_err());
        assert!(draft("", "", None).is_err());
        assert!(draft("a", &"a".repeat(141), None).is_err());
        let longer = format!("{long}a");
        for bad in ["", "https://", "ftp://a", "javascript:alert(1)", "https://a b", longer.as_str()] {
            assert!(draft("a", "", Some(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn a_commit_is_as_good_as_its_worst_check() {
        use CommitState::{Error, Failure, Pending, Success};
        for (states, whole) in [
            (&[][..], Pending), (&[Success], Success), (&[Success, Pending], Pending),
            (&[Pending, Failure, Success], Failure), (&[Error, Pending], Failure),
        ] {
            assert_eq!(combined(states.iter().copied()), whole, "{states:?}");
        }
    }
}
