//! Commits that ask for no runs.

/// What a commit's message has in it that asks for no runs: five spellings, as at GitHub.
pub const SKIP_SPELLINGS: [&str; 5] = ["[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]"];

/// The spelling with which a commit's message asks for no runs, if it does.
pub fn skips(message: &str) -> Option<&'static str> {
    SKIP_SPELLINGS.into_iter().find(|spelling| message.contains(spelling))
}
