//! Pipelines (contract C 2.1, 3, 4.1; `docs/decisions/pipelines.md`).

mod artifacts;
mod caches;
mod checkout;
mod logs;
mod sent;
