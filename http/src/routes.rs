//! The whole URL tree, on one page.
//!
//! A line is `METHOD "path" => module::handler`, and what applies to it beside its arguments: `creates` (honours
//! `Idempotency-Key`), `per_address(n)` (a rate limit a minute), `open()` (anyone may call it, although no argument says
//! so). Who may call an endpoint and how large its body may be stand in the handler's arguments; `docs/endpoints.md`
//! shows them all. Lines stand under the area whose name the reference page shows.

use actix_web::http::Method;

use crate::{
    access_keys, audit, auth, backup, blobs, co_editing, console, databases,
    endpoint::{Endpoint, Rules},
    git, home, invites, keys, live, me, members, meta, notify, organizations, otp, pages, pipelines, platform,
    sign_ins, storage, teams, vault,
};

macro_rules! page {
    ($($area:literal { $($method:ident $path:literal => $module:ident :: $handler:ident $(, $rule:ident ( $($value:expr),* ))* ;)* })*) => {
        pastey::paste! {
            vec![$($(
                Endpoint::new::<$module::[<__path_ $handler>], _, _>(
                    Method::$method,
                    $path,
                    $area,
                    $module::$handler,
                    Rules::default()$(.$rule($($value),*))*,
                ),
            )*)*]
        }
    };
}

