//! Notifications (contract A 4.3): notices, how a person wants to be told things, and where they can be pushed to; an
//! organization's protocols and on-call rotas.

mod alarm_hooks;
mod alarm_post;
mod callbacks;
mod deliveries;
mod devices;
mod door;
mod escalations;
mod live_activities;
mod notices;
mod organization;
mod phone;
mod protocols;
mod rotas;
mod settings;
mod web_push;

pub(crate) use alarm_hooks::*;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use alarm_post::AlarmPost;
pub(crate) use callbacks::*;
pub(crate) use deliveries::*;
pub(crate) use devices::*;
pub(crate) use door::NotifyPerson;
pub(crate) use escalations::*;
pub(crate) use live_activities::*;
pub(crate) use notices::*;
pub(crate) use organization::NotifyOrg;
pub(crate) use phone::*;
pub(crate) use protocols::*;
pub(crate) use rotas::*;
pub(crate) use settings::*;
pub(crate) use web_push::*;
