//! The reference page at `/docs`: the OpenAPI document, rendered here.
//!
//! It needs nothing from elsewhere, works without scripts (they only narrow the list down), and its policy lets a
//! browser run and load nothing but what stands in it.

mod operation;
mod schema;
mod text;

use std::fmt::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) use self::text::escape;
use self::text::slug;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("search.js");
/// Methods in the order in which the page shows them.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// What may be loaded and run: the page's own style and script, by their hashes.
pub(crate) fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// The page. `areas` are in the order in which it shows them.
pub(crate) fn page(document: &Value) -> String {
    let mut areas = String::new();
    let mut contents = String::new();
    for area in document["tags"].as_array().into_iter().flatten().filter_map(|tag| tag["name"].as_str()) {
        let operations = of_area(document, area);
        let (anchor, name) = (slug(area), escape(area));
        // Writing to a string does not fail.
        let _ = write!(contents, "<section><h2><a href=\"#{anchor}\">{name}</a></h2><ul>");
        let _ = write!(areas, "<section id=\"{anchor}\"><h2>{name}</h2>");
        for (path, method, operation) in operations {
            contents += &operation::entry(path, method, operation);
            areas += &operation::article(path, method, operation);
        }
        contents += "</ul></section>";
        areas += "</section>";
    }
    let title = escape(document["info"]["title"].as_str().unwrap_or_default());
    let version = escape(document["info"]["version"].as_str().unwrap_or_default());
    let introduction = text::paragraphs(document["info"]["description"].as_str().unwrap_or_default());
    let schemas = schema::all(&document["components"]["schemas"]);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title} API</title><style>{STYLE}</style></head>\
         <body><nav><p class=\"name\"><a href=\"#top\">{title}</a> <small>{version}</small></p>\
         <input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\" hidden>{contents}\
         <section><h2><a href=\"#schemas\">Schemas</a></h2></section></nav>\
         <main id=\"top\"><h1>{title} API</h1>{introduction}\
         <p><a href=\"/v1/openapi.json\">OpenAPI 3.1 document</a></p>{areas}\
         <section id=\"schemas\"><h2>Schemas</h2>{schemas}</section></main><script>{SCRIPT}</script></body></html>\n"
    )
}

fn of_area<'d>(document: &'d Value, area: &str) -> Vec<(&'d str, &'static str, &'d Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, methods)| {
            METHODS.into_iter().filter_map(move |method| Some((path.as_str(), method, methods.get(method)?)))
        })
        .filter(|(_, _, operation)| operation["tags"][0] == area)
        .collect()
}
