//! One module per resource that people write to at the same time.

pub mod admin;
pub mod backup;
pub mod event;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod guess;
pub mod housekeeping;
pub mod jobs;
mod letter;
pub mod live;
pub mod notify;
pub mod organization;
pub mod outbox;
pub mod pages;
pub mod passwords;
pub mod person;
pub mod platform;
mod registries;
mod second_factor;
mod services;
mod settings;
pub mod setup;
pub mod sign_in;
pub mod vault;
pub mod work;
mod worker;

pub use passwords::PasswordCost;
pub use registries::{Actors, lanes};
pub use services::Services;
pub use settings::Settings;
