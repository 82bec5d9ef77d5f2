//! A pull request that is to be opened, and what may be changed of it.

use std::ops::RangeInclusive;

use super::PullState;
use crate::{Error, Result, account::text_check, git::BranchName, problems::all};

/// Characters of a title.
pub const PULL_TITLE_LEN: RangeInclusive<usize> = 1..=256;
/// Characters of what a pull request says.
pub const PULL_BODY_LEN: RangeInclusive<usize> = 0..=65_536;
/// Characters of what the commit of a merge says.
pub const MERGE_MESSAGE_LEN: RangeInclusive<usize> = 1..=65_536;

/// A text of so many characters after trimming, in lines; no other control characters stand in it.
pub fn lines_check(path: &str, text: &str, length: &RangeInclusive<usize>) -> Result<String> {
    let text = text.trim();
    if !length.contains(&text.chars().count()) {
        return Err(Error::invalid(path, format!("Use {} to {} characters.", length.start(), length.end())));
    }
    if text.chars().any(|it| it.is_control() && !matches!(it, '\n' | '\r' | '\t')) {
        return Err(Error::invalid(path, "Use no control characters but tabs and ends of lines."));
    }
    Ok(text.to_owned())
}

/// A pull request that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullDraft {
    /// What it is called.
    pub title: String,
    /// What it says; may be empty.
    pub body: String,
    /// The branch that is to be merged.
    pub head: BranchName,
    /// The branch that it is to be merged into.
    pub base: BranchName,
    /// Whether it isn't to be merged yet.
    pub is_draft: bool,
}

impl PullDraft {
    /// What was sent, as one that may be merged at once.
    pub fn read((title, body): (&str, &str), (head, base): (&str, &str)) -> Result<Self> {
        let (title, body, head, base) = all((
            text_check("title", title, &PULL_TITLE_LEN),
            lines_check("body", body, &PULL_BODY_LEN),
            BranchName::parse("head", head),
            BranchName::parse("base", base),
        ))?;
        if head == base {
            return Err(Error::invalid("head", "Use another branch than the base."));
        }
        Ok(Self { title, body, head, base, is_draft: false })
    }
}

/// What is to be changed of a pull request; what isn't named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullPatch {
    /// What it is called.
    pub title: Option<String>,
    /// What it says.
    pub body: Option<String>,
    /// The branch that it is to be merged into.
    pub base: Option<BranchName>,
    /// Whether it isn't to be merged yet.
    pub is_draft: Option<bool>,
    /// Whether it is to be closed, or opened again.
    pub state: Option<PullState>,
}

impl PullPatch {
    /// What was sent, without whether it is a draft.
    pub fn read(
        (title, body): (Option<&str>, Option<&str>),
        (base, state): (Option<&str>, Option<&str>),
    ) -> Result<Self> {
        let (title, body, base, state) = all((
            title.map(|title| text_check("title", title, &PULL_TITLE_LEN)).transpose(),
            body.map(|body| lines_check("body", body, &PULL_BODY_LEN)).transpose(),
            base.map(|base| BranchName::parse("base", base)).transpose(),
            state.map(state_of).transpose(),
        ))?;
        Ok(Self { title, body, base, is_draft: None, state })
    }
}

/// The states that people give a pull request.
fn state_of(name: &str) -> Result<PullState> {
    let found = PullState::from_name(name).filter(|state| *state != PullState::Merged);
    found.ok_or_else(|| Error::invalid("state", "Use one of: open, closed."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(title: &str, body: &str) -> Result<PullDraft> {
        PullDraft::read((title, body), ("feature", "main"))
    }

    #[test]
    fn a_pull_request_keeps_to_its_limits() {
        let fits = draft(&format!(" {} ", "é".repeat(256)), &"é".repeat(65_536)).unwrap();
        assert_eq!(fits.title.chars().count(), 256);
        assert_eq!(draft("a", " one\r\n\ttwo\n").unwrap().body, "one\r\n\ttwo");
        for (title, body) in [("", ""), (&*"a".repeat(257), ""), ("a\nb", ""), ("a", "\0"), ("a", &"a".repeat(65_537))]
        {
            assert!(draft(title, body).is_err(), "{title} {body}");
        }
        let Err(Error::Invalid { problems }) = PullDraft::read(("", "\u{1}"), ("a..b", "")) else { panic!() };
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["title", "body", "head", "base"]);
        assert!(PullDraft::read(("a", ""), ("main", " main ")).is_err());
    }

    #[test]
    fn people_close_pull_requests_and_open_them_again() {
        let state = |name| PullPatch::read((None, None), (None, Some(name))).map(|patch| patch.state);
        assert_eq!(state("closed").unwrap(), Some(PullState::Closed));
        assert_eq!(state("open").unwrap(), Some(PullState::Open));
        assert!(state("merged").is_err() && state("").is_err());
    }
}
