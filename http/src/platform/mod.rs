//! What operators see of the platform, and have it do (issue "What operators see"; contract A 4.5, "scope is required in
//! the platform organization").
//!
//! What belongs to one node is asked of it, by default of the one that answers: [`::actors::platform`]. What all nodes share
//! is read from the store.

mod actors;
mod asked;
mod dead_letters;
mod jobs;
mod nodes;
mod operator;
mod queues;
mod trouble;
mod views;
mod work_seq;

pub(crate) use self::{
    actors::*,
    asked::{AskedActor, AskedNode, KindName},
    dead_letters::*,
    jobs::*,
    nodes::*,
    operator::{Operator, admit},
    queues::*,
    trouble::*,
};
