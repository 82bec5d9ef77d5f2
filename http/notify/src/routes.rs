//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{
    alarm_hooks, callbacks, deliveries, devices, escalations, live_activities, notices, phone, protocols, rotas,
    settings, web_push,
};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Notifications" {
            GET    "/v1/me/notifications"                 => notices::notices_list;
            GET    "/v1/me/notifications/count"           => notices::notices_count;
            POST   "/v1/me/notifications/read"            => notices::notices_read;
            POST   "/v1/me/notifications/read-all"        => notices::notices_read_all;
            GET    "/v1/me/notifications/devices"         => devices::notify_devices_list;
            PUT    "/v1/me/notifications/devices/{deviceId}" => devices::notify_device_put;
            DELETE "/v1/me/notifications/devices/{deviceId}" => devices::notify_device_delete;
            GET    "/v1/me/notifications/live-activities" => live_activities::notify_live_list;
            PUT    "/v1/me/notifications/live-activities/start/{installId}" => live_activities::notify_live_start_put;
            DELETE "/v1/me/notifications/live-activities/start/{installId}" => live_activities::notify_live_start_delete;
            PUT    "/v1/me/notifications/live-activities/{activityId}" => live_activities::notify_live_activity_put;
            DELETE "/v1/me/notifications/live-activities/{activityId}" => live_activities::notify_live_activity_delete;
            GET    "/v1/me/notifications/settings"        => settings::notify_settings_get;
            PUT    "/v1/me/notifications/settings/prefs"  => settings::notify_prefs_put;
            PUT    "/v1/me/notifications/settings/events/{type}" => settings::notify_event_put;
            POST   "/v1/me/notifications/test"            => deliveries::notify_test, creates();
            GET    "/v1/me/notifications/{noticeId}/deliveries" => deliveries::notice_deliveries;
            GET    "/v1/me/notifications/web-push"        => web_push::web_push_get;
            DELETE "/v1/me/notifications/{noticeId}"      => notices::notice_delete;
            POST   "/v1/me/notifications/{noticeId}/ack"  => notices::notice_ack;
            GET    "/v1/orgs/{orgId}/notify/escalations"  => escalations::escalations_list;
            GET    "/v1/orgs/{orgId}/notify/escalations/{escalationId}" => escalations::escalation_get;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/ack" => escalations::escalation_ack;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/snooze" => escalations::escalation_snooze;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/hand-over" => escalations::escalation_hand_over;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/resolve" => escalations::escalation_resolve;
            POST   "/v1/orgs/{orgId}/notify/protocols/{protocolId}/test" => escalations::protocol_test, per_address(60);
            POST   "/v1/me/phone"                         => phone::phone_post;
            POST   "/v1/me/phone/confirm"                 => phone::phone_confirm, per_address(120);
            POST   "/v1/hooks/notify/sms"                 => callbacks::notify_sms_hook, per_address(600);
            POST   "/v1/hooks/notify/voice/{deliveryId}/{token}" => callbacks::notify_voice_hook, per_address(600);
            POST   "/v1/hooks/notify/status/{deliveryId}/{token}" => callbacks::notify_status_hook, per_address(600);
            GET    "/v1/orgs/{orgId}/notify/hooks"        => alarm_hooks::alarm_hooks_list;
            POST   "/v1/orgs/{orgId}/notify/hooks"        => alarm_hooks::alarm_hook_create;
            DELETE "/v1/orgs/{orgId}/notify/hooks/{hookId}" => alarm_hooks::alarm_hook_delete;
            POST   "/v1/hooks/ops/{hookId}/{hookToken}"   => alarm_hooks::alarms_post;
        }
        "Notification protocols" {
            GET    "/v1/orgs/{orgId}/notify/protocols/templates" => protocols::protocol_templates;
            GET    "/v1/orgs/{orgId}/notify/protocols"    => protocols::protocols_list;
            POST   "/v1/orgs/{orgId}/notify/protocols"    => protocols::protocol_create, creates();
            GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}" => protocols::protocol_get;
            PATCH  "/v1/orgs/{orgId}/notify/protocols/{protocolId}" => protocols::protocol_patch;
            DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}" => protocols::protocol_delete;
            GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/preview" => protocols::protocol_preview;
            PUT    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" => protocols::protocol_attach;
            DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" => protocols::protocol_detach;
        }
        "On-call rotas" {
            GET    "/v1/orgs/{orgId}/notify/rotas"        => rotas::rotas_list;
            POST   "/v1/orgs/{orgId}/notify/rotas"        => rotas::rota_create, creates();
            GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}" => rotas::rota_get;
            PATCH  "/v1/orgs/{orgId}/notify/rotas/{rotaId}" => rotas::rota_patch;
            DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}" => rotas::rota_delete;
            GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}/on-call" => rotas::rota_on_call;
            POST   "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides" => rotas::rota_override_add, creates();
            DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides/{overrideId}" => rotas::rota_override_remove;
        }
    }
}
