//! The events that may start runs.

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
    },
    /// The workflow is started by hand.
    Dispatch,
    /// A push, or an activity on a pull request, with a job's own credential.
    ByJob,
}

impl TriggerEvent<'_> {
    /// The event's name in files, where it is one that files name.
    pub const fn name(&self) -> Option<&'static str> {
        match self {
            Self::Push { .. } => Some("push"),
            Self::PullRequest { .. } | Self::Conflict => Some("pull_request"),
            Self::Schedule { .. } => Some("schedule"),
            Self::Dispatch => Some("workflow_dispatch"),
            Self::ByJob => None,
        }
    }
}
