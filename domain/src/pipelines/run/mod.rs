//! A run: the graph of its jobs, and what follows from what happens to them.
//!
//! A [`Plan`] is made of a workflow's text and of the contexts that stay the same throughout the run; making it again gives the
//! same. A [`RunState`] says how far the run is; it is what a row keeps. [`RunState::decide`] takes what happened to one job, or
//! to the run, and says what follows. Nothing here knows of time, of ids or of runners: timers, leases and queues are their
//! owner's, who hands in what came of them as a [`RunEvent`] and does what the [`Effect`]s say.
//!
//! Jobs of one key stand in one node. Whether a node's jobs are there at all (`if`), and how many (`matrix`), is known only
//! once all that it needs is over; until then a node has no jobs. The table of what follows from what, and where GitHub says
//! or shows so, stands in `docs/decisions/pipelines.md`; `cases` holds it as files.

mod conclusion;
mod contexts;
mod decide;
mod event;
mod expand;
mod name;
mod plan;
mod rerun;
mod settings;
mod state;

#[cfg(test)]
mod tests;

pub use self::{
    conclusion::{JobConclusion, JobResult, RunConclusion, RunStatus},
    contexts::RunContexts,
    event::{Begun, Effect, Gate, RunEvent},
    expand::{GROUP_LEN_MAX, LABEL_LEN_MAX, LABELS_MAX, MATRIX_ROW_LEN_MAX},
    name::{JOB_NAME_LEN_MAX, MATRIX_NAME_LEN_MAX},
    plan::{Plan, TITLE_LEN_MAX},
    rerun::Rerun,
    settings::{GroupWish, TIMEOUT_MINUTES, TIMEOUT_MINUTES_MAX},
    state::{JobPlace, JobState, LOST_MAX, Phase, RUN_JOBS_MAX, RUN_OUTPUTS_LEN_MAX, RunState},
};
