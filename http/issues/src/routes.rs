//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{agenda, attachments, clocks, comments, config, filters, one, places, search, spaces, transfer};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Issues" {
            POST   "/v1/orgs/{orgId}/issues/search"       => search::issues_search;
            GET    "/v1/orgs/{orgId}/issues"              => search::issues_list;
            POST   "/v1/orgs/{orgId}/issues"              => one::issue_create, creates();
            POST   "/v1/orgs/{orgId}/issues/links/among"  => search::issue_links_among;
            GET    "/v1/orgs/{orgId}/issues/labels"       => search::issue_labels_list;
            GET    "/v1/orgs/{orgId}/issues/export"       => transfer::issue_export;
            POST   "/v1/orgs/{orgId}/issues/import"       => transfer::issue_import;
            GET    "/v1/orgs/{orgId}/issues/places"       => places::issue_places;
            GET    "/v1/orgs/{orgId}/issues/calendar/agenda" => agenda::issue_agenda;
            GET    "/v1/orgs/{orgId}/issues/config/meta"  => config::issue_config_meta;
            GET    "/v1/orgs/{orgId}/issues/config/settings" => config::issue_settings_get;
            PUT    "/v1/orgs/{orgId}/issues/config/settings" => config::issue_settings_put;
            GET    "/v1/orgs/{orgId}/issues/config/workflows" => config::issue_workflows_list;
            GET    "/v1/orgs/{orgId}/issues/config/workflows/{workflowId}" => config::issue_workflow_get;
            GET    "/v1/orgs/{orgId}/issues/spaces"       => spaces::issue_spaces_list;
            POST   "/v1/orgs/{orgId}/issues/spaces"       => spaces::issue_space_create, creates();
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}" => spaces::issue_space_get;
            PATCH  "/v1/orgs/{orgId}/issues/spaces/{spaceKey}" => spaces::issue_space_patch;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/archive" => spaces::issue_space_archive;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/unarchive" => spaces::issue_space_unarchive;
            GET    "/v1/orgs/{orgId}/issues/filters"      => filters::issue_filters_list;
            POST   "/v1/orgs/{orgId}/issues/filters"      => filters::issue_filter_create, creates();
            GET    "/v1/orgs/{orgId}/issues/filters/{filterId}" => filters::issue_filter_get;
            PATCH  "/v1/orgs/{orgId}/issues/filters/{filterId}" => filters::issue_filter_patch;
            DELETE "/v1/orgs/{orgId}/issues/filters/{filterId}" => filters::issue_filter_delete;
            POST   "/v1/orgs/{orgId}/issues/filters/{filterId}/star" => filters::issue_filter_star;
            PUT    "/v1/orgs/{orgId}/issues/filters/{filterId}/subscription" => filters::issue_filter_subscribe;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}"   => one::issue_get;
            PATCH  "/v1/orgs/{orgId}/issues/{issueKey}"   => one::issue_patch;
            DELETE "/v1/orgs/{orgId}/issues/{issueKey}"   => one::issue_delete;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/transitions" => one::issue_transitions_list;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/transitions" => one::issue_transition;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/history" => one::issue_history;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/sla" => clocks::issue_sla;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/attachments" => attachments::issue_attachments_list;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/attachments/{attachmentId}" => attachments::issue_attachment_get;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/comments" => comments::issue_comments_list;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/comments" => comments::issue_comment_create, creates();
            PATCH  "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}" => comments::issue_comment_patch;
            DELETE "/v1/orgs/{orgId}/issues/{issueKey}/comments/{issueCommentId}" => comments::issue_comment_delete;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/links" => one::issue_link_create, creates();
            DELETE "/v1/orgs/{orgId}/issues/{issueKey}/links/{linkId}" => one::issue_link_delete;
        }
    }
}
