//! What starts runs, and why not (contract C 4.2).

mod dispatch;
mod event;
mod skip;
mod start;

#[cfg(test)]
mod tests;

pub use self::{
    dispatch::{DISPATCH_INPUTS_MAX, DispatchValue, dispatch_inputs},
    event::{Paths, PushedRef, RUN_EVENTS, TriggerEvent},
    skip::{SKIP_SPELLINGS, skips},
    start::{Candidate, Start, WhyNot, start},
};
