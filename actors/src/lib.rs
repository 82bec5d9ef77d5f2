//! The actor kernel, and one module per resource that people write to at the same time.

pub mod backup;
pub mod housekeeping;
pub mod kernel;
pub mod live;
pub mod outbox;
mod registries;
pub mod revoked;
mod services;
mod settings;
pub mod vault;

pub use registries::Actors;
pub use services::Services;
pub use settings::Settings;
