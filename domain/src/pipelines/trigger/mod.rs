//! What starts runs, and why not (contract C 4.2).

mod dispatch;
mod event;
mod pull;
mod refs;
mod skip;
mod start;

#[cfg(test)]
mod tests;

pub use self::{
    dispatch::{DISPATCH_INPUTS_MAX, DispatchValue, dispatch_inputs},
    event::{Missed, Paths, PushedRef, RUN_EVENTS, TriggerEvent},
    pull::pull_missed,
    refs::{TRIGGERING_REFS_MAX, triggering},
    skip::{SKIP_SPELLINGS, skips},
    start::{Candidate, Start, WhyNot, start},
};
