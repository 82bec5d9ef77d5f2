//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::{aliases, domains, mailboxes, preferences, thread, thread_actions, threads};

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
        }
    }
}
