//! The page at `/docs/co-editing`: an editor on pages' shared documents, for people to try and for others to learn from.
//!
//! Its sources are in `docs/examples/co-editing`; the script is bundled from there into `editor.js`. Everything stands in the
//! one page, and its policy lets a browser run and load nothing else, and talk to nobody but this server.

use std::sync::LazyLock;

use actix_web::{HttpResponse, http::header};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http_shell::caller::Anyone;
use sha2::{Digest, Sha256};

const BODY: &str = include_str!("../../../docs/examples/co-editing/src/page.html");
const STYLE: &str = include_str!("../../../docs/examples/co-editing/src/style.css");
const SCRIPT: &str = include_str!("editor.js");
/// How long browsers may keep it.
const CACHE: &str = "public, max-age=300";

static PAGE: LazyLock<Page> = LazyLock::new(Page::new);

struct Page {
    text: Bytes,
    policy: String,
}

impl Page {
    fn new() -> Self {
        let (body, end) = BODY.split_once("</body>").unwrap_or((BODY, ""));
        let text = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><title>Notes</title><style>{STYLE}</style></head>\n\
             {body}<script>{SCRIPT}</script></body></html>{end}"
        );
        let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            hash(STYLE),
            hash(SCRIPT)
        );
        Self { text: text.into(), policy }
    }
}

/// Write pages together
///
/// A page with a sign-in, the tree of pages, and an editor that several people can use at once.
#[utoipa::path(get, path = "/docs/co-editing",
    responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn co_editing_get(_: Anyone) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .insert_header((header::CACHE_CONTROL, CACHE))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE.policy.as_str()))
        .body(PAGE.text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_ends_where_its_element_does() {
        let lower = SCRIPT.to_lowercase();
        assert!(!lower.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</"));
        assert!(!SCRIPT.contains('\r') && !STYLE.contains('\r'), "a browser would hash other bytes");
    }

    #[test]
    fn the_page_is_whole_and_names_nobody_elses_server() {
        let text = std::str::from_utf8(&PAGE.text).unwrap();
        assert!(text.ends_with("</script></body></html>\n"), "{}", &text[text.len() - 40..]);
        for part in [BODY, STYLE] {
            assert!(!part.contains("http:") && !part.contains("https:") && !part.contains("//cdn"));
        }
        assert!(SCRIPT.contains("Permission is hereby granted"), "the licences of what is in the script");
    }
}
