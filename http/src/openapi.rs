//! The OpenAPI 3.1 document, gathered from the endpoints.

use http_platform::COOKIE;
use http_shell::{
    endpoint::Endpoint,
    facts::{BEARER, CONSOLE},
    router::Router,
};
use serde_json::{Value, json};
use utoipa::openapi::{
    Components, InfoBuilder, OpenApi, OpenApiBuilder, Paths,
    path::HttpMethod,
    security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    tag::TagBuilder,
};

use crate::examples;

/// The document of all endpoints; the same for the same endpoints.
pub fn document(router: &Router) -> Value {
    let mut document = serde_json::to_value(described(router)).unwrap_or_default();
    examples::complete(&mut document);
    // Endpoints without a credential say so, as the default is one.
    document["security"] = json!([{BEARER: []}]);
    document
}

/// The document as JSON.
pub fn text(document: &Value) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

fn described(router: &Router) -> OpenApi {
    let mut components = Components::new();
    let mut paths = Paths::new();
    let mut areas: Vec<&str> = Vec::new();
    for endpoint in router.endpoints() {
        if !areas.contains(&endpoint.area) {
            areas.push(endpoint.area);
        }
        let mut operation = endpoint.facts.operation.clone();
        operation.tags = Some(vec![endpoint.area.to_owned()]);
        operation.security.get_or_insert_default();
        paths.add_path_operation(endpoint.documented_path(), vec![method(endpoint)], operation);
        components.schemas.extend(endpoint.facts.schemas.iter().cloned());
    }
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A person's token (`trp_p_…`) or an API key (`trp_k_…`)."))
        .build();
    components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
    let cookie = ApiKeyValue::with_description(COOKIE, "The sign-in to the operators' console.");
    components.add_security_scheme(CONSOLE, SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    let info =
        InfoBuilder::new().title("Troupe").version(env!("CARGO_PKG_VERSION")).description(Some(DESCRIPTION)).build();
    OpenApiBuilder::new()
        .info(info)
        .tags(Some(areas.into_iter().map(|area| TagBuilder::new().name(area).build())))
        .paths(paths)
        .components(Some(components))
        .build()
}

fn method(endpoint: &Endpoint) -> HttpMethod {
    match endpoint.method.as_str() {
        "PUT" => HttpMethod::Put,
        "POST" => HttpMethod::Post,
        "PATCH" => HttpMethod::Patch,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

const DESCRIPTION: &str = "\
One self-hosted program for a company's work.

Send `Authorization: Bearer TOKEN` with a person's token or an API key. Bodies are JSON. Errors are `{\"error\": \
sentence, \"code\": slug}`, with what the endpoint adds beside them; a 400 `invalid` lists every field at fault in \
`problems`. Times are milliseconds since the Unix epoch, UTC. `x-request-id` names a request in the server's log.";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use http_shell::facts::Access;
    use utoipa::openapi::RefOr;

    use super::*;
    use crate::routes;

    fn router() -> Router {
        Router::new(routes::page()).unwrap()
    }

    #[test]
    fn each_line_of_the_page_is_what_stands_above_its_handler() {
        for endpoint in router().endpoints() {
            let (methods, path) = &endpoint.annotated;
            assert_eq!(*path, endpoint.documented_path(), "{} {}", endpoint.method, endpoint.path);
            assert!(*methods == [method(endpoint)], "{} {}", endpoint.method, endpoint.path);
        }
    }

    #[test]
    fn every_endpoint_says_whom_it_answers_and_describes_itself() {
        for endpoint in router().endpoints() {
            let line = format!("{} {}", endpoint.method, endpoint.path);
            assert_ne!(endpoint.facts.access, Access::Unstated, "{line}");
            let operation = &endpoint.facts.operation;
            let title = operation.summary.as_deref().unwrap_or_default();
            assert!(!title.is_empty() && !title.ends_with('.'), "{line} has the title {title:?}");
            let succeeds = |status: &String| status.starts_with(['1', '2']);
            assert!(operation.responses.responses.keys().any(succeeds), "{line} never succeeds");
        }
    }

    #[test]
    fn every_parameter_of_a_path_is_described() {
        for endpoint in router().endpoints() {
            let described: BTreeSet<&str> = endpoint
                .facts
                .operation
                .parameters
                .iter()
                .flatten()
                .filter_map(|parameter| match parameter {
                    RefOr::T(parameter) => Some(parameter.name.as_str()),
                    RefOr::Ref(_) => None,
                })
                .collect();
            for name in &endpoint.path_names {
                assert!(described.contains(name), "{} {} leaves {name} out", endpoint.method, endpoint.path);
            }
        }
    }

    #[test]
    fn operations_have_names_of_their_own() {
        let mut names = BTreeSet::new();
        for endpoint in router().endpoints() {
            let name = endpoint.facts.operation.operation_id.clone().unwrap_or_default();
            assert!(names.insert(name.clone()), "{name} names two operations");
        }
    }

    #[test]
    fn two_types_do_not_share_a_name() {
        let router = router();
        let mut known = std::collections::BTreeMap::new();
        for (name, schema) in router.endpoints().iter().flat_map(|endpoint| &endpoint.facts.schemas) {
            let schema = serde_json::to_value(schema).unwrap();
            let first = known.entry(name).or_insert_with(|| schema.clone());
            assert_eq!(*first, schema, "{name} is two types");
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_json_has_an_example() {
        let document = document(&router());
        complete(&document, &document);
    }

    fn complete(value: &Value, document: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                    assert!(document.pointer(&reference[1..]).is_some(), "{reference} leads nowhere");
                }
                if let Some(content) = fields.get("application/json").filter(|content| content.is_object()) {
                    assert!(content.get("schema").is_none() || content.get("example").is_some(), "{content}");
                }
                fields.values().for_each(|value| complete(value, document));
            }
            Value::Array(elements) => elements.iter().for_each(|value| complete(value, document)),
            _ => {}
        }
    }

    /// What a description says of something without naming it. Readers come from a search, or see it beside a field.
    const PRONOUNS: &str = "anybody he her his it it's its itself nobody none she somebody someone something that their \
                            theirs them these they this those who whoever whom whomever whose";

    /// Whether a text begins with a pronoun; one that stands alone, or before "for", "of" or "that", is one too.
    fn begins_with_a_pronoun(text: &str) -> bool {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
        let mut words = words.map(str::to_lowercase);
        let first = words.next().unwrap_or_default();
        let mut is_alone = || words.next().is_none_or(|next| ["", "for", "of", "that"].contains(&next.as_str()));
        PRONOUNS.split(' ').any(|pronoun| pronoun == first)
            || (["another", "each", "one"].contains(&first.as_str()) && is_alone())
    }

    /// The descriptions and titles of `value` that begin with a pronoun, beside errors, which are sentences for a client
    /// in the situation that they speak of, and beside examples.
    fn nameless(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let text = value.as_str().filter(|_| ["description", "summary"].contains(&name.as_str()));
                    found.extend(text.filter(|text| begins_with_a_pronoun(text)).map(str::to_owned));
                    if name != "example" && !name.starts_with(['4', '5']) {
                        nameless(value, found);
                    }
                }
            }
            Value::Array(elements) => elements.iter().for_each(|value| nameless(value, found)),
            _ => {}
        }
    }

    #[test]
    fn descriptions_name_what_they_speak_of() {
        for text in ["Its id.", "They.", "It's over.", "One of them.", "Each.", "Whose turn it is."] {
            assert!(begins_with_a_pronoun(text), "{text}");
        }
        for text in ["The page.", "One page.", "Item.", "Each node.", "What was done.", "Another role.", ""] {
            assert!(!begins_with_a_pronoun(text), "{text}");
        }
        let mut found = Vec::new();
        nameless(&document(&router()), &mut found);
        assert!(found.is_empty(), "descriptions that begin with a pronoun: {found:#?}");
    }

    #[test]
    fn the_printed_document_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
        let current = text(&document(&router()));
        if std::env::var_os("TROUPE_UPDATE_DOCS").is_some() {
            std::fs::write(path, &current).unwrap();
        }
        let printed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(printed == current, "docs/openapi.json is stale; run TROUPE_UPDATE_DOCS=1 cargo test -p troupe-http");
    }
}
