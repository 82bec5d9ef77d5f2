//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{
    aliases, domains, draft_files, drafts, exports, filter_runs, filters, imports, labels, mailboxes, message_actions,
    messages, preferences, senders, sending, thread, thread_actions, threads, vacation,
};

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Mail administration" {
            GET    "/v1/orgs/{orgId}/mail/domains"                          => domains::mail_domains_list;
            POST   "/v1/orgs/{orgId}/mail/domains"                          => domains::mail_domain_create, creates();
            GET    "/v1/orgs/{orgId}/mail/domains/{domain}"                 => domains::mail_domain_get;
            PATCH  "/v1/orgs/{orgId}/mail/domains/{domain}"                 => domains::mail_domain_patch;
            DELETE "/v1/orgs/{orgId}/mail/domains/{domain}"                 => domains::mail_domain_delete;
            GET    "/v1/orgs/{orgId}/mail/domains/{domain}/zone"            => domains::mail_domain_zone;
            POST   "/v1/orgs/{orgId}/mail/domains/{domain}/verify"          => domains::mail_domain_verify;
            POST   "/v1/orgs/{orgId}/mail/domains/{domain}/dkim/rotate"     => domains::mail_dkim_rotate;
            GET    "/v1/orgs/{orgId}/mail/members"                          => aliases::mail_members_list;
            POST   "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}/aliases" => aliases::mail_alias_create, creates();
            DELETE "/v1/orgs/{orgId}/mail/admin/aliases/{address}"          => aliases::mail_alias_delete;
        }
        "Mailboxes" {
            GET    "/v1/orgs/{orgId}/mail/mailboxes"                        => mailboxes::mailboxes_list;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/limits"     => preferences::mailbox_limits;
            PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/settings"   => thread_actions::mailbox_settings_patch;
            GET    "/v1/orgs/{orgId}/mail/preferences"                      => preferences::mail_preferences_get;
            PATCH  "/v1/orgs/{orgId}/mail/preferences"                      => preferences::mail_preferences_patch;
            GET    "/v1/orgs/{orgId}/mail/admin/mailboxes"                  => mailboxes::admin_mailboxes_list;
            POST   "/v1/orgs/{orgId}/mail/admin/mailboxes"                  => mailboxes::admin_mailbox_create, creates();
            PATCH  "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}"      => mailboxes::admin_mailbox_patch;
            DELETE "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}"      => mailboxes::admin_mailbox_delete;
        }
        "Mail" {
            GET    "/v1/orgs/{orgId}/mail/threads"                          => threads::mail_threads_all;
            GET    "/v1/orgs/{orgId}/mail/counts"                           => threads::mail_counts_all;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads"    => threads::mail_threads;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/counts"     => threads::mail_counts;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/actions" => thread_actions::mail_thread_actions;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/threads/{mailThreadId}" => thread::mail_thread_get;
            PUT    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/senders/{sender}/category" => thread_actions::mail_sender_category;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/actions" => message_actions::mail_message_actions;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}" => messages::mail_message_get;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/raw" => messages::mail_message_raw;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/attachments/{part}" => messages::mail_attachment_get;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels"     => labels::mail_labels_list;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels"     => labels::mail_label_create, creates();
            PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels/{labelId}" => labels::mail_label_patch;
            DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels/{labelId}" => labels::mail_label_delete;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters"    => filters::mail_filters_list;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters"    => filters::mail_filter_create, creates();
            PUT    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/order" => filters::mail_filters_order;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/preview" => filter_runs::mail_filter_preview;
            PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}" => filters::mail_filter_patch;
            DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}" => filters::mail_filter_delete;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}/apply" => filter_runs::mail_filter_job;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}/apply" => filter_runs::mail_filter_apply, creates();
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/vacation"   => vacation::mail_vacation_get;
            PUT    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/vacation"   => vacation::mail_vacation_put;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/senders"    => senders::mail_senders_list;
            PUT    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/senders/{sender}/blocked" => senders::mail_sender_block;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/unsubscribe" => senders::mail_message_unsubscribe, creates();
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/suggest"    => senders::mail_suggest;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts"     => drafts::mail_drafts_list;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts"     => drafts::mail_draft_create, creates();
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}" => drafts::mail_draft_get;
            PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}" => drafts::mail_draft_patch;
            DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}" => drafts::mail_draft_delete;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}/attachments" => draft_files::mail_draft_file_create, creates();
            DELETE "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}/attachments/{attachmentId}" => draft_files::mail_draft_file_delete;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/drafts/{draftId}/send" => sending::mail_draft_send, creates();
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/unsend" => sending::mail_message_unsend;
            PATCH  "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/schedule" => sending::mail_message_schedule;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/delivery" => sending::mail_message_delivery;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports"    => imports::mail_imports_list;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports"    => imports::mail_import_create, creates();
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports/{mailImportId}" => imports::mail_import_get;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports/{mailImportId}/start" => imports::mail_import_start;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/imports/{mailImportId}/cancel" => imports::mail_import_cancel;
            PUT    "/v1/mail/imports/{mailImportId}"                        => imports::mail_import_put;
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/exports"    => exports::mail_exports_list;
            POST   "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/exports"    => exports::mail_export_create, creates();
            GET    "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/exports/{mailExportId}" => exports::mail_export_get;
            GET    "/v1/mail/exports/{mailExportId}"                        => exports::mail_export_download;
        }
    }
}
