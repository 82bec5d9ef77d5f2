//! Pull requests: what asks for a branch to be merged into another one, how that is done, and the commits that come of it.

mod commit;
mod draft;
mod merge;
mod pull;
mod refusal;
mod review;
mod thread;
mod timeline;
mod waiting;

pub use self::{
    commit::{CommitText, Identity, NewCommit},
    draft::{MERGE_MESSAGE_LEN, PULL_BODY_LEN, PULL_TITLE_LEN, PullDraft, PullPatch, lines_check},
    merge::{
        COAUTHORS_MAX, MergeMethod, REBASED_MAX, SquashAuthors, merge_message, squash_message, test_merge_message,
        update_message,
    },
    pull::{OPEN_PULLS_MAX, OpenPull, Pull, PullNumber, PullState, is_test_merge},
    refusal::{
        COMMENT_NOT_FOUND, PULL_NOT_FOUND, REVIEW_NOT_FOUND, THREAD_NOT_FOUND, branch_missing, comment_not_found,
        head_moved, histories_unrelated, merge_conflict, not_waiting, not_your_comment, nothing_to_merge, own_pull,
        pull_closed, pull_draft, pull_exists, pull_merged, review_not_dismissible, review_not_found, thread_not_found,
        thread_not_yours, too_many_comments, too_many_open_pulls, too_many_reviews, too_many_threads,
        too_much_to_rebase, up_to_date,
    },
    review::{
        AskedReviewer, DISMISSAL_REASON_LEN, Dismissal, PullReview, REVIEW_COMMENTS_MAX, REVIEWERS_MAX, REVIEWS_MAX,
        ReviewDraft, ReviewState, ReviewVerdict, ReviewersDraft, STALE_BASE, STALE_HEAD, StandingReview, admit_word,
    },
    thread::{
        COMMENT_LEN, LINE_MAX, LineComment, LinePlace, LineSide, PlacedComment, PullComment, PullThread,
        THREAD_COMMENTS_MAX, THREADS_MAX, ThreadState, comment_check,
    },
    timeline::{PullEvent, TimelineEntry, changes_between},
    waiting::{Asker, AutoMerge, AutoMergeEnd, MergeAsked, WAITING_LOOK_EVERY},
};
