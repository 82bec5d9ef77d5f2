//! Notifications (contract A 2.3, 3, 4.3, 6): who is told what, over which channels, and when.
//!
//! Something happens that people may want to know of ([`EventType`]). Each person it concerns has settings
//! ([`NotifyPrefs`]), and [`reach()`] decides from them over which channels that person is told, at once or after their
//! quiet hours, and why not over the others. Whoever tells somebody something asks it, so there is one place to look.

mod alarm;
mod budget;
mod catalog;
mod channel;
mod delivery;
mod device;
pub mod escalation;
mod live_activity;
mod message;
mod open_alert;
pub mod phone;
mod prefs;
pub mod preview;
pub mod protocol;
mod quiet;
mod reach;
mod resource_type;
pub mod rota;
pub mod rule;
pub mod step;
mod template;
mod zone;

pub use alarm::{
    ALARM_BODY_LEN_MAX, ALARM_HOOKS_MAX, ALARM_POSTS_PER_MINUTE, ALARM_TITLE_LEN_MAX, ALARM_URL_LEN,
    ALERTS_PER_POST_MAX, Alarm, Alert,
};
pub use budget::{budget_day, is_mostly_spent};
pub use catalog::EventType;
pub use channel::{Channel, Channels};
pub use delivery::{AckCode, CancelReason, DeliveryState, pause_seed};
pub use device::{
    DEVICE_ATTR_BYTES_MAX, DEVICES_MAX, TOKEN_LEN, WebSubscription, is_install_id, not_the_iphone_app,
    not_the_mobile_app, platform_check, push_token_hash,
};
pub use live_activity::{
    ID_LEN, LIVE_ACTIVITIES_MAX, LIVE_APPS, LiveEnvironment, RUNNING_MAX, app_check, is_bundle_id, is_flight,
    no_vehicles,
};
pub use message::{Message, summary};
pub use open_alert::{ALERT_FORGOTTEN_AFTER, OpenAlert};
pub use prefs::{NotifyPrefs, PrefsChange};
pub use protocol::{Attachment, Inactive, Protocol, ProtocolChange, ProtocolDraft};
pub use quiet::QuietHours;
pub use reach::{Asked, Outcome, PushPlatform, PushTarget, Reach, Recipient, Target, WhyNot, reach};
pub use resource_type::ResourceType;
pub use rota::{Handover, HandoverMoment, OnCall, Rota, RotaChange, RotaDraft, RotaOverride, TurnStart};
pub use rule::{Rule, StepTime};
pub use step::{Step, StepChannels};
pub use template::Template;
pub use zone::{Date, TimeOfDay, Zone};
