//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{
    agenda, approvals, attachments, boards, bulk, clocks, comments, components, config, filters, following, mail_hooks,
    moves, one, places, queues, search, spaces, sprints, transfer, trash, versions,
};

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
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components" => components::issue_components_list;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components" => components::issue_component_create, creates();
            PATCH  "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components/{componentId}" => components::issue_component_patch;
            DELETE "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/components/{componentId}" => components::issue_component_delete;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions" => versions::issue_versions_list;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions" => versions::issue_version_create, creates();
            PATCH  "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}" => versions::issue_version_patch;
            DELETE "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}" => versions::issue_version_delete;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}/release" => versions::issue_version_release;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/versions/{versionId}/notes" => versions::issue_version_notes;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints" => sprints::issue_sprints_list;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints" => sprints::issue_sprint_create, creates();
            PATCH  "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}" => sprints::issue_sprint_patch;
            DELETE "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}" => sprints::issue_sprint_delete;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}/start" => sprints::issue_sprint_start;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/sprints/{sprintId}/complete" => sprints::issue_sprint_complete;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards" => boards::issue_boards_list;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards" => boards::issue_board_create, creates();
            PATCH  "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}" => boards::issue_board_patch;
            DELETE "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}" => boards::issue_board_delete;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}/issues" => boards::issue_board_issues;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/boards/{boardId}/backlog" => boards::issue_board_backlog;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/queues" => queues::issue_queues_list;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/queues/{queueId}/issues" => queues::issue_queue_issues;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/canned" => queues::issue_canned_list;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/customers" => queues::issue_customers_list;
            GET    "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/mail-hooks" => mail_hooks::issue_mail_hooks_list;
            POST   "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/mail-hooks" => mail_hooks::issue_mail_hook_create;
            DELETE "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/mail-hooks/{mailHookId}" => mail_hooks::issue_mail_hook_delete;
            POST   "/v1/hooks/issues/mail/{mailHookId}/{mailHookToken}" => mail_hooks::issue_mail_post;
            GET    "/v1/orgs/{orgId}/issues/filters"      => filters::issue_filters_list;
            POST   "/v1/orgs/{orgId}/issues/filters"      => filters::issue_filter_create, creates();
            GET    "/v1/orgs/{orgId}/issues/filters/{filterId}" => filters::issue_filter_get;
            PATCH  "/v1/orgs/{orgId}/issues/filters/{filterId}" => filters::issue_filter_patch;
            DELETE "/v1/orgs/{orgId}/issues/filters/{filterId}" => filters::issue_filter_delete;
            POST   "/v1/orgs/{orgId}/issues/filters/{filterId}/star" => filters::issue_filter_star;
            PUT    "/v1/orgs/{orgId}/issues/filters/{filterId}/subscription" => filters::issue_filter_subscribe;
            POST   "/v1/orgs/{orgId}/issues/bulk"         => bulk::issue_bulk;
            GET    "/v1/orgs/{orgId}/issues/jobs/{issueJobId}" => bulk::issue_job_get;
            POST   "/v1/orgs/{orgId}/issues/jobs/{issueJobId}/cancel" => bulk::issue_job_cancel;
            POST   "/v1/orgs/{orgId}/issues/jobs/{issueJobId}/undo" => bulk::issue_job_undo;
            PUT    "/v1/orgs/{orgId}/issues/rank"         => boards::issue_rank_put;
            GET    "/v1/orgs/{orgId}/issues/trash"        => trash::issue_trash_list;
            POST   "/v1/orgs/{orgId}/issues/trash/{issueId}/restore" => trash::issue_restore;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}"   => one::issue_get;
            PATCH  "/v1/orgs/{orgId}/issues/{issueKey}"   => one::issue_patch;
            DELETE "/v1/orgs/{orgId}/issues/{issueKey}"   => one::issue_delete;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/transitions" => one::issue_transitions_list;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/transitions" => one::issue_transition;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/move" => moves::issue_move;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/approvals/{approvalId}" => approvals::issue_approval_decide;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/history" => one::issue_history;
            GET    "/v1/orgs/{orgId}/issues/{issueKey}/sla" => clocks::issue_sla;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/watchers" => following::issue_watch;
            DELETE "/v1/orgs/{orgId}/issues/{issueKey}/watchers" => following::issue_unwatch;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/watchers/{userId}" => following::issue_watcher_add;
            DELETE "/v1/orgs/{orgId}/issues/{issueKey}/watchers/{userId}" => following::issue_watcher_remove;
            POST   "/v1/orgs/{orgId}/issues/{issueKey}/vote" => following::issue_vote;
            DELETE "/v1/orgs/{orgId}/issues/{issueKey}/vote" => following::issue_unvote;
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
