//! The page and its files, compiled in.

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderName, HeaderValue},
};
use domain::token::sha256_hex;
use http_shell::{
    caller::Anyone,
    path::{Path, PathParameter},
};

/// What the page may load and run: its own files. It opens nothing, sends no form, and stands in nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";
/// What the page may use of the browser: nothing that it would have to ask for.
const PERMISSIONS: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";
const PAGE: &str = include_str!("page/index.html");

/// A file of the page.
pub(crate) struct PageFile {
    content_type: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($name:literal as $content_type:literal,)*) => {
        impl PageFile {
            #[cfg(test)]
            const NAMES: &[&str] = &[$($name),*];

            fn find(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self { content_type: $content_type, text: include_str!(concat!("page/", $name)) }),)*
                    _ => None,
                }
            }
        }
    };
}

files! {
    "console.css" as "text/css; charset=utf-8",
    "icon.svg" as "image/svg+xml",
    "main.js" as "text/javascript; charset=utf-8",
    "elements.js" as "text/javascript; charset=utf-8",
    "charts.js" as "text/javascript; charset=utf-8",
    "server.js" as "text/javascript; charset=utf-8",
    "history.js" as "text/javascript; charset=utf-8",
    "words.js" as "text/javascript; charset=utf-8",
    "overview.js" as "text/javascript; charset=utf-8",
    "actors.js" as "text/javascript; charset=utf-8",
    "trouble.js" as "text/javascript; charset=utf-8",
    "queues.js" as "text/javascript; charset=utf-8",
}

impl PathParameter for PageFile {
    const NAME: &'static str = "file";
    const DESCRIPTION: &'static str = "A file of the console.";
    const EXAMPLE: &'static str = "main.js";
    const NOT_FOUND: &'static str = "There is no such file.";

    fn read(text: &str) -> Option<Self> {
        Self::find(text)
    }
}

fn served(content_type: &'static str, text: &'static str) -> HttpResponse {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::PERMISSIONS_POLICY, PERMISSIONS),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        // Looked for again every time, so that a newer server's page never runs with an older one's files.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let mut response = HttpResponse::Ok().body(text);
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if let Ok(tag) = HeaderValue::try_from(format!("W/\"{}\"", &sha256_hex(text.as_bytes())[..16])) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Open the operators' console
///
/// A page for browsers. Signing in needs the `platform:infra` permission in the platform's organization.
#[utoipa::path(get, path = "/console", responses((status = 200, description = "The page.", content_type = "text/html")))]
pub(crate) async fn console_get(_: Anyone) -> HttpResponse {
    served("text/html; charset=utf-8", PAGE)
}

/// Read a file of the operators' console
#[utoipa::path(get, path = "/console/files/{file}",
    responses((status = 200, description = "The file.", content_type = "text/javascript")))]
pub(crate) async fn console_file(_: Anyone, file: Path<PageFile>) -> HttpResponse {
    served(file.content_type, file.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<(&'static str, &'static str)> {
        let files = PageFile::NAMES.iter().map(|name| (*name, PageFile::find(name).unwrap().text));
        files.chain([("index.html", PAGE)]).collect()
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere_and_no_line_of_script_or_style_in_its_html() {
        for (name, text) in all() {
            for source in
                ["src=\"http", "href=\"http", "src=\"//", "@import", "url(http", "from \"http", "innerHTML", "eval("]
            {
                assert!(!text.contains(source), "{name} has {source}");
            }
        }
        for inline in ["<style", " style=", " onclick=", "javascript:"] {
            assert!(!PAGE.contains(inline), "{inline}");
        }
    }

    #[test]
    fn every_file_that_is_named_is_served() {
        for (name, text) in all() {
            let imports = text.lines().filter_map(|line| line.split_once(" from \"./")?.1.split('"').next());
            let linked = text.split("/console/files/").skip(1).filter_map(|rest| rest.split('"').next());
            for file in imports.chain(linked) {
                assert!(PageFile::find(file).is_some(), "{name} names {file}");
            }
        }
    }
}
