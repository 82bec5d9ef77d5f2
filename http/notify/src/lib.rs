//! Notifications (contract A 4.3): notices, how a person wants to be told things, and where they can be pushed to; an
//! organization's protocols and on-call rotas.

mod alarm_hooks;
mod alarm_post;
mod callbacks;
mod deliveries;
mod devices;
mod door;
mod escalations;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod live_activities;
mod notices;
mod organization;
mod phone;
mod protocols;
mod rotas;
mod routes;
mod settings;
mod web_push;

pub use self::routes::page;

pub(crate) use door::NotifyPerson;
pub(crate) use organization::NotifyOrg;
