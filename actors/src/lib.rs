//! One module per resource that people write to at the same time.

pub mod admin;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod guess;
pub mod housekeeping;
pub mod jobs;
pub mod notify;
pub mod organization;
pub mod pages;
mod passwords;
pub mod person;
pub mod platform;
mod quarantine;
mod registries;
mod second_factor;
pub mod setup;
pub mod sign_in;

pub use actors_backup as backup;
pub use actors_base::{PasswordCost, Services, Settings, event, live, outbox, work};
pub use actors_vault as vault;
pub use registries::{Actors, lanes};
