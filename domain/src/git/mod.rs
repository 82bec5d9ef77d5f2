//! Git repositories (contract C 2.2, 4.3): their names, who has a part in them, machines' keys, refs, the rules of these, and what git
//! says.

mod access;
mod branch;
mod draft;
mod large;
mod lfs;
mod machine;
mod name;
pub mod objects;
mod oid;
mod owners;
mod packs;
mod pulls;
mod push;
mod ref_name;
mod refusal;
mod revision;
pub mod rules;
mod secrets;
mod status;
pub mod web;
pub mod wire;

pub use self::{
    access::{AccessLevel, GRANTS_MAX, Principal, Visibility, level_of},
    branch::{BRANCH_NAME_LEN, BranchName, DEFAULT_BRANCH},
    draft::{DESCRIPTION_LEN, RESTORABLE_FOR, RepositoryDraft, RepositoryPatch, RepositorySettings},
    large::{LargeFile, LargeFiles},
    lfs::{
        LFS_BATCH_MAX, LFS_LOCKS_LISTED_MAX, LFS_LOCKS_MAX, LFS_OBJECT_MAX, LFS_POINTER_LEN_MAX, LfsLock, LfsOid,
        LfsPointer, NotAnLfsOid, UnlockBy, lfs_lock_not_found, lfs_lock_of_another, lfs_object_differs,
        too_many_lfs_locks,
    },
    machine::{
        COMMAND_LINE_ONLY, MACHINE_ID_LEN, MACHINE_KEY_LASTS, MACHINE_NAME_LEN, MACHINES_MAX, Machine, MachineId,
        ROTATION_NOTICE, command_line_only, machine_key_not_found, machine_scopes, too_many_machines,
    },
    name::{REPOSITORIES_MAX, REPOSITORY_NAME_LEN, RepositoryName},
    oid::{NotAnObjectId, ObjectId},
    owners::{OWNERS_FILE_MAX, OWNERS_NAMED_MAX, OWNERS_PATHS, OwnerName, OwnerSets, OwnersFile},
    packs::{JOINED_AFTER, JOINED_MAX, Joining, PACKS_MAX, PackFacts},
    pulls::{
        AskedReviewer, Asker, AutoMerge, AutoMergeEnd, COAUTHORS_MAX, COMMENT_LEN, COMMENT_NOT_FOUND, CommitText,
        DISMISSAL_REASON_LEN, Dismissal, Identity, LINE_MAX, LineComment, LinePlace, LineSide, MERGE_MESSAGE_LEN,
        MergeAsked, MergeMethod, NewCommit, OPEN_PULLS_MAX, OpenPull, PULL_BODY_LEN, PULL_NOT_FOUND, PULL_TITLE_LEN,
        PlacedComment, Pull, PullComment, PullDraft, PullEvent, PullNumber, PullPatch, PullReview, PullState,
        PullThread, REBASED_MAX, REVIEW_COMMENTS_MAX, REVIEW_NOT_FOUND, REVIEWERS_MAX, REVIEWS_MAX, ReviewDraft,
        ReviewState, ReviewVerdict, ReviewersDraft, STALE_BASE, STALE_HEAD, SquashAuthors, StandingReview,
        THREAD_COMMENTS_MAX, THREAD_NOT_FOUND, THREADS_MAX, ThreadState, TimelineEntry, WAITING_LOOK_EVERY, admit_word,
        branch_missing, changes_between, comment_check, comment_not_found, head_moved, histories_unrelated,
        is_test_merge, lines_check, merge_conflict, merge_message, not_waiting, not_your_comment, nothing_to_merge,
        own_pull, pull_closed, pull_draft, pull_exists, pull_merged, review_not_dismissible, review_not_found,
        squash_message, test_merge_message, thread_not_found, thread_not_yours, too_many_comments, too_many_open_pulls,
        too_many_reviews, too_many_threads, too_much_to_rebase, up_to_date, update_message,
    },
    push::{ATOMIC_FAILED, PACK_MAX, RefMove, RefPlace, RefVerdict, STALE_INFO, all_or_none, decide_each},
    ref_name::{REF_NAME_MAX, RefKind, RefName},
    refusal::{
        MACHINE_KEY_ONLY, REPOSITORY_NOT_FOUND, grant_not_found, objects_lost, repository_deleted, repository_exists,
        repository_not_deleted, repository_not_found, too_many_grants, too_many_repositories,
    },
    revision::{
        REVISION_LEN, REVISION_NOT_FOUND, Revision, branch_among, branch_exists, branch_named, branch_not_found,
        default_branch_kept, no_such_commit, repository_empty, revision_not_found, tag_exists, tag_named,
        tag_not_found,
    },
    secrets::{
        ALLOWANCE_NOTE_LEN, ALLOWED_SECRETS_MAX, AllowBy, AllowReason, AllowanceDraft, FINDINGS_MAX,
        FINDINGS_SHOWN_MAX, Fingerprint, FoundSecret, FoundToken, KnownSecret, NewFile, NotAFingerprint,
        OPEN_SECRETS_MAX, SCANNED_MAX, SECRET_FINDING_NOT_FOUND, SecretAllowance, SecretFinding, SecretRefusal,
        SecretRule, SecretRuling, SecretScanner, SecretSearch, SecretState, SecretsFound, secret_finding_not_found,
        secret_not_allowed, too_many_allowed_secrets,
    },
    status::{
        CHECK_CONTEXT_LEN, CHECK_DESCRIPTION_LEN, CHECK_URL_LEN, COMMIT_NOT_FOUND, CommitState, CommitStatus,
        STATUSES_MAX, StatusDraft, combined, commit_not_found, too_many_statuses,
    },
};