/// The lines.
#[rustfmt::skip]
#[expect(clippy::too_many_lines, reason = "a table, one line for each endpoint")]
pub(crate) fn page() -> Vec<Endpoint> {
    page! {
        "Sign-in" {
            POST   "/v1/auth/register"                    => auth::auth_register, per_address(120);
            POST   "/v1/auth/sign-in"                     => auth::auth_sign_in, per_address(240);
            POST   "/v1/auth/sign-out"                    => auth::auth_sign_out;
            POST   "/v1/auth/step-up"                     => auth::auth_step_up, per_address(120);
        }
        "People" {
            GET    "/v1/me"                               => me::me_get;
            PATCH  "/v1/me"                               => me::me_patch;
            POST   "/v1/me/password"                      => me::me_password, per_address(120);
            POST   "/v1/me/otp"                           => otp::otp_enrol;
            DELETE "/v1/me/otp"                           => otp::otp_delete;
            POST   "/v1/me/otp/confirm"                   => otp::otp_confirm, per_address(120);
            GET    "/v1/me/sign-ins"                      => sign_ins::sign_ins_list;
            DELETE "/v1/me/sign-ins/{signInId}"           => sign_ins::sign_in_delete;
        }
        "Organizations" {
            GET    "/v1/orgs"                             => organizations::orgs_list;
            POST   "/v1/orgs"                             => organizations::org_create, creates();
            GET    "/v1/orgs/{orgId}"                     => organizations::org_get;
            PATCH  "/v1/orgs/{orgId}"                     => organizations::org_patch;
            DELETE "/v1/orgs/{orgId}"                     => organizations::org_delete;
            GET    "/v1/orgs/{orgId}/members"             => members::members_list;
            POST   "/v1/orgs/{orgId}/members"             => members::member_add, creates();
            PATCH  "/v1/orgs/{orgId}/members/{userId}"    => members::member_patch;
            DELETE "/v1/orgs/{orgId}/members/{userId}"    => members::member_remove;
            GET    "/v1/orgs/{orgId}/invites"             => invites::invites_list;
            POST   "/v1/orgs/{orgId}/invites"             => invites::invite_create, creates(), per_address(240);
            DELETE "/v1/orgs/{orgId}/invites/{inviteId}"  => invites::invite_cancel;
            POST   "/v1/invites/{token}/accept"           => invites::invite_accept, per_address(120);
            GET    "/v1/orgs/{orgId}/teams"               => teams::teams_list;
            POST   "/v1/orgs/{orgId}/teams"               => teams::team_create, creates();
            GET    "/v1/orgs/{orgId}/teams/{teamId}"      => teams::team_get;
            PATCH  "/v1/orgs/{orgId}/teams/{teamId}"      => teams::team_patch;
            DELETE "/v1/orgs/{orgId}/teams/{teamId}"      => teams::team_delete;
            POST   "/v1/orgs/{orgId}/teams/{teamId}/members" => teams::team_member_add, creates();
            DELETE "/v1/orgs/{orgId}/teams/{teamId}/members/{userId}" => teams::team_member_remove;
            GET    "/v1/orgs/{orgId}/keys"                => keys::keys_list;
            POST   "/v1/orgs/{orgId}/keys"                => keys::key_create;
            DELETE "/v1/orgs/{orgId}/keys/{keyId}"        => keys::key_delete;
            GET    "/v1/orgs/{orgId}/access-keys"         => access_keys::access_keys_list;
            POST   "/v1/orgs/{orgId}/access-keys"         => access_keys::access_key_create;
            DELETE "/v1/orgs/{orgId}/access-keys/{accessKeyId}" => access_keys::access_key_delete;
            GET    "/v1/orgs/{orgId}/audit"               => audit::audit_list;
        }
        "Authenticator backup" {
            GET    "/v1/me/authenticator/vault"           => backup::backup_get;
            PUT    "/v1/me/authenticator/vault"           => backup::backup_put;
            DELETE "/v1/me/authenticator/vault"           => backup::backup_delete;
        }
        "Passwords vault" {
            GET    "/v1/me/vault"                         => vault::vault_get;
            POST   "/v1/me/vault"                         => vault::vault_create, creates();
            DELETE "/v1/me/vault"                         => vault::vault_delete;
            GET    "/v1/me/vault/log"                     => vault::vault_log;
            PUT    "/v1/me/vault/keyset"                  => vault::vault_keyset_put;
            POST   "/v1/me/vault/reset/cancel"            => vault::vault_reset_cancel;
            GET    "/v1/me/vault/vaults/{vaultId}/index"  => vault::vault_index;
            GET    "/v1/me/vault/vaults/{vaultId}/items"  => vault::vault_items_get;
            POST   "/v1/me/vault/vaults/{vaultId}/items"  => vault::vault_items_change;
            PUT    "/v1/me/vault/devices/{deviceId}"      => vault::vault_device_put;
            DELETE "/v1/me/vault/devices/{deviceId}"      => vault::vault_device_delete;
        }
        "Notifications" {
            GET    "/v1/me/notifications"                 => notify::notices_list;
            GET    "/v1/me/notifications/count"           => notify::notices_count;
            POST   "/v1/me/notifications/read"            => notify::notices_read;
            POST   "/v1/me/notifications/read-all"        => notify::notices_read_all;
            GET    "/v1/me/notifications/devices"         => notify::notify_devices_list;
            PUT    "/v1/me/notifications/devices/{deviceId}" => notify::notify_device_put;
            DELETE "/v1/me/notifications/devices/{deviceId}" => notify::notify_device_delete;
            GET    "/v1/me/notifications/live-activities" => notify::notify_live_list;
            PUT    "/v1/me/notifications/live-activities/start/{installId}" => notify::notify_live_start_put;
            DELETE "/v1/me/notifications/live-activities/start/{installId}" => notify::notify_live_start_delete;
            PUT    "/v1/me/notifications/live-activities/{activityId}" => notify::notify_live_activity_put;
            DELETE "/v1/me/notifications/live-activities/{activityId}" => notify::notify_live_activity_delete;
            GET    "/v1/me/notifications/settings"        => notify::notify_settings_get;
            PUT    "/v1/me/notifications/settings/prefs"  => notify::notify_prefs_put;
            PUT    "/v1/me/notifications/settings/events/{type}" => notify::notify_event_put;
            POST   "/v1/me/notifications/test"            => notify::notify_test, creates();
            GET    "/v1/me/notifications/{noticeId}/deliveries" => notify::notice_deliveries;
            GET    "/v1/me/notifications/web-push"        => notify::web_push_get;
            DELETE "/v1/me/notifications/{noticeId}"      => notify::notice_delete;
            POST   "/v1/me/notifications/{noticeId}/ack"  => notify::notice_ack;
            GET    "/v1/orgs/{orgId}/notify/escalations"  => notify::escalations_list;
            GET    "/v1/orgs/{orgId}/notify/escalations/{escalationId}" => notify::escalation_get;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/ack" => notify::escalation_ack;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/snooze" => notify::escalation_snooze;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/hand-over" => notify::escalation_hand_over;
            POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/resolve" => notify::escalation_resolve;
            POST   "/v1/orgs/{orgId}/notify/protocols/{protocolId}/test" => notify::protocol_test, per_address(60);
            POST   "/v1/me/phone"                         => notify::phone_post;
            POST   "/v1/me/phone/confirm"                 => notify::phone_confirm, per_address(120);
            POST   "/v1/hooks/notify/sms"                 => notify::notify_sms_hook, per_address(600);
            POST   "/v1/hooks/notify/voice/{deliveryId}/{token}" => notify::notify_voice_hook, per_address(600);
            POST   "/v1/hooks/notify/status/{deliveryId}/{token}" => notify::notify_status_hook, per_address(600);
            GET    "/v1/orgs/{orgId}/notify/hooks"        => notify::alarm_hooks_list;
            POST   "/v1/orgs/{orgId}/notify/hooks"        => notify::alarm_hook_create;
            DELETE "/v1/orgs/{orgId}/notify/hooks/{hookId}" => notify::alarm_hook_delete;
            POST   "/v1/hooks/ops/{hookId}/{hookToken}"   => notify::alarms_post;
        }
        "Notification protocols" {
            GET    "/v1/orgs/{orgId}/notify/protocols/templates" => notify::protocol_templates;
            GET    "/v1/orgs/{orgId}/notify/protocols"    => notify::protocols_list;
            POST   "/v1/orgs/{orgId}/notify/protocols"    => notify::protocol_create, creates();
            GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}" => notify::protocol_get;
            PATCH  "/v1/orgs/{orgId}/notify/protocols/{protocolId}" => notify::protocol_patch;
            DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}" => notify::protocol_delete;
            GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/preview" => notify::protocol_preview;
            PUT    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" => notify::protocol_attach;
            DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" => notify::protocol_detach;
        }
        "On-call rotas" {
            GET    "/v1/orgs/{orgId}/notify/rotas"        => notify::rotas_list;
            POST   "/v1/orgs/{orgId}/notify/rotas"        => notify::rota_create, creates();
            GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}" => notify::rota_get;
            PATCH  "/v1/orgs/{orgId}/notify/rotas/{rotaId}" => notify::rota_patch;
            DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}" => notify::rota_delete;
            GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}/on-call" => notify::rota_on_call;
            POST   "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides" => notify::rota_override_add, creates();
            DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides/{overrideId}" => notify::rota_override_remove;
        }
        "Notes pages" {
            GET    "/v1/orgs/{orgId}/pages"               => pages::pages_list;
            POST   "/v1/orgs/{orgId}/pages"               => pages::page_create, creates();
            GET    "/v1/orgs/{orgId}/pages/export"        => pages::pages_export;
            POST   "/v1/orgs/{orgId}/pages/import"        => pages::pages_import;
            GET    "/v1/orgs/{orgId}/pages/imports/{importId}" => pages::pages_import_get;
            DELETE "/v1/orgs/{orgId}/pages/imports/{importId}" => pages::pages_import_cancel;
            GET    "/v1/orgs/{orgId}/pages/search"        => pages::pages_search;
            GET    "/v1/orgs/{orgId}/pages/{pageId}"      => pages::page_get;
            PATCH  "/v1/orgs/{orgId}/pages/{pageId}"      => pages::page_patch;
            DELETE "/v1/orgs/{orgId}/pages/{pageId}"      => pages::page_delete;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/export" => pages::page_export;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/collab" => pages::page_collab;
            GET    "/v1/sockets/pages/{pageId}"           => pages::page_collab_socket;
            PUT    "/v1/orgs/{orgId}/pages/{pageId}/content" => pages::page_content_put;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/versions" => pages::page_versions_list;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}" => pages::page_version_get;
            POST   "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}/restore" => pages::page_version_restore;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/comments" => pages::page_comments_list;
            POST   "/v1/orgs/{orgId}/pages/{pageId}/comments" => pages::page_comment_create, creates();
            PATCH  "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" => pages::page_comment_patch;
            DELETE "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" => pages::page_comment_delete;
            GET    "/v1/orgs/{orgId}/pages/live"          => pages::pages_live;
            GET    "/v1/sockets/pages-of/{orgId}"         => pages::pages_live_socket;
            GET    "/v1/orgs/{orgId}/pages/{pageId}/rows" => pages::page_rows;
        }
        "Databases" {
            GET    "/v1/orgs/{orgId}/databases"           => databases::databases_list;
            POST   "/v1/orgs/{orgId}/databases"           => databases::database_create, creates();
            GET    "/v1/orgs/{orgId}/databases/{databaseId}" => databases::database_get;
            PATCH  "/v1/orgs/{orgId}/databases/{databaseId}" => databases::database_patch;
            DELETE "/v1/orgs/{orgId}/databases/{databaseId}" => databases::database_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/indexes" => databases::database_index_create, creates();
            DELETE "/v1/orgs/{orgId}/databases/{databaseId}/indexes/{indexName}" => databases::database_index_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/scan" => databases::database_scan;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/query" => databases::database_query;
            PUT    "/v1/orgs/{orgId}/databases/{databaseId}/items" => databases::database_item_put;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/get" => databases::database_item_get;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/update" => databases::database_item_update, creates();
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/delete" => databases::database_item_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/batch-delete" => databases::database_items_delete;
            POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/import" => databases::database_items_import, creates();
        }
        "Object storage" {
            GET    "/v1/orgs/{orgId}/storage"             => storage::storage_list;
            POST   "/v1/orgs/{orgId}/storage"             => storage::storage_create, creates();
            GET    "/v1/orgs/{orgId}/storage/{resourceId}" => storage::storage_get;
            PATCH  "/v1/orgs/{orgId}/storage/{resourceId}" => storage::storage_patch;
            DELETE "/v1/orgs/{orgId}/storage/{resourceId}" => storage::storage_delete;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" => storage::storage_lifecycle_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" => storage::storage_lifecycle_put;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/cors" => storage::storage_cors_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/cors" => storage::storage_cors_put;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/tags" => storage::storage_tags_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/tags" => storage::storage_tags_put;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/objects" => storage::storage_objects_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/move" => storage::storage_objects_move;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/copy" => storage::storage_objects_copy;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/delete" => storage::storage_objects_delete;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/folders" => storage::storage_folder_create, creates();
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/object" => storage::storage_object_get;
            PUT    "/v1/orgs/{orgId}/storage/{resourceId}/object" => storage::storage_object_put;
            PATCH  "/v1/orgs/{orgId}/storage/{resourceId}/object" => storage::storage_object_patch;
            DELETE "/v1/orgs/{orgId}/storage/{resourceId}/object" => storage::storage_object_delete;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/object/versions" => storage::storage_versions_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/versions/delete" => storage::storage_version_delete;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/restore" => storage::storage_object_restore;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/download" => storage::storage_download;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/deleted" => storage::storage_deleted_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads" => storage::storage_upload_create;
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart" => storage::storage_uploads_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart" => storage::storage_multipart_create, creates();
            GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" => storage::storage_parts_list;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" => storage::storage_multipart_parts;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/complete" => storage::storage_multipart_complete;
            POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/abort" => storage::storage_multipart_abort;
            GET    "/v1/storage/files/{resourceId}"       => storage::storage_file_get;
            PUT    "/v1/storage/files/{resourceId}"       => storage::storage_file_put;
        }
        "Git repositories" {
            GET    "/v1/orgs/{orgId}/git-credentials"     => git::git_credentials_list;
            POST   "/v1/orgs/{orgId}/git-credentials"     => git::git_credentials_create;
            DELETE "/v1/orgs/{orgId}/git-credentials/{keyId}" => git::git_credentials_delete;
            GET    "/v1/orgs/{orgId}/repos"               => git::repositories_list;
            POST   "/v1/orgs/{orgId}/repos"               => git::repository_create, creates();
            GET    "/v1/orgs/{orgId}/repos/{name}"        => git::repository_get;
            PATCH  "/v1/orgs/{orgId}/repos/{name}"        => git::repository_patch;
            DELETE "/v1/orgs/{orgId}/repos/{name}"        => git::repository_delete;
            POST   "/v1/orgs/{orgId}/repos/{name}/restore" => git::repository_restore;
            GET    "/v1/orgs/{orgId}/repos/{name}/access" => git::repository_access_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/access/{principal}" => git::repository_access_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/access/{principal}" => git::repository_access_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pushes" => git::pushes_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/branches" => git::branches_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/branches/divergence" => git::branches_divergence;
            POST   "/v1/orgs/{orgId}/repos/{name}/branches" => git::branch_create;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/branches" => git::branch_rename;
            DELETE "/v1/orgs/{orgId}/repos/{name}/branches" => git::branch_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/tags"   => git::tags_list;
            DELETE "/v1/orgs/{orgId}/repos/{name}/tags"   => git::tag_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/commits" => git::commits_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/commits/{sha}" => git::commit_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/compare" => git::compare_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/diff"   => git::diff_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/tree"   => git::tree_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/file"   => git::file_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/blame"  => git::blame_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/contents/raw" => git::contents_raw;
            POST   "/v1/orgs/{orgId}/repos/{name}/contents/archive" => git::contents_archive;
            POST   "/v1/orgs/{orgId}/repos/{name}/contents" => git::contents_commit, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/contents/uploads" => git::contents_upload_create, creates();
            GET    "/v1/repos/files/{resourceId}"         => git::repository_file_get;
            PUT    "/v1/repos/files/{resourceId}"         => git::repository_file_put;
            GET    "/v1/orgs/{orgId}/repos/{name}/rules"  => git::rules_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/rules"  => git::rule_create, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/rules/explain" => git::rules_explain;
            GET    "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}" => git::rule_get;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}" => git::rule_patch;
            DELETE "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}" => git::rule_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/secret-findings" => git::secret_findings_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow" => git::secret_finding_allow;
            DELETE "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow" => git::secret_finding_withdraw;
            GET    "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses" => git::commit_statuses_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses" => git::commit_status_set;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls"  => git::pulls_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls"  => git::pull_create, creates();
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}" => git::pull_get;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/pulls/{number}" => git::pull_patch;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/commits" => git::pull_commits_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/files" => git::pull_files_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers" => git::pull_reviewers_list;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers" => git::pull_reviewers_put;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews" => git::pull_reviews_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews" => git::pull_review_create, creates();
            PUT    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews/{reviewId}/dismissal" => git::pull_review_dismiss;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads" => git::pull_threads_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads" => git::pull_thread_create, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/replies" => git::pull_thread_reply, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve" => git::pull_thread_resolve;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve" => git::pull_thread_unresolve;
            PATCH  "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}" => git::pull_comment_patch;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}" => git::pull_comment_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/timeline" => git::pull_timeline_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/mergeability" => git::pull_mergeability_get;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/merge" => git::pull_merge;
            POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/update" => git::pull_update;
            GET    "/git/{owner}/{repository}/info/refs"  => git::git_info_refs;
            POST   "/git/{owner}/{repository}/git-upload-pack" => git::git_upload_pack;
            POST   "/git/{owner}/{repository}/git-receive-pack" => git::git_receive_pack;
            POST   "/git/{owner}/{repository}/info/lfs/objects/batch" => git::lfs_batch;
            GET    "/v1/repos/lfs/{resourceId}"           => git::lfs_object_get;
            PUT    "/v1/repos/lfs/{resourceId}"           => git::lfs_object_put;
            GET    "/git/{owner}/{repository}/info/lfs/locks" => git::lfs_locks_list;
            POST   "/git/{owner}/{repository}/info/lfs/locks" => git::lfs_lock_create;
            POST   "/git/{owner}/{repository}/info/lfs/locks/verify" => git::lfs_locks_verify;
            POST   "/git/{owner}/{repository}/info/lfs/locks/{lockId}/unlock" => git::lfs_unlock;
        }
        "Pipelines" {
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows" => pipelines::workflows_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}" => pipelines::workflow_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}" => pipelines::workflow_put;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}/dispatches" => pipelines::workflow_dispatch, creates();
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/check" => pipelines::workflow_check;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/why" => pipelines::workflows_why;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs" => pipelines::runs_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}" => pipelines::run_get;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}" => pipelines::run_delete;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/cancel" => pipelines::run_cancel;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/rerun" => pipelines::run_rerun, creates();
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}" => pipelines::run_job_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals" => pipelines::run_approvals_list;
            POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals" => pipelines::run_approvals_decide;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments" => pipelines::environments_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" => pipelines::environment_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" => pipelines::environment_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" => pipelines::environment_delete;
            GET    "/v1/orgs/{orgId}/pipelines/runners" => pipelines::runners_list;
            POST   "/v1/orgs/{orgId}/pipelines/runners/token" => pipelines::runner_token_create;
            PATCH  "/v1/orgs/{orgId}/pipelines/runners/{runnerId}" => pipelines::runner_patch;
            DELETE "/v1/orgs/{orgId}/pipelines/runners/{runnerId}" => pipelines::runner_delete;
            GET    "/v1/orgs/{orgId}/pipelines/queue" => pipelines::queue_list;
            POST   "/v1/runner/register" => pipelines::runner_register, per_address(120);
            POST   "/v1/runner/poll" => pipelines::runner_poll;
            GET    "/v1/runner/job" => pipelines::runner_job;
            POST   "/v1/runner/status" => pipelines::runner_status;
            POST   "/v1/runner/complete" => pipelines::runner_complete;
            POST   "/v1/runner/checkout"                  => pipelines::runner_checkout;
            POST   "/v1/runner/logs"                      => pipelines::runner_logs;
            POST   "/v1/runner/cache/restore"             => pipelines::runner_cache_restore;
            POST   "/v1/runner/cache/save"                => pipelines::runner_cache_save;
            POST   "/v1/runner/cache/commit"              => pipelines::runner_cache_commit;
            POST   "/v1/runner/artifacts/upload"          => pipelines::runner_artifact_upload;
            POST   "/v1/runner/artifacts/commit"          => pipelines::runner_artifact_commit;
            POST   "/v1/runner/artifacts/download"        => pipelines::runner_artifact_download;
            GET    "/v1/runner/files/{fileId}"            => pipelines::job_file_get;
            PUT    "/v1/runner/files/{fileId}"            => pipelines::job_file_put;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log" => pipelines::job_log_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/raw" => pipelines::job_log_raw;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/live" => pipelines::job_log_live;
            GET    "/v1/sockets/jobs/{jobId}/log"         => pipelines::job_log_socket;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/live" => pipelines::pipelines_live;
            GET    "/v1/sockets/pipelines-of/{repositoryId}" => pipelines::pipelines_live_socket;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/logs" => pipelines::run_logs_get;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/artifacts" => pipelines::run_artifacts_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}" => pipelines::artifact_get;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}" => pipelines::artifact_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/caches" => pipelines::caches_list;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/caches" => pipelines::caches_delete;
            GET    "/v1/orgs/{orgId}/pipelines/secrets" => pipelines::organization_secrets_list;
            GET    "/v1/orgs/{orgId}/pipelines/secrets/{secret}" => pipelines::organization_secret_get;
            PUT    "/v1/orgs/{orgId}/pipelines/secrets/{secret}" => pipelines::organization_secret_put;
            DELETE "/v1/orgs/{orgId}/pipelines/secrets/{secret}" => pipelines::organization_secret_delete;
            GET    "/v1/orgs/{orgId}/pipelines/variables" => pipelines::organization_variables_list;
            GET    "/v1/orgs/{orgId}/pipelines/variables/{variable}" => pipelines::organization_variable_get;
            PUT    "/v1/orgs/{orgId}/pipelines/variables/{variable}" => pipelines::organization_variable_put;
            DELETE "/v1/orgs/{orgId}/pipelines/variables/{variable}" => pipelines::organization_variable_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets" => pipelines::repository_secrets_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" => pipelines::repository_secret_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" => pipelines::repository_secret_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" => pipelines::repository_secret_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables" => pipelines::repository_variables_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" => pipelines::repository_variable_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" => pipelines::repository_variable_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" => pipelines::repository_variable_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets" => pipelines::environment_secrets_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" => pipelines::environment_secret_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" => pipelines::environment_secret_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" => pipelines::environment_secret_delete;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables" => pipelines::environment_variables_list;
            GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" => pipelines::environment_variable_get;
            PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" => pipelines::environment_variable_put;
            DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" => pipelines::environment_variable_delete;
        }
        "Live" {
            GET    "/v1/me/live"                          => live::live_get;
            GET    "/v1/sockets/live"                     => live::live_socket;
        }
        "Platform" {
            GET    "/v1/platform/actors"                  => platform::actors_get;
            GET    "/v1/platform/actors/{kind}"           => platform::actors_list;
            GET    "/v1/platform/actors/{kind}/{actorKey}" => platform::actor_get;
            POST   "/v1/platform/actors/{kind}/{actorKey}/{act}" => platform::actor_act;
            GET    "/v1/platform/crashes"                 => platform::crashes_list;
            GET    "/v1/platform/slow"                    => platform::slow_list;
            GET    "/v1/platform/nodes"                   => platform::nodes_list;
            GET    "/v1/platform/timers"                  => platform::timers_get;
            GET    "/v1/platform/outbox"                  => platform::outbox_get;
            GET    "/v1/platform/deliveries"              => platform::deliveries_get;
            GET    "/v1/platform/dead-letters"            => platform::dead_letters_get;
            POST   "/v1/platform/dead-letters/{deadLetterSeq}/repeat" => platform::dead_letter_repeat;
            POST   "/v1/platform/dead-letters/{deadLetterSeq}/drop" => platform::dead_letter_drop;
            GET    "/v1/platform/jobs"                    => platform::jobs_get;
            POST   "/v1/platform/jobs/{jobSeq}/cancel"    => platform::job_cancel;
        }
        "Console" {
            GET    "/console"                             => console::console_get;
            GET    "/console/files/{file}"                => console::console_file;
            GET    "/console/session"                     => console::console_session;
            POST   "/console/session"                     => console::console_sign_in, per_address(120);
            DELETE "/console/session"                     => console::console_sign_out;
            GET    "/console/live"                        => console::console_live;
            GET    "/console/api/{*path}"                 => console::console_read;
            POST   "/console/api/{*path}"                 => console::console_act;
        }
        "Blobs" {
            GET    "/v1/blobs/{*key}"                     => blobs::blob_get;
            PUT    "/v1/blobs/{*key}"                     => blobs::blob_put;
        }
        "About this server" {
            GET    "/"                                    => home::home_get;
            GET    "/orgs/{orgId}"                        => home::org_link;
            GET    "/orgs/{orgId}/pages/{pageId}"         => home::page_link;
            GET    "/orgs/{orgId}/notify/escalations/{escalationId}" => home::escalation_link;
            GET    "/orgs/{orgId}/notify/protocols/{protocolId}" => home::protocol_link;
            GET    "/docs"                                => meta::reference_get;
            GET    "/docs/co-editing"                     => co_editing::co_editing_get;
            GET    "/v1/openapi.json"                     => meta::openapi_get;
        }
    }
}
