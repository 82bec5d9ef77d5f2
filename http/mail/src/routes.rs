//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::mailboxes;

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Mailboxes" {
            GET    "/v1/orgs/{orgId}/mail/mailboxes"                        => mailboxes::mailboxes_list;
            GET    "/v1/orgs/{orgId}/mail/admin/mailboxes"                  => mailboxes::admin_mailboxes_list;
            POST   "/v1/orgs/{orgId}/mail/admin/mailboxes"                  => mailboxes::admin_mailbox_create, creates();
            PATCH  "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}"      => mailboxes::admin_mailbox_patch;
            DELETE "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}"      => mailboxes::admin_mailbox_delete;
        }
    }
}
