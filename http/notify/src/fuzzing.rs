//! What fuzzing has notifications read. Built with the feature `fuzzing` only.

use domain::Result;
use http_shell::{
    body::parse,
    fuzzing::{Kinds, reads, structure},
};

use crate::{alarm_post, devices, escalations, live_activities, notices, phone, protocols, rotas, settings};

/// The kinds of bodies by name.
pub const BODIES: Kinds = &[
    ("alarms", alarms),
    ("prefs", |raw| parse::<settings::PrefsPut>(raw)?.read().map(drop)),
    ("channels", structure::<settings::ChannelsPut>),
    ("device", structure::<devices::DevicePut>),
    ("live-start", structure::<live_activities::LiveStartPut>),
    ("live-activity", structure::<live_activities::LiveActivityPut>),
    ("notices-read", structure::<notices::NoticesRead>),
    ("phone", structure::<phone::PhonePost>),
    ("phone-confirm", structure::<phone::PhoneConfirm>),
    ("rota", |raw| parse::<rotas::RotaCreate>(raw)?.draft().map(drop)),
    ("rota-change", |raw| parse::<rotas::RotaPatch>(raw)?.change().map(drop)),
    ("rota-override", structure::<rotas::OverrideCreate>),
    ("protocol", |raw| parse::<protocols::ProtocolCreate>(raw)?.draft().map(drop)),
    ("protocol-change", |raw| parse::<protocols::ProtocolPatch>(raw)?.change().map(drop)),
    ("attachment", structure::<protocols::AttachmentPut>),
    ("snooze", structure::<escalations::EscalationSnooze>),
    ("hand-over", structure::<escalations::EscalationHandOver>),
];

/// Reads a query as each of the area's lists does.
pub fn query(query: &str) {
    reads::<notices::NoticesPageQuery>(query);
    reads::<rotas::OnCallQuery>(query);
    reads::<escalations::EscalationsQuery>(query);
    reads::<protocols::PreviewQuery>(query);
}

/// Alarms are kept by every database, as long as they are, and so short that they can be shown.
fn alarms(raw: &[u8]) -> Result<()> {
    for alarm in parse::<alarm_post::AlarmPost>(raw)?.alarms()? {
        let texts = [&alarm.title, &alarm.body, &alarm.fingerprint].into_iter().chain(&alarm.url);
        assert!(texts.into_iter().all(|text| !text.contains('\0')), "{alarm:?}");
        assert!((1..=domain::notify::ALARM_TITLE_LEN_MAX).contains(&alarm.title.chars().count()));
        assert!(!alarm.title.contains(char::is_control));
        assert!(alarm.body.chars().count() <= domain::notify::ALARM_BODY_LEN_MAX && !alarm.fingerprint.is_empty());
        assert_eq!(alarm.data["status"], if alarm.resolved { "resolved" } else { "firing" });
    }
    Ok(())
}
