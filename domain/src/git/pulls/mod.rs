//! Pull requests: what asks for a branch to be merged into another one, how that is done, and the commits that come of it.

mod commit;
mod draft;
mod merge;
mod pull;
mod refusal;

pub use self::{
    commit::{CommitText, Identity, NewCommit},
    draft::{MERGE_MESSAGE_LEN, PULL_BODY_LEN, PULL_TITLE_LEN, PullDraft, PullPatch, lines_check},
    merge::{COAUTHORS_MAX, MergeMethod, REBASED_MAX, SquashAuthors, merge_message, squash_message, update_message},
    pull::{OPEN_PULLS_MAX, OpenPull, Pull, PullNumber, PullState},
    refusal::{
        PULL_NOT_FOUND, branch_missing, head_moved, histories_unrelated, merge_conflict, nothing_to_merge, pull_closed,
        pull_draft, pull_exists, pull_merged, too_many_open_pulls, too_much_to_rebase, up_to_date,
    },
};
