//! What operators see of the platform, and have it do (issue "What operators see"; contract A 4.5, "scope is required in
//! the platform organization").
//!
//! What belongs to one node is asked of it, by default of the one that answers: [`::actors::platform`]. What all nodes share
//! is read from the store.

mod actors;
mod asked;
mod console;
mod dead_letters;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod job_queue;
mod jobs;
mod nodes;
mod operator;
pub mod operators;
mod queues;
mod routes;
mod trouble;
mod views;
mod work_seq;

pub use self::{console::COOKIE, routes::page};

pub(crate) use self::{
    asked::{AskedActor, AskedNode, KindName},
    operator::{Operator, admit},
};
