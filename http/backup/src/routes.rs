//! The area's endpoints, a line each; what a line says stands at `page!` (`http/shell/src/endpoint.rs`).

use http_shell::{endpoint::Endpoint, page};

use crate::endpoints;

/// The lines.
#[rustfmt::skip]
pub fn page() -> Vec<Endpoint> {
    page! {
        "Authenticator backup" {
            GET    "/v1/me/authenticator/vault"           => endpoints::backup_get;
            PUT    "/v1/me/authenticator/vault"           => endpoints::backup_put;
            DELETE "/v1/me/authenticator/vault"           => endpoints::backup_delete;
        }
    }
}
