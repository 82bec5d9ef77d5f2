//! The events that may start runs.

use super::refs::TRIGGERING_REFS_MAX;
use crate::git::ObjectId;

/// The events that start runs, as files name them (contract C 2.1).
pub const RUN_EVENTS: [&str; 4] = ["push", "pull_request", "schedule", "workflow_dispatch"];

/// The ref that a push changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushedRef<'a> {
    /// A branch, without `refs/heads/`.
    Branch(&'a str),
    /// A tag, without `refs/tags/`.
    Tag(&'a str),
    /// A branch or tag that is there no more.
    Deleted,
}

/// The files that a change changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths<'a> {
    /// The files that it changes.
    Known(&'a [String]),
    /// Too many to look, or nothing to compare with: every filter of paths lets them pass.
    Unknown,
}

/// Why an event starts nothing, whatever the files say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missed {
    /// A job did it with its own credential.
    #[error("What a job pushes with its own credential starts nothing.")]
    ByJob,
    /// The push moved so many refs that this one isn't looked at.
    #[error("A push starts runs of at most {} branches and tags, the first by their names.", TRIGGERING_REFS_MAX)]
    TooManyRefs,
    /// There was no push that left a branch or a tag at the commit.
    #[error("No push of a branch or a tag ended at this commit.")]
    Unpushed,
    /// The commit came with others by a push that ended at another one.
    #[error("The commit came by a push that ended at {head}, and a push starts runs on the commit at which it ends.")]
    WithinPush {
        /// Where the push ended.
        head: ObjectId,
    },
    /// The pull request was closed before the activity was looked at.
    #[error("The pull request isn't open.")]
    PullClosed,
    /// The pull request is open, though it is asked about its end.
    #[error("The pull request is open.")]
    PullOpen,
    /// The head of the pull request names another commit.
    #[error("The head of the pull request is at another commit.")]
    HeadMoved,
}

impl Missed {
    /// A word for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::ByJob => "job_credential",
            Self::TooManyRefs => "too_many_refs",
            Self::Unpushed => "not_pushed",
            Self::WithinPush { .. } => "within_push",
            Self::PullClosed => "pull_closed",
            Self::PullOpen => "pull_open",
            Self::HeadMoved => "head_moved",
        }
    }
}

/// An event that may start runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerEvent<'a> {
    /// A push to one ref.
    Push {
        /// The ref.
        to: PushedRef<'a>,
        /// The files that it changes.
        paths: Paths<'a>,
        /// The message of the commit that the ref names now.
        message: &'a str,
    },
    /// An activity on a pull request.
    PullRequest {
        /// The activity: `opened`, `synchronize` and the like.
        activity: &'a str,
        /// The branch that the pull request goes into.
        base: &'a str,
        /// The files that it changes.
        paths: Paths<'a>,
        /// The message of the pull request's newest commit.
        message: &'a str,
    },
    /// A pull request that can't be merged, so that there is nothing to run on.
    Conflict,
    /// A schedule's time has come.
    Schedule {
        /// The schedule, as the file has it.
        cron: &'a str,
        /// The zone, as the file has it.
        timezone: Option<&'a str>,
        /// Whether the file is the default branch's.
        is_default: bool,
    },
    /// The workflow is started by hand.
    Dispatch,
    /// A push, or an activity on a pull request, that starts nothing of any file.
    Missed(Missed),
}

impl TriggerEvent<'_> {
    /// The event's name in files, where it is one that files name.
    pub const fn name(&self) -> Option<&'static str> {
        match self {
            Self::Push { .. } => Some("push"),
            Self::PullRequest { .. } | Self::Conflict => Some("pull_request"),
            Self::Schedule { .. } => Some("schedule"),
            Self::Dispatch => Some("workflow_dispatch"),
            Self::Missed(_) => None,
        }
    }
}
