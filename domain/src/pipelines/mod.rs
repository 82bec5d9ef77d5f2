//! Pipelines (contract C 2.1): workflow files and what they mean, what starts them, and how their runs go.

pub mod artifacts;
pub mod caches;
pub mod concurrency;
pub mod expressions;
pub mod job;
pub mod logs;
pub mod run;
pub mod trigger;
pub mod workflow;
