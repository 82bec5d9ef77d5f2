//! The table of endpoints, `docs/endpoints.md`: who may call each, and within which limits.
//!
//! It is read off the types of the handlers' arguments, so that a changed guard shows in a review as a changed line.

use std::fmt::Write;

use http_shell::{endpoint::Endpoint, router::Router};

/// The page.
pub fn endpoints(router: &Router) -> String {
    let mut page = String::from(
        "# Endpoints\n\n\
         Who may call each endpoint, and within which limits. Printed by a test of `http/src/table.rs` from the types of the\n\
         handlers' arguments; `TROUPE_UPDATE_DOCS=1 cargo test -p troupe-http` rewrites it.\n",
    );
    let mut area = "";
    for endpoint in router.endpoints() {
        if endpoint.area != area {
            area = endpoint.area;
            // Writing to a string does not fail.
            let _ = write!(page, "\n## {area}\n\n| endpoint | who | body | beside |\n|---|---|---|---|\n");
        }
        let _ = writeln!(
            page,
            "| `{} {}` | {} | {} | {} |",
            endpoint.method,
            endpoint.documented_path(),
            who(endpoint),
            body(endpoint),
            beside(endpoint)
        );
    }
    page
}

fn who(endpoint: &Endpoint) -> String {
    if !endpoint.is_signed_in() {
        return "anyone".to_owned();
    }
    let facts = &endpoint.facts;
    let mut all: Vec<String> = facts.scopes.iter().map(|scope| format!("`{scope}`")).collect();
    if facts.in_organization && all.is_empty() {
        all.push("a part in the organization".to_owned());
    }
    all.extend(facts.doors.iter().map(|who| (*who).to_owned()));
    if all.is_empty() { "any credential".to_owned() } else { all.join(", ") }
}

fn body(endpoint: &Endpoint) -> String {
    match endpoint.facts.body {
        Some(rule) if rule.len_max.is_multiple_of(1024 * 1024) => format!("{} MB", rule.len_max / (1024 * 1024)),
        Some(rule) => format!("{} KB", rule.len_max / 1024),
        None if endpoint.facts.streams => "as it comes".to_owned(),
        None => String::new(),
    }
}

fn beside(endpoint: &Endpoint) -> String {
    let creates = endpoint.rules.creates.then(|| "`Idempotency-Key`".to_owned());
    let limit = endpoint.rules.per_address.map(|limit| format!("{limit} a minute from one address"));
    creates.into_iter().chain(limit).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes;

    #[test]
    fn the_printed_table_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/endpoints.md");
        let current = endpoints(&Router::new(routes::page()).unwrap());
        if std::env::var_os("TROUPE_UPDATE_DOCS").is_some() {
            std::fs::write(path, &current).unwrap();
        }
        let printed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(printed == current, "docs/endpoints.md is stale; run TROUPE_UPDATE_DOCS=1 cargo test -p troupe-http");
    }
}
