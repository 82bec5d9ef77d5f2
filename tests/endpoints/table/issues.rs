//! Endpoints of issues and the help center.

use crate::endpoints::row::Takes::{Bytes, Json, Nothing};
use crate::endpoints::row::Who::{AddressHolder, Anyone, Person, Scope};
use crate::endpoints::row::{JSON, KB, Row};

#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    POST   "/v1/orgs/{orgId}/issues/search"                           Scope("issues:read"), JSON;
    GET    "/v1/orgs/{orgId}/issues"                                  Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues"                                  Scope("issues:write"), JSON;
    POST   "/v1/orgs/{orgId}/issues/links/among"                      Scope("issues:read"), JSON;
    GET    "/v1/orgs/{orgId}/issues/labels"                           Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/export"                           Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/import"                           Scope("issues:write"), Json(5 * 1024 * KB, "Import files can be up to 5 MB.");
    GET    "/v1/orgs/{orgId}/issues/places"                           Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/config/meta"                      Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/config/settings"                  Scope("issues:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/issues/config/settings"                  Scope("issues:admin"), JSON;
    GET    "/v1/orgs/{orgId}/issues/config/workflows"                 Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/config/workflows/{workflowId}"    Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/spaces"                           Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/spaces"                           Scope("issues:admin"), JSON;
    GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}"                Scope("issues:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/issues/spaces/{spaceKey}"                Scope("issues:write"), JSON;
    POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/archive"        Scope("issues:write"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/unarchive"      Scope("issues:write"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/filters"                          Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/filters"                          Scope("issues:read"), JSON;
    GET    "/v1/orgs/{orgId}/issues/filters/{filterId}"               Scope("issues:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/issues/filters/{filterId}"               Scope("issues:read"), JSON;
    DELETE "/v1/orgs/{orgId}/issues/filters/{filterId}"               Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/filters/{filterId}/star"          Scope("issues:read"), JSON;
    PUT    "/v1/orgs/{orgId}/issues/filters/{filterId}/subscription"  Scope("issues:read"), JSON;
    GET    "/v1/orgs/{orgId}/issues/{issueKey}"                       Scope("issues:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/issues/{issueKey}"                       Scope("issues:write"), JSON;
    DELETE "/v1/orgs/{orgId}/issues/{issueKey}"                       Scope("issues:write"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/{issueKey}/transitions"           Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/{issueKey}/transitions"           Scope("issues:write"), JSON;
    GET    "/v1/orgs/{orgId}/issues/{issueKey}/history"               Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/{issueKey}/sla"                   Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/{issueKey}/attachments"           Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/{issueKey}/attachments/{attachmentId}" Scope("issues:read"), Nothing;
    GET    "/v1/orgs/{orgId}/issues/{issueKey}/comments"              Scope("issues:read"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/{issueKey}/comments"              Scope("issues:write"), JSON;
    PATCH  "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}" Scope("issues:write"), JSON;
    DELETE "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}" Scope("issues:write"), Nothing;
    POST   "/v1/orgs/{orgId}/issues/{issueKey}/links"                 Scope("issues:write"), JSON;
    DELETE "/v1/orgs/{orgId}/issues/{issueKey}/links/{linkId}"        Scope("issues:write"), Nothing;

    GET    "/v1/portal/issues/{org}"                                  Person, Nothing;
    GET    "/v1/portal/issues/{org}/{spaceKey}"                       Person, Nothing;
    GET    "/v1/portal/issues/{org}/{spaceKey}/requests"              Person, Nothing;
    POST   "/v1/portal/issues/{org}/{spaceKey}/requests"              Person, JSON;
    GET    "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}"   Person, Nothing;
    POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/comments" Person, JSON;
    POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/participants" Person, JSON;
    DELETE "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/participants/{who}" Person, Nothing;
    POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/rating" Person, JSON;
    POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments" Person, JSON;
    POST   "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments/{attachmentId}/complete" Person, Nothing;
    GET    "/v1/portal/issues/{org}/{spaceKey}/requests/{issueKey}/attachments/{attachmentId}" Person, Nothing;
    POST   "/v1/portal/issues/{org}/{spaceKey}/attachments/{attachmentId}/complete" Person, Nothing;
    GET    "/v1/portal/issues/{org}/{spaceKey}/attachments/{attachmentId}" Person, Nothing;
    GET    "/v1/portal/issues/{org}/{spaceKey}/articles"              Person, Nothing;
    GET    "/v1/portal/issues/{org}/{spaceKey}/articles/{pageId}"     Person, Nothing;
    GET    "/v1/issues/files/{attachmentId}"                          AddressHolder, Nothing;
    PUT    "/v1/issues/files/{attachmentId}"                          AddressHolder, Bytes;

    GET    "/orgs/{orgId}/issues/{issueKey}"                Anyone, Nothing;
};
