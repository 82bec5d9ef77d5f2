//! One module per resource that people write to at the same time.

pub mod housekeeping;
pub mod jobs;
pub mod platform;
mod quarantine;
mod registries;

pub use actors_accounts::{admin, organization, person, setup, sign_in};
pub use actors_backup as backup;
pub use actors_base::{PasswordCost, Services, Settings, event, live, outbox, work};
pub use actors_notify as notify;
pub use actors_pages as pages;
pub use actors_vault as vault;
pub use registries::{Actors, lanes};
