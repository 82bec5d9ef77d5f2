//! Endpoints of notifications with on-call escalation.

use crate::endpoints::row::Takes::{Form, Nothing};
use crate::endpoints::row::Who::{Anyone, Member, Person, Scope, SecretHolder};
use crate::endpoints::row::{IPHONE, JSON, MOBILE, Row};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    GET    "/v1/me/notifications"                           Person, Nothing;
    GET    "/v1/me/notifications/count"                     Person, Nothing;
    POST   "/v1/me/notifications/read"                      Person, JSON;
    POST   "/v1/me/notifications/read-all"                  Person, JSON;
    GET    "/v1/me/notifications/devices"                   Person, Nothing;
    PUT    "/v1/me/notifications/devices/{deviceId}"        MOBILE, JSON;
    DELETE "/v1/me/notifications/devices/{deviceId}"        MOBILE, Nothing;
    GET    "/v1/me/notifications/live-activities"           Person, Nothing;
    PUT    "/v1/me/notifications/live-activities/start/{installId}"      IPHONE, JSON;
    DELETE "/v1/me/notifications/live-activities/start/{installId}"      IPHONE, Nothing;
    PUT    "/v1/me/notifications/live-activities/{activityId}"           IPHONE, JSON;
    DELETE "/v1/me/notifications/live-activities/{activityId}"           IPHONE, Nothing;
    GET    "/v1/me/notifications/settings"                  Person, Nothing;
    PUT    "/v1/me/notifications/settings/prefs"            Person, JSON;
    PUT    "/v1/me/notifications/settings/events/{type}"    Person, JSON;
    POST   "/v1/me/notifications/test"                      Person, JSON;
    GET    "/v1/me/notifications/{noticeId}/deliveries"     Person, Nothing;
    DELETE "/v1/me/notifications/{noticeId}"                Person, Nothing;
    POST   "/v1/me/notifications/{noticeId}/ack"            Person, Nothing;
    POST   "/v1/me/phone"                                   Person, JSON;
    POST   "/v1/me/phone/confirm"                           Person, JSON;
    POST   "/v1/hooks/notify/sms"                           SecretHolder, Form;
    POST   "/v1/hooks/notify/voice/{deliveryId}/{token}"    SecretHolder, Form;
    POST   "/v1/hooks/notify/status/{deliveryId}/{token}"   SecretHolder, Form;
    GET    "/v1/orgs/{orgId}/notify/escalations"            Scope("org:read"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/escalations/{escalationId}"             Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/ack"         Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/snooze"      Scope("org:read"), JSON;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/hand-over"   Scope("org:read"), JSON;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/resolve"     Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/protocols/{protocolId}/test"            Scope("org:write"), Nothing;

    GET    "/v1/orgs/{orgId}/notify/protocols/templates"    Member, Nothing;
    GET    "/v1/orgs/{orgId}/notify/protocols"              Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/protocols"              Scope("org:write"), JSON;
    GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}" Scope("org:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/notify/protocols/{protocolId}" Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}" Scope("org:write"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/preview" Scope("org:write"), Nothing;
    PUT    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" Scope("org:write"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/rotas"                  Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/rotas"                  Scope("org:write"), JSON;
    GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}"         Scope("org:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/notify/rotas/{rotaId}"         Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}"         Scope("org:write"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}/on-call" Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides" Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides/{overrideId}" Scope("org:write"), Nothing;
    GET    "/v1/me/notifications/web-push"                  Person, Nothing;
    GET    "/v1/orgs/{orgId}/notify/hooks"                  Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/hooks"                  Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/hooks/{hookId}"         Scope("org:write"), Nothing;
    POST   "/v1/hooks/ops/{hookId}/{hookToken}"             SecretHolder, JSON;

    GET    "/orgs/{orgId}/notify/escalations/{escalationId}" Anyone, Nothing;
    GET    "/orgs/{orgId}/notify/protocols/{protocolId}"    Anyone, Nothing;
};
