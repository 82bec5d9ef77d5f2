//! Pipelines (contract C 2.1): workflow files and what they mean.

pub mod expressions;
pub mod workflow;
