//! The actor kernel, and one module per resource that people write to at the same time.

pub mod backup;
pub mod kernel;
mod services;
mod settings;
pub mod vault;

pub use services::Services;
pub use settings::Settings;
