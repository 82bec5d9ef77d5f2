//! Workflows: which status follows which, under which conditions, and what else a transition does.

mod check;
mod definition;
mod transition;

#[cfg(test)]
mod tests;

pub use self::{
    check::{check, unreachable},
    definition::{
        AutoResolution, Category, Condition, CopySource, Definition, PostFunction, StatusPlace, Transition, Validator,
    },
    transition::{Blocked, Entered, Situation, available, blocked, entered, refusals},
};
