//! The server's descriptions of itself, made when they are first asked for.

use std::sync::OnceLock;

use bytes::Bytes;
use http_shell::{router::Router, state::AppState};

use crate::{openapi, reference};

/// The one URL tree of the program, described when it is first asked for.
static DESCRIPTIONS: OnceLock<Descriptions> = OnceLock::new();

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
    /// What the server says of itself.
    pub(crate) fn of(state: &AppState) -> &'static Self {
        DESCRIPTIONS.get_or_init(|| Self::new(&state.router))
    }

    fn new(router: &Router) -> Self {
        let document = openapi::document(router);
        Self {
            page: reference::page(&document).into(),
            page_policy: reference::policy(),
            document: openapi::text(&document).into(),
        }
    }
}
