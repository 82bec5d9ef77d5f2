//! What the actors of every area stand on: their services and settings, the work queue, the outbox, events and live feeds, and
//! the book of an organization's resources.
//!
//! No area is named here. What an area adds, it says in its descriptor ([`Area`]): lanes and jobs ([`work`]), rows that are over.

mod area;
pub mod event;
mod handing;
mod letter;
pub mod live;
pub mod outbox;
mod repository;
pub mod resources;
mod services;
mod settings;
pub mod work;
mod worker;

pub use area::{Area, DeletesOrganization};
pub use handing::{NotHandedOver, WrittenMail, desk_mail_count, hand_over};
pub use letter::asked_from;
pub use repository::{RepositoryChange, repository_channel, tell_repository};
pub use services::Services;
pub use settings::{PasswordCost, Settings};
