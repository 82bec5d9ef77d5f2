//! The OpenAPI 3.1 document, gathered from the endpoints.

use utoipa::openapi::{
    Components, InfoBuilder, OpenApi, OpenApiBuilder, Paths,
    path::HttpMethod,
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};

use crate::{endpoint::Endpoint, facts::BEARER, router::Router};

/// The document of all endpoints.
pub fn document(router: &Router) -> OpenApi {
    let mut components = Components::new();
    let mut paths = Paths::new();
    for endpoint in router.endpoints() {
        let mut operation = endpoint.facts.operation.clone();
        operation.tags = Some(vec![endpoint.area.to_owned()]);
        paths.add_path_operation(endpoint.path, vec![method(endpoint)], operation);
        components.schemas.extend(endpoint.facts.schemas.iter().cloned());
    }
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A person's token (`trp_p_…`) or an API key (`trp_k_…`)."))
        .build();
    components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
    let info =
        InfoBuilder::new().title("Troupe").version(env!("CARGO_PKG_VERSION")).description(Some(DESCRIPTION)).build();
    OpenApiBuilder::new().info(info).paths(paths).components(Some(components)).build()
}

/// The document as JSON, the same for the same endpoints.
pub fn text(router: &Router) -> String {
    let mut text = serde_json::to_string_pretty(&document(router)).unwrap_or_default();
    text.push('\n');
    text
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

Errors are `{\"error\": sentence, \"code\": slug}` with what the endpoint adds beside them. Times are milliseconds since \
the Unix epoch, UTC. Any answer may also be 429 or 503 with `Retry-After`, and 500; `x-request-id` names the request in \
the server's log.";
