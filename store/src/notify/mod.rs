//! What is remembered of notifications: who is told what, over what, and what became of it; and how people want to be told
//! things: settings, devices for push messages, live activities, telephone numbers.

mod alarm_hooks;
mod alerts;
mod budgets;
pub mod deliveries;
mod devices;
pub mod escalations;
mod live_activities;
mod notices;
mod phones;
mod prefs;
mod protocols;
mod recipients;
mod rotas;

pub use alarm_hooks::AlarmHook;
pub use alerts::{AlertKey, StoredAlert};
pub use budgets::{SpentBudget, TextBudget};
pub use devices::{DeviceAttrs, PushDevice, PushKey};
pub use live_activities::{LiveActivity, LiveActivityAttrs, LiveActivityKey};
pub use notices::{NewNotice, Notice, NoticesPage, NoticesQuery};
pub use phones::PhoneCode;
pub use prefs::StoredPrefs;
pub use protocols::{ProtocolBook, WatchedProtocol};
