//! The actor kernel, and one module per resource that people write to at the same time.

pub mod kernel;
