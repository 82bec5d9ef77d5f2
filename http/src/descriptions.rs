//! The server's descriptions of itself, made when they are first asked for.

use bytes::Bytes;

use crate::{openapi, reference, router::Router};

/// The OpenAPI document and the reference page.
pub(crate) struct Descriptions {
    /// The document.
    pub(crate) document: Bytes,
    /// The page.
    pub(crate) page: Bytes,
    /// What the page may load and run.
    pub(crate) page_policy: String,
}

impl Descriptions {
    pub(crate) fn new(router: &Router) -> Self {
        let document = openapi::document(router);
        Self {
            page: reference::page(&document).into(),
            page_policy: reference::policy(),
            document: openapi::text(&document).into(),
        }
    }
}
